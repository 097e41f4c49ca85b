"""The fence of a session on another machine: derived from the same policy, from what the host's files are.

The derivation asks without waiting. So what it asks and is not known yet is noted, the host is asked for all of it at
once, and the derivation runs again, until nothing is left to ask. Then the plan is tried there on a shell that ends at
once: what cannot be carried out is no fence, and is said.
"""

import json
from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.errors import FenceUnavailable
from execkit_mcp.fence.derive import Place, derive
from execkit_mcp.fence.describe import fence_of
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.fence.probe import Probe
from execkit_mcp.fence.sent import answers
from execkit_mcp.model import Fence
from execkit_mcp.policy import CompiledPolicy

__all__ = ["RemoteFence", "fence_on"]

_ROUNDS: Final = 16
_TRIES: Final = 3
_NOT_STARTED: Final = "a shell could not be started behind it there"
_LOADERS: Final = (
    "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-linux.so.2", "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
)  # fmt: skip
_HOLES: Final = ("what else the account does on the host, outside of these sessions, is not held",)


class RemoteFence(Struct, frozen=True, kw_only=True):
    """What holds there, and the plan of it; None: nothing does."""

    fence: Fence
    plan: FencePlan | None = None


class _Told(Struct, frozen=True):
    """What the host's Python answers."""

    abi: int
    arch: int
    said: list[object]


class _Host:
    """``Host`` over answers; notes what it does not know."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], object] = {}
        self.wanted: dict[tuple[str, str], None] = {}

    def _ask(self, method: str, path: str) -> object:
        found = self.known.get((method, path))
        if found is None:
            self.wanted[method, path] = None
        return found

    def real(self, path: str) -> str:
        """The path with links followed."""
        return str(self._ask("real", path) or path)

    def kind(self, path: str) -> str:
        """``file``, ``folder``, ``other`` or ``""``."""
        return str(self._ask("kind", path) or "")

    def names(self, folder: str) -> tuple[str, ...]:
        """The names in a folder."""
        found = self._ask("names", folder)
        return tuple(map(str, found)) if isinstance(found, list) else ()

    def interpreter(self, path: str) -> str:
        """What a script's first line names."""
        return str(self._ask("interpreter", path) or "")

    def matching(self, pattern: str) -> tuple[str, ...]:
        """The paths that a pattern finds."""
        found = self._ask("matching", pattern)
        names = tuple(map(str, found)) if isinstance(found, list) else ()
        return tuple(name for name in names if fnmatchcase(name, pattern) or name == pattern)


async def fence_on(
    mode: str,
    policy: CompiledPolicy,
    *,
    python: str,
    shell: str,
    home: str,
    workspace: str,
    ask: Callable[[list[str]], Awaitable[list[bytes]]],
) -> RemoteFence:
    """The fence of a session whose shell is started with the words ``shell``.

    Raises:
        FenceUnavailable: ``mode`` is ``process``, and that cannot be had there.
        TransportError: the host cannot be asked.
    """
    if mode == "off":
        return RemoteFence(fence=Fence())
    for _ in range(_TRIES):  # a file that goes while it is looked at spoils a try
        plan, abi, why = await _derived(policy, python=python, shell=shell, home=home, workspace=workspace, ask=ask)
        if why != _NOT_STARTED:
            break
    if plan is None:
        if mode != "auto":
            raise FenceUnavailable(
                f"The target asks for a fence, which cannot be had there: {why}.", hint="Or set its `fence: auto`."
            )
        return RemoteFence(fence=Fence(holes=(f"nothing holds beneath the shell: {why}",)))
    stated = fence_of(plan, abi=abi)
    return RemoteFence(fence=replace(stated, holes=(*_HOLES, *stated.holes)), plan=plan)


async def _derived(
    policy: CompiledPolicy,
    *,
    python: str,
    shell: str,
    home: str,
    workspace: str,
    ask: Callable[[list[str]], Awaitable[list[bytes]]],
) -> tuple[FencePlan | None, int, str]:
    """The plan, the host's version of Landlock; or why there is none."""
    if not python:
        return None, 0, "the host has no Python 3"
    host = _Host()
    words = shell.split()
    abi = 0
    for path in (*_LOADERS, words[0]):
        host.real(path)
        host.kind(path)
    for _ in range(_ROUNDS):
        asked = list(host.wanted)
        if asked:
            told = _read((await ask([answers(python, asked)]))[0])
            if told is None or len(told.said) != len(asked):
                return None, 0, "its Python 3 cannot carry it (3.10 or later is needed)"
            if not told.abi or not told.arch:
                return None, 0, "its kernel has no Landlock, or its processor is not known to us"
            abi = told.abi
            host.known.update(zip(asked, told.said, strict=True))
            host.wanted = {}
        found = derive(
            policy,
            level="process",
            place=Place(home=home, workspace=workspace),
            probe=Probe(landlock_abi=abi, has=frozenset({"landlock", "seccomp"})),
            host=host,
            loaders=tuple(dict.fromkeys(host.real(path) for path in _LOADERS if host.kind(path))),
        )
        if not host.wanted and found is not None:
            plan = found.with_path(host.real(words[0]), "rx")
            first = (*(word for word in words if word != "-i"), "-c", ":")
            tried = _read((await ask([answers(python, (), tries=plan, argv=first)]))[0])
            if tried is None or tried.said != [0]:
                return None, abi, _NOT_STARTED
            return plan, abi, ""
    return None, abi, "its files could not all be looked at"


def _read(text: bytes) -> _Told | None:
    try:
        return msgspec.convert(json.loads(text), _Told)  # msgspec's own reader refuses a name that is not UTF-8
    except (ValueError, msgspec.ValidationError):
        return None
