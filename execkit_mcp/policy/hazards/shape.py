"""What a dangerous act looks like: this module is the form of a row and how a row is matched.

A row is matched against the programs as they were understood (``Act``: flags taken apart, wrappers opened), not
against the text, so that ``'r'm -fr /`` and ``env rm --recursive /`` are one thing; only what cannot be parsed is
looked for in the text. Expressions are compiled when a text first needs them: a ``policy check`` asks few of them.
"""

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from execkit_mcp.model import READ, WRITE, EffectKind, Severity
from execkit_mcp.policy import globs
from execkit_mcp.policy.findings import Act

_NO_NAMES: frozenset[str] = frozenset()
_MAX_PROGRAMS = 2048


@lru_cache(maxsize=1024)
def expression(pattern: str) -> re.Pattern[str]:
    """The compiled pattern; compiled once, when it is first asked for."""
    return re.compile(pattern)


class Scene(Struct, frozen=True, kw_only=True, gc=False):
    """What hazards look at: every program of the text, every path that is written, and the text itself."""

    acts: tuple[Act, ...]
    writes: tuple[str, ...]
    text: str


class Shape(Struct, frozen=True, kw_only=True, eq=False):
    """What a dangerous argv looks like; every condition that is given must hold.

    Attributes:
        programs: names or globs, separated by spaces.
        sub: one of these words stands first among subcommand and operands (alternatives separated by ``|``).
        flags: at least one of these flags (separated by spaces).
        also: at least one of these flags as well.
        without: none of these flags.
        operand: some operand matches this expression wholly.
        anywhere: the argv as one line matches somewhere.
        is_fed: something is piped into it.
        fed_by: one of these programs (separated by spaces) stands before it in the pipe.
        reads: it reads a path that matches.
        reads_within: for a shape about any program, texts (separated by spaces) of which each such path holds one.
        writes: it writes a path that matches.
    """

    programs: str
    sub: str = ""
    flags: str = ""
    also: str = ""
    without: str = ""
    operand: str = ""
    anywhere: str = ""
    is_fed: bool = False
    fed_by: str = ""
    reads: str = ""
    reads_within: str = ""
    writes: str = ""

    def fits(self, look: "Look") -> bool:  # noqa: PLR0911 - one condition a line, each decides
        """Whether an act of such a program has this shape."""
        act = look.act
        if self.fed_by and not any(program in self.fed_by.split() for program in act.upstream):
            return False
        if self.is_fed and not act.upstream:
            return False
        if self.sub and not look.has_sub(self.sub):
            return False
        if self.flags and not look.has_flag(self.flags):
            return False
        if self.also and not look.has_flag(self.also):
            return False
        if self.without and look.has_flag(self.without):
            return False
        if self.operand and not _has_operand(act, expression(self.operand)):
            return False
        if self.anywhere and expression(self.anywhere).search(look.line) is None:
            return False
        if self.reads and not _has_path(act, READ, self.reads):
            return False
        return not self.writes or _has_path(act, WRITE, self.writes)


def _has_operand(act: Act, wanted: re.Pattern[str]) -> bool:
    for word in act.invocation.operands:  # noqa: SIM110 - a generator costs more than the question
        if wanted.fullmatch(word.text) is not None:
            return True
    return False


def _has_path(act: Act, kind: EffectKind, pattern: str) -> bool:
    for effect in act.effects:
        if effect.kind is kind and expression(pattern).fullmatch(effect.value) is not None:
            return True
    return False


@lru_cache(maxsize=1024)
def _alternatives(sub: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(alternative.split()) for alternative in sub.split("|"))


@lru_cache(maxsize=1024)
def _names(flags: str) -> frozenset[str]:
    return frozenset(flags.split())


