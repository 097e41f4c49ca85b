"""Connections that cannot be held for nothing: uvicorn's HTTP/1.1 protocol with the time limits that it lacks.

uvicorn waits for ever for the first bytes of a request, and for the rest of its headers (a "slowloris" attack). Here a
connection has ``HEAD_S`` from its first moment, and later from the first byte of each request, to a whole head, and
``KEEP_ALIVE_S`` between two requests; while the server holds all the connections that it may, the one that has kept it
waiting longest for a request, or for the rest of one, makes room.
"""

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 10.0
KEEP_ALIVE_S: Final = 75
MAX_HEAD_BYTES: Final = 32_768


class GuardedProtocol(H11Protocol):
    """One connection."""

    most = 1024
    head_s = HEAD_S

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.app_state = dict(self.app_state)  # uvicorn's is one for all connections
        self._head_timer: asyncio.TimerHandle | None = None
        self.waits_since_s = 0.0

    @property
    def is_waiting(self) -> bool:
        """Whether nothing is asked at the moment."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def makes_room(self) -> bool:
        """Whether nothing whole is asked at the moment: no request, or one whose body has not come to its end."""
        return self.is_waiting or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; make room if there are too many connections."""
        super().connection_made(transport)
        self.app_state["abort"] = transport.abort
        self.waits_since_s = self.loop.time()
        if len(self.connections) > self.most:
            self._make_room()
        self._arm()

    def _make_room(self) -> None:
        """Abort what has waited longest, as long as there are too many; what is aborted is gone a moment later."""
        here = [each for each in self.connections if not each.transport.is_closing()]
        waiting = [each for each in here if isinstance(each, GuardedProtocol) and each.makes_room]
        waiting.sort(key=lambda each: each.waits_since_s)
        for each in waiting[: max(0, len(here) - self.most)]:
            each.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timer with the connection."""
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; what is not a whole head yet does not stop the clock."""
        try:
            super().data_received(data)
        except (UnicodeDecodeError, h11.LocalProtocolError):  # a target that is no text; bytes after an error
            self.transport.abort()
            return
        if self.is_waiting:
            self._arm()
        else:
            self._disarm()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.waits_since_s = self.loop.time()
        super().on_response_complete()

    def _should_upgrade_to_ws(self) -> bool:
        return False

    def _unsupported_upgrade_warning(self) -> None:
        """It is answered as if the upgrade had not been asked for (RFC 9110, section 7.8)."""

    def _arm(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_s, self._give_up)

    def _disarm(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if self.is_waiting:
            self.transport.abort()
