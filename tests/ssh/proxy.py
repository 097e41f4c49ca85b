"""A way to a host that can be cut, slowed down or closed in the middle."""

import asyncio
import contextlib
from typing import Self


class Proxy:
    """Forwards to ``port``; ``cut`` goes on holding the connections and passes nothing any more.

    ``closes_after``: this many bytes of the host come through, then the connection is closed.
    """

    def __init__(
        self, port: int, delay_s: float = 0.0, *, host: str = "127.0.0.1", closes_after: int | None = None
    ) -> None:
        self._target = port
        self._host = host
        self._left = closes_after
        self._delay_s = delay_s
        self._is_cut = False
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.taken = 0
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.drop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.taken += 1
        self._writers.append(writer)
        if (mine := asyncio.current_task()) is not None:
            self._tasks.add(mine)
        try:
            there, back = await asyncio.open_connection(self._host, self._target)
        except OSError:
            writer.close()
            return
        self._writers.append(back)
        for source, sink, is_counted in ((reader, back, False), (there, writer, self._left is not None)):
            task = asyncio.create_task(self._pass_some(there, writer) if is_counted else self._pass(source, sink))
            self._tasks.add(task)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if self._is_cut:
                    continue
                if self._delay_s:
                    asyncio.get_running_loop().call_later(self._delay_s, self._write, sink, data)
                else:
                    sink.write(data)
        with contextlib.suppress(OSError):
            sink.close()

    async def _pass_some(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        assert self._left is not None
        with contextlib.suppress(OSError):
            while self._left > 0 and (data := await source.read(self._left)):
                self._left -= len(data)
                sink.write(data)
            await sink.drain()
            sink.close()

    def _write(self, sink: asyncio.StreamWriter, data: bytes) -> None:
        if not sink.is_closing():
            sink.write(data)

    def cut(self) -> None:
        """Pass nothing any more, and tell nobody."""
        self._is_cut = True

    def mend(self) -> None:
        """Serve new connections again; the old ones stay cut."""
        self.drop()
        self._is_cut = False

    def drop(self) -> None:
        """Close every connection."""
        for writer in self._writers:
            with contextlib.suppress(OSError):
                writer.transport.abort()
        self._writers.clear()
