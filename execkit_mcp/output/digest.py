r"""The part of a long text that matters: this module chooses which lines are kept.

Theory of operation. The text is cut into units: lines, and pieces of lines that are too long for the budget.
Each part that is not at hand is one unit that cannot be kept. Units are offered in an order of worth, and each
is taken if what it costs still fits: its characters, plus a marker for each gap that it makes.

    head and tail, a little of each
    blocks (``signs.BLOCKS``) and single error lines, one of each shape, from both ends
    the surroundings of errors
    warnings, one of each shape
    blocks that repeat the shape of another
    lines whose shape is rare
    head and tail, as much as fits; streaks (``shapes.repeats``) are passed over

Invariants: what is kept are units of the text, in order; kept and omitted units are all units; the same text
gives the same choice; the time is linear in the text.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, zip_longest
from typing import Final

from msgspec import Struct

from execkit_mcp.output.characters import pieces_of
from execkit_mcp.output.shapes import repeats, shapes_of
from execkit_mcp.output.signs import block_at, error_hits, opening_hits, warning_hits

_ENDS_SHARE: Final = 0.2
_ERRORS_SHARE: Final = 0.8
_WARNINGS_SHARE: Final = 0.1
_RARE_SHARE: Final = 0.15
_RARE_LINES: Final = 0.05  # of all lines; more, and being rare means nothing
_AGAIN_SHARE: Final = 0.3
_MAX_MISSES: Final = 200
_FIRST_LINES, _LAST_LINES = 5, 10  # shown even of a streak
_BEFORE, _AFTER = 4, 3  # the surroundings of an error


class Segment(Struct, frozen=True, kw_only=True):
    """A part of a text: bytes of it, the offset that they start at, and the number (from 0) of the line there."""

    data: bytes
    offset: int
    line: int


class Units:
    """A text as units.

    Attributes:
        starts: where each unit starts in ``data``, and the end of it all.
        offsets: where each unit starts in the whole text, and the end of it all.
        lines: the number of the line of each unit, from 0; never falling.
        is_error: 1 for each unit that speaks of an error.
        is_void: 1 for each unit that stands for what is not at hand.
        hits: offsets of lines that speak of errors in what is not at hand, as far as they were looked for.
    """

    def __init__(
        self, segments: Sequence[Segment], *, total_bytes: int, piece_bytes: int, hits: Sequence[int] = ()
    ) -> None:
        """``segments`` are in order and do not overlap; what is between two of them is not at hand."""
        self.data = b"".join(segment.data for segment in segments)
        self.hits = hits
        self._is_ascii = self.data.isascii()
        self.texts: list[bytes] = []
        self.starts: list[int] = []
        self.offsets: list[int] = []
        self.lines: list[int] = []
        self.shapes: list[bytes] = []
        self.is_void = bytearray()
        at = offset = line = 0
        for segment in segments:
            if segment.offset > offset:
                self._take([b"\0"], [at], [offset], [line], [b"\0"], is_void=True)
            texts, starts, lines = _cut(segment.data, at, segment.line, piece_bytes)
            shift = segment.offset - at
            shapes = _shapes(segment.data, lines, segment.line)
            self._take(texts, starts, [start + shift for start in starts], lines, shapes, is_void=False)
            at += len(segment.data)
            offset = segment.offset + len(segment.data)
            line = segment.line + segment.data.count(b"\n")
        self.starts.append(at)
        self.offsets.append(total_bytes)
        self._voids = [index for index, is_void in enumerate(self.is_void) if is_void]
        self.is_error = bytearray(len(self.texts))
        for index in self.units_at(error_hits(self.data)):
            self.is_error[index] = 1

    def _take(
        self, texts: list[bytes], starts: list[int], offsets: list[int], lines: list[int], shapes: list[bytes],
        *, is_void: bool,
    ) -> None:  # fmt: skip
        self.texts += texts
        self.starts += starts
        self.offsets += offsets
        self.lines += lines
        self.shapes += shapes
        self.is_void += (b"\1" if is_void else b"\0") * len(texts)

    def __len__(self) -> int:
        return len(self.texts)

    def chars(self, index: int) -> int:
        """How many characters the unit has."""
        text = self.texts[index]
        return len(text) if self._is_ascii else len(text.decode("utf-8", "replace"))

    def text(self, first: int, end: int) -> str:
        """The units ``first`` to ``end``, joined; none of them is a void."""
        return self.data[self.starts[first] : self.starts[end]].decode("utf-8", "replace")

    def whole_lines(self, first: int, end: int, total_lines: int) -> int:
        """How many lines stand in the units ``first`` to ``end`` and in no unit beside them."""
        start = self.lines[first]
        if first and self.lines[first - 1] == start:
            start += 1
        return max((self.lines[end] if end < len(self.lines) else total_lines) - start, 0)

    def voids(self, first: int, end: int) -> Sequence[int]:
        """The units from ``first`` to ``end`` that stand for what is not at hand."""
        return self._voids[bisect_left(self._voids, first) : bisect_left(self._voids, end)]

    def errors(self, first: int, end: int) -> int:
        """How many lines of the units ``first`` to ``end`` speak of an error, as far as they were looked at."""
        return self.is_error.count(1, first, end) + sum(
            bisect_left(self.hits, self.offsets[void + 1]) - bisect_left(self.hits, self.offsets[void])
            for void in self.voids(first, end)
        )

    def within(self, first: int, end: int, index: int) -> tuple[int, int]:
        """``first`` to ``end``, but no further from ``index`` than to the next void on either side."""
        at = bisect_left(self._voids, index)
        lowest = self._voids[at - 1] + 1 if at else 0
        return max(first, lowest), min(end, self._voids[at] if at < len(self._voids) else len(self))

    def units_at(self, offsets: Iterable[int]) -> Iterator[int]:
        """The units that stand at rising places of ``data``."""
        low = 0
        for offset in offsets:
            low = bisect_right(self.starts, offset, low) - 1
            if low < len(self.texts):
                yield low


def _cut(data: bytes, base: int, line: int, piece_bytes: int) -> tuple[list[bytes], list[int], list[int]]:
    """Texts (line ends included), byte offsets and line numbers of the units of ``data``."""
    texts = data.splitlines(keepends=True) if b"\r" not in data else _lines(data)
    numbers = list(range(line, line + len(texts)))
    if texts and max(map(len, texts)) > piece_bytes:
        pieces = [(text[at:end], number) for text, number in zip(texts, numbers, strict=True)
                  for at, end in pieces_of(text, 0, piece_bytes)]  # fmt: skip
        texts, numbers = [piece for piece, _ in pieces], [number for _, number in pieces]
    starts = list(accumulate(map(len, texts), initial=base))[:-1]
    return texts, starts, numbers


def _lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _shapes(data: bytes, numbers: Sequence[int], first: int) -> list[bytes]:
    shapes = shapes_of(data)
    return [shapes[number - first] for number in numbers]


class _Choice:
    """Which units are kept, and what that costs; the ends count as kept neighbours."""

    def __init__(self, units: Units, budget: int, marker_chars: int) -> None:
        self._units = units
        self._marker_chars = marker_chars
        self.kept = bytearray(len(units))
        self.left = budget - marker_chars  # for the one gap that is everything

    def _is_kept(self, index: int) -> bool:
        return not 0 <= index < len(self.kept) or bool(self.kept[index])

    def offer(self, first: int, end: int, *, most: float = float("inf")) -> int:
        """Keep the units ``first`` to ``end`` if they fit together; what it cost, 0 if they were not taken."""
        units = [index for index in range(first, end) if not self.kept[index]]
        if not units or self._units.is_void.find(1, first, end) >= 0:
            return 0
        cost, limit = 0, min(self.left, most)
        for index in units:
            cost += self._units.chars(index) + self._marker_chars * (
                1 - self._is_kept(index - 1) - self._is_kept(index + 1)
            )
            self.kept[index] = 1
            if cost - self._marker_chars > limit:  # the next one may close a gap
                break
        if cost > limit:
            for index in units:
                self.kept[index] = 0
            return 0
        self.left -= cost
        return max(cost, 1)

    def offer_all(self, ranges: Iterable[tuple[int, int]], most: float) -> None:
        """Offer one after the other, at most ``most`` characters in all; stop after many that did not fit."""
        misses = 0
        for first, end in ranges:
            cost = self.offer(first, end, most=most)
            most -= cost
            misses += not cost
            if most <= 0 or misses > _MAX_MISSES:
                return

    def fill(self, most: float, passed_over: Sequence[int]) -> None:
        """Keep from both ends inwards, ``most`` characters in all."""
        for share, indexes in ((0.5, range(len(self.kept))), (1.0, range(len(self.kept) - 1, -1, -1))):
            allowed = most * share
            for index in indexes:
                if self.kept[index] or passed_over[index]:
                    continue
                if self._units.is_void[index]:
                    break
                cost = self.offer(index, index + 1, most=allowed)
                if not cost:
                    break
                allowed -= cost
                most -= cost

    def close_gaps(self) -> None:
        """Keep what is shorter than the marker that would say that it is missing."""
        for first, end in gaps(self.kept):
            size = 0
            for index in range(first, end):
                size += self._units.chars(index)
                if size > self._marker_chars:
                    break
            else:
                self.offer(first, end)


def gaps(kept: bytearray) -> Iterator[tuple[int, int]]:
    """The runs of units that are not kept."""
    at = kept.find(0)
    while at >= 0:
        end = kept.find(1, at)
        end = len(kept) if end < 0 else end
        yield at, end
        at = kept.find(0, end)


def _from_both_ends(ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    half = (len(ranges) + 1) // 2
    for first, last in zip_longest(ranges[:half], ranges[: half - 1 : -1]):
        yield first
        if last is not None:
            yield last


def _distinct(units: Units, ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The first range of each shape."""
    seen: set[tuple[bytes, ...]] = set()
    for first, end in ranges:
        shape = tuple(units.shapes[first:end])
        if shape not in seen:
            seen.add(shape)
            yield first, end


