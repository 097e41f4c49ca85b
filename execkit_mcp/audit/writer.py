"""The writer: an entry is on the disk and chained before ``append`` returns, or nothing may run.

Theory of operation. All processes that share a folder append to its newest segment, one at a time, under an
flock(2) on the head file. Under the lock a writer first looks whether the files are still the ones it opened
and end where it left them; if another process has appended, it reads what is new and checks it as ``verify``
would. Then: write the line, fdatasync, write the head (512 bytes in place, in one sector), unlock.

- A crash between line and head leaves the head one entry behind: the next writer reads on from there.
- A crash within the line leaves a torn end. It is evidence and stays; a new segment opens that names it.
- After any failure the writer is closed for good ("fail closed"): every further ``append`` raises
  AuditWriteFailed until
  ``reopen`` has read the log from its head and found it whole.
- A log that does not fit its head is never written to: AuditChainBroken. Nor is another log, or an older state of
  the same one, that stands in the folder when a writer reopens: what it has written must still be there.
"""

import fcntl
import hashlib
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from execkit_mcp.audit.chain import HEAD_BYTES, OPENED, Broken, Head, genesis, key_id, parse_line, seal
from execkit_mcp.audit.folder import HEAD_NAME, lock, segment_name, segment_numbers
from execkit_mcp.errors import AuditChainBroken, AuditWriteFailed, ExecKitError
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.storage.folder import (
    check_private_file,
    create_private_file,
    open_private_folder,
    sync_folder,
)

__all__ = ["SEGMENT_BYTES", "AuditLog"]

SEGMENT_BYTES = 64 * 1024 * 1024
_CLOSED = -1


