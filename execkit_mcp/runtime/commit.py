"""When an entry of the audit log is on the disk: one sync for everybody who waits, and none that stalls the others.

Syncs are shared: who asks while one is under way gets the next. Where the kernel does it beside us (``BackgroundSync``)
the event loop goes on meanwhile. Elsewhere a disk that syncs in less than ``SLOW_S`` is waited for where we are, which
costs less than a thread; a slower one in a thread. The only call that is at work shares with nobody: it waits where it
is, unless the disk is slow.

How long the disk takes is the median of the last syncs, so that one hiccup changes nothing. In a thread the wait for
the interpreter's lock (5 ms, `sys.getswitchinterval`) is counted with it: now and then one that may be quick is tried
where we are.
"""

import asyncio
import contextlib
import os
import select
import statistics
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from execkit_mcp.audit.folder import LOCK_WAIT_S
from execkit_mcp.audit.writer import AuditLog, Sync
from execkit_mcp.errors import AuditBusy, AuditWriteFailed
from execkit_mcp.runtime.background_sync import BackgroundSync

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

    def __init__(self, audit: AuditLog, open_beside: Callable[[], BackgroundSync | None] | None = None) -> None:
        self._audit = audit
        self._open_beside = open_beside or BackgroundSync.open
        self._beside: BackgroundSync | None = None
        self._was_beside_tried = False
        self._begun: Sync | None = None
        self._begun_s = 0.0
        self._next: list[tuple[int, asyncio.Future[None]]] = []
        self._now: list[tuple[int, asyncio.Future[None]]] = []
        self._is_under_way = False
        self._thread: ThreadPoolExecutor | None = None
        self._last_s: deque[float] = deque(maxlen=_LAST)
        self._usual_s = 0.0
        self._is_closed = False
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
            try:
                if is_alone and not self._is_asked and self._usual_s < ALONE_SLOW_S:
                    self._timed_sync()
                else:
                    await self._turn(seq)
            except AuditBusy:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(POLL_S)
            else:
                if self._audit.synced_seq < seq:
                    raise AuditWriteFailed("The newest entry of the audit log could not be put on the disk.")

    @property
    def _is_asked(self) -> bool:
        return bool(self._next or self._is_under_way)

    def _turn(self, seq: int) -> "asyncio.Future[None]":
        """The end of the next sync; one that is under way may have begun before the entry stood there."""
        loop = asyncio.get_running_loop()
        if not self._is_asked:
            loop.call_soon(self._begin)  # who is ready to write does so first
        waiter: asyncio.Future[None] = loop.create_future()
        self._next.append((seq, waiter))
        return waiter

    def close(self) -> None:
        """Let go of the thread, or of the kernel's queue, once what is under way has ended.

        Who waits is told; what is asked for from then on is done where we are.
        """
        self._is_closed = True
        if self._thread is not None:
            self._thread.shutdown(wait=True)
        if self._beside is None:
            return
        if self._begun is not None:
            poll = select.poll()  # select(2) knows no descriptor above 1,023
            poll.register(self._beside, select.POLLIN)
            poll.poll()
            self._ended_beside()
        self._leave_beside(self._beside)

    def _begin(self) -> None:
        """Begin the sync that everybody who has asked waits for: beside us, where we are, or in a thread."""
        self._now, self._next = self._next, []
        self._is_under_way = True
        if self._has_beside():
            self._sync_beside()
        elif self._is_closed or self._usual_s < SLOW_S or self._is_worth_a_try():
            self._sync_here()
        else:
            self._in_thread += 1
            if self._thread is None:
                self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="audit-sync")
            work = asyncio.get_running_loop().run_in_executor(self._thread, self._timed_sync)
            work.add_done_callback(lambda ended: self._finish(ended.exception()))

    def _sync_beside(self) -> None:
        assert self._beside is not None
        try:
            begun = self._audit.begin_sync()
        except Exception as error:  # noqa: BLE001 - whoever waits is told of it
            self._finish(error)
            return
        if begun is None:
            self._finish(None)
            return
        self._begun, self._begun_s = begun, time.perf_counter()
        try:
            self._beside.submit(begun.descriptor)
        except OSError:  # not on this file system
            self._begun = None
            self._leave_beside(self._beside)
            self._sync_here()
        finally:
            os.close(begun.descriptor)

    def _ended_beside(self) -> None:
        """The kernel has something to say."""
        failed: OSError | None = None
        try:
            if self._beside is None or not self._beside.ended():
                return
        except OSError as error:
            failed = error
        assert self._begun is not None
        begun, self._begun = self._begun, None
        self._took(time.perf_counter() - self._begun_s)
        try:
            self._audit.end_sync(begun, failed)
        except Exception as error:  # noqa: BLE001 - whoever waits is told of it
            self._finish(error)
        else:
            self._finish(None)

    def _has_beside(self) -> bool:
        if not self._was_beside_tried and not self._is_closed:
            self._was_beside_tried = True
            self._beside = self._open_beside()
            if self._beside is not None:
                asyncio.get_running_loop().add_reader(self._beside.fileno(), self._ended_beside)
        return self._beside is not None

    def _leave_beside(self, beside: BackgroundSync) -> None:
        self._beside = None
        with contextlib.suppress(RuntimeError):  # the loop may be gone already
            asyncio.get_running_loop().remove_reader(beside.fileno())
        beside.close()

    def _sync_here(self) -> None:
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

    def _timed_sync(self) -> None:
        start_s = time.perf_counter()
        self._audit.sync()
        self._took(time.perf_counter() - start_s)

    def _took(self, seconds: float) -> None:
        self._last_s.append(seconds)
        self._usual_s = statistics.median(self._last_s)

    def _is_worth_a_try(self) -> bool:
        return self._in_thread >= _TRY_EVERY and min(self._last_s) < _MAYBE_QUICK_S

    def _finish(self, error: BaseException | None) -> None:
        """Answer those who waited, and begin with those who have asked meanwhile."""
        ended, self._now, self._is_under_way = self._now, [], False
        if error is None and self._next:  # the entries of some were there already
            synced = self._audit.synced_seq
            ended += [asked for asked in self._next if asked[0] <= synced]
            self._next = [asked for asked in self._next if asked[0] > synced]
        for _, waiter in ended:
            if waiter.done():  # who waited has gone
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)
        if self._next:
            self._is_under_way = True
            asyncio.get_running_loop().call_soon(self._begin)
