"""The files of the record as readers see them: which is which segment, a snapshot while others write."""

import contextlib
import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from execkit_mcp.audit.chain import Broken, Head, Noted, Problem, Report, Seal, Segment, behind_note, verify
from execkit_mcp.audit.seals import PUBLIC_NAME, fingerprint, parse_seal, public_key_in
from execkit_mcp.errors import AuditBusy, AuditChainBroken, StorageUnavailable
from execkit_mcp.model.regex import lazy_regex

__all__ = [
    "HEAD_NAME",
    "LOCK_POLL_S",
    "LOCK_WAIT_S",
    "busy",
    "lock",
    "read_key",
    "read_segments",
    "segment_name",
    "segment_numbers",
    "try_lock",
    "verify_folder",
]

HEAD_NAME = "audit.head"
LOCK_WAIT_S = 5.0
MIN_KEY_BYTES = 16
_SEGMENT = lazy_regex(r"audit-([0-9]{6})\.jsonl")
_SEAL = lazy_regex(r"audit-([0-9]{6})\.seal")
_LOOKS, _LOOK_S = 40, 0.05
LOCK_POLL_S = 0.0005


def segment_name(number: int) -> str:
    """The file name of segment ``number``."""
    return f"audit-{number:06d}.jsonl"


def segment_numbers(folder: Path) -> list[int]:
    """The numbers of the segments in ``folder``, in order."""
    return sorted(int(match[1]) for path in folder.iterdir() if (match := _SEGMENT.fullmatch(path.name)))


def try_lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Take the flock(2) ``kind`` on ``descriptor`` if nobody is in the way."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock(descriptor: int, kind: int, *, wait_s: float | None = None) -> None:
    """Take the flock(2) ``kind`` on ``descriptor``; AuditBusy after ``wait_s`` (None: ``LOCK_WAIT_S``)."""
    if try_lock(descriptor, kind):
        return
    wait_s = LOCK_WAIT_S if wait_s is None else wait_s
    deadline_s = time.monotonic() + wait_s
    while time.monotonic() < deadline_s:
        time.sleep(LOCK_POLL_S)
        if try_lock(descriptor, kind):
            return
    raise busy(wait_s)


def busy(wait_s: float) -> AuditBusy:
    """The error for a log that another process does not let go of."""
    return AuditBusy(
        f"Another process has held the audit log for {wait_s:g} s.",
        hint="Nothing runs meanwhile. See which process hangs: fuser -v audit.head",
        retryable=True,
    )


def read_key(path: Path) -> bytes:
    """The key in the file ``path``, white space around it removed; StorageUnavailable if it is no good."""
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise StorageUnavailable(
            f"The audit key {path} cannot be read: {error.strerror}.", hint="Name a file that you can read."
        ) from error
    if len(key) < MIN_KEY_BYTES:
        raise StorageUnavailable(
            f"The audit key {path} holds {len(key)} bytes, {MIN_KEY_BYTES} are the least.",
            hint=f"Make one: head -c 32 /dev/urandom | base64 > {path}",
        )
    return key


