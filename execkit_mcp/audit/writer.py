"""The writer: an entry is on the disk and chained before ``append`` returns, or nothing may run.

Theory of operation. All processes that share a folder append to its newest segment, one at a time, under an
flock(2) on the head file. Under the lock a writer first looks whether the files are still the ones it opened
and end where it left them; if another process has appended, it reads what is new and checks it as ``verify``
would. Then it writes the line, into the journal (see ``journal``) and into the segment, and unlocks. The head (512
bytes in place, in one sector) is written once an fdatasync(2) of the journal has put the lines on the disk, so it never
names an entry that a power cut could take. The sync happens outside the lock and speaks for every line that stands
there: callers and processes share it ("group commit").

- An entry is acknowledged when it was synced and the head names it, or a later one.
- A crash between line and head leaves the head behind: the next writer reads on from there.
- What a power cut took from the segment is put back from the journal when a writer opens, and an entry says so.
- A crash within a line, or a power cut that left pages of zeros, leaves a torn end, always behind the head. It is
  evidence and stays; a new segment opens that names it.
- Another process that holds the lock for longer than ``lock_wait_s`` is AuditBusy: nothing was written, nothing shut.
- After any failure the writer is closed for good ("fail closed"): every further ``append`` raises
  AuditWriteFailed until
  ``reopen`` has read the log from its head and found it whole.
- A log that does not fit its head is never written to: AuditChainBroken. Nor is another log, or an older state of
  the same one, that stands in the folder when a writer reopens: what it has written must still be there.

It is longer than most: everything here happens under one lock, and is read best together.
"""

import contextlib
import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.audit.chain import (
    HEAD_BYTES,
    OPENED,
    RESTORED,
    RETIRED,
    Broken,
    Entry,
    Head,
    genesis,
    is_zeroed,
    key_id,
    parse_line,
    seal,
)
from execkit_mcp.audit.folder import (
    HEAD_NAME,
    LOCK_POLL_S,
    LOCK_WAIT_S,
    busy,
    lock,
    segment_name,
    segment_numbers,
    try_lock,
)
from execkit_mcp.audit.journal import Journal
from execkit_mcp.audit.seals import Signer, is_complete, seal_name
from execkit_mcp.errors import AuditBusy, AuditChainBroken, AuditWriteFailed, ExecKitError
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.storage.folder import (
    check_private_file,
    create_private_file,
    open_private_folder,
    sync_folder,
)

__all__ = ["SEGMENT_BYTES", "AuditLog", "Keep", "Sync"]

SEGMENT_BYTES = 64 * 1024 * 1024
_CLOSED = -1
_DAY_S = 86_400.0


class Keep(Struct, frozen=True, kw_only=True):
    """How much of the log is kept; None: all of it."""

    days: float | None = None
    megabytes: int | None = None

    def overdue(self, segments: Sequence[tuple[int, float, int]], now_s: float) -> list[int]:
        """Which go, of segments as number, last change (seconds since 1970) and bytes, oldest first; never the last."""
        total = sum(size for _, _, size in segments)
        gone = []
        for number, changed_s, size in segments[:-1]:
            is_old = self.days is not None and changed_s < now_s - self.days * _DAY_S
            is_much = self.megabytes is not None and total > self.megabytes << 20
            if not (is_old or is_much):
                break
            gone.append(number)
            total -= size
        return gone


class Sync(NamedTuple):
    """A sync that was begun: the file that is put on the disk, and the last entry in it."""

    descriptor: int
    head: Head


