"""The first stage: which lines of a region are worth reading, by vectorscan in one pass.

Where vectorscan's wheel is missing there is no first stage: the automaton of keywords reads everything. The
output is the same, as gates let through whatever a rule finds. Compiling the gates takes a third of a second,
loading what was compiled a fifth of a millisecond; so the owner of a folder keeps the compiled form between
processes (``compiled`` and ``load``).
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from execkit_mcp.redaction.gate import Gates
from execkit_mcp.redaction.sight import View

Fired: TypeAlias = Mapping[int, int]
"""For the start of each line in which gates match, the bits of their numbers."""


_MAX_GATES = 4096
_BITS = tuple(1 << number for number in range(_MAX_GATES))
_WORD = _MAX_GATES  # the number of all words that gates stand behind
_SIZE_BYTES = 8


class Prefilter(Protocol):
    """An engine of the first stage."""

    @property
    def name(self) -> str:
        """What it is called in reports."""
        ...

    def stretches(self, view: View) -> tuple[list[tuple[int, int]], Fired | None]:
        """Runs of whole lines of the view's text that hold all places where a gate matches; which gates, if known."""
        ...


class Everything:
    """No first stage."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """What does the work instead."""
        return "aho-corasick"

    def stretches(self, view: View) -> tuple[list[tuple[int, int]], Fired | None]:
        """All lines."""
        return [(0, len(view.text))], None


class Vectorscan:
    """Gates as vectorscan databases, in block mode and without starts of matches.

    Args:
        database: a compiled ``hyperscan.Database``, which reads everything.
        behind: one that reads only the lines in which the first finds a word.
    """

    __slots__ = ("_behind", "_database", "_errors")

    def __init__(self, database: Any, behind: Any) -> None:
        import hyperscan  # noqa: PLC0415 - optional

        self._database, self._behind = database, behind
        self._errors: type[Exception] = hyperscan.error

    @property
    def name(self) -> str:
        """The library's name."""
        return "vectorscan"

    @classmethod
    def compile(cls, gates: Gates) -> "Vectorscan":
        """From the expressions.

        Raises:
            ImportError: the wheel is not installed.
        """
        numbered = list(enumerate(gates.expressions))
        return cls(
            _database(
                [
                    *((number, gate) for number, gate in numbered if number not in gates.behind),
                    *((_WORD, word) for word in gates.words),
                ]
            ),
            _database([(number, gate) for number, gate in numbered if number in gates.behind]),
        )

    @classmethod
    def load(cls, compiled: bytes) -> "Vectorscan":
        """From what ``compiled`` gave on this machine; only ever from a file that nobody else can write.

        Raises:
            ImportError: the wheel is not installed.
            ValueError: another version or another processor compiled it.
        """
        import hyperscan  # noqa: PLC0415 - optional

        size = int.from_bytes(compiled[:_SIZE_BYTES], "big")
        parts = compiled[_SIZE_BYTES : _SIZE_BYTES + size], compiled[_SIZE_BYTES + size :]
        if not all(parts):
            raise ValueError("The compiled gates do not load: they are cut off")
        try:
            databases = [hyperscan.loadb(part, hyperscan.HS_MODE_BLOCK) for part in parts]
            for database in databases:
                database.scratch = hyperscan.Scratch(database)
        except hyperscan.error as error:
            raise ValueError(f"The compiled gates do not load: {error}") from error
        return cls(*databases)

    def compiled(self) -> bytes:
        """The databases as bytes."""
        import hyperscan  # noqa: PLC0415 - optional

        first, second = (bytes(hyperscan.dumpb(one)) for one in (self._database, self._behind))
        return len(first).to_bytes(_SIZE_BYTES, "big") + first + second

    def stretches(self, view: View) -> tuple[list[tuple[int, int]], Fired | None]:
        """Runs of whole lines with a match, and the gates that matched in each line."""
        data = view.data
        try:
            return _runs(*self._lines(data))
        except self._errors:
            return [(0, len(view.text))], None  # such as another thread that is scanning: everything is read

    def _lines(self, data: bytes) -> tuple[dict[int, int], dict[int, int]]:
        """The lines in which something matches: their ends, and the bits of their gates, both by their starts."""
        ends: dict[int, int] = {}
        fired: dict[int, int] = {}
        worded: list[int] = []
        start = last = -1
        for at, number in _events(self._database, data):
            if at > last:
                start = data.rfind(b"\n", 0, at) + 1
                last = data.find(b"\n", at)
                ends[start] = last = len(data) if last < 0 else last
                fired[start] = 0
            if number != _WORD:
                fired[start] |= _BITS[number]
            elif not worded or worded[-1] != start:
                worded.append(start)
        if worded:
            lines = [data[one : ends[one]] for one in worded]
            turn, last = 0, len(lines[0])
            for at, number in _events(self._behind, b"\n".join(lines)):
                while at > last:
                    turn += 1
                    last += 1 + len(lines[turn])
                fired[worded[turn]] |= _BITS[number]
        return ends, fired


def _database(expressions: Sequence[tuple[int, str]]) -> Any:
    import hyperscan  # noqa: PLC0415 - optional

    database = hyperscan.Database()
    count = len(expressions)
    database.compile(
        expressions=[gate.encode() for _, gate in expressions],
        ids=[number for number, _ in expressions],
        elements=count,
        flags=[hyperscan.HS_FLAG_MULTILINE] * count,
    )
    return database


def _events(database: Any, data: bytes) -> list[tuple[int, int]]:
    """Where a match ends and its number, in order."""
    events: list[tuple[int, int]] = []
    add = events.append
    database.scan(data, match_event_handler=lambda number, _start, end, _flags, _context: add((end, number)))
    return events


def _runs(ends: Mapping[int, int], fired: dict[int, int]) -> tuple[list[tuple[int, int]], Fired]:
    """Adjacent lines in which a gate matches, as one."""
    out: list[tuple[int, int]] = []
    first = last = -1
    for start, gates in fired.items():
        if not gates:
            continue
        if first < 0:
            first = start
        elif start != last + 1:
            out.append((first, last))
            first = start
        last = ends[start]
    if first >= 0:
        out.append((first, last))
    return out, fired


def digest_of(gates: Gates) -> str:
    """What names a compiled form: it changes when a gate changes."""
    parts = ("in two", *gates.expressions, str(sorted(gates.behind)), *gates.words)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
