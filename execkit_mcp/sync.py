"""The blocking facade: the names of ``execkit_mcp.aio``, over one event loop on a thread of its own.

The loop starts with the first session and ends with the last one, so that nothing of it is left in a process that has
closed what it opened. A forked child has no such thread: what its parent opened is not the child's to use or to end,
and what the child opens gets a loop of its own.
"""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from execkit_mcp import aio
from execkit_mcp.errors import SessionClosed
from execkit_mcp.model import ExecResult
from execkit_mcp.runtime.sdk_policy import Policy

__all__ = ["Approver", "Session", "create"]

T = TypeVar("T")
Approver = Callable[[aio.Question], bool]
"""Brings a person's answer: True lets the command run once."""


class _Portal:
    """One event loop on one thread, shared by every open session."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._parents: list[asyncio.AbstractEventLoop | None] = []  # never touched: the parent works with them
        os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self._parents.append(self._loop)
        self._lock = threading.Lock()
        self._users, self._loop, self._thread = 0, None, None

    def enter(self) -> None:
        """Take a share in the loop; the first one starts it."""
        with self._lock:
            self._users += 1
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="execkit-mcp", daemon=True)
                self._thread.start()

    def leave(self) -> None:
        """Give the share back; the last one stops the loop."""
        with self._lock:
            self._users -= 1
            if self._users or self._loop is None or self._thread is None:
                return
            asyncio.run_coroutine_threadsafe(self._loop.shutdown_default_executor(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = None

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` on the loop and wait for it; an interrupt of the waiting thread cancels it."""
        assert self._loop is not None
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


_PORTAL = _Portal()


class Session:
    """A persistent shell session; made by ``create``. Close it, or use it with ``with``."""

    def __init__(self, inner: aio.Session) -> None:
        self._inner = inner
        self._is_open = True
        self._pid = os.getpid()

    @property
    def name(self) -> str:
        """The session's name."""
        return self._inner.name

    def exec(
        self,
        command: str,
        *,
        timeout_s: float | None = None,
        stdin: str | None = None,
        tty: bool = False,
        max_output: int = aio.MAX_OUTPUT_CHARS,
        reason: str = "",
        approval_id: str | None = None,
        approval_wait_s: float = 0.0,
    ) -> ExecResult:
        """Run ``command`` to its end and return the result; see ``aio.Session.exec``."""
        return self._call(
            self._inner.exec(
                command,
                timeout_s=timeout_s,
                stdin=stdin,
                tty=tty,
                max_output=max_output,
                reason=reason,
                approval_id=approval_id,
                approval_wait_s=approval_wait_s,
            )
        )

    def stream(
        self, command: str, *, timeout_s: float | None = None, stdin: str | None = None, reason: str = ""
    ) -> Iterator[aio.OutputChunk]:
        """Run ``command`` and yield its output as it comes; see ``aio.Session.stream``."""
        chunks = self._inner.stream(command, timeout_s=timeout_s, stdin=stdin, reason=reason)
        try:
            while (chunk := self._call(_next(chunks))) is not None:
                yield chunk
        finally:
            self._call(_end(chunks))

    def snapshot(self, name: str | None = None) -> str:
        """Keep the workspace of a sandbox as it is; see ``aio.Session.snapshot``."""
        return self._call(self._inner.snapshot(name))

    def restore(self, snapshot: str) -> None:
        """Make the workspace of a sandbox what it was; see ``aio.Session.restore``."""
        self._call(self._inner.restore(snapshot))

    def fork(self, snapshot: str | None = None) -> "Session":
        """A second sandbox that starts from this one's workspace; see ``aio.Session.fork``."""
        forked = self._call(self._inner.fork(snapshot))
        _PORTAL.enter()
        return Session(forked)

    def diff(self) -> Mapping[str, object]:
        """What a sandbox changed in its workspace; see ``aio.Session.diff``."""
        return self._call(self._inner.diff())

    def apply(self, *, reason: str = "", approval_id: str | None = None) -> int:
        """Write a sandbox's changes into the real workspace; see ``aio.Session.apply``."""
        return self._call(self._inner.apply(reason=reason, approval_id=approval_id))

    def close(self) -> None:
        """End the shell and everything below it; closing twice does nothing."""
        if self._is_open:
            self._is_open = False
            if self._pid != os.getpid():
                return
            try:
                _PORTAL.call(self._inner.close())
            finally:
                _PORTAL.leave()

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        if not self._is_open:
            work.close()
            raise SessionClosed(f"Session {self.name!r} is closed.", hint="Open another with create().")
        if self._pid != os.getpid():
            work.close()
            raise SessionClosed(
                f"Session {self.name!r} belongs to process {self._pid}, from which this one was forked.",
                hint="Open another here with create().",
            )
        return _PORTAL.call(work)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def _next(chunks: AsyncIterator[aio.OutputChunk]) -> aio.OutputChunk | None:
    return await anext(chunks, None)


async def _end(chunks: AsyncGenerator[aio.OutputChunk]) -> None:
    await chunks.aclose()


def create(
    target: str = "local",
    *,
    policy: Policy | aio.Location | None = None,
    cwd: aio.Location | None = None,
    approver: Approver | None = None,
    workspace: aio.Location | None = None,
    config: aio.Location | None = None,
    state_dir: aio.Location | None = None,
) -> Session:
    """Open a session; see ``aio.create`` for the arguments and what is raised.

    ``approver`` is called on a thread of its own, so it may block while it asks.
    """

    async def ask(question: aio.Question) -> bool:
        assert approver is not None
        return await asyncio.to_thread(approver, question)

    async def open_inner() -> aio.Session:
        return await aio.create(
            target,
            policy=policy,
            cwd=cwd,
            approver=ask if callable(approver) else approver,
            workspace=workspace,
            config=config,
            state_dir=state_dir,
        )

    _PORTAL.enter()
    try:
        return Session(_PORTAL.call(open_inner()))
    except BaseException:
        _PORTAL.leave()
        raise
