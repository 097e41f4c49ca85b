"""When an entry of the audit log is on the disk: one sync for everybody who waits, and none that stalls the others.

Syncs are shared: who asks while one is under way gets the next. A disk that syncs in less than ``SLOW_S`` is waited
for where we are, which costs less than a thread; a slower one in a thread, while the event loop goes on. The only call
that is at work shares with nobody, and does not wait for the event loop to come round either.
"""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from execkit_mcp.audit.folder import LOCK_WAIT_S
from execkit_mcp.audit.writer import AuditLog
from execkit_mcp.errors import AuditBusy, AuditError, AuditWriteFailed

__all__ = ["STALL_S", "Commit"]

STALL_S: Final = 0.02
SLOW_S: Final = 0.001
ALONE_SLOW_S: Final = 0.003
POLL_S: Final = 0.005
_WEIGHT: Final = 0.2


class Commit:
    """The syncs of one log."""

    def __init__(self, audit: AuditLog) -> None:
        self._audit = audit
        self._waiting: list[asyncio.Future[None]] | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._usual_s = 0.0

    async def free(self) -> None:
        """Wait until no other process holds the log.

        Raises:
            AuditBusy: one has held it for ``LOCK_WAIT_S``.
        """
        if self._audit.is_free():
            return
        until = time.monotonic() + LOCK_WAIT_S
        while not self._audit.is_free():
            if time.monotonic() > until:
                raise AuditBusy(
                    f"Another process has held the audit log for {LOCK_WAIT_S:g} s, so nothing runs.",
                    hint="See which process hangs: fuser -v audit.head",
                    retryable=True,
                )
            await asyncio.sleep(POLL_S)

    async def wait(self, seq: int, *, is_alone: bool = False) -> None:
        """Wait until entry ``seq`` is on the disk; ``is_alone``: nobody else is about to ask.

        Raises:
            AuditWriteFailed: it cannot be put there.
        """
        until = time.monotonic() + LOCK_WAIT_S
        while self._audit.synced_seq < seq:
            is_ours = self._waiting is None
            try:
                if is_ours and is_alone and self._usual_s < ALONE_SLOW_S:
                    self._timed_sync()
                else:
                    await self._turn()
            except AuditBusy:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(POLL_S)
            except AuditError:
                if is_ours:
                    raise  # one that began before our entry says nothing about it
            else:
                if is_ours and self._audit.synced_seq < seq:
                    raise AuditWriteFailed("The newest entry of the audit log could not be put on the disk.")

    def _turn(self) -> "asyncio.Future[None]":
        """The end of the sync that is under way, or of the next."""
        loop = asyncio.get_running_loop()
        if self._waiting is None:
            self._waiting = []
            loop.call_soon(self._sync)  # who is ready to write does so first
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiting.append(waiter)
        return waiter

    def close(self) -> None:
        """Let go of the thread."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)

    def _sync(self) -> None:
        if self._usual_s < SLOW_S:
            try:
                self._timed_sync()
            except Exception as error:  # noqa: BLE001 - whoever waits is told of it
                self._finish(error)
            else:
                self._finish(None)
            return
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="audit-sync")
        work = asyncio.get_running_loop().run_in_executor(self._thread, self._timed_sync)
        work.add_done_callback(lambda ended: self._finish(ended.exception()))

    def _timed_sync(self) -> None:
        start_s = time.perf_counter()
        self._audit.sync()
        took_s = time.perf_counter() - start_s
        self._usual_s += _WEIGHT * (took_s - self._usual_s)

    def _finish(self, error: BaseException | None) -> None:
        waiting, self._waiting = self._waiting or [], None
        for waiter in waiting:
            if waiter.done():  # who waited has gone
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)
