"""fdatasync(2) that the kernel does beside us: Linux AIO, whose end an eventfd(2) tells.

A thread that waits for the disk must get the interpreter's lock back before anybody hears of it, up to
``sys.getswitchinterval()`` later. Here nothing of ours waits: io_submit(2) hands the kernel ``IOCB_CMD_FDSYNC`` (Linux
4.18), an event loop watches ``fileno()``, and ``ended()`` says how it went. One at a time.

Sources: io_setup(2), io_submit(2), io_getevents(2), linux/aio_abi.h.
"""

import ctypes
import os
import struct
import sys
from typing import Final, Self

from execkit_mcp.fence.kernel import call

__all__ = ["BackgroundSync"]

_FDSYNC: Final = 3  # IOCB_CMD_FDSYNC
_TELLS_EVENTFD: Final = 1  # IOCB_FLAG_RESFD
_CONTEXT: Final = struct.Struct("=Q")  # aio_context_t
_REQUEST: Final = struct.Struct("=QIiHhIQQqQII")  # struct iocb
_EVENT: Final = struct.Struct("=QQqq")  # struct io_event: data, obj, res, res2


class BackgroundSync:
    """At most one fdatasync(2) under way; belongs to one process."""

    def __init__(self, context: int, eventfd: int) -> None:
        self._context = context
        self._eventfd = eventfd
        self._request = ctypes.create_string_buffer(_REQUEST.size)
        self._requests = ctypes.create_string_buffer(_CONTEXT.pack(ctypes.addressof(self._request)))
        self._event = ctypes.create_string_buffer(_EVENT.size)

    @classmethod
    def open(cls) -> Self | None:
        """One, where the kernel has it and lets us; None elsewhere."""
        if sys.byteorder != "little":  # the request's fields are in another order
            return None
        context = ctypes.create_string_buffer(_CONTEXT.size)
        try:
            call("io_setup", 1, context)
        except OSError:
            return None
        (number,) = _CONTEXT.unpack(context.raw)
        try:
            return cls(number, os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK))
        except OSError:
            call("io_destroy", number)
            return None

    def fileno(self) -> int:
        """What becomes readable once the sync has ended."""
        return self._eventfd

    def submit(self, descriptor: int) -> None:
        """Begin to put the file on the disk; the descriptor may be closed at once.

        Raises:
            OSError: the file system, or the kernel, does not do it beside us.
        """
        _REQUEST.pack_into(self._request, 0, 0, 0, 0, _FDSYNC, 0, descriptor, 0, 0, 0, 0, _TELLS_EVENTFD, self._eventfd)
        call("io_submit", self._context, 1, self._requests)

    def ended(self) -> bool:
        """Whether the sync that was begun has ended.

        Raises:
            OSError: it has, and what was written is not on the disk.
        """
        try:
            os.eventfd_read(self._eventfd)
        except BlockingIOError:
            return False
        if call("io_getevents", self._context, 1, 1, self._event, None) != 1:
            return False
        result: int = _EVENT.unpack(self._event.raw)[2]
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return True

    def close(self) -> None:
        """Wait for what is under way, and let go."""
        call("io_destroy", self._context)
        os.close(self._eventfd)
