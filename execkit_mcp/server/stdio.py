"""MCP over standard input and output, without threads: lines in, lines out, nothing else on standard output.

The SDK's own loop reads on a worker thread, which cannot be interrupted; this one ends at once on end of input or when
its task is cancelled (SIGTERM). Descriptor 1 is pointed at standard error while it serves, so that a stray ``print``
never lands between two protocol lines. A line that is no message is answered with an error, with the id that it names
if there is one: its sender may be waiting. A client that does not read its answers holds up answers only, never
timeouts or the end.
"""

import asyncio
import fcntl
import json
import os
import select
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from msgspec import Struct

MAX_LINE_BYTES: Final = 16 * 1024 * 1024

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


async def _lines(descriptor: int) -> asyncio.StreamReader:
    """A reader of ``descriptor``: a pipe, socket or terminal through the loop, what cannot be waited for at once."""
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    file = os.fdopen(descriptor, "rb", buffering=0)
    try:
        with select.epoll() as poll:
            poll.register(descriptor)
    except PermissionError:  # epoll_ctl(2): a regular file, /dev/null: all of it is there
        with file:
            reader.feed_data(file.read())
        reader.feed_eof()
    else:
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return reader


async def _line(reader: asyncio.StreamReader) -> bytes | None:
    """The next line, empty at the end of input; None for one that is over the limit, which is dropped whole."""
    is_whole = True
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            line = error.partial
        except asyncio.LimitOverrunError as error:
            await reader.readexactly(error.consumed)
            is_whole = False
            continue
        return line if is_whole else None


class Refusal(Struct, frozen=True, kw_only=True):
    """What becomes of a line that is no message: an error for its sender, or in place of the answer that it was."""

    error: types.JSONRPCError
    is_for_us: bool = False


def refuse(line: bytes | None) -> Refusal:
    """The error that a bad line stands for; None is a line that was too long to read.

    A request is answered under its own id. A bad answer to a request of ours counts as an error answer to it, so that
    nobody waits for a better one. An id is never taken from anything else: it could be that of another request.
    """
    if line is None:
        return _refusal(None, types.INVALID_REQUEST, f"The message is longer than {MAX_LINE_BYTES} bytes.")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(None, types.PARSE_ERROR, "The line is not JSON in UTF-8.")
    told = "The line is not a JSON-RPC 2.0 message: one object, in valid Unicode."
    id_ = message.get("id") if isinstance(message, dict) else None
    if isinstance(id_, bool) or not isinstance(id_, int | str) or not str(id_).isprintable():
        return _refusal(None, types.INVALID_REQUEST, told)
    if "method" in message:
        return _refusal(id_, types.INVALID_REQUEST, told)
    is_answer = "result" in message or "error" in message
    return _refusal(id_ if is_answer else None, types.INVALID_REQUEST, told, is_for_us=is_answer)


def _refusal(id_: int | str | None, code: int, told: str, *, is_for_us: bool = False) -> Refusal:
    error = types.JSONRPCError(jsonrpc="2.0", id=id_, error=types.ErrorData(code=code, message=told))
    return Refusal(error=error, is_for_us=is_for_us)


def encoded(message: types.JSONRPCMessage) -> bytes:
    """The line of ``message``. Names of files need not be Unicode; what is not becomes ``?`` rather than no answer."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        text = json.dumps(message.model_dump(by_alias=True, exclude_unset=True), ensure_ascii=False)
    return text.encode("utf-8", "replace") + b"\n"


def _output() -> int:
    """Our own descriptor of the client's end, which never blocks, also if others hold it open."""
    try:
        if stat.S_ISFIFO(os.fstat(1).st_mode):  # an open file of its own: flags are not shared with anybody
            return os.open("/proc/self/fd/1", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        pass
    copy = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    os.set_blocking(copy, False)
    return copy


async def _write(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, waiting for a slow client without holding up the loop."""
    view = memoryview(data)
    loop = asyncio.get_running_loop()
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            has_room = asyncio.Event()
            loop.add_writer(descriptor, has_room.set)
            try:
                await has_room.wait()
            finally:
                loop.remove_writer(descriptor)


@asynccontextmanager
async def stdio_streams() -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The stream pair that the SDK's server loop runs over."""
    wire_in = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    wire_out = _output()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    reader = await _lines(wire_in)
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](16)

    async def read() -> None:
        async with to_server:
            while True:
                line = await _line(reader)
                if line is not None and not line:
                    return
                if line is not None and not line.strip():
                    continue
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line or b"", by_name=False)
                except ValueError:
                    refusal = refuse(line)
                    await (to_server if refusal.is_for_us else outgoing).send(SessionMessage(refusal.error))
                    continue
                await to_server.send(SessionMessage(message))

    async def write() -> None:
        async with from_server:
            async for session_message in from_server:
                try:
                    await _write(wire_out, encoded(session_message.message))
                except OSError:  # nobody can read our answers any more: that is the end as well
                    tasks.cancel_scope.cancel()
                    return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield incoming, outgoing
        finally:
            sys.stderr.flush()
            tasks.cancel_scope.cancel()
