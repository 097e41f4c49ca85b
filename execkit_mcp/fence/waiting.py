"""What a process that waits in its execve asked for, read from its memory; standard library only: the keeper imports it.

All words are read in two calls (``process_vm_readv``): where a filter around us forbids that, through ``/proc``.
"""

import ctypes
import errno
import os
import struct

__all__ = ["read_exec"]

_PAGE = 4096
_POINTER = 8
_MAX_ARGV_BYTES = 4 << 20
_WORD, _POINTERS, _BATCH = 256, 512, 64

_libc = ctypes.CDLL(None, use_errno=True)
_libc.process_vm_readv.restype = ctypes.c_ssize_t
_libc.process_vm_readv.argtypes = [
    ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong,
]  # fmt: skip
_buffer = ctypes.create_string_buffer(_BATCH * max(_WORD, _POINTERS))
_buffer_at = ctypes.addressof(_buffer)
_local = (ctypes.c_size_t * 2)(_buffer_at, 0)
_remote = (ctypes.c_size_t * (2 * _BATCH))()
_local_at, _remote_at = ctypes.addressof(_local), ctypes.addressof(_remote)
_has_call = hasattr(_libc, "process_vm_readv")

Span = tuple[int, int]


def read_exec(tid: int, path_at: int, argv_at: int) -> tuple[bytes, tuple[bytes, ...]]:
    """The path and argv of a pending execve.

    Raises:
        ValueError, OSError: it cannot be read, or is too much.
    """
    spans = [_to_border(path_at, _WORD)]
    if argv_at:
        spans.append(_pointers(argv_at))
    read = _read(tid, spans)
    size = spans[0][1]
    path = _whole(tid, path_at, read[:size])
    places: list[int] = []
    pointers = read[size:]
    at = argv_at
    while at:
        whole = len(pointers) // _POINTER * _POINTER
        found = struct.unpack(f"{whole // _POINTER}Q", pointers[:whole])
        if 0 in found:
            places += found[: found.index(0)]
            break
        places += found
        at += whole
        if len(places) * (_POINTER + 1) > _MAX_ARGV_BYTES:
            raise ValueError(len(places))
        pointers = _read(tid, [_pointers(at)])
    words: list[bytes] = []
    total = 0
    for start in range(0, len(places), _BATCH):
        spans = [_to_border(place, _WORD) for place in places[start : start + _BATCH]]
        read = _read(tid, spans)
        offset = 0
        for place, size in spans:
            word = _whole(tid, place, read[offset : offset + size])
            offset += size
            total += len(word) + _POINTER + 1
            if total > _MAX_ARGV_BYTES:
                raise ValueError(total)
            words.append(word)
    return path, tuple(words)


def _to_border(at: int, most: int) -> Span:
    """A span that ends at a border of pages at the latest: what is behind it may not be there."""
    return at, min(most, _PAGE - at % _PAGE)


def _pointers(at: int) -> Span:
    return at, max(_POINTER, _to_border(at, _POINTERS)[1])


def _whole(tid: int, at: int, head: bytes) -> bytes:
    """The word that begins with ``head``, up to its NUL."""
    end = head.find(b"\0")
    if end >= 0:
        return head[:end]
    parts = head
    while True:
        span = _to_border(at + len(parts), _PAGE)
        head, end_mark, _ = _read(tid, [span]).partition(b"\0")
        parts += head
        if end_mark:
            return parts
        if len(parts) > _MAX_ARGV_BYTES:
            raise ValueError(at)


def _read(tid: int, spans: "list[Span]") -> bytes:
    """Exactly what stands in ``spans``, one behind the other."""
    global _has_call  # noqa: PLW0603 - what this process may do does not change
    if _has_call:
        total = at = 0
        for start, size in spans:
            _remote[at] = start
            _remote[at + 1] = size
            at += 2
            total += size
        _local[1] = total
        got = _libc.process_vm_readv(tid, _local_at, 1, _remote_at, len(spans), 0)
        if got == total:
            return ctypes.string_at(_buffer_at, total)
        if got >= 0:
            raise ValueError(spans)
        error = ctypes.get_errno()
        if error not in {errno.ENOSYS, errno.EPERM}:
            raise OSError(error, os.strerror(error), "process_vm_readv")
        if error == errno.ENOSYS:
            _has_call = False
    fd = os.open(f"/proc/{tid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = [os.pread(fd, size, start) for start, size in spans]
    finally:
        os.close(fd)
    if any(len(part) != size for part, (_, size) in zip(parts, spans, strict=True)):
        raise ValueError(spans)  # it was killed meanwhile: its memory is gone, and reads as nothing
    return b"".join(parts)
