"""Standard input and output as lines, without threads: lines in, lines out, nothing else on standard output.

The SDK's own loop reads on a worker thread, which cannot be interrupted; this one ends at once on end of input or when
its task is cancelled (SIGTERM). Descriptor 1 is pointed at standard error while it serves, so that a stray ``print``
never lands between two protocol lines. A client that does not read its answers holds up answers only, never timeouts
or the end. It knows nothing of the protocol: the first answer goes out before the SDK is loaded.
"""

import asyncio
import fcntl
import os
import select
import stat
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

MAX_LINE_BYTES: Final = 16 * 1024 * 1024


async def _reader(descriptor: int) -> asyncio.StreamReader:
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


class Lines:
    """The client's lines, in order."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._ahead: asyncio.Task[bytes | None] | None = None

    async def peek(self, timeout_s: float) -> bytes | None:
        """The first line, if it comes within ``timeout_s``; ``next`` still gives it."""
        self._ahead = asyncio.get_running_loop().create_task(self._line())
        await asyncio.wait((self._ahead,), timeout=timeout_s)
        return self._ahead.result() if self._ahead.done() else None

    async def next(self) -> bytes | None:
        """The next line, empty at the end of input; None for one that is over the limit, which is dropped whole."""
        if self._ahead is None:
            return await self._line()
        ahead, self._ahead = self._ahead, None
        return await ahead

    async def _line(self) -> bytes | None:
        is_whole = True
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                line = error.partial
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
                is_whole = False
                continue
            return line if is_whole else None


class Answers:
    """Our lines, each straight to the client, in the order in which they were written.

    What the pipe does not take at once is kept and written when it has room: a caller who is cancelled meanwhile leaves
    no half of a line. Whoever writes waits until the client has read: only answers wait for it.
    """

    def __init__(self, descriptor: int, on_gone: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_gone = on_gone
        self._left = bytearray()
        self._is_gone = False
        self._has_room = asyncio.Event()
        self._has_room.set()

    async def write(self, line: bytes) -> None:
        """Write one line."""
        if self._is_gone:
            return
        self._left += line
        if self._has_room.is_set():
            self._flush()
            if self._left and not self._is_gone:
                self._has_room.clear()
                asyncio.get_running_loop().add_writer(self._descriptor, self._flush)
        await self._has_room.wait()

    def _flush(self) -> None:
        try:
            while self._left:
                del self._left[: os.write(self._descriptor, self._left)]
        except BlockingIOError:
            return
        except OSError:  # nobody can read our answers any more: that is the end as well
            self._left.clear()
            self._is_gone = True
            self._on_gone()
        self.stop()

    def stop(self) -> None:
        """Wait for the client no longer."""
        if not self._has_room.is_set():
            asyncio.get_running_loop().remove_writer(self._descriptor)
            self._has_room.set()


@asynccontextmanager
async def client_lines(on_gone: Callable[[], None]) -> AsyncIterator[tuple[Lines, Answers]]:
    """The client's end of standard input and output; ``on_gone`` is called when nobody can read our answers."""
    wire_in = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    wire_out = _output()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    answers = Answers(wire_out, on_gone)
    try:
        yield Lines(await _reader(wire_in)), answers
    finally:
        answers.stop()
        sys.stderr.flush()
