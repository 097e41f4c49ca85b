# ruff: noqa: E501 - a pattern or a row stands in one piece
"""Private keys: the body between BEGIN and END, with or without the END, on many lines or on one.

Theory of operation. After a BEGIN line of a private key come header lines, then body lines: one width,
base64 only, perhaps after a prefix that every line bears (an indent, ``> ``, a line number). A line that is
shorter by far is the last one. The first line that does not look like one ends the block, and nothing after it is touched:
losing output is as bad as leaking it. The whole body is one secret with one tag, so the block waits until
its end is seen; a body over ``MAX_BODY`` is given out in parts.
"""

import re
from collections.abc import Iterator

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.span import Priority, Span

KIND = "private_key"
MAX_BODY = 1 << 16

_BEGIN = lazy_regex(
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----|-----BEGIN (?:OpenVPN Static key V1|USER NKEY SEED|OPERATOR NKEY SEED|ACCOUNT NKEY SEED|NATS USER JWT)-----"
)
_SAME_LINE = lazy_regex(r"(?:\\+[nr]|[ \t\"'+,])*((?:[A-Za-z0-9+/=]|\\+[nr/]|[ \t]|[\"'][ \t]*[+,]?[ \t]*[\"'])*)")
_PUTTY = lazy_regex(r"Private-Lines: {1,4}\d{1,4}[ \t\r]*$", re.MULTILINE)
_HEADER = lazy_regex(
    r"[ \t>|#*+-]{0,16}(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject)\s?: ?.{0,200})?\s*"
)
_PREFIX = (  # a plus sign is a prefix only before a blank: base64 may start with one
    r"(?P<prefix>[ \t]{0,64}(?:[\w./-]{1,120}[:-])?(?:[ \t]{0,8}\d{1,7}[:\t |-]{1,4})?[ \t>|#*\"'-]{0,16}(?:\+[ \t]{1,8})?)"
)
_BODY = lazy_regex(
    _PREFIX + r"(?P<body>[A-Za-z0-9+/]{1,4096}={0,2}|=[A-Za-z0-9+/]{4})(?P<suffix>(?:\\+[nr]|[\"', \t\r+\\])*)"
)
_END = lazy_regex(r"[^\n]{0,140}-{4,5} ?END [A-Z0-9 ]{1,60}-{4,5}")
_HEX_LINE = lazy_regex(r"[0-9a-f]{32,128}|[A-Z2-7]{40,80}")
_MIN_WIDTH = 16
_MIN_MIXED = 3
_FULL = 48  # characters of a line that may be followed by more, though the line before was longer


def _is_mixed(text: str) -> bool:
    """Whether ``text`` looks like base64 rather than a word."""
    kinds = any(c.islower() for c in text) + any(c.isupper() for c in text) + any(c in "0123456789+/=" for c in text)
    return kinds >= _MIN_MIXED or _HEX_LINE.fullmatch(text) is not None or text.endswith("=") or text.startswith("=")


MARK = "-"
"""The kind of a span that only says: a key may start on this line."""


def _mark(_text: str, at: int, after: int, _end: int) -> Iterator[Span]:
    yield Span(at, after, MARK, "", Priority.CONFIRMED)


RULES: tuple[Rule, ...] = (
    Rule(
        name="key:begin",
        keywords=("private key", "private-lines", "static key v1", "nkey seed"),
        look=_mark,
        gate=lambda: r"(?:private(?: key|-lines)|static key v1|nkey seed)",
        is_of_line=True,
    ),
)


