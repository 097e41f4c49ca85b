"""Bytes between two connections; this module is the plumbing of the egress proxy."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

__all__ = ["Pair", "hang_up", "join", "refuse", "unless_gone"]

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
T = TypeVar("T")

_CHUNK: Final = 1 << 16
_MAX_EARLY: Final = 1 << 17
_FLUSH_S: Final = 1.0
_REASONS: Final = {400: "Bad Request", 403: "Forbidden", 429: "Too Many Requests", 502: "Bad Gateway"}


async def join(near: Pair, far: Pair, *, first: Callable[[], Awaitable[bytes | None]] | None = None) -> None:
    """Pass bytes both ways until both ends are done or one breaks.

    ``first`` gives the first bytes from the near end to the far one, once they may be passed on; None: cut it.
    """
    up = asyncio.ensure_future(_pump(near[0], far[1], first))
    down = asyncio.ensure_future(_pump(far[0], near[1], None))
    try:
        while not (up.done() and down.done()):
            done, _ = await asyncio.wait(
                {up, down} - {each for each in (up, down) if each.done()}, return_when="FIRST_COMPLETED"
            )
            if not all(each.result() for each in done):
                return
    finally:
        for each in (up, down):
            each.cancel()
        far[1].close()  # before anything is awaited: whoever cancels us here skips the rest
        await asyncio.gather(up, down, return_exceptions=True)
        await hang_up(far[1])


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close a connection; what the other end does not take within a second is lost."""
    writer.close()
    try:
        async with asyncio.timeout(_FLUSH_S):
            await writer.wait_closed()
    except (OSError, TimeoutError):
        writer.transport.abort()


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: Callable[[], Awaitable[bytes | None]] | None
) -> bool:
    """Copy to the end, then say that it is the end; False if one of the two is broken or cut."""
    try:
        if first is not None:
            data = await first()
            if data is None:
                return False
            writer.write(data)
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        return False
    return True


async def unless_gone(reader: asyncio.StreamReader, keep: Callable[[bytes], object], wanted: Awaitable[T]) -> T | None:
    """What ``wanted`` gives, or None as soon as the client hangs up: a person may take minutes to answer.

    ``keep`` is given what the client sends meanwhile.
    """
    task = asyncio.ensure_future(wanted)
    ear = asyncio.ensure_future(reader.read(_CHUNK))
    kept = 0
    try:
        while True:
            await asyncio.wait({task, ear}, return_when="FIRST_COMPLETED")
            if ear.done():
                data = ear.result()
                kept += len(data)
                if data:
                    keep(data)
                if task.done():
                    return await task
                if not data:
                    return None
                if kept > _MAX_EARLY:  # the rest waits in the connection
                    return await task
                ear = asyncio.ensure_future(reader.read(_CHUNK))
            else:
                return await task
    finally:
        for each in (task, ear):
            each.cancel()
        await asyncio.gather(task, ear, return_exceptions=True)


async def refuse(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    """Answer with an error of HTTP that says why."""
    body = f"execkit-mcp: {text}\n".encode("utf-8", "replace")
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nProxy-Agent: execkit-mcp\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode("ascii") + body)
    with contextlib.suppress(OSError):
        await writer.drain()
