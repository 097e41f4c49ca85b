"""When an entry of the audit log is on the disk: one sync for everybody who waits, and none that stalls the others.

Syncs are shared: who asks while one is under way gets the next. A disk that syncs in less than ``SLOW_S`` is waited
for where we are, which costs less than a thread; a slower one in a thread, while the event loop goes on. The only call
that is at work shares with nobody, and does not wait for the event loop to come round either.

How long the disk takes is the median of the last syncs, so that one hiccup changes nothing. In a thread the wait for
the interpreter's lock (5 ms, `sys.getswitchinterval`) is counted with it: now and then one that may be quick is tried
where we are.
"""

import asyncio
import statistics
import time
from collections import deque
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
_MAYBE_QUICK_S: Final = 0.008
_TRY_EVERY: Final = 32
_LAST: Final = 9


class Commit:
    """The syncs of one log."""

    def __init__(self, audit: AuditLog) -> None:
        self._audit = audit
        self._waiting: list[asyncio.Future[None]] | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._last_s: deque[float] = deque(maxlen=_LAST)
        self._usual_s = 0.0
        self._in_thread = 0  # syncs since one was done where we are

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
        if self._usual_s < SLOW_S or self._is_worth_a_try():
            self._in_thread = 0
            try:
                self._timed_sync()
            except Exception as error:  # noqa: BLE001 - whoever waits is told of it
                self._finish(error)
            else:
                if self._last_s[-1] < SLOW_S <= self._usual_s:  # it was the wait for the lock
                    self._usual_s = self._last_s[-1]
                    self._last_s.clear()
                self._finish(None)
            return
        self._in_thread += 1
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="audit-sync")
        work = asyncio.get_running_loop().run_in_executor(self._thread, self._timed_sync)
        work.add_done_callback(lambda ended: self._finish(ended.exception()))

    def _timed_sync(self) -> None:
        start_s = time.perf_counter()
        self._audit.sync()
        self._last_s.append(time.perf_counter() - start_s)
        self._usual_s = statistics.median(self._last_s)

    def _is_worth_a_try(self) -> bool:
        return self._in_thread >= _TRY_EVERY and min(self._last_s) < _MAYBE_QUICK_S

    def _finish(self, error: BaseException | None) -> None:
        waiting, self._waiting = self._waiting or [], None
        for waiter in waiting:
            if waiter.done():  # who waited has gone
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)
