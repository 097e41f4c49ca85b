"""Paths that lead to the same file whatever the session does; this module is the proof of that.

A path leads elsewhere when somebody changes a folder or a link on the way. Landlock lets the session change what lies
below its writable folders and nothing else, and no call of its own mounts anything. So a path is steady when no step
of it, links followed one by one, lies in such a folder, under that name or, through a mount, under another.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["Mounts", "SteadyPaths", "changeable_behind"]

_MOST_LINKS = 40
_MOVING = ("/proc", "/dev", "/sys")
_HOLDS = frozenset({"inspect", "rings", "mounts", "namespaces"})


class _Mount(NamedTuple):
    point: str
    device: str
    root: str


class Mounts:
    """A ``mountinfo``: which device and which folder of its file system stand behind a path."""

    def __init__(self, text: str) -> None:
        self._mounts: list[_Mount] = []
        for line in text.splitlines():
            fields = line.split(" ")
            if len(fields) > 4:  # noqa: PLR2004 - number, parent, device, root, point
                self._mounts.append(_Mount(_plain(fields[4]), fields[2], _plain(fields[3])))

    def behind(self, path: str) -> tuple[str, str]:
        """Device and path within its file system."""
        found = _Mount("/", "", "/")
        for each in self._mounts:  # of two at one point the later one is seen
            if len(each.point) >= len(found.point) and is_below(path, each.point):
                found = each
        rest = path[len(found.point.rstrip("/")) :]
        return found.device, found.root.rstrip("/") + rest or "/"


class SteadyPaths:
    """Of one shell's file tree.

    Args:
        root: a descriptor of its root folder.
        mounts: what is mounted there.
        writable: the folders and files that the session may change.
    """

    def __init__(self, root: int, mounts: Mounts, writable: Sequence[str]) -> None:
        self._root = root
        self._mounts = mounts
        self._behind = tuple(mounts.behind(each) for each in (*_MOVING, *writable))

    def leads_on(self, path: str) -> bool:
        """Whether an absolute path can lead to no other file than it does."""
        at = ""
        links = 0
        parts = path.split("/")[::-1]
        while parts:
            part = parts.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                at = at.rpartition("/")[0]
                continue
            step = f"{at}/{part}"
            if self._can_change(step):
                return False
            try:
                link = os.readlink(step[1:], dir_fd=self._root)
            except OSError:  # no link
                at = step
                continue
            links += 1
            if links > _MOST_LINKS:
                return False
            parts += link.split("/")[::-1]
            if link.startswith("/"):
                at = ""
        return True

    def _can_change(self, path: str) -> bool:
        device, inner = self._mounts.behind(path)
        return any(device == other and is_below(inner, folder) for other, folder in self._behind)


def changeable_behind(plan: Mapping[str, Any]) -> tuple[str, ...] | None:
    """What a session behind the plan can change of the file tree; None where the kernel does not hold it to that.

    Nor where it could write to ``/proc``: there the memory of processes lies.
    """
    rules, calls = plan["landlock"], plan["seccomp"]
    if rules is None or calls is None or not _HOLDS.issubset(calls["groups"]):
        return None
    found = tuple(path for path, letters in rules["paths"] if "w" in letters)
    return None if any(is_below("/proc", each) or is_below(each, "/proc") for each in found) else found


def is_below(path: str, folder: str) -> bool:
    """Whether ``path`` is ``folder`` or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _plain(field: str) -> str:
    """A field of ``mountinfo`` without its escapes."""
    if "\\" not in field:
        return field
    head, *rest = field.split("\\")
    return head + "".join(chr(int(each[:3], 8)) + each[3:] for each in rest)
