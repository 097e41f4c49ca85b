"""The one way out of a session without a network: this module is the egress proxy's loop.

    program ─ TCP ─▸ listener in the session's own network namespace ═ descriptor ═▸ this proxy ─▸ the host's network

Theory of operation
-------------------
A session's network namespace holds loopback and nothing else. A listening socket is made in there and its descriptor
handed to us, so that the session has no file to find, no password to read and no process of ours to attack; which
session asks is known from the listener alone.

Each request is judged three times by the session's ``Guard`` (``policy/egress`` decides): the host and port before
anything is looked up; each address before anything is connected to; and the name that the client then speaks of in
TLS or HTTP before the first byte is passed on. Names are looked up here, never inside. We connect to the address that
was judged, not to the name again. Every attempt is told to the guard with its outcome; if it cannot record, nothing
is connected.
"""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, Protocol

import h11
from msgspec import Struct

from execkit_mcp.errors import ExecKitError
from execkit_mcp.fence.client_hello import MAX_OPENING, Opening, opening_host
from execkit_mcp.fence.own_machine import is_our_listener, is_own_address
from execkit_mcp.fence.plain_http import RequestLine, forward, request_line
from execkit_mcp.fence.streams import Pair, hang_up, join, refuse, unless_gone
from execkit_mcp.model.verdict import ALLOW, DENY
from execkit_mcp.policy.egress import EgressRuling, target_of
from execkit_mcp.policy.network import Endpoint

__all__ = ["MAX_CONNECTIONS", "EgressProxy", "Guard", "Outcome"]

MAX_CONNECTIONS: Final = 128
_MAX_HEAD: Final = 1 << 15
_CHUNK: Final = 1 << 16
_HEAD_S: Final = 20.0
_OPENING_S: Final = 20.0
_RESOLVE_S: Final = 10.0
_CONNECT_S: Final = 10.0
_BACKLOG: Final = 128


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of one attempt.

    Attributes:
        target: host and port as they were asked for.
        kind: ``connect``, ``http`` or ``service`` (a loopback service of the host).
        is_open: whether a connection was made.
        address: to which address.
        reason: why, or why not.
        hint: what would change that.
        is_refused: whether the policy, not the network, said no.
    """

    target: str
    kind: str
    is_open: bool
    reason: str
    address: str = ""
    hint: str = ""
    is_refused: bool = False


class Guard(Protocol):
    """What decides for one session and puts each attempt on the record."""

    async def judge(self, endpoint: Endpoint) -> EgressRuling:
        """Whether ``endpoint`` may be asked for; may wait until a person has answered."""
        ...

    def judge_address(self, endpoint: Endpoint, address: str, *, is_own: bool) -> EgressRuling:
        """Whether it may be reached at ``address``."""
        ...

    def judge_name(self, endpoint: Endpoint, name: Endpoint) -> EgressRuling:
        """Whether a tunnel to ``endpoint`` may speak of ``name``."""
        ...

    def record(self, outcome: Outcome) -> None:
        """Put an attempt on the record; raises ExecKitError, and then it is refused."""
        ...


Lookup = Callable[[str, int], Awaitable[Sequence[str]]]


async def look_up(host: str, port: int) -> tuple[str, ...]:
    """The addresses of ``host``, as the host's own resolver tells them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))


