"""What matters in the middle of a very long text: this module finds its errors and what stands around them.

Only lines that speak of errors or open a block are looked at, the first of each shape, so that a text of
megabytes costs one search and a few windows. The same text gives the same windows.
"""

from collections.abc import Iterator
from heapq import merge
from typing import Final

from msgspec import Struct

from execkit_mcp.output.characters import border_after, whole_characters
from execkit_mcp.output.digest import Segment
from execkit_mcp.output.retained import RetainedText
from execkit_mcp.output.shapes import shapes_of
from execkit_mcp.output.signs import block_at, error_signs, opening_hits

__all__ = ["Marked", "marked"]

_MOST_HITS: Final = 4000
_MOST_SIGNS: Final = 60_000  # with those that turn out to be none
_MOST_WINDOWS: Final = 400
_MOST_BYTES: Final = 1 << 19  # of all windows
_BEFORE_LINES, _AFTER_LINES = 8, 4
_BEFORE_BYTES, _AFTER_BYTES = 1 << 11, 1 << 15  # of one window
_SHAPED_BYTES: Final = 400
_ERROR, _OPENING, _BENIGN = range(3)


class Marked(Struct, frozen=True, kw_only=True):
    """What was found.

    Attributes:
        segments: parts of the text, in order.
        hits: offsets of all lines that speak of errors; empty when they are too many.
    """

    segments: tuple[Segment, ...] = ()
    hits: tuple[int, ...] = ()


def marked(retained: RetainedText, start: int, end: int) -> Marked:
    """What matters between two offsets, as far as it is kept."""
    segments: list[Segment] = []
    errors: list[int] = []
    seen: set[bytes] = set()
    count = signs = size = 0
    for at, data, first_line in _numbered(retained, start, end):
        counted, line = 0, first_line  # the number of the line at ``counted``
        for place, kind in _hits(data):
            signs += 1
            count += kind != _BENIGN
            if count > _MOST_HITS or signs > _MOST_SIGNS:
                return Marked(segments=tuple(segments))
            if kind == _BENIGN:
                continue
            if kind == _ERROR:
                errors.append(at + place)
            shape = shapes_of(_line(data, place))[0]
            reached = segments[-1].offset + len(segments[-1].data) if segments else start
            if shape in seen or len(segments) >= _MOST_WINDOWS or size >= _MOST_BYTES or at + place < reached:
                seen.add(shape)
                continue
            seen.add(shape)
            line += data.count(b"\n", counted, place)
            counted = place
            window = _window(retained, at + place, line, reached, end)
            size += len(window.data)
            segments.append(window)
    return Marked(segments=tuple(segments), hits=tuple(errors))


def _numbered(retained: RetainedText, start: int, end: int) -> Iterator[tuple[int, bytes, int]]:
    """Pieces of what is kept: where each starts, its bytes, and the number (from 0) of its first line."""
    expected, line = -1, 0
    for at, data in retained.pieces(start, end):
        if at != expected:
            line = retained.lines_before(at)
        yield at, data, line
        expected = at + len(data)
        line += data.count(b"\n")


def _hits(data: bytes) -> Iterator[tuple[int, int]]:
    """Where lines start that speak of errors or open a block, each once, and what they are."""
    last = -1
    errors = ((place, _BENIGN if is_benign else _ERROR) for place, is_benign in error_signs(data))
    for place, kind in merge(errors, ((place, _OPENING) for place in opening_hits(data))):
        if kind == _BENIGN or place != last:
            last = place if kind != _BENIGN else last
            yield place, kind


def _line(data: bytes, place: int) -> bytes:
    end = data.find(b"\n", place, place + _SHAPED_BYTES)
    return data[place : end if end >= 0 else place + _SHAPED_BYTES]


def _window(retained: RetainedText, offset: int, line: int, lowest: int, highest: int) -> Segment:
    """The line at ``offset``, whose number is ``line``, with its block and its surroundings."""
    low, data = retained.around(offset, min(_BEFORE_BYTES, offset - lowest), min(_AFTER_BYTES, highest - offset))
    place = offset - low
    first = place
    for _ in range(_BEFORE_LINES):
        found = data.rfind(b"\n", 0, max(first - 1, 0))
        if found < 0:
            first = 0 if low == lowest or place == first or retained.starts_line(low) else first
            break
        first = found + 1
    lines = data[place:].splitlines(keepends=True) if b"\r" not in data else data[place:].split(b"\n")
    block = block_at(lines, 0)
    kept = (block[1] if block is not None else 1) + _AFTER_LINES
    last = place
    for _ in range(kept):
        found = data.find(b"\n", last)
        if found < 0:
            last = len(data)
            break
        last = found + 1
    first = border_after(data, first)
    text = whole_characters(data[first:last])
    return Segment(data=text, offset=low + first, line=line - data.count(b"\n", first, place))