class AuditLog:
    """The audit log of one folder; safe to use from several threads and processes."""

    def __init__(self, folder: Path, *, clock: Clock, entropy: Entropy, key: bytes | None) -> None:
        self._folder = folder
        self._clock = clock
        self._entropy = entropy
        self._key = key
        self._mutex = threading.Lock()
        self._head_fd = _CLOSED
        self._log_fd = _CLOSED
        self._head = Head(log="", seq=0, hash="", segment=0, end=0)
        self._known: Head | None = None  # the last entry that was surely on the record, over every failure
        self._torn = b""
        self._head_bytes = b""  # as we last wrote them: while they stand in the file, nobody else has written
        self._head_path = str(folder / HEAD_NAME)
        self._log_path = ""
        self._failure = "it is not open"
        self._is_dirty = False

    @classmethod
    def open(cls, folder: str | Path, *, clock: Clock, entropy: Entropy, key: bytes | None = None) -> Self:
        """Open the log in ``folder`` or begin one.

        Args:
            folder: the state folder; made with mode 0700.
            clock: the time of entries.
            entropy: where a new log's id comes from.
            key: with a key, hashes are HMACs that only its holders can make (see ``chain``).

        Raises:
            StorageUnavailable: the folder cannot be used.
            ConfigPermissions: it belongs to others or they may write in it.
            AuditWriteFailed: a file in it cannot be written.
            AuditChainBroken: what stands there was tampered with; it is left as it is.
        """
        log = cls(open_private_folder(folder), clock=clock, entropy=entropy, key=key)
        log.reopen()
        return log

    @property
    def head(self) -> Head:
        """The last entry this writer knows of: its number and hash."""
        return self._head

    def append(self, kind: str, data: Mapping[str, object], *, is_synced: bool = True) -> str:
        """Put one entry on the record; when this returns its hash, it is on the disk.

        Args:
            kind: what happened, such as ``decision`` or ``exec.started``.
            data: the facts, JSON-able and already redacted.
            is_synced: False leaves the entry in the kernel's hands (a killed process loses nothing, a power cut may)
                until the next synced entry, ``sync`` or ``close``. Only for what has happened already: what is about
                to run must be on the disk first.

        Raises:
            AuditWriteFailed: it is not on the record; nothing may run.
            AuditChainBroken: the log was tampered with under us; nothing may run.
        """
        with self._mutex:
            if self._failure:
                raise self._failed(f"The audit log cannot be written: {self._failure}.")
            with self._failing_closed(), self._locked():
                self._catch_up()
                if self._head.end >= SEGMENT_BYTES:
                    self._open_segment(self._head.segment + 1)
                self._write(kind, data, is_synced=is_synced)
                self._known = self._head
                return self._head.hash

    def sync(self) -> None:
        """Put entries that were left in the kernel's hands on the disk; does nothing when there are none.

        Raises:
            AuditWriteFailed: it cannot be done; the log is closed until ``reopen``.
        """
        with self._mutex:
            if self._is_dirty and not self._failure:
                with self._failing_closed():
                    os.fdatasync(self._log_fd)
                    self._is_dirty = False

    def reopen(self) -> None:
        """Open the files anew and read on from the head; the only way back after a failure."""
        with self._mutex:
            self._close_files()
            with self._failing_closed():
                if self._known is None:
                    open_private_folder(self._folder)
                self._open_head()
                with self._locked():
                    head = self._read_head()
                    self._read_on(self._start(head), named=head)
                    if self._torn or self._head.seq == 0:
                        self._open_segment(max([0, *segment_numbers(self._folder)]) + 1)
                    self._known = self._head
                self._failure = ""

    def _start(self, head: Head) -> Head:
        """Where to read on from: the head, or the last entry that was surely on the record, which must be there."""
        known = self._known
        if known is None:
            return head
        if head.log != known.log or head.seq < known.seq:
            raise Broken("entries that were on the record are gone")
        return known

    def close(self) -> None:
        """Put the head on the disk too and let go of the files; closing twice does nothing."""
        with self._mutex:
            if self._head_fd != _CLOSED and not self._failure:
                with self._failing_closed():
                    os.fdatasync(self._log_fd)
                    os.fdatasync(self._head_fd)
            self._close_files()
            self._failure = self._failure or "it was closed"

    # ── under the lock ──

    def _write(self, kind: str, data: Mapping[str, object], *, is_synced: bool = True) -> None:
        head = self._head
        time = datetime.fromtimestamp(self._clock.epoch_s(), UTC).isoformat(timespec="microseconds")
        line, digest = seal(seq=head.seq + 1, time=time, kind=kind, data=data, prev=head.hash, key=self._key)
        written = os.write(self._log_fd, line)
        if written != len(line):
            raise OSError(f"only {written} of {len(line)} bytes could be written")
        if is_synced:
            os.fdatasync(self._log_fd)
        self._is_dirty = not is_synced
        self._head = replace(head, seq=head.seq + 1, hash=digest, end=head.end + len(line))
        self._write_head()

    def _write_head(self) -> None:
        self._head_bytes = self._head.to_bytes(self._key)
        if os.pwrite(self._head_fd, self._head_bytes, 0) != HEAD_BYTES:
            raise OSError("the head file could not be written")

    def _read_head(self) -> Head:
        return Head.from_bytes(os.pread(self._head_fd, 2 * HEAD_BYTES, 0), self._key)

    def _catch_up(self) -> None:
        """Make sure that nothing but other writers touched the files, and read what those have added."""
        self._require_same(self._head_fd, self._head_path)
        size = self._require_same(self._log_fd, self._log_path)
        if size == self._head.end and os.pread(self._head_fd, 2 * HEAD_BYTES, 0) == self._head_bytes:
            return
        head = self._read_head()
        if head.log != self._head.log or head.seq < self._head.seq or size < self._head.end:
            raise Broken("entries that were on the record are gone")
        self._read_on(self._head, named=head)
        if self._torn:
            self._open_segment(max(segment_numbers(self._folder)) + 1)

    def _read_on(self, head: Head, *, named: Head) -> None:
        """Read every entry behind ``head``, through all segments, at least up to ``named``."""
        numbers = segment_numbers(self._folder)
        if numbers != list(range(1, len(numbers) + 1)) or (head.segment and head.segment not in numbers):
            raise Broken("a segment file is missing")
        self._head, self._torn = head, b""
        for number in numbers[max(0, head.segment - 1) :]:
            self._use_segment(number)
            offset = head.end if number == head.segment else 0
            if os.fstat(self._log_fd).st_size < offset:
                raise Broken(f"the end of {segment_name(number)} was cut")
            *lines, rest = _read_from(self._log_fd, offset).split(b"\n")
            for line in lines:
                entry = parse_line(line + b"\n", self._key)
                if entry.seq != self._head.seq + 1 or entry.prev != self._head.hash:
                    raise Broken(f"entry {entry.seq} does not follow entry {self._head.seq}")
                end = (self._head.end if number == self._head.segment else 0) + len(line) + 1
                self._head = replace(self._head, seq=entry.seq, hash=entry.hash, segment=number, end=end)
                self._torn = b""
                if entry.seq == named.seq and self._head != named:
                    raise Broken(f"entry {entry.seq} is not the one that the head file names")
            self._torn += rest
        if self._head.seq < named.seq:
            raise Broken(f"the head file names entry {named.seq}, the last one found is {self._head.seq}")
        if self._head.segment:
            self._use_segment(self._head.segment)
        if head.seq and self._head.seq == head.seq:
            self._require_last_line(head)
        self._write_head()  # after a crash it was behind

    def _require_last_line(self, head: Head) -> None:
        """The bytes just before ``head.end`` must be the line with its hash."""
        tail = b'"hash":"' + head.hash.encode() + b'"}\n'
        if os.pread(self._log_fd, len(tail), head.end - len(tail)) != tail:
            raise Broken(f"entry {head.seq} is not the one that the head file names")

    def _open_segment(self, number: int) -> None:
        path = self._folder / segment_name(number)
        create_private_file(path)
        self._use_segment(number)
        torn, self._torn = self._torn, b""
        self._head = replace(self._head, segment=number, end=0)
        self._write(
            OPENED,
            {
                "log": self._head.log,
                "segment": number,
                "key": key_id(self._key),
                "torn_bytes": len(torn),
                "torn_sha256": hashlib.sha256(torn).hexdigest(),
            },
        )
        os.fdatasync(self._head_fd)
        sync_folder(self._folder)

    def _use_segment(self, number: int) -> None:
        path = self._folder / segment_name(number)
        check_private_file(path)
        if self._log_fd != _CLOSED:
            if self._is_dirty:
                os.fdatasync(self._log_fd)
                self._is_dirty = False
            os.close(self._log_fd)
            self._log_fd = _CLOSED
        self._log_fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._log_path = str(path)

    def _require_same(self, descriptor: int, path: str) -> int:
        """The size of the file, which must still be the one that we opened."""
        mine, there = os.fstat(descriptor), os.stat(path)  # noqa: PTH116 # a Path costs 10 µs here
        if (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino):
            raise Broken(f"{os.path.basename(path)} was replaced while it was in use")  # noqa: PTH119
        return mine.st_size

    # ── files and failures ──

    def _open_head(self) -> None:
        path = self._folder / HEAD_NAME
        if not os.path.lexists(path):
            if segment_numbers(self._folder) or self._known is not None:
                raise Broken("the head file is missing")
            self._begin()
        check_private_file(path)
        self._head_fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)

    def _begin(self) -> None:
        """Make the head of a new log: complete under a passing name, then linked, so that one of two wins."""
        log = self._entropy.token_hex(16)
        passing = self._folder / f".{HEAD_NAME}.{log}"
        create_private_file(passing)
        try:
            passing.write_bytes(Head(log=log, seq=0, hash=genesis(log), segment=0, end=0).to_bytes(self._key))
            try:
                os.link(passing, self._folder / HEAD_NAME)
            except FileExistsError:
                return
        finally:
            passing.unlink()
        sync_folder(self._folder)

    def _close_files(self) -> None:
        for descriptor in (self._head_fd, self._log_fd):
            if descriptor != _CLOSED:
                os.close(descriptor)
        self._head_fd = self._log_fd = _CLOSED

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock(self._head_fd, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._head_fd, fcntl.LOCK_UN)

    @contextmanager
    def _failing_closed(self) -> Iterator[None]:
        """Whatever goes wrong inside shuts this writer, and says so as an error of ours."""
        try:
            yield
        except Broken as broken:
            self._failure = str(broken)
            raise AuditChainBroken(
                f"The audit log in {self._folder} is not whole: {broken}.",
                hint="Run `execkit-mcp audit verify`; to begin a new log, move the folder away and start again.",
                details={"folder": str(self._folder)},
            ) from broken
        except OSError as error:
            self._failure = error.strerror or str(error)
            raise self._failed(f"The audit log {self._folder} cannot be written: {self._failure}.") from error
        except (ValueError, TypeError) as error:
            # Found before a byte was written: this entry is refused, the log is as good as before.
            raise self._failed(f"The entry cannot be put into JSON: {error}.") from error
        except ExecKitError as error:
            self._failure = error.message.rstrip(".")
            raise

    def _failed(self, message: str) -> AuditWriteFailed:
        return AuditWriteFailed(
            message,
            hint="Nothing runs until it can be written: see that the folder exists and its disk has room.",
            details={"folder": str(self._folder)},
        )


def _read_from(descriptor: int, offset: int) -> bytes:
    parts = []
    while part := os.pread(descriptor, 1 << 20, offset):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)
