"""The part of a stream that goes into a result.

Head and tail on line borders, and a line that says what is missing.

Kept and omitted add up to the total exactly, in bytes and in lines; the marker line counts as neither. A
line of which any part is shown counts as kept.
"""

from execkit_mcp.model import StreamCount
from execkit_mcp.output.retained import RetainedText

_MARKER_CHARS = 200  # room that a marker line may take
_HEAD_SHARE = 0.5


def view(
    retained: RetainedText, max_chars: int, *, exec_id: str = "", stream: str = "stdout"
) -> tuple[str, StreamCount | None]:
    """What of ``retained`` fits in ``max_chars`` characters, and the counts if something was left out.

    Args:
        retained: the redacted text.
        max_chars: the budget in characters; the marker line is taken from it when it is large enough.
        exec_id: named in the marker, so that it says how to read on.
        stream: named in the marker.
    """
    max_chars = max(0, max_chars)
    if retained.dropped_bytes == 0 and retained.total_bytes <= 4 * max_chars:
        piece = retained.read(0, max_chars + 1)
        if len(piece.text) <= max_chars:
            return piece.text, None
    budget = max_chars - _MARKER_CHARS if max_chars >= 2 * _MARKER_CHARS else max_chars
    head = _head(retained, int(budget * _HEAD_SHARE))
    head_bytes = len(head.encode())
    tail = _tail(retained, budget - len(head), head_bytes)
    tail_bytes = len(tail.encode())
    tail_start = retained.total_bytes - tail_bytes
    omitted_bytes = tail_start - head_bytes
    omitted_lines = retained.total_lines - _kept_lines(retained, head, head_bytes, tail, tail_start)
    count = StreamCount(
        total_bytes=retained.total_bytes,
        total_lines=retained.total_lines,
        omitted_bytes=omitted_bytes,
        omitted_lines=omitted_lines,
    )
    marker = _marker(retained, count, head_bytes, exec_id, stream)
    before = "" if not head or head.endswith("\n") else "\n"
    return f"{head}{before}{marker}\n{tail}", count


def _head(retained: RetainedText, max_chars: int) -> str:
    text = retained.read(0, min(max_chars, retained.head_bytes)).text if max_chars else ""
    if len(text.encode()) > retained.head_bytes and retained.dropped_bytes:
        text = text.encode()[: retained.head_bytes].decode("utf-8", "ignore")
    border = text.rfind("\n") + 1
    return text[:border] if border else text


def _tail(retained: RetainedText, max_chars: int, after: int) -> str:
    if max_chars <= 0:
        return ""
    piece = retained.read_last(max_chars)
    text = piece.text
    if piece.offset < after:
        text = text.encode()[after - piece.offset :].decode("utf-8", "ignore")
    elif not retained.starts_line(piece.offset):
        border = text.find("\n") + 1
        if 0 < border < len(text):
            text = text[border:]
    return text


def _kept_lines(retained: RetainedText, head: str, head_bytes: int, tail: str, tail_start: int) -> int:
    head_lines = head.count("\n") + (bool(head) and not head.endswith("\n"))
    tail_lines = tail.count("\n") + (bool(tail) and not tail.endswith("\n"))
    shares_line = (
        bool(head)
        and bool(tail)
        and not head.endswith("\n")
        and retained.lines_before(head_bytes) == retained.lines_before(tail_start)
    )
    return head_lines + tail_lines - shares_line


def _marker(retained: RetainedText, count: StreamCount, offset: int, exec_id: str, stream: str) -> str:
    names = [f"exec_id={exec_id!r}"] if exec_id else ["exec_id"]
    if stream != "stdout":
        names.append(f"stream={stream!r}")
    lines = "1 line" if count.omitted_lines == 1 else f"{count.omitted_lines} lines"
    lost = f", of which {retained.dropped_bytes} bytes are no longer kept" if retained.dropped_bytes else ""
    return (
        f"[... {lines}, {count.omitted_bytes} bytes left out{lost}; "
        f"shell_read({', '.join([*names, f'offset={offset}'])}) reads on ...]"
    )
