"""What ``/proc`` tells of a process; standard library only, because the keeper imports it."""

import contextlib
import errno
import fcntl
import os
import struct
from collections.abc import Sequence
from typing import NamedTuple

from execkit_mcp.fence import kernel

__all__ = [
    "Image",
    "Who",
    "are_images_random",
    "has_ended",
    "image_of",
    "is_running",
    "lines_above",
    "process_of",
    "shown",
    "who",
]

_MAX_ABOVE = 12
_EXITING = 4  # a flag of the kernel's task
_MAX_INTERPRETERS = 4096  # a first line has 256 bytes, and the kernel follows five of them
_FIELDS = 49
_NO_RANDOM = 0x0040000
_SHOWN_WORDS, _SHOWN_CHARS = 24, 200
_GET_INFO, _WANTED = 0xC040FF0B, 1  # the process's own number and its parent's
_INFO = struct.Struct("QQIII")
_info = bytearray(64)


class Who(NamedTuple):
    """One process: ``identity`` is its own for as long as the machine is up, which its number is not."""

    pid: int
    parent: int
    identity: int


def who(tid: int) -> Who | None:
    """The process that the thread ``tid`` belongs to, or None if it is gone."""
    if _has_info:
        try:
            fd = os.pidfd_open(tid)
        except OSError as error:
            pid = tid if error.errno == errno.ESRCH else process_of(tid)  # it may be another thread than the first
            return who(pid) if pid != tid else None
        try:
            _INFO.pack_into(_info, 0, _WANTED, 0, 0, 0, 0)
            fcntl.ioctl(fd, _GET_INFO, _info)
            _, _, _, pid, parent = _INFO.unpack_from(_info)
            return Who(pid, parent, os.fstat(fd).st_ino)
        except OSError:
            return None
        finally:
            os.close(fd)
    found = _stat(tid)
    if found is not None and int(found[17]) > 1 and (pid := process_of(tid)) != tid:
        tid, found = pid, _stat(pid)
    return None if found is None else Who(tid, int(found[1]), int(found[19]))


class Image(NamedTuple):
    """Where a process's program lies in its memory, chosen at random when it was executed; a fork has its parent's.

    Nobody behind a fence can change these (``seccomp``: ``PR_SET_MM``), and their chance to agree is one in 2⁶⁰. Only
    of a process that has one thread.
    """

    group: int
    start: int
    places: tuple[bytes, ...]


def image_of(tid: int) -> Image | None:
    """The image of a process, or None where it cannot be told or is not random."""
    fields = _stat(tid)
    if fields is None or len(fields) < _FIELDS or fields[17] != b"1" or b"0" in {fields[25], fields[45]}:
        return None
    return Image(int(fields[2]), int(fields[19]), (*fields[23:26], *fields[42:49]))


def are_images_random() -> bool:
    """Whether what is executed below this process lies at places that cannot be foretold."""
    try:
        with open("/proc/sys/kernel/randomize_va_space", "rb") as setting:
            return setting.read().strip() == b"2" and not kernel.personality() & _NO_RANDOM
    except OSError:
        return False


def _stat(pid: int) -> list[bytes] | None:
    """The fields of its state from the third on."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(fd, 1024).rpartition(b")")[2].split()
    except OSError:
        return None
    finally:
        os.close(fd)


def _can_tell() -> bool:
    """Whether the kernel tells of a process by its descriptor (Linux 6.13): that is a third of what ``/proc`` costs."""
    try:
        fd = os.pidfd_open(os.getpid())
    except OSError:
        return False
    try:
        _INFO.pack_into(_info, 0, _WANTED, 0, 0, 0, 0)
        fcntl.ioctl(fd, _GET_INFO, _info)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


_has_info = _can_tell()


def has_ended(pid: int) -> bool:
    """Whether it is gone, or will run nothing any more."""
    fields = _stat(pid)
    return fields is None or fields[0] in {b"Z", b"X"} or bool(int(fields[6]) & _EXITING)


def is_running(pid: int, file: tuple[int, int], line: bytes, *, is_script: bool) -> bool:
    """Whether a process that has just executed runs ``file`` (device and inode) with the words ``line``, each ended by NUL.

    ``is_script``: before them the kernel has put the interpreter and the word behind it.
    """
    try:
        status = os.stat(f"/proc/{pid}/exe")
        if status.st_ino != file[1] or status.st_dev != file[0]:
            return False
        fd = os.open(f"/proc/{pid}/cmdline", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    most = len(line) + 1 + (_MAX_INTERPRETERS if is_script else 0)
    words = b""
    try:
        while len(words) < most and (more := os.read(fd, most - len(words))):
            words += more
    except OSError:
        return False
    finally:
        os.close(fd)
    return words == line if not is_script else len(words) < most and words.endswith(b"\0" + line)


def lines_above(pid: int, last: int) -> list[str]:
    """The command lines of a process and those above it, nearest first, down to ``last``, which is left out."""
    lines: list[str] = []
    for _ in range(_MAX_ABOVE):
        if pid == last:
            break
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read(400).rstrip(b"\0").split(b"\0")
        except OSError:
            break
        lines.append(b" ".join(words).decode("utf-8", "replace")[:_SHOWN_CHARS])
        found = who(pid)
        if found is None or found.parent <= 1:
            break
        pid = found.parent
    return lines


def process_of(tid: int) -> int:
    """The process that a thread belongs to; the thread itself where that cannot be told."""
    with contextlib.suppress(OSError), open(f"/proc/{tid}/status", "rb") as file:
        for line in file:
            if line.startswith(b"Tgid:"):
                return int(line.split()[1])
    return tid


def shown(argv: Sequence[str]) -> list[str]:
    """The first words of an argv, each cut, as text."""
    return [
        each.encode("utf-8", "surrogateescape").decode("utf-8", "replace")[:_SHOWN_CHARS]
        for each in argv[:_SHOWN_WORDS]
    ]
