"""The files of this machine as a plan needs to know them: this module is the one place of ``fence`` that looks."""

import os
import stat
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Protocol

__all__ = ["Host", "LocalHost", "follow"]

_MAGIC = frozenset("*?[")
_TRIES = 5


class Host(Protocol):
    """What a plan asks."""

    def real(self, path: str) -> str:
        """The path with links followed."""
        ...

    def kind(self, path: str) -> str:
        """``file``, ``folder``, ``other`` or ``""`` where nothing is."""
        ...

    def names(self, folder: str) -> tuple[str, ...]:
        """The names in a folder."""
        ...

    def interpreter(self, path: str) -> str:
        """What a script's first line names, or ``""``."""
        ...

    def matching(self, pattern: str) -> tuple[str, ...]:
        """The paths that a pattern without ``**`` finds."""
        ...


class LocalHost:
    """This machine; remembers what it saw, so make one a plan."""

    def __init__(self) -> None:
        self.names = lru_cache(maxsize=4096)(_names)
        self.kind = lru_cache(maxsize=4096)(_kind)
        self.real = lru_cache(maxsize=4096)(follow)

    def interpreter(self, path: str) -> str:
        """The interpreter of a script; through ``env`` the program that it names."""
        try:
            with open(path, "rb") as file:
                head = file.read(256)
        except OSError:
            return ""
        if not head.startswith(b"#!"):
            return ""
        words = os.fsdecode(head[2:].partition(b"\n")[0]).split()
        return words[0] if words else ""

    def matching(self, pattern: str) -> tuple[str, ...]:
        """The paths that a pattern finds, segment by segment."""
        found = [""]
        for segment in pattern.strip("/").split("/"):
            if _MAGIC.isdisjoint(segment):
                found = [f"{path}/{segment}" for path in found]
                if len(found) > 1:
                    found = [path for path in found if self.kind(path)]
            else:
                found = [
                    f"{path}/{name}" for path in found for name in self.names(path or "/") if fnmatchcase(name, segment)
                ]
            if not found:
                return ()
        return tuple(path for path in found if self.kind(path))


def follow(path: str) -> str:
    """The path with links followed; as it stands where a link goes, or may not be read, while it is followed."""
    for _ in range(_TRIES):
        try:
            return os.path.realpath(path)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            break
    return path


def _names(folder: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(os.listdir(folder)))
    except OSError:
        return ()


def _kind(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def below(path: str, folders: Iterable[str]) -> bool:
    """Whether the path is one of the folders or lies below one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
