"""Where programs are on this machine: the locator of local targets."""

import os
import stat
from collections.abc import Iterable, Mapping


class LocalPrograms:
    """Looks bare names up in a policy's trusted folders, never in ``PATH``; implements ``ProgramLocator``.

    A name that was found is remembered: trusted folders are no place that an agent may write. Links are
    followed anew at each call, because what they lead to can change between two commands.
    """

    def __init__(self, folders: Iterable[str], programs: Mapping[str, str]) -> None:
        self._folders = tuple(folders)
        self._programs = dict(programs)
        self._found: dict[str, str] = {}

    def locate(self, name: str) -> str | None:
        """The trusted absolute path that ``name`` stands for, or None if there is no such program."""
        known = self._found.get(name)
        if known is not None:
            return known
        if not name or "/" in name or "\0" in name:
            return None
        declared = self._programs.get(name)
        candidates = (declared,) if declared is not None else tuple(f"{folder}/{name}" for folder in self._folders)
        for path in candidates:
            if _is_program(path):
                self._found[name] = path
                return path
        return None

    def resolve(self, path: str) -> str:
        """``path`` with every symbolic link that exists followed; a loop of links leaves it as it is."""
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return path


def _is_program(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)  # noqa: PTH116 - called for each word
    except (OSError, ValueError):
        return False
