"""One request of plain HTTP through the proxy; this module reads it, and writes it anew for the one host it names.

Nothing is passed on as it came. The request is taken apart by h11 and put together again: the host of the request line
is the Host, whatever the client wrote there; what concerns the proxy, the connection or another protocol is left out;
a body ends where its own length says. One request a connection, so that no second one hides behind the first.
"""

import asyncio
import re
from typing import Final

import h11
from msgspec import Struct

from execkit_mcp.fence.streams import Pair
from execkit_mcp.model.regex import lazy_regex

__all__ = ["RequestLine", "forward", "request_line"]

_CHUNK: Final = 1 << 16
_ABSOLUTE = lazy_regex(rb"http://([^/?#\\@\s]+)([/?][^\s#]*)?", re.IGNORECASE)
_AUTHORITY = lazy_regex(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]@]+)(?::([0-9]+))?")
_NOT_PASSED_ON = frozenset({
    b"connection", b"expect", b"host", b"keep-alive", b"proxy-authenticate", b"proxy-authorization",
    b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
})  # fmt: skip


class RequestLine(Struct, frozen=True, kw_only=True):
    """What is asked for: ``kind`` is ``connect`` or ``http``; ``trouble`` says why it cannot be answered."""

    kind: str
    host: str = ""
    port: str = ""
    path: bytes = b"/"
    method: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    trouble: str = ""


async def request_line(client: h11.Connection, reader: asyncio.StreamReader) -> RequestLine | None:
    """The client's first request, or None if it hung up; raises h11.RemoteProtocolError."""
    while (event := client.next_event()) is h11.NEED_DATA:
        client.receive_data(await reader.read(_CHUNK))
    return _line(event) if isinstance(event, h11.Request) else None


def _line(request: h11.Request) -> RequestLine:
    method, target = bytes(request.method), bytes(request.target)
    kind = "connect" if method == b"CONNECT" else "http"
    if kind == "connect":
        authority, path = target, b"/"
    else:
        found = _ABSOLUTE.fullmatch(target)
        if found is None:
            return RequestLine(
                kind=kind,
                trouble="this is a proxy: ask for http://HOST/PATH, or CONNECT to HOST:PORT for anything else.",
            )
        authority, path = found[1], found[2] or b"/"
        if path.startswith(b"?"):
            path = b"/" + path
    parts = _AUTHORITY.fullmatch(authority.decode("ascii", "replace"))
    if parts is None or (kind == "connect" and parts[2] is None):
        return RequestLine(kind=kind, trouble=f"{authority[:80]!r} is no HOST:PORT.")
    headers = tuple((bytes(name), bytes(value)) for name, value in request.headers)
    return RequestLine(kind=kind, host=parts[1], port=parts[2] or "80", path=path, method=method, headers=headers)


def _passed_on(headers: tuple[tuple[bytes, bytes], ...]) -> list[tuple[bytes, bytes]]:
    named = {
        word.strip().lower() for name, value in headers if name.lower() == b"connection" for word in value.split(b",")
    }
    return [
        (name, value) for name, value in headers if name.lower() not in _NOT_PASSED_ON | (named - {b"content-length"})
    ]


async def forward(line: RequestLine, client: h11.Connection, near: Pair, far: Pair) -> None:
    """Send the request on and the answer back; raises h11.RemoteProtocolError."""
    server = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 17)
    body = asyncio.ensure_future(_send(line, client, server, near, far))
    try:
        await _answer(client, server, near, far)
    finally:
        body.cancel()
        await asyncio.gather(body, return_exceptions=True)


async def _send(line: RequestLine, client: h11.Connection, server: h11.Connection, near: Pair, far: Pair) -> None:
    host = line.host if line.port == "80" else f"{line.host}:{line.port}"
    headers = [(b"Host", host.encode("ascii")), *_passed_on(line.headers), (b"Connection", b"close")]
    if not any(name.lower() == b"content-length" for name, _ in headers) and any(
        name.lower() == b"transfer-encoding" for name, _ in line.headers
    ):
        headers.append((b"Transfer-Encoding", b"chunked"))
    far[1].write(server.send(h11.Request(method=line.method, target=line.path, headers=headers)) or b"")
    if client.they_are_waiting_for_100_continue:
        near[1].write(client.send(h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")) or b"")
    while True:
        event = client.next_event()
        if event is h11.NEED_DATA:
            client.receive_data(await near[0].read(_CHUNK))
        elif isinstance(event, h11.Data):
            far[1].write(server.send(event) or b"")
            await far[1].drain()
        else:
            if isinstance(event, h11.EndOfMessage):
                far[1].write(server.send(h11.EndOfMessage()) or b"")
            await far[1].drain()
            return


async def _answer(client: h11.Connection, server: h11.Connection, near: Pair, far: Pair) -> None:
    while True:
        event = server.next_event()
        if event is h11.NEED_DATA:
            server.receive_data(await far[0].read(_CHUNK))
        elif isinstance(event, h11.Response):
            headers = tuple((bytes(name), bytes(value)) for name, value in event.headers)
            answer = h11.Response(
                status_code=event.status_code,
                reason=event.reason,
                headers=[*_passed_on(headers), (b"Connection", b"close")],
            )
            near[1].write(client.send(answer) or b"")
        elif isinstance(event, h11.Data):
            near[1].write(client.send(event) or b"")
            await near[1].drain()
        elif isinstance(event, h11.EndOfMessage):
            near[1].write(client.send(h11.EndOfMessage()) or b"")
            await near[1].drain()
            return
        elif not isinstance(event, h11.InformationalResponse):
            return