def _blocks(units: Units) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    reached = 0
    for index in units.units_at(opening_hits(units.data)):
        if index < reached:
            continue
        found = block_at(units.texts, index)
        if found is not None:
            first, end = units.within(max(found[0], reached), found[1], index)
            out.append((first, end))
            reached = end
    return out


def choose_ends(units: Units, budget: int) -> bytearray:
    """Head and tail only, at most ``budget`` characters: for a budget that holds little else."""
    choice = _Choice(units, budget, 0)
    choice.fill(budget, bytearray(len(units)))
    return choice.kept


def choose(units: Units, budget: int, marker_chars: int) -> bytearray:
    """For each unit 1 if it is kept; kept characters and a marker a gap are at most ``budget`` together.

    Args:
        units: the text.
        budget: characters.
        marker_chars: what a gap costs.
    """
    choice = _Choice(units, budget, marker_chars)
    repeated = repeats(units.texts, units.shapes)
    count = len(units)
    repeated[:_FIRST_LINES] = bytes(min(_FIRST_LINES, count))  # so that it is seen how it began and how it stands
    repeated[-_LAST_LINES:] = bytes(min(_LAST_LINES, count))
    choice.fill(budget * _ENDS_SHARE, repeated)

    blocks = _blocks(units)
    inside = bytearray(count)
    for first, end in blocks:
        inside[first:end] = b"\1" * (end - first)
    alone = [(index, index + 1) for index in range(count) if units.is_error[index] and not inside[index]]
    wholes = sorted([*_distinct(units, blocks), *_distinct(units, alone)])
    before = choice.left
    choice.offer_all(_from_both_ends(wholes), budget * _ERRORS_SHARE)
    spent = before - choice.left
    for first, end in wholes:  # a block that does not fit whole: its beginning and its end
        if not choice.kept[first] and spent < budget * _ERRORS_SHARE:
            spent += choice.offer(first, min(first + _AFTER, end)) + choice.offer(max(first, end - _BEFORE), end)
    around = [units.within(first - _BEFORE, end + _AFTER, first) for first, end in wholes if choice.kept[first]]
    choice.offer_all(_from_both_ends(around), budget * _ERRORS_SHARE)

    warnings = [(index, index + 1) for index in units.units_at(warning_hits(units.data))]
    choice.offer_all(_distinct(units, warnings), budget * _WARNINGS_SHARE)

    choice.offer_all(_from_both_ends(blocks), budget * _AGAIN_SHARE)

    frequency = Counter(units.shapes)
    rare = [(index, index + 1) for index, shape in enumerate(units.shapes) if frequency[shape] == 1]
    if len(rare) <= count * _RARE_LINES:
        choice.offer_all(_from_both_ends(rare), budget * _RARE_SHARE)
    choice.fill(choice.left, repeated)
    choice.close_gaps()
    return choice.kept
