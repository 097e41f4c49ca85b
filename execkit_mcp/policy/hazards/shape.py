"""What a dangerous act looks like: this module is the form of a row and how a row is matched.

A row is matched against the programs as they were understood (``Act``: flags taken apart, wrappers opened), not
against the text, so that ``'r'm -fr /`` and ``env rm --recursive /`` are one thing; only what cannot be parsed is
looked for in the text. Expressions are compiled when a text first needs them: a ``policy check`` asks few of them.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from execkit_mcp.model import EffectKind, Severity
from execkit_mcp.policy import globs
from execkit_mcp.policy.findings import Act

_MAX_PROGRAMS = 2048


@lru_cache(maxsize=1024)
def expression(pattern: str) -> re.Pattern[str]:
    """The compiled pattern; compiled once, when it is first asked for."""
    return re.compile(pattern)


class Scene(Struct, frozen=True, kw_only=True):
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
    writes: str = ""

    def fits(self, act: Act, line: str) -> bool:  # noqa: PLR0911 - one condition a line, each decides
        """Whether an act of such a program has this shape; ``line`` is its arguments as one line."""
        if self.fed_by and not any(program in self.fed_by.split() for program in act.upstream):
            return False
        if self.is_fed and not act.upstream:
            return False
        if self.sub and not _has_sub(act, self.sub):
            return False
        if self.flags and not _has_flag(act, self.flags):
            return False
        if self.also and not _has_flag(act, self.also):
            return False
        if self.without and _has_flag(act, self.without):
            return False
        if self.operand and not any(expression(self.operand).fullmatch(word.text) for word in act.invocation.operands):
            return False
        if self.anywhere and expression(self.anywhere).search(line) is None:
            return False
        if self.reads and not _has_path(act, EffectKind.READ, self.reads):
            return False
        return not self.writes or _has_path(act, EffectKind.WRITE, self.writes)


def _has_path(act: Act, kind: EffectKind, pattern: str) -> bool:
    return any(effect.kind is kind and expression(pattern).fullmatch(effect.value) for effect in act.effects)


def _has_sub(act: Act, wanted: str) -> bool:
    words = [*act.invocation.subcommand, *(operand.text for operand in act.invocation.operands)]
    for alternative in wanted.split("|"):
        parts = alternative.split()
        if words[: len(parts)] == parts:
            return True
    return False


def _has_flag(act: Act, wanted: str) -> bool:
    spelled = {name for use in act.invocation.flags for name in use.names}
    for word in act.argv[1:]:
        if not act.invocation.is_known and expression(r"-[A-Za-z]{2,}").fullmatch(word):
            spelled.update(f"-{letter}" for letter in word[1:])
    names = wanted.split()
    if spelled.intersection(names):
        return True
    values = {f"{name}={use.value.text}" for use in act.invocation.flags if use.value is not None for name in use.names}
    return bool(values.intersection(names))


Finder: TypeAlias = Callable[[Scene], bool]


class Hazard(Struct, frozen=True, kw_only=True, eq=False):
    """One row: a stable id, how bad, why, what it looks like, an example and one that looks alike and is harmless.

    Attributes:
        writes: an expression for paths that a redirect or a program writes.
        finder: looks at the whole scene, where shapes cannot say it.
    """

    id: str
    severity: Severity
    message: str
    shapes: tuple[Shape, ...] = ()
    writes: str = ""
    finder: Finder | None = None
    example: str
    harmless: str


class Table:
    """Rows, and which of them are about a program."""

    __slots__ = (
        "_about",
        "_any_line",
        "_any_read",
        "_any_write",
        "_anyone",
        "_by_glob",
        "_by_name",
        "_finding",
        "_writing",
        "by_id",
        "rows",
    )

    def __init__(self, rows: Sequence[Hazard]) -> None:
        self.rows = tuple(rows)
        self.by_id = {row.id: row for row in rows}
        self._by_name: dict[str, list[tuple[Hazard, Shape]]] = {}
        self._by_glob: list[tuple[str, Hazard, Shape]] = []
        self._about: dict[str, tuple[tuple[Hazard, Shape], ...]] = {}
        self._finding = tuple([(row, row.finder) for row in rows if row.finder is not None])
        self._writing = tuple([row for row in rows if row.writes])
        # What is asked about any program is asked in one go first: nearly always the answer is no.
        self._anyone = tuple([(row, shape) for row in rows for shape in row.shapes if shape.programs == "*"])
        self._any_line = "|".join(f"(?:{shape.anywhere})" for _, shape in self._anyone if shape.anywhere)
        self._any_read = "|".join(f"(?:{shape.reads})" for _, shape in self._anyone if shape.reads)
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

    def about(self, program: str) -> Sequence[tuple[Hazard, Shape]]:
        """The shapes that name this program, or names like it."""
        found = self._about.get(program)
        if found is None:
            if len(self._about) >= _MAX_PROGRAMS:
                self._about.clear()
            wild = [(row, shape) for name, row, shape in self._by_glob if globs.matches(program, name)]
            found = self._about[program] = (*self._by_name.get(program, ()), *wild)
        return found

    def _concerns_anyone(self, act: Act, line: str) -> bool:
        """Whether some row about any program may fit the act."""
        return expression(self._any_line).search(line) is not None or any(
            effect.kind is EffectKind.READ and expression(self._any_read).fullmatch(effect.value)
            for effect in act.effects
        )

    def find(self, scene: Scene) -> tuple[Hazard, ...]:
        """Every hazard in the scene, in the order of the table."""
        seen: set[str] = set()
        for act in scene.acts:
            line = " ".join(act.argv[1:])
            shapes = self.about(act.program)
            if self._concerns_anyone(act, line):
                shapes = (*shapes, *self._anyone)
            for row, shape in shapes:
                if shape.fits(act, line):
                    seen.add(row.id)
        for row, finder in self._finding:
            if finder(scene):
                seen.add(row.id)
        for path in scene.writes:
            if expression(self._any_write).fullmatch(path):
                seen.update([row.id for row in self._writing if expression(row.writes).fullmatch(path)])
        return tuple(row for row in self.rows if row.id in seen) if seen else ()
