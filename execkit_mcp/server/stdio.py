"""MCP over standard input and output, without threads: lines in, lines out, nothing else on standard output.

The SDK's own loop reads on a worker thread, which cannot be interrupted; this one ends at once on end of input or when
its task is cancelled (SIGTERM). Descriptor 1 is pointed at standard error while it serves, so that a stray ``print``
never lands between two protocol lines.
"""

import asyncio
import fcntl
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

MAX_LINE_BYTES: Final = 16 * 1024 * 1024

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


async def _lines(descriptor: int) -> asyncio.StreamReader:
    """A reader of ``descriptor``: a pipe, socket or terminal through the loop, a plain file at once."""
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    pipe = os.fdopen(descriptor, "rb", buffering=0)
    try:
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    except ValueError:  # a regular file: not a pipe, but all of it is there
        reader.feed_data(pipe.read())
        reader.feed_eof()
    return reader


def _write(descriptor: int, data: bytes) -> None:
    """Write all of ``data``; the descriptor blocks, so a slow client slows us, which is what it wants."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


@asynccontextmanager
async def stdio_streams() -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The stream pair that the SDK's server loop runs over."""
    wire_in = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    wire_out = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    reader = await _lines(wire_in)
    os.set_blocking(wire_out, True)  # it may share its open file with standard input, which is non-blocking now
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](16)

    async def read() -> None:
        async with to_server:
            while True:
                try:
                    line = await reader.readline()
                except ValueError as error:  # over the limit: the reader has dropped it
                    await to_server.send(error)
                    continue
                if not line:
                    return
                if not line.strip():
                    continue
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError as error:
                    await to_server.send(error)
                    continue
                await to_server.send(SessionMessage(message))

    async def write() -> None:
        async with from_server:
            async for session_message in from_server:
                text = session_message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    _write(wire_out, text.encode("utf-8") + b"\n")
                except BrokenPipeError:
                    return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield incoming, outgoing
        finally:
            sys.stderr.flush()
            tasks.cancel_scope.cancel()
