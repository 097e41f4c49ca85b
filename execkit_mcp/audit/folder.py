"""The files of the record as readers see them: which is which segment, a snapshot while others write."""

import fcntl
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from execkit_mcp.audit.chain import Report, Segment, verify
from execkit_mcp.errors import AuditChainBroken, AuditWriteFailed, StorageUnavailable

__all__ = [
    "HEAD_NAME",
    "LOCK_WAIT_S",
    "lock",
    "read_key",
    "read_segments",
    "segment_name",
    "segment_numbers",
    "verify_folder",
]

HEAD_NAME = "audit.head"
LOCK_WAIT_S = 5.0
MIN_KEY_BYTES = 16
_SEGMENT = re.compile(r"audit-([0-9]{6})\.jsonl")
_LOCK_POLL_S = 0.0005


def segment_name(number: int) -> str:
    """The file name of segment ``number``."""
    return f"audit-{number:06d}.jsonl"


def segment_numbers(folder: Path) -> list[int]:
    """The numbers of the segments in ``folder``, in order."""
    return sorted(int(match[1]) for path in folder.iterdir() if (match := _SEGMENT.fullmatch(path.name)))


def lock(descriptor: int, kind: int) -> None:
    """Take the flock(2) ``kind`` on ``descriptor``; AuditWriteFailed after ``LOCK_WAIT_S``."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        deadline_s = time.monotonic() + LOCK_WAIT_S
        while time.monotonic() < deadline_s:
            time.sleep(_LOCK_POLL_S)
            try:
                fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            return
        raise AuditWriteFailed(
            f"Another process has held the audit log for {LOCK_WAIT_S:.0f} s.",
            hint="See which execkit-mcp process hangs: fuser -v audit.head",
        ) from None


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
    """
    head: bytes | None = None
    try:
        descriptor = os.open(folder / HEAD_NAME, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
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


def verify_folder(folder: Path, *, key: bytes | None = None) -> Report:
    """Verify the log in ``folder``; AuditChainBroken only if there is none, the rest is in the report."""
    segments, head = read_segments(folder)
    return verify(segments, head, key=key)


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