class KeyBlocks:
    """The state of one stream: whether it stands inside a private key."""

    __slots__ = ("_marks", "_parts", "width")

    def __init__(self) -> None:
        self.width = 0  # characters of a full body line of the block that is open; 0: none; -2: its last line was seen
        self._parts: list[tuple[int, int]] = []  # blocks of the last text, each to be decided as a whole
        self._marks: dict[int, int] = {}  # offsets at which the next text may start inside a block, with its width

    def copy(self) -> "KeyBlocks":
        """The same state, free to be advanced."""
        other = KeyBlocks()
        other.width = self.width
        return other

    def whole_before(self, offset: int) -> int:
        """``offset``, or the start of the block that it would cut."""
        for start, end in self._parts:
            if start < offset < end:
                return start
        return offset

    def commit(self, decided: int) -> None:
        """The text is decided up to ``decided``: the next one starts there."""
        if decided:
            self.width = self._marks.get(decided, 0)

    def find(self, text: str, *, is_final: bool, is_marked: bool = True) -> tuple[list[Span], int]:
        """Spans of key bodies, and the offset from which on lines must wait for more."""
        self._parts = []
        self._marks = {}
        if not self.width and not is_marked:
            return [], len(text)
        spans: list[Span] = []
        position = 0
        if self.width:
            position, waiting = self._follow(text, 0, 0, self.width, spans, is_final=is_final)
            if waiting is not None:
                return spans, waiting
        while True:
            begin = _BEGIN.search(text, position)
            putty = _PUTTY.search(text, position, begin.start() if begin else len(text))
            if putty is not None:
                begin = putty
            if begin is None:
                return spans, len(text)
            line_end = text.find("\n", begin.end())
            line_end = len(text) if line_end < 0 else line_end
            position = self._same_line(text, begin.end(), line_end, spans)
            if position < line_end:
                continue
            start = text.rfind("\n", 0, begin.start()) + 1
            position, waiting = self._follow(text, start, min(line_end + 1, len(text)), -1, spans, is_final=is_final)
            if waiting is not None:
                return spans, waiting

    def _same_line(self, text: str, after: int, line_end: int, spans: list[Span]) -> int:
        r"""A key that stands on one line, its line ends written as ``\n`` or blanks."""
        body = _SAME_LINE.match(text, after, line_end)
        runs = re.split(r"\\+[nr]|[^A-Za-z0-9+/=]+", body[1]) if body is not None else [""]
        if body is None or max(map(len, runs)) < _MIN_WIDTH or not _is_mixed("".join(runs)):
            rest = text[after:line_end].strip(" \t\r\"',\\nr")
            return line_end if not rest else after
        inner = re.sub(r"\\+[nr]|[^A-Za-z0-9+/=]", "", body[1])
        spans.append(Span(body.start(1), body.start(1) + len(body[1].rstrip(" \t")), KIND, inner, Priority.KEY_BLOCK))
        return body.end()

    def _follow(
        self, text: str, block: int, position: int, width: int, spans: list[Span], *, is_final: bool
    ) -> tuple[int, int | None]:
        """Walk body lines from ``position``; returns where it ended, and what must wait if it did not."""
        first = last = -1
        body: list[str] = []
        size = 0
        is_header = width == -1
        carried = 0 if is_header else width
        ended = False
        while position < len(text):
            end = text.find("\n", position)
            is_whole = end >= 0
            end = end if is_whole else len(text)
            line = text[position:end]
            if _END.match(line):
                ended = True
                break
            if is_header and _HEADER.fullmatch(line):
                position = min(end + 1, len(text))
                continue
            found = _BODY.fullmatch(line)
            if found is None or not self._continues(found["body"], width, is_first=is_header):
                ended = True
                break
            is_header = False
            first = position + found.start("body") if first < 0 else first
            last = position + found.end("body")
            body.append(found["body"])
            size += len(line)
            position = min(end + 1, len(text))
            if width > 0 and len(found["body"]) < min(width, _FULL) and is_whole:
                width = -2  # the last line was seen; a checksum line may follow
            width = min(width, len(found["body"])) if width > 0 else len(found["body"]) if width == -1 else width
            if size >= MAX_BODY:
                self._add(spans, first, last, body)
                self._parts.append((block, position))
                first, body, size, block, carried = -1, [], 0, position, width
        self._marks[block] = carried
        if not ended and not is_final:
            return position, block
        self._add(spans, first, last, body)
        self._parts.append((block, position))
        if not ended and width != -1:
            self._marks[position] = width
        return position, None

    @staticmethod
    def _add(spans: list[Span], first: int, last: int, body: list[str]) -> None:
        if first >= 0:
            spans.append(Span(first, last, KIND, "".join(body), Priority.KEY_BLOCK))

    @staticmethod
    def _continues(body: str, width: int, *, is_first: bool) -> bool:
        if is_first:
            return len(body) >= _MIN_WIDTH and _is_mixed(body)
        if width == -2:  # noqa: PLR2004
            return body.startswith("=")
        if len(body) == width:
            return True
        return len(body) < width and _is_mixed(body)
