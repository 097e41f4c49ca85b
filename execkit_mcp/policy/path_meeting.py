"""Refused patterns, asked for globs and whole folders: this module is the first one that such a path meets.

Theory of operation. ``meets`` is the meaning: two patterns meet if some path matches both; where one begins with
``**/`` a wildcard must also hint at the name to count, and below a folder nobody can tell. A policy refuses some
hundreds of patterns, and a text that lists a folder asks them all: ``Meeting`` puts those of the form ``**/NAME`` into
tables and remembers its answers a segment at a time. It is another way to the same answer
(``tests/policy/test_path_meeting.py`` holds them together).
"""

import operator
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from execkit_mcp.policy import globs

DOUBLE = "**"
_ALL = (DOUBLE,)
_MAX_SEGMENTS = 4096


class PathPattern(Struct, frozen=True):
    """One pattern, home and workspace filled in; ``head`` is what stands before any wildcard."""

    source: str
    text: str
    segments: tuple[str, ...]
    is_floating: bool
    head: tuple[str, ...]


def split(path: str) -> tuple[str, ...]:
    """The segments of a path."""
    return tuple(part for part in path.split("/") if part)


def head_of(segments: tuple[str, ...]) -> tuple[str, ...]:
    """The leading segments that are literal, unescaped."""
    out: list[str] = []
    for segment in segments:
        only = None if segment == DOUBLE else globs.literal(segment)
        if only is None:
            break
        out.append(only)
    return tuple(out)


def meets(pattern: PathPattern, wanted: tuple[str, ...], *, is_recursive: bool) -> bool | None:
    """Whether a ``never`` pattern meets a glob or recursive operand; None if that cannot be told."""
    if pattern.is_floating:
        return _floating_meets(pattern, wanted, is_recursive=is_recursive)
    if segments_meet(wanted, (*pattern.segments, DOUBLE)):
        return True
    if not is_recursive:
        return False
    if DOUBLE in pattern.segments[:-1]:
        head = pattern.segments[: pattern.segments.index(DOUBLE)]
        if len(wanted) > len(head):
            return None if segments_meet(wanted, (*head, DOUBLE)) else False
    return segments_meet((*wanted, DOUBLE), pattern.segments)


def _floating_meets(pattern: PathPattern, wanted: tuple[str, ...], *, is_recursive: bool) -> bool | None:
    """The same for ``**/NAME``: a plain segment decides; a wildcard must hint at the name to count."""
    rest = pattern.segments[1:]
    while rest[-1:] == (DOUBLE,):
        rest = rest[:-1]
    undecided = is_recursive
    for start in range(len(wanted)):
        pairs = list(zip(wanted[start:], rest, strict=False))
        if len(pairs) < len(rest) or not all(_segment_meets(a, b) for a, b in pairs):
            continue
        if all(_is_hinted(a, b) for a, b in pairs if b != DOUBLE):
            return True
        undecided = True
    return None if undecided else False


def _segment_meets(wanted: str, refused: str) -> bool:
    return refused == DOUBLE or globs.meet(wanted, refused)