class AuditLog:
    """The audit log of one folder; safe to use from several threads and processes."""

    def __init__(
        self, folder: Path, *, clock: Clock, entropy: Entropy, key: bytes | None, lock_wait_s: float | None = None
    ) -> None:
        self._folder = folder
        self._lock_wait_s = lock_wait_s
        self._clock = clock
        self._entropy = entropy
        self._key = key
        self._mutex = threading.Lock()
        self._head_fd = _CLOSED
        self._log_fd = _CLOSED
        self._journal: Journal | None = None
        self._head = Head(log="", seq=0, hash="", segment=0, end=0)
        self._known: Head | None = None  # the last entry that was surely on the disk, over every failure
        self._named_seq = 0  # the last entry of ours that another writer's head covers
        self._torn = b""
        self._head_bytes = b""  # as we last wrote them: while they stand in the file, nobody else has written
        self._is_sealed_at_close = False
        self._is_full = False
        self._segment_bytes: int | None = None
        self._keep = Keep()
        self._head_path = str(folder / HEAD_NAME)
        self._log_path = ""
        self._head_inode = self._log_inode = (0, 0)  # device and number of the open files
        self._failure = "it is not open"
        self._second = (-1, "")  # the second that was written last, and how

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        clock: Clock,
        entropy: Entropy,
        key: bytes | None = None,
        lock_wait_s: float | None = None,
        is_sealed_at_close: bool = False,
        segment_bytes: int | None = None,
        keep: Keep | None = None,
    ) -> Self:
        """Open the log in ``folder`` or begin one.

        Args:
            folder: the state folder; made with mode 0700.
            clock: the time of entries.
            entropy: where a new log's id comes from.
            key: with a key, hashes are HMACs that only its holders can make (see ``chain``).
            is_sealed_at_close: whether ``close`` seals what stands there; a full segment is always sealed.
            keep: how much is kept; looked at now, and when a new segment begins.
            segment_bytes: how long a segment may become; None: ``SEGMENT_BYTES``.
            lock_wait_s: how long ``enter`` may wait for another process; None: ``LOCK_WAIT_S``.

        Raises:
            StorageUnavailable: the folder cannot be used.
            ConfigPermissions: it belongs to others or they may write in it.
            AuditWriteFailed: a file in it cannot be written.
            AuditChainBroken: what stands there was tampered with; it is left as it is.
        """
        log = cls(open_private_folder(folder), clock=clock, entropy=entropy, key=key)
        log.reopen()
        log._lock_wait_s = lock_wait_s
        log._is_sealed_at_close = is_sealed_at_close
        log._segment_bytes = segment_bytes
        log._keep = keep or Keep()
        log.retire(log._keep)
        return log

    @property
    def head(self) -> Head:
        """The last entry this writer knows of: its number and hash."""
        return self._head

    def append(self, kind: str, data: Mapping[str, object], *, is_synced: bool = True) -> str:
        """As ``enter``; the entry's hash."""
        return self.enter(kind, data, is_synced=is_synced).hash

    def enter(self, kind: str, data: Mapping[str, object], *, is_synced: bool = True) -> Head:
        """Put one entry on the record; when this returns where it stands, it is on the disk.

        Args:
            kind: what happened, such as ``decision`` or ``exec.started``.
            data: the facts, JSON-able and already redacted.
            is_synced: False leaves the entry in the kernel's hands (a killed process loses nothing, a power cut may)
                until the next synced entry, ``sync`` or ``close``; until then it is not acknowledged.

        Raises:
            AuditBusy: another process holds the log; it is not on the record, and the log is as good as before.
            AuditWriteFailed: it is not on the record; nothing may run.
            AuditChainBroken: the log was tampered with under us; nothing may run.
        """
        with self._mutex:
            if self._failure:
                raise self._failed(f"The audit log cannot be written: {self._failure}.")
            with _FailingClosed(self._fail), _Locked(self._head_fd, self._lock_wait_s):
                self._catch_up()
                if self._head.end >= (self._segment_bytes or SEGMENT_BYTES) or self._is_full:
                    self._open_segment(self._head.segment + 1)
                    self._retire(self._keep)
                self._write(kind, data)
                head = self._head
        if is_synced:
            self.sync()
        return head

    @property
    def synced_seq(self) -> int:
        """The last entry that is surely on the disk, and named by the head."""
        return max(self._named_seq, 0 if self._known is None else self._known.seq)

    def is_free(self) -> bool:
        """Whether no other process holds the log at this moment."""
        with self._mutex:
            if self._head_fd == _CLOSED:
                return True
            if not try_lock(self._head_fd):
                return False
            fcntl.flock(self._head_fd, fcntl.LOCK_UN)
            return True

    def sync(self) -> None:
        """Put every entry that stands in the log on the disk; does nothing when there is none to put.

        Other threads may append meanwhile: theirs are the next sync's.

        Raises:
            AuditWriteFailed: it cannot be done; the log is closed until ``reopen``.
        """
        begun = self.begin_sync()
        if begun is None:
            return
        error = None
        try:
            os.fdatasync(begun.descriptor)
        except OSError as failed:
            error = failed
        finally:
            os.close(begun.descriptor)
        self.end_sync(begun, error)

    def begin_sync(self) -> Sync | None:
        """What an fdatasync(2) would put on the disk, for who has it done; None: there is nothing to put.

        Who asks closes the descriptor, and calls ``end_sync`` afterwards.

        Raises:
            AuditWriteFailed: the log is closed until ``reopen``.
        """
        with self._mutex:
            if self._head.seq <= self.synced_seq or (self._failure and self._log_fd == _CLOSED):
                return None
            if self._failure:
                raise self._failed(f"The audit log cannot be written: {self._failure}.")
            with _FailingClosed(self._fail):
                self._mirror.require_named()
                return Sync(descriptor=os.dup(self._mirror.descriptor), head=self._head)

    def end_sync(self, begun: Sync, error: OSError | None) -> None:
        """Have it on the record that what was begun is on the disk, or, with ``error``, is not.

        Raises:
            AuditWriteFailed: it is not; the log is closed until ``reopen``.
        """
        if error is not None:
            with self._mutex, _FailingClosed(self._fail):
                raise error from None
        self._commit(begun.head)

    def _commit(self, head: Head) -> None:
        """Have the head file name ``head``, or a later entry, now that it is on the disk."""
        wait_s = LOCK_WAIT_S if self._lock_wait_s is None else self._lock_wait_s
        deadline_s = time.monotonic() + wait_s
        while True:
            with self._mutex:
                if head.seq <= self.synced_seq:
                    return
                if self._failure:
                    raise self._failed(f"The audit log cannot be written: {self._failure}.")
                with _FailingClosed(self._fail):
                    if try_lock(self._head_fd):
                        try:
                            self._name(head)
                        finally:
                            fcntl.flock(self._head_fd, fcntl.LOCK_UN)
                        return
            if time.monotonic() > deadline_s:  # it is on the disk, and the next sync names it
                raise busy(wait_s)
            time.sleep(LOCK_POLL_S)

    def reopen(self) -> None:
        """Open the files anew and read on from the head; the only way back after a failure."""
        with self._mutex:
            self._failure = self._failure or "it is not open"
            self._close_files()
            with _FailingClosed(self._fail):
                if self._known is None:
                    open_private_folder(self._folder)
                self._open_head()
                with _Locked(self._head_fd, self._lock_wait_s):
                    head = self._read_head()
                    restored = self._mirror.restore(self._folder, head.log) if self._known is None else None
                    self._read_on(self._start(head), named=head)
                    if self._torn or self._head.seq == 0:
                        self._open_segment(max([0, *segment_numbers(self._folder)]) + 1)
                    else:
                        os.fdatasync(self._log_fd)
                        self._mirror.begin(self._head)
                        self._write_head(self._head)  # after a crash it was behind
                        self._is_full = is_complete(self._folder, self._head.segment)
                    if restored is not None:
                        self._write(RESTORED, {"segment": restored.segment, "entries": restored.entries})
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
        self._lock_wait_s = None
        if not self._failure:
            self.sync()
        with self._mutex:
            if self._head_fd != _CLOSED and not self._failure:
                with _FailingClosed(self._fail):
                    os.fdatasync(self._head_fd)
                    with _Locked(self._head_fd, self._lock_wait_s):
                        os.fdatasync(self._log_fd)
                        if os.fstat(self._log_fd).st_size == self._head.end:  # nobody else has written on
                            self._mirror.begin(self._head)
                        if self._is_sealed_at_close and self._head.seq:
                            self._seal(is_final=False)
            self._close_files()
            self._failure = self._failure or "it was closed"

    # ── under the lock ──

    def _write(self, kind: str, data: Mapping[str, object]) -> None:
        head = self._head
        line, digest = seal(seq=head.seq + 1, time=self._now(), kind=kind, data=data, prev=head.hash, key=self._key)
        after = replace(head, seq=head.seq + 1, hash=digest, end=head.end + len(line))
        journal = self._mirror
        is_mirrored = journal.put(line, head)
        if not is_mirrored:  # it is full, or another's
            os.fdatasync(self._log_fd)
            journal.begin(head)
            is_mirrored = journal.put(line, head)
        try:
            _write_whole(self._log_fd, line)
        except OSError:
            if is_mirrored:
                journal.take_back(line, head)
            raise
        if not is_mirrored:  # longer than the journal
            os.fdatasync(self._log_fd)
            journal.begin(after)
        self._head = after

    @property
    def _mirror(self) -> Journal:
        if self._journal is None:
            self._journal = Journal.open(self._folder, self._key)
        return self._journal

    def _now(self) -> str:
        second, rest = divmod(round(self._clock.epoch_s() * 1e6), 1_000_000)
        if second != self._second[0]:
            self._second = second, datetime.fromtimestamp(second, UTC).isoformat()[:-6]
        return f"{self._second[1]}.{rest:06}+00:00"

    def _name(self, head: Head) -> None:
        """Have the head file name ``head``, unless another process has written a later one."""
        data = os.pread(self._head_fd, 2 * HEAD_BYTES, 0)
        if data != self._head_bytes:
            found = Head.from_bytes(data, self._key)
            if self._known is not None and (found.log, found.seq) < (self._known.log, self._known.seq):
                raise Broken("the head file was put back to an older state")
            if found.seq >= head.seq:
                self._named_seq = head.seq
                return  # what it names is read, and checked, before the next entry is written
        self._write_head(head)

    def _write_head(self, head: Head) -> None:
        data = head.to_bytes(self._key)
        if os.pwrite(self._head_fd, data, 0) != HEAD_BYTES:
            raise OSError("the head file could not be written")
        self._head_bytes = data
        self._known = head

    def _read_head(self) -> Head:
        return Head.from_bytes(os.pread(self._head_fd, 2 * HEAD_BYTES, 0), self._key)

    def _catch_up(self) -> None:
        """Make sure that nothing but other writers touched the files, and read what those have added."""
        self._require_same(self._head_inode, self._head_path)
        size = self._require_same(self._log_inode, self._log_path)
        data = os.pread(self._head_fd, 2 * HEAD_BYTES, 0)
        if size == self._head.end and data == self._head_bytes:
            return
        head = Head.from_bytes(data, self._key)
        if head.log != self._head.log or head.seq < self.synced_seq or size < self._head.end:
            raise Broken("entries that were on the record are gone")
        self._read_on(self._head, named=head)
        self._head_bytes, self._known = data, head
        if self._torn:
            self._open_segment(max(segment_numbers(self._folder)) + 1)

    def _read_on(self, head: Head, *, named: Head) -> None:
        """Read every entry behind ``head``, through all segments, at least up to ``named``."""
        numbers = segment_numbers(self._folder)
        first = numbers[0] if numbers else 1
        if numbers != list(range(first, first + len(numbers))) or (head.segment and head.segment not in numbers):
            raise Broken("a segment file is missing")
        self._head, self._torn = head, b""
        for number in [each for each in numbers if each >= head.segment]:
            self._use_segment(number)
            offset = head.end if number == head.segment else 0
            if os.fstat(self._log_fd).st_size < offset:
                raise Broken(f"the end of {segment_name(number)} was cut")
            rest = self._read_entries(_read_from(self._log_fd, offset), number, named)
            self._torn += rest
        if self._head.seq < named.seq:
            raise Broken(f"the head file names entry {named.seq}, the last one found is {self._head.seq}")
        if self._head.segment:
            self._use_segment(self._head.segment)
        if head.seq and self._head.seq == head.seq:
            self._require_last_line(head)

    def _read_entries(self, data: bytes, number: int, named: Head) -> bytes:
        """Read the entries in ``data``, the rest of segment ``number``; what is torn behind them."""
        at = 0
        while (after := data.find(b"\n", at) + 1) > 0:
            try:
                entry = parse_line(data[at:after], self._key)
            except Broken:
                if self._head.seq < named.seq or not is_zeroed(data[at:]):
                    raise
                break
            if entry.seq != self._head.seq + 1 or entry.prev != self._head.hash:
                raise Broken(f"entry {entry.seq} does not follow entry {self._head.seq}")
            end = (self._head.end if number == self._head.segment else 0) + after - at
            self._head = replace(self._head, seq=entry.seq, hash=entry.hash, segment=number, end=end)
            self._torn = b""
            if entry.seq == named.seq and self._head != named:
                raise Broken(f"entry {entry.seq} is not the one that the head file names")
            at = after
        return data[at:]

    def _require_last_line(self, head: Head) -> None:
        """The bytes just before ``head.end`` must be the line with its hash."""
        tail = b'"hash":"' + head.hash.encode() + b'"}\n'
        if os.pread(self._log_fd, len(tail), head.end - len(tail)) != tail:
            raise Broken(f"entry {head.seq} is not the one that the head file names")

    def retire(self, keep: Keep) -> int:
        """Remove full segments that are too old or too much, the oldest first; how many.

        The log says how far it was cut, with the hash there, before anything is removed.
        """
        with self._mutex:
            if self._failure:
                raise self._failed(f"The audit log cannot be written: {self._failure}.")
            with _FailingClosed(self._fail), _Locked(self._head_fd, self._lock_wait_s):
                self._catch_up()
                return self._retire(keep)

    def _retire(self, keep: Keep) -> int:
        numbers = segment_numbers(self._folder)
        stats = [(number, (self._folder / segment_name(number)).stat()) for number in numbers]
        gone = keep.overdue([(number, stat.st_mtime, stat.st_size) for number, stat in stats], self._clock.epoch_s())
        last = None
        while gone and (last := self._last_entry(gone[-1])) is None:
            gone.pop()
        if last is None:
            return 0
        self._write(RETIRED, {"segment": gone[-1], "seq": last.seq, "hash": last.hash})
        os.fdatasync(self._log_fd)
        self._name(self._head)
        os.fdatasync(self._head_fd)
        for number in gone:
            (self._folder / segment_name(number)).unlink()
            (self._folder / seal_name(number)).unlink(missing_ok=True)
        return len(gone)

    def _last_entry(self, number: int) -> Entry | None:
        """The last whole entry of a segment."""
        last = None
        for line in (self._folder / segment_name(number)).read_bytes().splitlines(keepends=True):
            with contextlib.suppress(Broken):
                last = parse_line(line, self._key)
        return last

    def _seal(self, *, is_final: bool) -> None:
        """Seal the segment up to the last entry."""
        Signer.open(self._folder).seal(self._head, is_final=is_final, time=self._now())

    def _open_segment(self, number: int) -> None:
        signer = Signer.open(self._folder)
        if self._head.segment and self._head.seq:
            os.fdatasync(self._log_fd)  # a seal never names what a power cut could take
            signer.seal(self._head, is_final=True, time=self._now())  # before the next one stands
        path = self._folder / segment_name(number)
        create_private_file(path)
        self._use_segment(number)
        self._is_full = False
        torn, self._torn = self._torn, b""
        self._head = replace(self._head, segment=number, end=0)
        self._write(
            OPENED,
            {
                "log": self._head.log,
                "segment": number,
                "key": key_id(self._key),
                "signer": signer.key_id,
                "torn_bytes": len(torn),
                "torn_sha256": hashlib.sha256(torn).hexdigest(),
            },
        )
        os.fdatasync(self._log_fd)
        sync_folder(self._folder)  # the head names the new segment only when it is surely there
        self._write_head(self._head)
        os.fdatasync(self._head_fd)

    def _use_segment(self, number: int) -> None:
        path = self._folder / segment_name(number)
        check_private_file(path)
        if self._log_fd != _CLOSED:
            if self._head.seq > self.synced_seq:
                os.fdatasync(self._log_fd)
            os.close(self._log_fd)
            self._log_fd = _CLOSED
        self._log_fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._log_path = str(path)
        self._log_inode = _inode(self._log_fd)

    @staticmethod
    def _require_same(inode: tuple[int, int], path: str) -> int:
        """The size of the file, which must still be the one that we opened."""
        there = os.stat(path)  # noqa: PTH116 # a Path costs 10 µs here
        if (there.st_dev, there.st_ino) != inode:
            raise Broken(f"{os.path.basename(path)} was replaced while it was in use")  # noqa: PTH119
        return there.st_size

    # ── files and failures ──

    def _open_head(self) -> None:
        path = self._folder / HEAD_NAME
        if not os.path.lexists(path):
            if segment_numbers(self._folder) or self._known is not None:
                raise Broken("the head file is missing")
            self._begin()
        check_private_file(path)
        self._head_fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._head_inode = _inode(self._head_fd)

    def _begin(self) -> None:
        """Make the head of a new log: complete under a passing name, then linked, so that one of two wins."""
        log = self._entropy.token_hex(16)
        passing = self._folder / f".{HEAD_NAME}.{log}"
        create_private_file(passing)
        try:
            with passing.open("wb") as file:
                file.write(Head(log=log, seq=0, hash=genesis(log), segment=0, end=0).to_bytes(self._key))
                file.flush()
                os.fsync(file.fileno())
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
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _fail(self, error: BaseException) -> None:
        """Whatever went wrong shuts this writer, and is told as an error of ours."""
        if isinstance(error, Broken):
            self._failure = str(error)
            raise AuditChainBroken(
                f"The audit log in {self._folder} is not whole: {error}.",
                hint="Run `execkit-mcp audit verify`; to begin a new log, move the folder away and start again.",
                details={"folder": str(self._folder)},
            ) from error
        if isinstance(error, OSError):
            self._failure = error.strerror or str(error)
            raise self._failed(f"The audit log {self._folder} cannot be written: {self._failure}.") from error
        if isinstance(error, (ValueError, TypeError)):
            # Found before a byte was written: this entry is refused, the log is as good as before.
            raise self._failed(f"The entry cannot be put into JSON: {error}.") from error
        if isinstance(error, ExecKitError) and not isinstance(error, AuditBusy):
            self._failure = error.message.rstrip(".")

    def _failed(self, message: str) -> AuditWriteFailed:
        return AuditWriteFailed(
            message,
            hint="Nothing runs until it can be written: see that the folder exists and its disk has room.",
            details={"folder": str(self._folder)},
        )


class _FailingClosed:
    """Around what must not go wrong: see ``AuditLog._fail``. A class, for it stands around every entry."""

    __slots__ = ("_fail",)

    def __init__(self, fail: Callable[[BaseException], None]) -> None:
        self._fail = fail

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            self._fail(error)


class _Locked:
    """The writers' lock, held."""

    __slots__ = ("_descriptor", "_wait_s")

    def __init__(self, descriptor: int, wait_s: float | None) -> None:
        self._descriptor, self._wait_s = descriptor, wait_s

    def __enter__(self) -> None:
        lock(self._descriptor, fcntl.LOCK_EX, wait_s=self._wait_s)

    def __exit__(self, *_: object) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)


def _inode(descriptor: int) -> tuple[int, int]:
    stat = os.fstat(descriptor)
    return stat.st_dev, stat.st_ino


def _write_whole(descriptor: int, line: bytes) -> None:
    written = os.write(descriptor, line)
    if written != len(line):
        raise OSError(f"only {written} of {len(line)} bytes could be written")


def _read_from(descriptor: int, offset: int) -> bytes:
    parts = []
    while part := os.pread(descriptor, 1 << 20, offset):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)
