"""Where programs are on another machine, and where its links lead: the locator of remote targets.

The policy judges without waiting. So what it asks and is not known yet is noted; then the host is asked for all of it
in one round trip, and the text is judged again, until nothing is left to ask. Programs in trusted folders are
remembered; every other path is asked anew for each text, because links can change between two commands.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, TypeVar

from execkit_mcp.errors import TransportUnavailable
from execkit_mcp.policy import globs

__all__ = ["RemotePrograms"]

T = TypeVar("T")
_ROUNDS: Final = 12
_MOST_AT_ONCE: Final = 200
_MAX_NAMES: Final = 10_000


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''").replace("\n", "'\"$nl\"'") + "'"


class RemotePrograms:
    """Implements ``ProgramLocator`` for one session. ``ask`` carries scripts out on the host."""

    def __init__(
        self,
        folders: Iterable[str],
        programs: Mapping[str, str],
        ask: Callable[[list[str]], Awaitable[list[bytes]]],
    ) -> None:
        self._folders = tuple(folders)
        self._programs = dict(programs)
        self._ask = ask
        self._asking = asyncio.Lock()
        self._found: dict[str, str] = {}
        self._is_program: dict[str, bool] = {}
        self._kept: dict[str, str] = {}
        self._resolved: dict[str, str] = {}
        self._listed: dict[str, tuple[str, ...]] = {}
        self._configured: dict[str, str] = {}
        self._wanted: dict[tuple[str, str], None] = {}

    async def settled(self, judge: Callable[[], T], *, known: Iterable[str] = ()) -> T:
        """What ``judge`` says once all that it asks of the host is known; ``known``: folders without links.

        Raises:
            TransportError: the host cannot be asked, so nothing is decided.
        """
        async with self._asking:
            return await self._settled(judge, known)

    async def _settled(self, judge: Callable[[], T], known: Iterable[str]) -> T:
        self._resolved = {path: path for path in known if path}
        self._listed = {}
        self._configured = {}
        self._is_program = dict.fromkeys(self._found.values(), True)  # what was not there may be installed by now
        for _ in range(_ROUNDS):
            self._wanted = {}
            judged = judge()
            if not self._wanted:
                return judged
            await self._fetch()
        raise TransportUnavailable(
            "The paths of this text could not all be looked up on the host.", hint="Use fewer links and patterns."
        )

    async def _fetch(self) -> None:
        wanted = list(self._wanted)
        for at in range(0, len(wanted), _MOST_AT_ONCE):
            part = wanted[at : at + _MOST_AT_ONCE]
            answers = await self._ask([f"{kind} {_quote(value)}" for kind, value in part])
            if len(answers) != len(part):
                raise TransportUnavailable("The host's answer to a question about paths is not whole.", retryable=True)
            for (kind, value), answer in zip(part, answers, strict=True):
                self._learn(kind, value, answer.decode("utf-8", "surrogateescape"))

    def _learn(self, kind: str, value: str, answer: str) -> None:
        if kind == "program":
            self._is_program[value] = answer == "y"
        elif kind == "real":
            real = answer if answer.startswith("/") else value
            self._resolved[value] = real
            if self._is_program.get(value):
                self._kept[value] = real
        elif kind == "configured":
            self._configured[value] = answer
        else:
            self._listed[value] = tuple(name for name in answer.split("/") if name)

    # -- what the policy asks --------------------------------------------------------------------------

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
            is_program = self._is_program.get(path)
            if is_program:
                self._found[name] = path
                return path
            if is_program is None:
                break
        for path in candidates:
            if path not in self._is_program:
                self._want("program", path)
        return None

    def resolve(self, path: str) -> str:
        """``path`` with every symbolic link that exists on the host followed."""
        found = self._kept.get(path) or self._resolved.get(path)
        if found is not None:
            return found
        if not path.startswith("/") or "\0" in path:
            return path
        self._want("real", path)
        return path

    def linked_by(self, pattern: str) -> tuple[str, ...] | None:
        """Where the names that a shell pattern (absolute) finds lead to through links; None if they are too many."""
        found = [("/", "/")]
        budget = _MAX_NAMES
        for segment in pattern.split("/"):
            if not segment:
                continue
            following: list[tuple[str, str]] = []
            only = globs.literal(segment)
            for spelled, real in found:
                names = (only,) if only is not None else self._matching(real, segment)
                budget -= len(names) + 1
                if budget < 0:
                    return None
                following += [
                    (f"{spelled.rstrip('/')}/{name}", self.resolve(f"{real.rstrip('/')}/{name}")) for name in names
                ]
            found = following
        return tuple(dict.fromkeys(real for spelled, real in found if real != spelled))

    def _matching(self, folder: str, pattern: str) -> tuple[str, ...]:
        names = self._listed.get(folder)
        if names is None:
            self._want("names", folder)
            return ()
        return tuple(name for name in names if globs.matches(name, pattern))

    def configured(self, folder: str) -> str:
        """The configuration of the git repository around ``folder`` and of its submodules; "" where there is none."""
        found = self._configured.get(folder)
        if found is None and folder.startswith("/") and "\0" not in folder:
            self._want("configured", folder)
        return found or ""

    def _want(self, kind: str, value: str) -> None:
        self._wanted[kind, value] = None
