"""The redacted text of one stream, kept within a bound: its head, its tail, and exact counts of all of it.

Offsets are byte offsets into the whole redacted UTF-8 text, whether or not a byte is still kept; no offset
that is given out falls inside a character. What did not fit fell out of the middle: ``dropped_bytes`` long,
starting at ``head_bytes``.

Over 400 lines: one text, and each way to read it.
"""

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from copy import copy

from msgspec import Struct

from execkit_mcp.errors import StorageUnavailable
from execkit_mcp.output.byte_store import ByteStore, MemoryStore
from execkit_mcp.output.characters import (
    border_after,
    border_before,
    is_inside_character,
    pieces_of,
    whole_characters,
)
from execkit_mcp.output.pattern import LinePattern

DEFAULT_LIMIT_BYTES = 4 << 20
_BLOCK_BYTES = 1 << 16
_PIECE_BYTES = 1 << 18
_STEP_BYTES = 1 << 12  # searched at once
_LONGEST_LINE = 1 << 20
_FALLBACK_BYTES = 1 << 17


class Slice(Struct, frozen=True, kw_only=True):
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


_NOTHING = Slice(text="", offset=0, next_offset=0)


class Matches(Struct, frozen=True, kw_only=True):
    """Lines that matched a pattern: ``text`` holds ``LINE:text`` rows, ``matches`` counts all of them."""

    text: str
    matches: int


