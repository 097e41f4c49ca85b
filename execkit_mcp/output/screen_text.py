r"""The screen as text without secrets, wherever on it they came together.

A secret may be drawn in pieces, run over the right edge into the next row, or be folded inside a frame. So the screen
is read three ways, and what any reading finds is covered in all: row by row; with wrapped rows joined; and, for
known values only, with the frames and blanks at the sides of all rows taken off and the rows joined.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.output.row import Row
from execkit_mcp.redaction import Redactor
from execkit_mcp.redaction.span import Priority, Span

__all__ = ["shown"]

_FRAME: Final = lazy_regex("[\\s|\u2500-\u259f~>#*+-]*")
_FRAME_END: Final = lazy_regex("[\\s|\u2500-\u259f~\\\\+-]*\\Z")
_UNSEEN: Final = lazy_regex("[\x00-\x1f\x7f-\x9f]")

_Piece = tuple[int, int, int]
"""Where in the joined text, which row, where in the row."""


def shown(rows: Sequence[Row], redactor: Redactor) -> tuple[str, dict[str, int]]:
    """The rows, one a line and without blank ones at the end, with tags for secrets; and how many of each kind."""
    texts = [_UNSEEN.sub("\ufffd", row.text) for row in rows]
    while texts and not texts[-1]:
        texts.pop()
    counts: Counter[str] = Counter()
    hidden: list[list[tuple[int, int, str]]] = [[] for _ in texts]
    for pieces, joined, least in _readings(texts, rows):
        for span in redactor.spans(joined):
            if span.priority >= least and _cover(span, pieces, texts, hidden, redactor.tag(span)):
                counts[span.kind] += 1
    lines = [_covered(text, spans) for text, spans in zip(texts, hidden, strict=True)]
    return "".join(line + "\n" for line in lines), dict(counts)


def _readings(texts: list[str], rows: Sequence[Row]) -> list[tuple[list[_Piece], str, Priority]]:
    plain = [(text, 0, "\n") for text in texts]
    wrapped = [(text, 0, "" if row.is_wrapped else "\n") for text, row in zip(texts, rows, strict=False)]
    inner = []
    for text in texts:
        start = found.end() if (found := _FRAME.match(text)) is not None else 0
        end = found.start() if (found := _FRAME_END.search(text, start)) is not None else len(text)
        inner.append((text[start:end], start, ""))
    return [
        (*_joined(plain), Priority.CONFIRMED),
        (*_joined(wrapped), Priority.CONFIRMED),
        (*_joined(inner), Priority.KNOWN),
    ]


def _joined(parts: list[tuple[str, int, str]]) -> tuple[list[_Piece], str]:
    pieces: list[_Piece] = []
    out: list[str] = []
    at = 0
    for number, (text, start, end) in enumerate(parts):
        pieces.append((at, number, start))
        out += (text, end)
        at += len(text) + len(end)
    return pieces, "".join(out)


def _cover(
    span: Span, pieces: list[_Piece], texts: list[str], hidden: list[list[tuple[int, int, str]]], tag: str
) -> bool:
    """Note what the span covers in each row; the first gets the tag. False if all of it is covered already."""
    is_new = False
    for index, (at, number, start) in enumerate(pieces):
        limit = pieces[index + 1][0] if index + 1 < len(pieces) else span.end
        low, high = max(span.start, at), min(span.end, limit)
        if low >= high:
            continue
        first, last = start + low - at, min(start + high - at, len(texts[number]))
        if first < last and not any(begin <= first and last <= end for begin, end, _ in hidden[number]):
            hidden[number].append((first, last, tag if span.start >= at else "…"))
            is_new = True
    return is_new


def _covered(text: str, spans: list[tuple[int, int, str]]) -> str:
    out: list[str] = []
    at = 0
    for start, end, tag in sorted(spans):
        if start >= at:
            out += (text[at:start], tag)
        at = max(at, end)
    return "".join(out) + text[at:]
