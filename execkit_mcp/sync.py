"""The blocking facade: the names of ``execkit_mcp.aio``, over one event loop on a thread of its own.

The loop starts with the first session and ends with the last one, so that nothing of it is left in a process that has
closed what it opened.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
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

    def close(self) -> None:
        """End the shell and everything below it; closing twice does nothing."""
        if self._is_open:
            self._is_open = False
            try:
                _PORTAL.call(self._inner.close())
            finally:
                _PORTAL.leave()

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        if not self._is_open:
            work.close()
            raise SessionClosed(f"Session {self.name!r} is closed.", hint="Open another with create().")
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
    policy: Policy | str | None = None,
    cwd: str | None = None,
    approver: Approver | None = None,
    workspace: str | None = None,
    config: str | None = None,
    state_dir: str | None = None,
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
            approver=ask if approver is not None else None,
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