class Look:
    """One act with what many shapes ask of it: its arguments as one line, its leading words, its flags."""

    __slots__ = ("_flags", "_words", "act", "line")

    def __init__(self, act: Act, line: str) -> None:
        self.act = act
        self.line = line
        self._words: tuple[str, ...] | None = None
        self._flags: AbstractSet[str] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Subcommand and operands."""
        if self._words is None:
            invocation = self.act.invocation
            self._words = invocation.subcommand + tuple([operand.text for operand in invocation.operands])
        return self._words

    def has_sub(self, wanted: str) -> bool:
        """Whether the leading words are one of the alternatives."""
        words = self.words
        for parts in _alternatives(wanted):  # noqa: SIM110 - a generator costs more than the question
            if words[: len(parts)] == parts:
                return True
        return False

    def has_flag(self, wanted: str) -> bool:
        """Whether one of the flags was given, as ``-f`` or as ``--flag=value``."""
        if self._flags is None:
            self._flags = self._spelled()
        return not self._flags.isdisjoint(_names(wanted))

    def has_any(self, wanted: frozenset[str]) -> bool:
        """The same for a set of flags."""
        if self._flags is None:
            self._flags = self._spelled()
        return not self._flags.isdisjoint(wanted)

    def _spelled(self) -> AbstractSet[str]:
        invocation = self.act.invocation
        if not invocation.flags and invocation.is_known:
            return _NO_NAMES
        found = {name for use in invocation.flags for name in use.names}
        if not invocation.is_known:
            for word in self.act.argv[1:]:
                if expression(r"-[A-Za-z]{2,}").fullmatch(word):
                    found.update([f"-{letter}" for letter in word[1:]])
        found.update(
            [f"{name}={use.value.text}" for use in invocation.flags if use.value is not None for name in use.names]
        )
        return found


Finder: TypeAlias = Callable[[Scene], bool]


class Hazard(Struct, frozen=True, kw_only=True, eq=False):
    """One row: a stable id, how bad, why, what it looks like, an example and one that looks alike and is harmless.

    Attributes:
        writes: an expression for paths that a redirect or a program writes.
        finder: looks at the whole scene, where shapes cannot say it.
        found_with: an expression for what a text holds if the finder is to be asked.
    """

    id: str
    severity: Severity
    message: str
    shapes: tuple[Shape, ...] = ()
    writes: str = ""
    finder: Finder | None = None
    found_with: str = ""
    example: str
    harmless: str


_Row: TypeAlias = tuple[Hazard, Shape, frozenset[str] | None]  # with the flags of which it wants one


class _Rows:
    """The shapes about one program, by the first of the leading words that they want; most want one."""

    __slots__ = ("any_word", "by_word")

    def __init__(self, shapes: Sequence[tuple[Hazard, Shape]]) -> None:
        rows = [(row, shape, _names(shape.flags) if shape.flags else None) for row, shape in shapes]
        self.any_word = tuple([row for row in rows if not row[1].sub])
        self.by_word: dict[str, list[_Row]] = {}
        for row in rows:
            for first in {parts[0] for parts in _alternatives(row[1].sub) if parts}:
                self.by_word.setdefault(first, []).append(row)


_NONE = _Rows(())


def _fitting(rows: _Rows, look: Look) -> list[Hazard]:
    """The hazards that an act has the shape of, of those about its program."""
    shapes: Sequence[_Row] = rows.any_word
    if rows.by_word and (words := look.words) and (more := rows.by_word.get(words[0])):
        shapes = (*shapes, *more)
    return [row for row, shape, flags in shapes if (flags is None or look.has_any(flags)) and shape.fits(look)]


class Table:
    """Rows, and which of them are about a program."""

    __slots__ = (
        "_about",
        "_any_found",
        "_any_line",
        "_any_read",
        "_any_write",
        "_anyone",
        "_by_glob",
        "_by_name",
        "_finding",
        "_number",
        "_writing",
        "by_id",
        "rows",
    )

    def __init__(self, rows: Sequence[Hazard]) -> None:
        self.rows = tuple(rows)
        self.by_id = {row.id: row for row in rows}
        self._number = {row: number for number, row in enumerate(rows)}
        self._by_name: dict[str, list[tuple[Hazard, Shape]]] = {}
        self._by_glob: list[tuple[str, Hazard, Shape]] = []
        self._about: dict[str, _Rows] = {}
        self._finding = tuple([(row, row.finder) for row in rows if row.finder is not None])
        self._writing = tuple([row for row in rows if row.writes])
        # What is asked about any program is asked in one go first: nearly always the answer is no.
        self._anyone = tuple([(row, shape) for row in rows for shape in row.shapes if shape.programs == "*"])
        # Alternatives of an alternative stand side by side: only so does the search know the letters that begin one.
        self._any_line = "|".join(shape.anywhere for _, shape in self._anyone if shape.anywhere)
        within = {text for _, shape in self._anyone for text in shape.reads_within.split()}
        self._any_read = "|".join(re.escape(text) for text in sorted(within))
        self._any_found = "|".join(row.found_with for row in rows if row.finder is not None)
        self._any_write = "|".join(f"(?:{row.writes})" for row in self._writing)
        for row in rows:
            for shape in row.shapes:
                for name in shape.programs.split():
                    if name == "*":
                        continue
                    if "*" in name:
                        self._by_glob.append((name, row, shape))
                    else:
                        self._by_name.setdefault(name, []).append((row, shape))

    def _rows(self, program: str) -> _Rows:
        """The shapes that name this program, or names like it; remembered."""
        if len(self._about) >= _MAX_PROGRAMS:
            self._about.clear()
        named = self._by_name.get(program, ())
        wild = [(row, shape) for name, row, shape in self._by_glob if globs.matches(program, name)]
        rows = self._about[program] = _Rows([*named, *wild]) if named or wild else _NONE
        return rows

    def _concerns_anyone(self, act: Act, line: str) -> bool:
        """Whether some row about any program may fit the act."""
        if expression(self._any_line).search(line) is not None:
            return True
        for effect in act.effects:
            if effect.kind is READ and expression(self._any_read).search(effect.value) is not None:
                return True
        return False

    def find(self, scene: Scene) -> tuple[Hazard, ...]:
        """Every hazard in the scene, in the order of the table."""
        seen: set[Hazard] = set()
        for act in scene.acts:
            rows = self._about.get(act.program) or self._rows(act.program)
            line = " ".join(act.argv[1:])
            if rows is not _NONE:
                seen.update(_fitting(rows, Look(act, line)))
            if self._concerns_anyone(act, line):
                look = Look(act, line)
                seen.update([row for row, shape in self._anyone if shape.fits(look)])
        if expression(self._any_found).search(scene.text) is not None:
            seen.update([row for row, finder in self._finding if finder(scene)])
        for path in scene.writes:
            if expression(self._any_write).fullmatch(path) is not None:
                seen.update([row for row in self._writing if expression(row.writes).fullmatch(path)])
        if len(seen) > 1:
            return tuple(sorted(seen, key=self._number.__getitem__))
        return tuple(seen)
