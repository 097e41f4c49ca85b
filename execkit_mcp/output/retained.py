"""The redacted text of one stream, kept within a bound: its head, its tail, and exact counts of all of it.

Offsets are byte offsets into the whole redacted UTF-8 text, whether or not a byte is still kept; no offset
that is given out falls inside a character. What did not fit fell out of the middle: ``dropped_bytes`` long,
starting at ``head_bytes``.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from execkit_mcp.output.pattern import LinePattern

DEFAULT_LIMIT_BYTES = 4 << 20
_BLOCK_BYTES = 1 << 16
_CONTINUATION = 0x80
_CONTINUATION_MASK = 0xC0


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A piece of the text.

    Attributes:
        text: the piece.
        offset: where it starts, in bytes; later than asked for if that had fallen out.
        next_offset: where the next piece starts.
        skipped_bytes: how many bytes between the offset asked for and ``offset`` are no longer kept.
    """

    text: str
    offset: int
    next_offset: int
    skipped_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Lines that matched a pattern: ``text`` holds ``LINE:text`` rows, ``matches`` counts all of them."""

    text: str
    matches: int


class RetainedText:
    """Text that only grows, of which at most about ``limit_bytes`` are kept.

    Attributes:
        total_bytes: UTF-8 length of everything that was appended.
    """

    __slots__ = (
        "_head",
        "_head_limit",
        "_newlines",
        "_open",
        "_tail",
        "_tail_bytes",
        "_tail_limit",
        "_tail_newlines",
        "is_terminated",
        "total_bytes",
    )

    def __init__(self, *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        if limit_bytes < 0:
            raise ValueError("limit_bytes must not be negative")
        self._head_limit = limit_bytes // 2
        self._tail_limit = limit_bytes - self._head_limit
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._tail_newlines = 0
        self._newlines = 0
        self._open = True  # while everything so far is in the head
        self.total_bytes = 0
        self.is_terminated = True

    @property
    def total_lines(self) -> int:
        """Lines so far; an unterminated last line counts."""
        return self._newlines + (not self.is_terminated)

    @property
    def head_bytes(self) -> int:
        """How many bytes of the beginning are kept."""
        return len(self._head)

    @property
    def tail_offset(self) -> int:
        """Where the kept tail starts."""
        return self.total_bytes - self._tail_bytes

    @property
    def dropped_bytes(self) -> int:
        """How many bytes fell out of the middle."""
        return self.tail_offset - len(self._head)

    def copy(self) -> "RetainedText":
        """The same text, free to grow by itself."""
        other = RetainedText()
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        other._head = self._head.copy()
        other._tail = self._tail.copy()
        return other

    def append(self, text: str) -> None:
        """Add ``text`` at the end."""
        if not text:
            return
        data = text.encode("utf-8", "replace")
        self.total_bytes += len(data)
        self._newlines += data.count(b"\n")
        self.is_terminated = data.endswith(b"\n")
        if self._open:
            room = self._head_limit - len(self._head)
            if len(data) <= room:
                self._head += data
                return
            cut = _border_before(data, room)
            self._head += data[:cut]
            self._open = False
            data = data[cut:]
        self._append_tail(data)

    def _append_tail(self, data: bytes) -> None:
        if len(data) > self._tail_limit:
            data = data[_border_after(data, len(data) - self._tail_limit) :]
            self._tail.clear()
            self._tail_bytes = self._tail_newlines = 0
        if self._tail and len(self._tail[-1]) + len(data) <= _BLOCK_BYTES // 8:
            self._tail[-1] += data
        elif data:
            self._tail.append(data)
        self._tail_bytes += len(data)
        self._tail_newlines += data.count(b"\n")
        while self._tail_bytes > self._tail_limit:
            block = self._tail.popleft()
            excess = self._tail_bytes - self._tail_limit
            cut = _border_after(block, min(len(block), max(excess, min(_BLOCK_BYTES, self._tail_limit // 8))))
            self._tail_bytes -= cut
            self._tail_newlines -= block.count(b"\n", 0, cut)
            if cut < len(block):
                self._tail.appendleft(block[cut:])

    def read(self, offset: int = 0, max_chars: int = 20_000) -> Slice:
        """At most ``max_chars`` characters from ``offset`` on.

        One piece never spans the part that fell out.
        """
        offset = max(0, min(offset, self.total_bytes))
        asked = offset
        if len(self._head) <= offset < self.tail_offset:
            offset = self.tail_offset
        skipped = offset - asked
        if offset < len(self._head):
            while offset and _is_inside(self._head[offset]):
                offset -= 1
            data = bytes(self._head[offset : offset + 4 * max_chars])
            if self.dropped_bytes == 0 and len(data) < 4 * max_chars:
                data += self._tail_slice(0, 4 * max_chars - len(data))
        else:
            start = offset - self.tail_offset
            data = self._tail_slice(max(0, start - 3), 4 * max_chars + start - max(0, start - 3))
            lead = start - max(0, start - 3)
            while lead and lead < len(data) and _is_inside(data[lead]):
                lead -= 1
                offset -= 1
            data = data[lead:]
        text = data.decode("utf-8", "ignore")[:max_chars]
        return Slice(text=text, offset=offset, next_offset=offset + len(text.encode()), skipped_bytes=skipped)

    def read_last(self, max_chars: int) -> Slice:
        """The last ``max_chars`` characters that are kept in one piece."""
        kept_from = self.tail_offset if self.dropped_bytes else 0
        start = max(kept_from, self.total_bytes - 4 * max_chars)
        piece = self.read(start, 4 * max_chars)
        text = piece.text[-max_chars:] if max_chars else ""
        return Slice(text=text, offset=self.total_bytes - len(text.encode()), next_offset=self.total_bytes)

    def both_ends(self, size: int) -> tuple[bytes, bytes, int | None]:
        """At most ``size`` bytes from each end, and the number (from 0) of the line that the second starts in.

        When they meet, the first has everything and the number is None.
        """
        if self.dropped_bytes == 0 and self.total_bytes <= 2 * size:
            return bytes(self._head) + b"".join(self._tail), b"", None
        head = bytes(self._head[: size + 3]) if self._head else b""
        head = head[: _border_before(head, min(size, len(head)))]
        if self.dropped_bytes == 0 and len(head) < size:
            head += self._tail_slice(0, size - len(head) + 3)
            head = head[: _border_before(head, min(size, len(head)))]
        start = max(self.tail_offset if self.dropped_bytes else 0, self.total_bytes - size, len(head))
        tail = (bytes(self._head[start:]) if start < len(self._head) else b"") + self._tail_slice(
            max(0, start - self.tail_offset), size
        )
        lead = _border_after(tail, 0)
        return head, tail[lead:], self.lines_before(start + lead)

    def tail(self, lines: int, max_chars: int = 20_000) -> Slice:
        """The last ``lines`` lines, or as many whole ones of them as fit in ``max_chars``."""
        piece = self.read_last(max_chars)
        text = piece.text
        end = len(text) - 1 if text.endswith("\n") else len(text)
        cut = len(text)
        for _ in range(max(0, lines)):
            found = text.rfind("\n", 0, end)
            cut = found + 1
            if found < 0:
                if piece.offset and not self.starts_line(piece.offset):
                    first = text.find("\n") + 1
                    cut = first if 0 < first < len(text) else 0
                break
            end = found
        text = text[cut:]
        return Slice(text=text, offset=self.total_bytes - len(text.encode()), next_offset=self.total_bytes)

    def grep(self, pattern: str, max_chars: int = 20_000) -> Matches:
        """Lines that contain a match of the regular expression ``pattern``; raises ``PatternRefused``."""
        matcher = LinePattern(pattern)
        rows: list[str] = []
        size = matches = 0
        for number, line in self._numbered_lines():
            if matcher.is_in(line):
                matches += 1
                row = f"{number}:{line}\n"
                size += len(row)
                if size <= max_chars:
                    rows.append(row)
        return Matches(text="".join(rows), matches=matches)

    def lines_before(self, offset: int) -> int:
        """How many lines end before ``offset``, which must be kept."""
        if offset <= len(self._head):
            return self._head.count(b"\n", 0, offset)
        return self._newlines - self._tail_slice(offset - self.tail_offset, self._tail_bytes).count(b"\n")

    def starts_line(self, offset: int) -> bool:
        """Whether a line starts at ``offset``, as far as what is kept tells."""
        if offset == 0:
            return True
        if offset <= len(self._head):
            return self._head[offset - 1] == ord("\n")
        start = offset - self.tail_offset
        return start > 0 and self._tail_slice(start - 1, 1) == b"\n"

    def _numbered_lines(self) -> Iterator[tuple[int, str]]:
        if self.dropped_bytes == 0:
            yield from _lines(bytes(self._head) + b"".join(self._tail), 1)
            return
        yield from _lines(bytes(self._head), 1)
        yield from _lines(b"".join(self._tail), self._newlines - self._tail_newlines + 1)

    def _tail_slice(self, start: int, size: int) -> bytes:
        out: list[bytes] = []
        for block in self._tail:
            if size <= 0:
                break
            if start < len(block):
                piece = block[start : start + size]
                out.append(piece)
                size -= len(piece)
                start = 0
            else:
                start -= len(block)
        return b"".join(out)


def _lines(data: bytes, first: int) -> Iterator[tuple[int, str]]:
    if not data:
        return
    lines = data.decode("utf-8", "replace").split("\n")
    if not lines[-1]:
        lines.pop()
    yield from enumerate(lines, first)


def _is_inside(byte: int) -> bool:
    return byte & _CONTINUATION_MASK == _CONTINUATION


def _border_before(data: bytes, position: int) -> int:
    while 0 < position < len(data) and _is_inside(data[position]):
        position -= 1
    return max(0, position)


def _border_after(data: bytes, position: int) -> int:
    while position < len(data) and _is_inside(data[position]):
        position += 1
    return position
