"""What changes while a page is open: this module is the stream (server-sent events) that says so.

A stream only says *that* something changed; the browser then asks for the page again, at its own pace. So nothing
of what an agent writes goes through here.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from execkit_mcp.web.respond import login_of
from execkit_mcp.web.site import Site

__all__ = ["MAX_STREAMS", "POLL_S", "Events"]

POLL_S = 0.1
MAX_STREAMS = 48
_HEARTBEAT_S = 15.0
_SLOW_S = 1.0
_CHANGED = b"event: change\ndata: 1\n\n"


class Events:
    """``/events``: the inbox; ``/events?recording=ID``: one recording; ``/events?recordings``: the list of them."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._open = 0

    async def stream(self, request: Request) -> Response:
        """The stream that the query asks for."""
        if self._open >= MAX_STREAMS:
            raise HTTPException(503, "Too many pages listen already. Close some of them.")
        query = request.query_params
        mark: Callable[[], object]
        if "recording" in query:
            mark = await asyncio.to_thread(self._recording_mark, query["recording"])
        elif "recordings" in query:
            mark = self._folder_mark
        else:
            mark = self._site.desk.change_mark
        return StreamingResponse(self._watch(request, mark), media_type="text/event-stream")

    async def _watch(self, request: Request, mark: Callable[[], object]) -> AsyncGenerator[bytes]:
        login = login_of(request)
        assert login is not None
        clock = self._site.clock
        self._open += 1
        try:
            known, said_s = mark(), clock.monotonic_s()
            yield b"retry: 2000\n: listening\n\n"
            while self._site.logins.is_good(login) and not self._site.is_stopping:
                await asyncio.sleep(POLL_S)
                now, now_s = mark(), clock.monotonic_s()
                if now != known:
                    known, said_s = now, now_s
                    yield _CHANGED
                elif now_s - said_s > _HEARTBEAT_S:
                    said_s = now_s
                    yield b": still here\n\n"
            yield b"event: end\ndata: 1\n\n"
        finally:
            self._open -= 1

    def _recording_mark(self, name: str) -> Callable[[], object]:
        """Grows with the recording: one stat(2) a look; new parts and its end are looked for each second."""
        tails, clock = self._site.tails, self._site.clock
        found = tails.find(name)
        if found is None:
            raise HTTPException(404, "There is no such recording.")
        path, state, looked_s = found.path, (len(found.paths), found.is_live), clock.monotonic_s()

        def mark() -> object:
            nonlocal path, state, looked_s
            if state[1] and clock.monotonic_s() - looked_s > _SLOW_S:
                looked_s = clock.monotonic_s()
                recording = tails.find(name)
                if recording is not None:
                    path, state = recording.path, (len(recording.paths), recording.is_live)
            return state, _size(path)

        return mark

    def _folder_mark(self) -> object:
        try:
            found = self._site.recordings_dir.stat()
        except OSError:
            return None
        return found.st_mtime_ns, int(self._site.clock.monotonic_s() / 5)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
