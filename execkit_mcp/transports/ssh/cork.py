"""One command as one packet on the wire: asyncssh sends an empty message before each of ours; this module joins them.

Each write of its own wakes the host's server once, for nothing. Between ``with`` and its end the kernel holds the
socket's partial segments back (tcp(7), TCP_CORK), where it can.
"""

import contextlib
import socket
from types import TracebackType
from typing import Final

import asyncssh

__all__ = ["Cork"]

_OPTION: Final[int | None] = getattr(socket, "TCP_CORK", None)


class Cork:
    """The cork of one connection's socket; without one (another system, a tunnel) it does nothing."""

    def __init__(self, connection: asyncssh.SSHClientConnection) -> None:
        found = connection.get_extra_info("socket")
        is_tcp = getattr(found, "family", None) in {socket.AF_INET, socket.AF_INET6}
        self._socket = found if is_tcp and _OPTION is not None else None

    def _set(self, value: int) -> None:
        if self._socket is not None and _OPTION is not None:
            with contextlib.suppress(OSError):  # it is closed already, which is told apart
                self._socket.setsockopt(socket.IPPROTO_TCP, _OPTION, value)

    def __enter__(self) -> None:
        self._set(1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._set(0)
