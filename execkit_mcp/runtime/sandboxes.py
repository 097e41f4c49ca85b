"""Sandboxes' workspaces: layers on the disk, snapshots by name, and who uses which; nothing here mounts anything.

A *family* is a workspace with every sandbox that was forked from it: they share read-only layers, so the folder goes
when the last of them is closed. All of it lies in the state folder and ends with the server.
"""

import itertools
import shutil
from pathlib import Path
from typing import Final

from msgspec import Struct

from execkit_mcp.errors import CheckpointConflict, CheckpointNotFound, CheckpointTooLarge, CommandInvalid
from execkit_mcp.fence.overlay.diff import Change, differences, usage_bytes
from execkit_mcp.fence.overlay.stack import BASE, MAX_LAYERS, Stack
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.storage.spill import SpillFolder, remove_tree

__all__ = ["Sandbox", "Sandboxes", "Snapshot"]

_NAME: Final = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class Snapshot(Struct, frozen=True, kw_only=True):
    """A name for the layers as they were."""

    name: str
    stack: Stack
    made_s: float


class _Family:
    """The folder of one workspace's layers; the layers have numbers that are never used twice."""

    def __init__(self, folder: Path, workspace: str) -> None:
        self.folder = folder
        self.workspace = workspace
        self.members = 0
        self.snapshots: dict[str, Snapshot] = {}
        self._numbers = itertools.count(1)
        (folder / "layers" / BASE).mkdir(parents=True, mode=0o700)

    def new_layer(self) -> int:
        """An empty layer."""
        number = next(self._numbers)
        for name in (str(number), f"{number}.work"):
            (self.folder / "layers" / name).mkdir(mode=0o755)
        return number

    def drop_layer(self, number: int) -> None:
        """Remove a layer that nothing refers to."""
        for name in (str(number), f"{number}.work"):
            remove_tree(self.folder / "layers" / name)


class Sandbox:
    """One sandbox's workspace.

    Attributes:
        stack: the layers that are mounted.
    """

    def __init__(self, family: _Family, stack: Stack, number: int) -> None:
        self._family = family
        self.stack = stack
        self._root = family.folder / f"root.{number}"
        self._root.mkdir(mode=0o700)
        self._is_closed = False
        family.members += 1

    @property
    def workspace(self) -> str:
        """The real workspace."""
        return self._family.workspace

    @property
    def root(self) -> str:
        """The empty folder in which the sandbox's root is put together."""
        return str(self._root)

    @property
    def layers(self) -> str:
        """The folder of the layers."""
        return str(self._family.folder / "layers")

    @property
    def layer_folders(self) -> list[str]:
        """Each layer's folder, newest first."""
        return [f"{self.layers}/{number}" for number in self.stack.layers]

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """What can be restored, oldest first."""
        return tuple(self._family.snapshots.values())

    def find(self, name: str) -> Snapshot:
        """The snapshot of that name; raises CheckpointNotFound."""
        found = self._family.snapshots.get(name)
        if found is None:
            names = ", ".join(self._family.snapshots) or "none"
            raise CheckpointNotFound(f"There is no snapshot {name!r}.", hint=f"Snapshots: {names}.")
        return found

    def free_name(self, name: str | None) -> str:
        """The name of the next snapshot; raises CommandInvalid, CheckpointConflict."""
        if name is None:
            return next(each for n in itertools.count(1) if (each := f"s{n}") not in self._family.snapshots)
        if not _NAME.fullmatch(name):
            raise CommandInvalid(f"{name!r} is no name of a snapshot.", hint="Letters, digits and . _ - are fine.")
        if name in self._family.snapshots:
            raise CheckpointConflict(f"There is a snapshot {name!r} already.", hint="Choose another name.")
        return name

    def grown(self, stack: Stack) -> Stack:
        """``stack``, whose layers stay as they are, with a new empty one on top; raises CheckpointTooLarge."""
        if len(stack.layers) >= MAX_LAYERS:
            raise CheckpointTooLarge(
                f"A sandbox has at most {MAX_LAYERS} layers.", hint="Open another sandbox, or restore an earlier one."
            )
        return stack.frozen(self._family.new_layer())

    def keep(self, name: str, stack: Stack, made_s: float) -> Snapshot:
        """Remember ``stack`` under a name that is free."""
        made = Snapshot(name=name, stack=stack, made_s=made_s)
        self._family.snapshots[name] = made
        return made

    def forget(self, number: int) -> None:
        """Remove the layer ``number`` unless something refers to it."""
        if number not in self.stack.layers and not any(number in each.stack.layers for each in self.snapshots):
            self._family.drop_layer(number)

    def fork(self, stack: Stack, number: int) -> "Sandbox":
        """A second sandbox over the same layers."""
        return Sandbox(self._family, self.grown(stack), number)

    def changes(self) -> tuple[Change, ...]:
        """What it changes in the real workspace; reads every file that it changed."""
        return differences(self.workspace, self.layer_folders)

    def usage_bytes(self) -> int:
        """How much room its own layers take on the disk."""
        return sum(map(usage_bytes, self.layer_folders))

    def close(self) -> None:
        """Let go of it; the layers go with the last sandbox that has them."""
        if self._is_closed:
            return
        self._is_closed = True
        self._family.members -= 1
        shutil.rmtree(self._root, ignore_errors=True)
        if not self._family.members:
            remove_tree(self._family.folder)


class Sandboxes:
    """Every sandbox of one server, by owner and session name."""

    def __init__(self, folder: SpillFolder) -> None:
        self._folder = folder
        self._folder.clear_leftovers()  # of servers that were killed
        self._numbers = itertools.count(1)
        self._sandboxes: dict[tuple[str, str], Sandbox] = {}

    def create(self, workspace: str) -> Sandbox:
        """A sandbox over the real folder ``workspace``; raises StorageUnavailable."""
        number = next(self._numbers)
        family = _Family(self._folder.path(f"w{number}"), str(Path(workspace).resolve()))
        return Sandbox(family, Stack(upper=family.new_layer()), number)

    def fork(self, sandbox: Sandbox, stack: Stack) -> Sandbox:
        """Another one over the same layers."""
        return sandbox.fork(stack, next(self._numbers))

    def put(self, owner: str, session: str, sandbox: Sandbox) -> None:
        """The sandbox of a session that was opened."""
        self._sandboxes[owner, session] = sandbox

    def get(self, owner: str, session: str) -> Sandbox:
        """The sandbox of a session; raises CheckpointNotFound."""
        found = self._sandboxes.get((owner, session))
        if found is None:
            raise CheckpointNotFound(
                f"Session {session!r} is no sandbox: its workspace is the real one.",
                hint='Open one with shell_open(target="sandbox").',
            )
        return found

    def drop(self, owner: str, session: str) -> None:
        """The session is closed."""
        found = self._sandboxes.pop((owner, session), None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """Let go of all of them."""
        for found in self._sandboxes.values():
            found.close()
        self._sandboxes.clear()
        self._folder.close()