class RetainedText:
    """Text that only grows, of which at most ``limit_bytes`` are kept, in memory or in the ``store`` that is given.

    The store's first half is the head. Its second half is a ring: the byte at offset ``o`` of the tail lies at
    ``(o - head_bytes) % ring size`` there, so nothing is ever moved. The tail is let go in blocks.

    A store that fails ends nothing: the ends of what it held, as far as they can still be read, go on in memory.

    Attributes:
        total_bytes: UTF-8 length of everything that was appended.
        is_terminated: whether it ends in a line end, or is empty.
        trouble: why the store was given up; empty if it was not.
    """

    __slots__ = (
        "_blocks",
        "_extra",
        "_head_bytes",
        "_head_limit",
        "_newlines",
        "_open",
        "_origin",
        "_store",
        "_tail_bytes",
        "_tail_limit",
        "is_terminated",
        "total_bytes",
        "trouble",
    )

    def __init__(self, *, limit_bytes: int = DEFAULT_LIMIT_BYTES, store: ByteStore | None = None) -> None:
        if limit_bytes < 0:
            raise ValueError("limit_bytes must not be negative")
        self._head_limit = limit_bytes // 2
        self._tail_limit = limit_bytes - self._head_limit
        self._store: ByteStore = MemoryStore() if store is None else store
        self._head_bytes = 0
        self._blocks: deque[tuple[int, int]] = deque()  # bytes and line ends of each part of the tail
        self._tail_bytes = 0
        self._newlines = 0
        self._open = True  # while everything so far is in the head
        self._extra = b""  # what a copy has at its end
        self._origin: RetainedText | None = None  # of a copy
        self.total_bytes = 0
        self.is_terminated = True
        self.trouble = ""

    @property
    def total_lines(self) -> int:
        """Lines so far; an unterminated last line counts."""
        return self._newlines + (not self.is_terminated)

    @property
    def head_bytes(self) -> int:
        """How many bytes of the beginning are kept."""
        return self._head_bytes

    @property
    def tail_offset(self) -> int:
        """Where the kept tail starts."""
        return self._stored_bytes - self._tail_bytes

    @property
    def dropped_bytes(self) -> int:
        """How many bytes fell out of the middle."""
        return self.tail_offset - self._head_bytes

    @property
    def kept_bytes(self) -> int:
        """How many bytes can be read."""
        return self.total_bytes - self.dropped_bytes

    @property
    def is_spilled(self) -> bool:
        """Whether what is kept lies outside this process."""
        return self._store.is_spilled

    @property
    def settled_bytes(self) -> int:
        """How many bytes will not change any more."""
        return self._stored_bytes

    @property
    def _stored_bytes(self) -> int:
        return self.total_bytes - len(self._extra)

    def with_pending(self, text: str) -> "RetainedText":
        """This text with ``text`` at its end, to be read at once; nothing can be appended to it."""
        other = copy(self)
        other._origin = self  # noqa: SLF001 - of this class
        other._take_extra(text.encode("utf-8", "replace"))  # noqa: SLF001
        return other

    def _take_extra(self, data: bytes) -> None:
        self._blocks = self._blocks.copy()
        self._extra = data
        self._count(data)

    def rest(self) -> None:
        """Give back what is only needed while text is appended."""
        self._store.rest()

    def discard(self) -> None:
        """Remove what the store holds; nothing may be read any more."""
        self._store.discard()

    def verify(self) -> None:
        """See that what is kept can be read; what somebody removed counts as fallen out from now on."""
        try:
            self._store.verify()
        except StorageUnavailable as error:
            self.trouble = error.message
            self._store = MemoryStore()
            self._head_bytes = self._tail_bytes = 0
            self._blocks.clear()
            self._open = self.total_bytes == 0

    def append(self, text: str) -> None:
        """Add ``text`` at the end."""
        self.append_bytes(text.encode("utf-8", "replace"))

    def append_bytes(self, data: bytes) -> None:
        """Add ``data``, which is whole UTF-8, at the end."""
        if not data:
            return
        try:
            self._keep(data)
        except StorageUnavailable as error:
            self._go_on_in_memory(error.message)
            self._keep(data)
        self._count(data)

    def _count(self, data: bytes) -> None:
        self.total_bytes += len(data)
        self._newlines += data.count(b"\n")
        self.is_terminated = data.endswith(b"\n")

    def _keep(self, data: bytes) -> None:
        """Put ``data`` into the store; ``total_bytes`` does not count it yet."""
        if self._open:
            room = self._head_limit - self._head_bytes
            cut = border_before(data, room) if len(data) > room else len(data)
            self._store.write(self._head_bytes, data[:cut])
            self._head_bytes += cut
            if cut == len(data):
                return
            self._open = False
            data = data[cut:]
            offset = self.total_bytes + cut
        else:
            offset = self.total_bytes
        self._keep_tail(data, offset)

    def _keep_tail(self, data: bytes, offset: int) -> None:
        skipped = 0
        if len(data) > self._tail_limit:
            skipped = border_after(data, len(data) - self._tail_limit)
            self._blocks.clear()
            self._tail_bytes = 0
        size = max(1, min(_BLOCK_BYTES, self._tail_limit // 8))
        while self._tail_bytes + len(data) - skipped > self._tail_limit:
            self._tail_bytes -= self._blocks.popleft()[0]
        self._write_ring(offset + skipped, data[skipped:])
        for at, end in pieces_of(data, skipped, size):  # not before it is written: a failed write changes nothing
            newlines = data.count(b"\n", at, end)
            if self._blocks and self._blocks[-1][0] + end - at <= size:
                last = self._blocks.pop()
                self._blocks.append((last[0] + end - at, last[1] + newlines))
            else:
                self._blocks.append((end - at, newlines))
            self._tail_bytes += end - at

    def _write_ring(self, offset: int, data: bytes) -> None:
        if not data:
            return
        at = (offset - self._head_bytes) % self._tail_limit
        room = self._tail_limit - at
        self._store.write(self._head_limit + at, data[:room])
        if len(data) > room:
            self._store.write(self._head_limit, data[room:])

    def _go_on_in_memory(self, trouble: str) -> None:
        """Keep the ends of what is kept, as far as they can be read, and give the store up."""
        half = _FALLBACK_BYTES // 2
        old, total = self._store, self.total_bytes
        self._head_bytes = min(self._head_bytes, total)
        try:
            head = self._bytes(0, min(self._head_bytes, half))
            head = whole_characters(head)
            first = len(head) if self.dropped_bytes == 0 else self.tail_offset
            tail = self._bytes(max(first, total - half), total)
            tail = tail[border_after(tail, 0) :]
        except StorageUnavailable:
            head = tail = b""
        self.trouble = trouble
        self._store = MemoryStore()
        self._head_limit, self._tail_limit = half, _FALLBACK_BYTES - half
        self._head_bytes, self._tail_bytes = len(head), 0
        self._blocks.clear()
        self._open = len(head) == total and not tail
        self._store.write(0, head)
        if tail:
            self._keep_tail(tail, total - len(tail))
        with suppress(StorageUnavailable):
            old.discard()

    def _bytes(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``, all of which are kept."""
        out = []
        if start < min(end, self._head_bytes):
            out.append(self._store.read(start, min(end, self._head_bytes) - start))
        low, high = max(start, self.tail_offset), min(end, self._stored_bytes)
        if low < high:
            at = (low - self._head_bytes) % self._tail_limit
            room = self._tail_limit - at
            out.append(self._store.read(self._head_limit + at, min(high - low, room)))
            if high - low > room:
                out.append(self._store.read(self._head_limit, high - low - room))
        if self._extra and end > self._stored_bytes:
            out.append(self._extra[max(start - self._stored_bytes, 0) : end - self._stored_bytes])
        return b"".join(out)

    def read(self, offset: int = 0, max_chars: int = 20_000) -> Slice:
        """At most ``max_chars`` characters from ``offset`` on.

        One piece never spans the part that fell out.
        """
        if not self.total_bytes:
            return _NOTHING
        asked = offset = max(0, min(offset, self.total_bytes))
        if self._head_bytes <= offset < self.tail_offset:
            offset = self.tail_offset
        skipped = offset - asked
        is_in_head = self.dropped_bytes and offset < self._head_bytes
        lowest = 0 if is_in_head or self.dropped_bytes == 0 else self.tail_offset
        start = max(offset - 3, lowest)
        end = min(offset + 4 * max_chars, self._head_bytes if is_in_head else self.total_bytes)
        data = self._bytes(start, end)
        lead = offset - start
        while lead and lead < len(data) and is_inside_character(data[lead]):
            lead -= 1
            offset -= 1
        text = data[lead:].decode("utf-8", "ignore")[:max_chars]
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
            return self._bytes(0, self.total_bytes), b"", None
        end = min(size, self._head_bytes if self.dropped_bytes else self.total_bytes)
        head = whole_characters(self._bytes(0, end))
        start = max(self.tail_offset if self.dropped_bytes else len(head), self.total_bytes - size)
        tail = self._bytes(start, self.total_bytes)
        lead = border_after(tail, 0)
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
        steps = self.grep_steps(pattern, max_chars)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: Matches = end.value
                return found

    def grep_steps(self, pattern: str, max_chars: int = 20_000) -> Generator[None, None, Matches]:
        """``grep`` in short steps, between which the text may grow; what falls out meanwhile is not searched."""
        matcher = LinePattern(pattern)
        rows: list[str] = []
        size = matches = last = 0
        for lines in self._numbered_lines():
            for number, line in lines:
                if number != last and matcher.is_in(line):
                    matches += 1
                    last = number
                    row = f"{number}:{line}\n"
                    size += len(row)
                    if size <= max_chars:
                        rows.append(row)
            yield
        return Matches(text="".join(rows), matches=matches)

    def lines_before(self, offset: int) -> int:
        """How many lines end before ``offset``, which must be kept."""
        if offset <= self._head_bytes:
            return self._count_newlines(0, offset)
        number = self._newlines - self._extra.count(b"\n") - sum(newlines for _, newlines in self._blocks)
        at = self.tail_offset
        for size, newlines in self._blocks:
            if at + size > offset:
                break
            at += size
            number += newlines
        return number + self._count_newlines(at, offset)

    def _count_newlines(self, start: int, end: int) -> int:
        return sum(self._bytes(at, min(at + _PIECE_BYTES, end)).count(b"\n") for at in range(start, end, _PIECE_BYTES))

    def starts_line(self, offset: int) -> bool:
        """Whether a line starts at ``offset``, as far as what is kept tells."""
        if offset == 0:
            return True
        is_known = offset <= self._head_bytes or offset > self.tail_offset or self.dropped_bytes == 0
        return is_known and self._bytes(offset - 1, offset) == b"\n"

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, bytes]]:
        """What is kept between two offsets: where each piece starts, and the piece, which ends a line where it can."""
        for low, high in ((start, min(end, self._head_bytes)), (max(start, self.tail_offset), end)):
            at = low
            while at < high:
                data = self._bytes(at, min(at + _PIECE_BYTES, high))
                if at + len(data) < high:
                    data = data[: data.rfind(b"\n") + 1] or whole_characters(data) or data
                yield at, data
                at += len(data)

    def around(self, offset: int, before: int, after: int) -> tuple[int, bytes]:
        """What is kept around ``offset``, at most so many bytes before and after it, and where it starts."""
        is_in_head = self.dropped_bytes and offset < self._head_bytes
        lowest = 0 if is_in_head or not self.dropped_bytes else self.tail_offset
        start = max(offset - before, lowest)
        return start, self._bytes(start, min(offset + after, self._head_bytes if is_in_head else self.total_bytes))

    def _numbered_lines(self) -> Iterator[list[tuple[int, str]]]:
        """Every line that is kept, with its number, some at a time.

        A line over ``_LONGEST_LINE`` comes in pieces of one number.
        """
        origin, end = self._origin or self, self.total_bytes
        at, number, rest = 0, 1, b""
        while at < end:
            kept_from = min(origin.tail_offset, self._stored_bytes)  # what a copy has at its end stays
            if self._head_bytes <= at < kept_from:
                if rest:
                    yield [(number, rest.decode("utf-8", "replace"))]
                at, rest = kept_from, b""
                number = (origin if at < self._stored_bytes else self).lines_before(at) + 1
                continue
            data = self._bytes(at, min(at + _STEP_BYTES, self._head_bytes if at < self._head_bytes else end))
            if not data:  # it was let go meanwhile
                return
            at += len(data)
            *whole, rest = (rest + data).split(b"\n")
            lines = list(enumerate((line.decode("utf-8", "replace") for line in whole), number))
            number += len(whole)
            if len(rest) > _LONGEST_LINE:
                whole_part = whole_characters(rest)
                lines.append((number, whole_part.decode("utf-8", "replace")))
                rest = rest[len(whole_part) :]
            yield lines
        if rest:
            yield [(number, rest.decode("utf-8", "replace"))]