def read_segments(folder: Path) -> tuple[tuple[Segment, ...], bytes | None]:
    """The segments of ``folder`` up to their length now, and the head that belongs to them.

    Both are noted under the writers' lock, so that no entry is half there; the lines are read afterwards.

    Raises:
        AuditChainBroken: there is no log.
        StorageUnavailable: it cannot be read.
    """
    head: bytes | None = None
    try:
        descriptor = os.open(folder / HEAD_NAME, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno not in {errno.ENOENT, errno.ELOOP}:  # that somebody put a link there is found below
            raise unreadable(folder, error) from error
        sizes = _sizes(folder)
    else:
        try:
            lock(descriptor, fcntl.LOCK_SH)
            head = os.read(descriptor, 1 << 16)
            sizes = _sizes(folder)
        finally:
            os.close(descriptor)
    if head is None and not sizes:
        raise AuditChainBroken(
            f"There is no audit log in {folder}.",
            hint="If nothing has run yet this is as it should be; otherwise it was removed.",
        )
    segments = tuple(
        Segment(name=segment_name(number), number=number, lines=_lines(folder / segment_name(number), size))
        for number, size in sizes
    )
    return segments, head


def unreadable(place: Path, error: OSError) -> StorageUnavailable:
    """What keeps us from reading ``place`` says nothing about what was written there."""
    return StorageUnavailable(
        f"The record in {place} cannot be read: {error.strerror or error}.",
        hint=f"Let user {os.geteuid()} read it, or name another folder with --state-dir.",
    )


def verify_folder(
    folder: Path,
    *,
    key: bytes | None = None,
    public_key: Path | None = None,
    noted: tuple[Noted, ...] = (),
    has_recordings: bool = True,
) -> Report:
    """Verify the log in ``folder``; AuditChainBroken only if there is none, the rest is in the report.

    Args:
        folder: where it lies.
        key: the key of its hashes, if they have one.
        public_key: a copy of the public key that seals must be made with; None: the one in the folder.
        noted: entries that must stand there.
        has_recordings: whether finished recordings are compared with what the log says of them.

    Raises:
        AuditChainBroken: there is no log.
        StorageUnavailable: ``public_key`` cannot be read.
    """
    segments, head = read_segments(folder)
    report = verify(
        segments,
        head,
        key=key,
        seals=_seals(folder, public_key),
        noted=noted,
        signer="" if public_key is None else fingerprint(public_key_in(public_key)),
    )
    if report.problem is None and has_recordings:
        report = _with_recordings(report, folder / "recordings")
    for _ in range(_LOOKS if report.behind else 0):
        time.sleep(_LOOK_S)  # a writer names its entries once they are on the disk; after a crash nobody does
        with contextlib.suppress(Broken, OSError):
            if Head.from_bytes((folder / HEAD_NAME).read_bytes(), key).seq >= report.entries:
                notes = tuple(note for note in report.notes if note != behind_note(report.behind))
                return replace(report, notes=notes, behind=0)
    return report


def _seals(folder: Path, public_key: Path | None) -> dict[int, Seal | str] | None:
    """The seals by segment, or what is wrong with them; None where nothing was ever sealed."""
    found = {int(match[1]): path for path in folder.glob("audit-*.seal") if (match := _SEAL.fullmatch(path.name))}
    path = public_key or folder / PUBLIC_NAME
    if public_key is None and not found and not path.exists():
        return None
    try:
        public = public_key_in(path)
    except StorageUnavailable as error:
        if public_key is not None:
            raise
        return dict.fromkeys(found or {1}, f"its seal cannot be checked: {error.message}")
    public_id = fingerprint(public)
    out: dict[int, Seal | str] = {}
    for number, path in found.items():
        try:
            out[number] = parse_seal(path.read_bytes(), public, public_id)
        except (Broken, OSError) as error:
            out[number] = str(error)
    return out


def _with_recordings(report: Report, folder: Path) -> Report:
    """The report, with the first finished recording that is not what the log says it was."""
    missing = 0
    for name, (size, sha256, seq) in report.recordings.items():
        path = folder / Path(name).name
        try:
            with path.open("rb") as file:
                is_same = os.fstat(file.fileno()).st_size == size
                is_same = is_same and hashlib.file_digest(file, "sha256").hexdigest() == sha256
        except OSError:
            missing += 1
            continue
        if not is_same:
            message = f"the recording was changed after it was finished: entry {seq} says what it was"
            return replace(report, problem=Problem(file=f"recordings/{path.name}", line=0, message=message))
    if missing:
        report = replace(report, notes=(*report.notes, f"{missing} recordings that the log names are not there."))
    return report


def _sizes(folder: Path) -> list[tuple[int, int]]:
    try:
        return [(number, (folder / segment_name(number)).stat().st_size) for number in segment_numbers(folder)]
    except OSError:
        return []


def _lines(path: Path, size: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        left = size
        while left > 0 and (line := file.readline(left)):
            left -= len(line)
            yield line
