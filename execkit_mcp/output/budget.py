"""The part of a stream that goes into a result: all of it, or a digest with a marker line for each gap.

Kept and omitted add up to the total exactly, in bytes and in lines; a marker line counts as neither. A line of
which any part is shown counts as kept. Every line that is no marker is a line of the output, in order.
"""

from typing import Final

from msgspec import Struct

from execkit_mcp.model import StreamCount
from execkit_mcp.output.digest import Segment, Units, choose, choose_ends, gaps
from execkit_mcp.output.marked import Marked, marked
from execkit_mcp.output.retained import RetainedText

MARKER_START: Final = "[… "
_ANALYSED_BYTES: Final = 1 << 19  # of each end; the time that a digest takes is linear in it
_ANALYSED_LINES: Final = 20_000
_SMALLEST_DIGEST_CHARS: Final = 1000
_PIECES_A_BUDGET: Final = 8  # a longer line is offered in pieces
_SMALLEST_PIECE: Final = 400


def view(
    retained: RetainedText, max_chars: int, *, exec_id: str = "", stream: str = "stdout"
) -> tuple[str, StreamCount | None]:
    """What of ``retained`` fits in ``max_chars`` characters, and the counts if something was left out.

    Args:
        retained: the redacted text.
        max_chars: the budget in characters; marker lines are taken from it when it is large enough (1000).
        exec_id: named in the markers, so that they say how to read on.
        stream: named in the markers.
    """
    max_chars = max(0, max_chars)
    if retained.dropped_bytes == 0 and retained.total_bytes <= 4 * max_chars:
        piece = retained.read(0, max_chars + 1)
        if len(piece.text) <= max_chars:
            return piece.text, None
    pointer = f"exec_id={exec_id!r}" if exec_id else "exec_id"
    if stream != "stdout":
        pointer += f", stream={stream!r}"
    if max_chars < _SMALLEST_DIGEST_CHARS:
        units = _units(retained, 4 * max_chars, piece_bytes=max_chars // 2, is_searched=False)
        kept = choose_ends(units, max_chars)
    else:
        piece_bytes = max(max_chars // _PIECES_A_BUDGET, _SMALLEST_PIECE)
        units = _units(retained, _ANALYSED_BYTES, piece_bytes=piece_bytes, is_searched=True)
        total = retained.total_lines
        longest = _marker(
            Gap(lines=total, size=retained.total_bytes, alike=total, errors=total, lost=retained.dropped_bytes),
            pointer,
            retained.total_bytes,
        )
        kept = choose(units, max_chars, len(longest) + 2)
    return _rendered(retained, units, kept, pointer)


def _units(retained: RetainedText, size: int, *, piece_bytes: int, is_searched: bool) -> Units:
    """Both ends of the text and, if it ``is_searched``, what matters between them."""
    head, tail, tail_line = _few_lines(*retained.both_ends(size))
    total = retained.total_bytes
    if tail_line is None:
        return Units([Segment(data=head, offset=0, line=0)], total_bytes=total, piece_bytes=piece_bytes)
    # no half lines beside what is not at hand, unless there is nothing else
    head = head[: head.rfind(b"\n") + 1] or head
    if not retained.starts_line(total - len(tail)) and 0 <= (end := tail.find(b"\n")) < len(tail) - 1:
        tail, tail_line = tail[end + 1 :], tail_line + 1
    found = Marked() if not is_searched else marked(retained, len(head), total - len(tail))
    segments = [
        Segment(data=head, offset=0, line=0),
        *found.segments,
        Segment(data=tail, offset=total - len(tail), line=tail_line),
    ]
    return Units(segments, total_bytes=total, piece_bytes=piece_bytes, hits=found.hits)


def _few_lines(head: bytes, tail: bytes, tail_line: int | None) -> tuple[bytes, bytes, int | None]:
    """The same ends of the text, of at most ``_ANALYSED_LINES`` lines each: time is spent by the line."""
    line = tail_line or 0
    if tail_line is None:
        if head.count(b"\n") <= 2 * _ANALYSED_LINES:
            return head, tail, None
        tail = head
    first, *others = tail.rsplit(b"\n", _ANALYSED_LINES)
    tail_from = len(first) + 1 if len(others) == _ANALYSED_LINES else 0
    line += tail.count(b"\n", 0, tail_from)
    *_, rest = head.split(b"\n", _ANALYSED_LINES)
    head_to = len(head) - len(rest) if head.count(b"\n") >= _ANALYSED_LINES else len(head)
    return head[:head_to], tail[tail_from:], line


class Gap(Struct, frozen=True, kw_only=True):
    """What a marker line stands for.

    Attributes:
        lines: lines of which nothing is kept.
        size: bytes.
        alike: lines whose shape is that of a line that is kept; 0 where not all were looked at.
        errors: lines that speak of an error.
        lost: bytes that cannot be read any more.
    """

    lines: int
    size: int
    alike: int = 0
    errors: int = 0
    lost: int = 0


def _marker(gap: Gap, pointer: str, offset: int) -> str:
    what = {0: f"{gap.size} bytes of this line", 1: "1 line"}.get(gap.lines, f"{gap.lines} lines") + " left out"
    if gap.alike and gap.alike == gap.lines:
        what += ", all like lines shown"
    elif gap.alike:
        what += f", {gap.alike} like lines shown"
    if gap.errors:
        what += f", {gap.errors} with errors"
    if gap.lost:
        what += f", {gap.lost} bytes no longer kept"
    return f"{MARKER_START}{what}: shell_read({pointer}, offset={offset})]"


def _rendered(retained: RetainedText, units: Units, kept: bytearray, pointer: str) -> tuple[str, StreamCount]:
    shown = {units.shapes[index] for index in range(len(kept)) if kept[index]}
    out: list[str] = []
    at = omitted_bytes = omitted_lines = 0  # ``at``: the first unit that is not rendered yet
    for first, end in gaps(kept):
        out.append(units.text(at, first))
        if out[-1] and not out[-1].endswith("\n"):
            out.append("\n")
        offset, after = units.offsets[first], units.offsets[end]
        size = after - offset
        lines = units.whole_lines(first, end, retained.total_lines)
        is_known = not units.voids(first, end)
        gap = Gap(
            lines=lines,
            size=size,
            alike=min(lines, sum(map(shown.__contains__, units.shapes[first:end]))) if is_known else 0,
            errors=units.errors(first, end),
            lost=retained.dropped_bytes if retained.dropped_bytes and offset <= retained.head_bytes < after else 0,
        )
        out.append(_marker(gap, pointer, offset) + "\n")
        omitted_bytes += size
        omitted_lines += lines
        at = end
    out.append(units.text(at, len(kept)))
    count = StreamCount(
        total_bytes=retained.total_bytes,
        total_lines=retained.total_lines,
        omitted_bytes=omitted_bytes,
        omitted_lines=omitted_lines,
    )
    return "".join(out), count