class EgressProxy:
    """Serves the listeners of one session on the running loop."""

    def __init__(self, guard: Guard, *, resolve: Lookup = look_up) -> None:
        self._guard = guard
        self._resolve = resolve
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def serve(self, listener: socket.socket) -> None:
        """Answer CONNECT and plain HTTP on a listening socket, which belongs to the proxy from now on."""
        self._servers.append(await self._start(listener, self._proxied))

    async def serve_service(self, listener: socket.socket, endpoint: Endpoint) -> None:
        """Pass each connection on to one service of this machine."""
        self._servers.append(await self._start(listener, partial(self._service, endpoint)))

    async def _start(
        self, listener: socket.socket, handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> asyncio.Server:
        listener.setblocking(False)

        async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._open.add(task)
            try:
                if self._is_closed:
                    return
                if len(self._open) > MAX_CONNECTIONS:
                    await refuse(writer, 429, f"this session has {MAX_CONNECTIONS} connections open.")
                    return
                await handle(reader, writer)
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError, TimeoutError):
                pass  # one of the two ends went away, or the session did
            finally:
                try:
                    await hang_up(writer)
                finally:
                    self._open.discard(task)

        if listener.family == socket.AF_UNIX:
            return await asyncio.start_unix_server(serve_one, sock=listener, backlog=_BACKLOG)
        return await asyncio.start_server(serve_one, sock=listener, backlog=_BACKLOG)

    def leave(self) -> None:
        """Listen no more where it listens now; connections that are open stay."""
        for server in self._servers:
            server.close()
        self._servers.clear()

    async def close(self) -> None:
        """Take no more connections and cut the open ones."""
        self._is_closed = True
        for server in self._servers:
            server.close()
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    # ── what a client asks for ───────────────────────────────────────────────────────────────────────────

    async def _proxied(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD)
        try:
            async with asyncio.timeout(_HEAD_S):
                line = await request_line(client, reader)
        except h11.RemoteProtocolError as error:
            await refuse(writer, 400, f"the request is no HTTP: {error}.")
            return
        if line is None:
            return
        endpoint = target_of(line.host, line.port) if not line.trouble else None
        if endpoint is None:
            await refuse(
                writer, 400, line.trouble or f"{line.host[:80]!r} and port {line.port[:8]!r} name no one place."
            )
            return
        upstream = await self._reach(endpoint, line.kind, reader, client.receive_data, writer)
        if upstream is None:
            return
        if line.kind == "connect":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            early = client.trailing_data[0]
            await join((reader, writer), upstream, first=lambda: self._opening(endpoint, early, reader))
        else:
            await self._forward(line, client, (reader, writer), upstream)

    async def _service(self, endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        early = bytearray()
        upstream = await self._reach(endpoint, "service", reader, early.extend, None)
        if upstream is not None:
            upstream[1].write(bytes(early))
            await join((reader, writer), upstream)

    async def _forward(self, line: RequestLine, client: h11.Connection, near: Pair, far: Pair) -> None:
        try:
            await forward(line, client, near, far)
        except h11.RemoteProtocolError as error:
            if client.our_state is h11.SEND_RESPONSE:
                await refuse(near[1], 502, f"what {line.host}:{line.port} answered is no HTTP: {error}.")
        finally:
            await hang_up(far[1])

    async def _opening(self, endpoint: Endpoint, early: bytes, reader: asyncio.StreamReader) -> bytes | None:
        """The client's first bytes through a tunnel, once the name in them is judged; None: cut it."""
        data = early or await reader.read(_CHUNK)  # however long it takes: the servers of SSH and SMTP speak first
        if not data:
            return data
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_OPENING_S):
                while opening_host(data) is Opening.UNFINISHED and len(data) < MAX_OPENING:
                    more = await reader.read(_CHUNK)
                    if not more:
                        break
                    data += more
        refusal = self._misnamed(endpoint, opening_host(data))
        if refusal is None:
            return data
        with contextlib.suppress(ExecKitError):  # nothing is passed on in either case
            self._guard.record(refusal)
        return None

    def _misnamed(self, endpoint: Endpoint, named: str | Opening) -> Outcome | None:
        """The outcome to record if the client names another host than the one that it asked for."""
        if named is Opening.UNNAMED:
            return None
        if isinstance(named, Opening):
            reason = f"what was sent to {endpoint} begins as TLS or HTTP and cannot be read"
            return Outcome(target=str(endpoint), kind="connect", is_open=False, reason=reason, is_refused=True)
        name = target_of(named, endpoint.port or "0")
        if name is None:
            reason = f"the name {named[:80]!r} that was spoken of to {endpoint} is no name"
            return Outcome(target=str(endpoint), kind="connect", is_open=False, reason=reason, is_refused=True)
        ruling = self._guard.judge_name(endpoint, name)
        if ruling.verdict is ALLOW:
            return None
        return Outcome(
            target=str(endpoint), kind="connect", is_open=False, reason=ruling.reason, hint=ruling.hint, is_refused=True
        )

    # ── reaching it ──────────────────────────────────────────────────────────────────────────────────────

    async def _reach(
        self,
        endpoint: Endpoint,
        kind: str,
        reader: asyncio.StreamReader,
        keep: Callable[[bytes], object],
        writer: asyncio.StreamWriter | None,
    ) -> Pair | None:
        """A connection to it; None after the client was told why there is none."""
        made = partial(Outcome, target=str(endpoint), kind=kind)
        try:
            ruling = await unless_gone(reader, keep, self._guard.judge(endpoint))
            if ruling is None:
                return None
            if ruling.verdict is not ALLOW:
                outcome = made(is_open=False, reason=ruling.reason, hint=ruling.hint, is_refused=True)
                opened = None
            else:
                outcome, opened = await self._connect(endpoint, made)
            try:
                self._guard.record(outcome)
            except ExecKitError:
                if opened is not None:
                    await hang_up(opened[1])
                raise
        except ExecKitError as error:
            outcome, opened = made(is_open=False, reason=error.message, hint=error.hint), None
        if opened is None and writer is not None:
            await refuse(writer, 403 if outcome.is_refused else 502, f"{outcome.reason} {outcome.hint}".strip())
        return opened

    async def _connect(self, endpoint: Endpoint, made: Callable[..., Outcome]) -> tuple[Outcome, Pair | None]:
        port = int(endpoint.port)
        try:
            async with asyncio.timeout(_RESOLVE_S):
                addresses = (
                    (str(endpoint.address),)
                    if endpoint.address is not None
                    else tuple(await self._resolve(endpoint.host, port))
                )
        except (OSError, TimeoutError, UnicodeError) as error:
            return made(is_open=False, reason=f"{endpoint.host} was not found: {error or 'no answer'}."), None
        refused: EgressRuling | None = None
        trouble = ""
        for address in addresses[:8]:
            ruling = self._judge_address(endpoint, address, port)
            if ruling.verdict is not ALLOW:
                refused = refused or ruling
                continue
            try:
                async with asyncio.timeout(_CONNECT_S):
                    opened = await asyncio.open_connection(address, port)
            except (OSError, TimeoutError) as error:
                trouble = f"{endpoint} could not be reached at {address}: {error or 'no answer'}."
                continue
            return made(is_open=True, reason=ruling.reason, address=address), opened
        if trouble or refused is None:
            return made(is_open=False, reason=trouble or f"{endpoint.host} has no address."), None
        return made(is_open=False, reason=refused.reason, hint=refused.hint, is_refused=True), None

    def _judge_address(self, endpoint: Endpoint, address: str, port: int) -> EgressRuling:
        is_own = is_own_address(address)
        ruling = self._guard.judge_address(endpoint, address, is_own=is_own)
        if ruling.verdict is ALLOW and is_own and is_our_listener(address, port):
            return EgressRuling(
                verdict=DENY, reason=f"{endpoint} is a listener of execkit-mcp itself; nothing lifts that."
            )
        return ruling