def segments_meet(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether some path matches both patterns."""
    start = 0
    for one, other in zip(left, right, strict=False):
        if DOUBLE in (one, other):
            break
        if one != other and not globs.meet(one, other):
            return False
        start += 1
    rest, others = left[start:], right[start:]
    if _ALL in (rest, others):
        return True  # what `**` at the end stands for may be whatever the other goes on with
    return _rests_meet(rest, others)


def _rests_meet(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """The same, by every way to share out the segments."""
    reached = {(0, 0)}
    pending = [(0, 0)]
    while pending:
        i, j = pending.pop()
        if i == len(left) and j == len(right):
            return True
        a = left[i] if i < len(left) else None
        b = right[j] if j < len(right) else None
        steps: list[tuple[int, int]] = []
        if a == DOUBLE:
            steps.append((i + 1, j))
            if b is not None:
                steps.append((i, j + 1))
        if b == DOUBLE:
            steps.append((i, j + 1))
            if a is not None:
                steps.append((i + 1, j))
        both_plain = a is not None and b is not None and DOUBLE not in (a, b)
        if both_plain and globs.meet(a or "", b or ""):
            steps.append((i + 1, j + 1))
        for step in steps:
            if step not in reached:
                reached.add(step)
                pending.append(step)
    return False


@lru_cache(maxsize=4096)
def _is_hinted(wild: str, refused: str) -> bool:
    """Whether a glob that meets a floating pattern also hints at it: ``.e*`` for ``.env*``, but not ``*``.

    Of a pattern that begins with a name, the ending alone is no hint: ``*.json`` for ``service-account*.json``.
    """
    if globs.literal(wild) is not None:
        return True
    wild_head, wild_tail = globs.edges(wild)
    head, tail = globs.edges(refused)
    if head and wild == f"*{tail}":
        return False
    return bool((wild_head and head) or (wild_tail and tail))


def _name_of(pattern: PathPattern) -> str | None:
    """NAME, if the pattern says ``**/NAME`` or ``**/NAME/**``."""
    rest = pattern.segments[1:]
    while rest[-1:] == (DOUBLE,):
        rest = rest[:-1]
    return rest[0] if pattern.is_floating and len(rest) == 1 and rest[0] != DOUBLE else None


class Meeting:
    """Patterns, ready to be asked which of them a glob or a folder meets first."""

    __slots__ = (
        "_by_first", "_by_last", "_edges", "_fixed", "_floating", "_has_floating", "_odd", "_patterns", "_segments",
        "_texts",
    )  # fmt: skip

    def __init__(self, patterns: Sequence[PathPattern]) -> None:
        self._patterns = patterns
        self._texts: dict[str, int] = {}  # "**/NAME", where NAME is a text …
        self._by_first: dict[str, list[tuple[int, str]]] = {}  # … by its first character, and by its last
        self._by_last: dict[str, list[tuple[int, str]]] = {}
        self._edges: list[tuple[int, str, str, str]] = []  # … HEAD*TAIL
        self._odd: list[tuple[int, str]] = []  # … anything else
        self._floating: list[int] = []  # "**/NAME/MORE"
        self._fixed: dict[str, list[int]] = {}  # by the first segment; "": it is a wildcard
        self._segments: dict[str, tuple[int | None, bool]] = {}
        self._has_floating = any(pattern.is_floating for pattern in patterns)
        for number, pattern in enumerate(patterns):
            name = _name_of(pattern)
            if name is not None:
                self._add_name(number, name)
            elif pattern.is_floating:
                self._floating.append(number)
            else:
                self._fixed.setdefault(pattern.head[0] if pattern.head else "", []).append(number)

    def _add_name(self, number: int, name: str) -> None:
        only = globs.literal(name)
        head, star, tail = name.partition("*")
        if only:
            self._texts.setdefault(only, number)
            self._by_first.setdefault(only[0], []).append((number, name))
            self._by_last.setdefault(only[-1], []).append((number, name))
        elif star and not globs.is_pattern(head + tail) and "\\" not in name:
            self._edges.append((number, name, head, tail))
        else:
            self._odd.append((number, name))

    def first(self, wanted: tuple[str, ...], *, is_recursive: bool) -> tuple[int | None, bool]:
        """The number of the first pattern that the path meets, and whether it could not be told for some pattern."""
        best: int | None = None
        is_undecided = is_recursive and self._has_floating
        for segment in wanted:
            number, is_vague = self._of_segment(segment)
            is_undecided = is_undecided or is_vague
            if number is not None and (best is None or number < best):
                best = number
        head = head_of(wanted)
        for number in self._others(head):
            if best is not None and number > best:
                break
            pattern = self._patterns[number]
            if not pattern.is_floating and any(map(operator.ne, head, pattern.head)):
                continue
            met = meets(pattern, wanted, is_recursive=is_recursive)
            if met:
                return number, False
            is_undecided = is_undecided or met is None
        return (None, is_undecided) if best is None else (best, False)

    def _others(self, head: tuple[str, ...]) -> Iterable[int]:
        """The patterns that are no ``**/NAME``, in order, whose first segment a path with this beginning can have."""
        fixed = [self._fixed.get("", []), self._fixed.get(head[0], [])] if head else self._fixed.values()
        return sorted(number for numbers in (self._floating, *fixed) for number in numbers)

    def _of_segment(self, segment: str) -> tuple[int | None, bool]:
        """The first ``**/NAME`` that this one segment meets, and whether it meets another without a hint at it."""
        answer = self._segments.get(segment)
        if answer is None:
            if len(self._segments) >= _MAX_SEGMENTS:
                self._segments.clear()
            only = globs.literal(segment)
            answer = self._segments[segment] = self._of_wild(segment) if only is None else (self._of_text(only), False)
        return answer

    def _of_text(self, text: str) -> int | None:
        found = [number for number, name in self._odd if globs.matches(text, name)]
        found += [
            number
            for number, _, head, tail in self._edges
            if len(text) >= len(head) + len(tail) and text.startswith(head) and text.endswith(tail)
        ]
        if text in self._texts:
            found.append(self._texts[text])
        return min(found, default=None)

    def _of_wild(self, wild: str) -> tuple[int | None, bool]:
        head, tail = globs.edges(wild)
        if tail:
            near = self._by_last.get(tail[-1], [])
        else:
            near = (
                self._by_first.get(head[0], []) if head else [each for row in self._by_first.values() for each in row]
            )
        met = [(number, name) for number, name in near if globs.meet(wild, name)]
        met += [
            (number, name)
            for number, name, before, behind in self._edges
            if (head.startswith(before) or before.startswith(head))
            and (tail.endswith(behind) or behind.endswith(tail))
            and globs.meet(wild, name)
        ]
        met += [(number, name) for number, name in self._odd if globs.meet(wild, name)]
        hinted = [number for number, name in met if _is_hinted(wild, name)]
        return min(hinted, default=None), len(hinted) < len(met)
