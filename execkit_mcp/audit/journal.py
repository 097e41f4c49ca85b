"""The journal: the newest stretch of the newest segment once more, in a file that never grows.

Theory of operation. Putting a file on the disk that has grown costs a commit of the file system's own journal, and
that takes what others have written along. A file whose blocks stand already costs one write. So each entry goes into
the journal, then into the segment; what is synced before a command may run is the journal. The segment follows when
the journal is full, at rotation and at close.

- ``PLACE_BYTES`` at the front say where the stretch begins, as a ``Head``: log, segment, byte, and the entry before.
- The bytes behind mirror the segment's from there on. What an older round left behind the newest line fits no hash
  before it, so nothing has to say how long the stretch is.
- After a power cut the segment may be short, or read as zeros, where entries stood that were acknowledged: an opening
  writer puts back what the journal holds. It changes no byte that is not missing or zero: an edited line stays edited,
  and is found.
- It does so when a process opens the log, not when one that has gone on living reopens it: nothing was lost then.
- After a clean close the journal holds nothing: entries that are cut from a closed log are not put back.
"""

import os
from pathlib import Path
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.audit.chain import HEAD_BYTES, Broken, Head, parse_line
from execkit_mcp.audit.folder import segment_name, segment_numbers
from execkit_mcp.storage.folder import check_private_file, create_private_file, sync_folder

__all__ = ["JOURNAL_BYTES", "JOURNAL_NAME", "Journal", "Restored"]

JOURNAL_NAME = ".audit.journal"
JOURNAL_BYTES = 256 * 1024
PLACE_BYTES = HEAD_BYTES


class Restored(Struct, frozen=True, kw_only=True):
    """How many entries were put back, into which segment."""

    segment: int
    entries: int


class Journal:
    """The journal of one log, open; every method but ``sync`` is called under the log's lock."""

    def __init__(self, descriptor: int, key: bytes | None) -> None:
        self.descriptor = descriptor
        self._key = key
        self._place_bytes = b""
        self._place: Head | None = None
        self._end = -1  # of the segment, as far as we know it is mirrored

    @classmethod
    def open(cls, folder: Path, key: bytes | None) -> Self:
        """Open the journal in ``folder``, or make one: all its blocks are on the disk when this returns.

        Raises:
            StorageUnavailable: it cannot be made.
            ConfigPermissions: it belongs to others or they may write it.
            OSError: the disk has no room for it.
        """
        path = folder / JOURNAL_NAME
        create_private_file(path)
        check_private_file(path)
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            if size < JOURNAL_BYTES:
                while size < JOURNAL_BYTES:
                    size += os.pwrite(descriptor, bytes(JOURNAL_BYTES - size), size)
                os.fsync(descriptor)
                sync_folder(folder)
        except OSError:
            os.close(descriptor)
            raise
        return cls(descriptor, key)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.descriptor)

    def put(self, line: bytes, head: Head) -> bool:
        """Write ``line``, which follows ``head``; False: it has no room, or somebody wrote past the journal."""
        self._look(head)
        if self._place is None or self._end != head.end:
            return False
        at = PLACE_BYTES + head.end - self._place.end
        if at + len(line) > JOURNAL_BYTES:
            return False
        if os.pwrite(self.descriptor, line, at) != len(line):
            raise OSError("the journal could not be written")
        self._end = head.end + len(line)
        return True

    def take_back(self, line: bytes, head: Head) -> None:
        """Undo ``put``: the entry did not come into its segment."""
        if self._place is not None and self._place.segment == head.segment:
            os.pwrite(self.descriptor, bytes(len(line)), PLACE_BYTES + head.end - self._place.end)
        self._end = -1

    def begin(self, head: Head) -> None:
        """Begin anew behind ``head``; every entry up to there must be on the disk."""
        data = head.to_bytes(self._key)
        if os.pwrite(self.descriptor, data, 0) != PLACE_BYTES:
            raise OSError("the journal could not be written")
        self._place_bytes, self._place, self._end = data, head, head.end

    def require_named(self) -> None:
        """The file must still be in its folder: what a nameless one holds, nobody would find."""
        if os.fstat(self.descriptor).st_nlink == 0:
            raise Broken(f"{JOURNAL_NAME} was removed or replaced while it was in use")

    def restore(self, folder: Path, log: str) -> Restored | None:
        """Put back what the newest segment lacks; None: it lacks nothing that stands here."""
        place = self._read_place()
        numbers = segment_numbers(folder)
        if place is None or place.log != log or not numbers or place.segment != numbers[-1]:
            return None
        lines = self._lines(place)
        path = folder / segment_name(place.segment)
        check_private_file(path)
        segment = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = os.pread(segment, JOURNAL_BYTES, place.end)
            lacking = _lacking(lines, found)
            if not lacking or os.fstat(segment).st_size < place.end:
                return None
            for at, line in lacking:
                if os.pwrite(segment, line, place.end + at) != len(line):
                    raise OSError("what a power cut took from the log could not be put back")
            os.fdatasync(segment)
        finally:
            os.close(segment)
        return Restored(segment=place.segment, entries=len(lacking))

    def _look(self, head: Head) -> None:
        """See whether another process has begun the journal anew or written in it."""
        data = os.pread(self.descriptor, PLACE_BYTES, 0)
        if data == self._place_bytes and self._end == head.end:
            return
        self._place_bytes, self._place, self._end = data, self._read_place(), -1
        place = self._place
        if place is None or (place.log, place.segment) != (head.log, head.segment) or place.end > head.end:
            self._place = None
        elif place.seq == head.seq:
            self._end = head.end if place == head else -1
        else:  # the line before must be the last one of the log
            tail = b'"hash":"' + head.hash.encode() + b'"}\n'
            there = os.pread(self.descriptor, len(tail), PLACE_BYTES + head.end - place.end - len(tail))
            self._end = head.end if there == tail else -1

    def _read_place(self) -> Head | None:
        try:
            return Head.from_bytes(os.pread(self.descriptor, PLACE_BYTES, 0), self._key)
        except Broken:
            return None

    def _lines(self, place: Head) -> list[bytes]:
        """The lines that follow the place, each the next link of the chain."""
        data = os.pread(self.descriptor, JOURNAL_BYTES - PLACE_BYTES, PLACE_BYTES)
        lines: list[bytes] = []
        last, at = place, 0
        while (after := data.find(b"\n", at) + 1) > 0:
            try:
                entry = parse_line(data[at:after], self._key)
            except Broken:
                break
            if entry.seq != last.seq + 1 or entry.prev != last.hash:
                break
            last = replace(last, seq=entry.seq, hash=entry.hash)
            lines.append(data[at:after])
            at = after
        return lines


def _lacking(lines: list[bytes], found: bytes) -> list[tuple[int, bytes]]:
    """The lines of which ``found`` lacks a byte, each with its place in it.

    None at all where a byte was changed to something else than zero: that is no power cut's work.
    """
    lacking, at = [], 0
    for line in lines:
        there = found[at : at + len(line)]
        if there != line:
            if any(byte not in (0, due) for byte, due in zip(there, line, strict=False)):
                return []
            lacking.append((at, line))
        at += len(line)
    return lacking
