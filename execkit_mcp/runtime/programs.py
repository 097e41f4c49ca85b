"""Where programs are on this machine: the locator of local targets."""

import os
import stat
from collections.abc import Iterable, Mapping

from execkit_mcp.fence.host import follow
from execkit_mcp.policy import globs
from execkit_mcp.runtime import repositories

_MAX_NAMES = 10_000


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
        return follow(path)

    def linked_by(self, pattern: str) -> tuple[str, ...] | None:
        """Where the names that a shell pattern (absolute) finds lead to through links; None if they are too many."""
        found = [("/", "/")]  # as spelled, and where it really is
        budget = _MAX_NAMES
        for segment in pattern.split("/"):
            if not segment:
                continue
            following: list[tuple[str, str]] = []
            only = globs.literal(segment)
            for spelled, real in found:
                names = (only,) if only is not None else _matching(real, segment)
                budget -= len(names) + 1
                if budget < 0:
                    return None
                following += [(f"{spelled.rstrip('/')}/{name}", self.resolve(f"{real}/{name}")) for name in names]
            found = following
        return tuple(dict.fromkeys(real for spelled, real in found if real != spelled))

    def configured(self, folder: str) -> str:
        """The configuration of the git repository around ``folder`` and of its submodules; "" where there is none."""
        return repositories.configuration(folder)


def _matching(folder: str, pattern: str) -> tuple[str, ...]:
    """The names in a folder that a pattern matches; none where it cannot be listed."""
    try:
        return tuple(name for name in os.listdir(folder) if globs.matches(name, pattern))  # noqa: PTH208 - names alone
    except (OSError, ValueError):
        return ()


def _is_program(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)  # noqa: PTH116 - called for each word
    except (OSError, ValueError):
        return False
