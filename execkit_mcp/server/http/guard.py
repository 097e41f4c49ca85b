"""The door in front of the MCP endpoint: every request passes these checks, in this order, before the SDK sees it.

1. Host and Origin are ours (DNS rebinding). Only ``/healthz`` and ``/readyz``, which tell nothing, come before that.
2. The path and the method exist.
3. A bearer token names a caller, always: a listener on this machine too, because other users of the machine reach it.
4. The server is not draining, the caller within its rate, the server within its number of calls.
5. The body is whole in time and within its size. It is read here, so that no slow sender ever holds a handler.

Answers never quote what was sent. What a caller sees of another is nothing: an unknown session is unknown.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Final

from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from msgspec import Struct
from msgspec.structs import replace
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from execkit_mcp.config.http_settings import MCP_PATH, HttpLimits
from execkit_mcp.errors import ExecKitError
from execkit_mcp.kit import ExecKit
from execkit_mcp.model import Clock
from execkit_mcp.server.http import answers
from execkit_mcp.server.http.addresses import Addresses
from execkit_mcp.server.http.answers import Answer
from execkit_mcp.server.http.bearer import Bearers
from execkit_mcp.server.http.identity import IDENTITY, Identity, Refused
from execkit_mcp.server.http.metadata import METADATA_PATHS, Resource
from execkit_mcp.server.http.metrics import CONTENT_TYPE, Metrics
from execkit_mcp.server.http.rates import RateLimit

BODY_S: Final = 20.0
WRITE_S: Final = 30.0
_DISCARD_S: Final = 1.0
_DISCARD_BYTES: Final = 1 << 23
_DRAIN_RETRY_S: Final = 5.0
_METHODS: Final = ("GET", "POST", "DELETE", "OPTIONS")
_ALLOWED: Final = b"GET, POST, DELETE, OPTIONS"
_KILO: Final = 1024
_KNOWN_STATUS: Final = range(100, 600)


class Door(Struct, kw_only=True):
    """What the guard looks at besides a request."""

    kit: ExecKit
    app: ASGIApp
    bearers: Bearers
    addresses: Addresses
    resource: Resource
    limits: HttpLimits
    metrics: Metrics
    clock: Clock
    gauges: Callable[[], Mapping[str, float]]
    has_open_metrics: bool
    connections: Callable[[], int] = int
    is_draining: bool = False
    in_progress: int = 0
    calls: int = 0


class Guard:
    """An ASGI application around the SDK's."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._rates = RateLimit(door.limits.requests_per_minute)
        self._failures = _Told()
        self._open: list[tuple[Identity, Callable[[], None]]] = []
        self._seen: dict[str, Identity] = {}
        self.idle = asyncio.Event()
        self.idle.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":  # no websockets, no lifespan: see serve
            return
        door, began_s = self._door, self._door.clock.monotonic_s()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), *self._cross_origin(scope)]}
            try:
                async with asyncio.timeout(WRITE_S):
                    await send(message)
            except TimeoutError:  # whoever does not read his answer gets no more of it
                door.metrics.count("execkit_http_refused_total", reason="slow_reader")
                scope["state"]["abort"]()

        door.in_progress += 1
        try:
            await self._serve(scope, receive, watched)
        finally:
            door.in_progress -= 1
            method = scope["method"] if scope["method"] in _METHODS else "other"
            door.metrics.count(
                "execkit_http_requests_total", path=_path_label(scope["path"]), method=method, status=str(status or 499)
            )
            door.metrics.took(door.clock.monotonic_s() - began_s)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        if path in ("/healthz", "/readyz") and method in ("GET", "HEAD"):
            is_ready = path == "/healthz" or not self._door.is_draining
            await answers.plain(200 if is_ready else 503, "ok" if is_ready else "draining")(scope, receive, send)
            return
        answer = self._place(scope)
        if answer is None:
            try:
                answer = await self._authorized(scope, receive, send)
            except Refused as refused:
                answer = self._refusal(refused)
            except ExecKitError as error:  # the tokens cannot be read: nobody gets in
                sys.stderr.write(f"execkit-mcp: {error}\n")
                answer = answers.later(503, "The server cannot look tokens up at the moment.", _DRAIN_RETRY_S)
        if answer is not None:
            if not await _is_read(scope, receive):
                answer = replace(answer, headers=(*answer.headers, (b"connection", b"close")))
            await answer(scope, receive, send)

    def _place(self, scope: Scope) -> Answer | None:
        """What can be answered from the request's first lines; None: go on."""
        door, headers = self._door, _Headers(scope)
        if len(headers.all(b"host")) != 1 or not door.addresses.accepts_host(headers.text(b"host")):
            return self._turned_away("host", answers.fault(421, "This server does not answer to that Host."))
        if len(headers.all(b"origin")) > 1 or not door.addresses.accepts_origin(headers.text(b"origin")):
            return self._turned_away("origin", answers.fault(403, "This server does not serve that Origin."))
        return self._page(scope)

    def _page(self, scope: Scope) -> Answer | None:
        """What stands at the request's path; None: go on."""
        door, path, method = self._door, scope["path"], scope["method"]
        if path in METADATA_PATHS and door.resource.is_published and method == "GET":
            return answers.document(door.resource.to_json(), (b"access-control-allow-origin", b"*"))
        if path == "/metrics" and method == "GET":
            return self._metrics() if door.has_open_metrics else None
        if path != MCP_PATH:
            return answers.fault(404, f"There is nothing here. MCP is served at {MCP_PATH}.")
        if method == "OPTIONS":
            return Answer(status=204, headers=((b"allow", _ALLOWED), *self._preflight(scope)))
        is_served = method in _METHODS
        return None if is_served else answers.fault(405, "This method is not served here.", [(b"allow", _ALLOWED)])

    async def _authorized(self, scope: Scope, receive: Receive, send: Send) -> Answer | None:
        """Serve a caller who is known; the answer if there is a reason not to, None when it is done."""
        door = self._door
        identity = await door.bearers.identify(_Headers(scope).all(b"authorization"))
        if scope["path"] == "/metrics":
            return self._metrics()
        if identity.metrics_only:
            return self._refusal(
                Refused(
                    "This token reads /metrics and nothing else.",
                    reason="insufficient_scope",
                    status=403,
                    error="insufficient_scope",
                )
            )
        body: bytes | Answer | None = self._not_now(identity)
        if body is None:
            body = await self._body(scope, receive) if scope["method"] == "POST" else b""
        if isinstance(body, Answer):
            return body
        await self._call(identity, body, scope, receive, send)
        return None

    def _not_now(self, identity: Identity) -> Answer | None:
        """The answer if a caller must come again later; None: now."""
        door = self._door
        if door.is_draining:
            return self._turned_away("draining", answers.later(503, "The server is ending.", _DRAIN_RETRY_S))
        wait_s = self._rates.take(identity.subject, door.clock.monotonic_s())
        if wait_s > 0:
            text = f"More than {door.limits.requests_per_minute} requests in a minute; slow down."
            return self._turned_away("rate", answers.later(429, text, wait_s))
        if door.calls >= door.limits.calls:
            return self._turned_away("calls", answers.later(503, "Too many calls are in progress.", 1))
        return None

    async def _call(self, identity: Identity, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        door = self._door
        door.kit.admit(identity.requester, identity.admission)
        self._seen[identity.requester] = identity
        # the SDK binds its own state (protocol sessions, sealed request states) to this
        user = AuthenticatedUser(AccessToken(token="", client_id=identity.requester, scopes=[]))
        scope["user"] = user
        scope[IDENTITY] = identity
        is_call = scope["method"] == "POST"
        open_one = (identity, scope["state"]["abort"])
        self._open.append(open_one)
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return waiting.pop() if waiting else await receive()

        context = auth_context_var.set(user)
        if is_call:
            door.calls += 1
            self.idle.clear()
        try:
            await door.app(scope, replay, send)
        finally:
            auth_context_var.reset(context)
            self._open.remove(open_one)
            if is_call:
                door.calls -= 1
                if door.calls == 0:
                    self.idle.set()

    async def _body(self, scope: Scope, receive: Receive) -> bytes | Answer:
        """The whole body; the answer if it is too long, too slow, or never came."""
        most = self._door.limits.request_kb * _KILO
        too_long = answers.fault(413, f"A request may have {self._door.limits.request_kb} kB.")
        declared = _Headers(scope).text(b"content-length")
        if declared is not None and declared.isdigit() and int(declared[:18]) > most:
            return self._turned_away("too_large", too_long)
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(BODY_S):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        return self._turned_away("gone", answers.fault(400, "The request ended early."))
                    size += len(message.get("body", b""))
                    if size > most:
                        return self._turned_away("too_large", too_long)
                    parts.append(message.get("body", b""))
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            scope["state"]["is_slow"] = True
            return self._turned_away("slow_body", answers.fault(408, "The request did not come in time."))

    async def end_the_revoked(self) -> None:
        """End what callers have open whose credentials have run out or were revoked meanwhile."""
        bearers = self._door.bearers
        for identity, abort in tuple(self._open):
            if not bearers.still_holds(identity):
                abort()
        for requester, identity in tuple(self._seen.items()):
            if identity.token_id and not bearers.still_holds(identity):
                del self._seen[requester]
                if not bearers.has_another(requester):
                    await self._door.kit.close_sessions(
                        "the token of its owner was revoked or has expired", requester=requester
                    )

    def _metrics(self) -> Answer:
        text = self._door.metrics.render(self._door.gauges())
        return Answer(status=200, body=text.encode(), content_type=CONTENT_TYPE)

    def _refusal(self, refused: Refused) -> Answer:
        self._failures.tell(refused.reason, self._door.clock.monotonic_s())
        answer = answers.challenge(
            status=refused.status,
            error=refused.error,
            description=refused.description,
            scope=refused.scope,
            metadata_url=self._door.resource.metadata_url,
            retry_s=_DRAIN_RETRY_S if refused.status == 503 else None,  # noqa: PLR2004 - Service Unavailable
        )
        return self._turned_away(refused.reason, answer)

    def _turned_away(self, reason: str, answer: Answer) -> Answer:
        self._door.metrics.count("execkit_http_refused_total", reason=reason)
        return answer

    def _cross_origin(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """What lets a page of an accepted origin read the answer (Fetch, CORS)."""
        origin = _Headers(scope).text(b"origin")
        if origin is None or scope["path"] != MCP_PATH or not self._door.addresses.accepts_origin(origin):
            return []
        exposed = b"Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After"
        return [
            (b"access-control-allow-origin", origin.encode()),
            (b"access-control-expose-headers", exposed),
            (b"vary", b"Origin"),
        ]

    def _preflight(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        if _Headers(scope).text(b"origin") is None:
            return []
        allowed = (
            b"Authorization, Content-Type, Accept, Last-Event-ID,"
            b" Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name"
        )
        return [
            (b"access-control-allow-methods", b"GET, POST, DELETE"),
            (b"access-control-allow-headers", allowed),
            (b"access-control-max-age", b"600"),
        ]


class _Headers:
    """The headers of a request by lower-case name."""

    def __init__(self, scope: Scope) -> None:
        self._raw: list[tuple[bytes, bytes]] = scope["headers"]

    def all(self, name: bytes) -> list[bytes]:
        """Every value of ``name``."""
        return [value for key, value in self._raw if key == name]

    def text(self, name: bytes) -> str | None:
        """The first value of ``name``, or None."""
        found = self.all(name)
        return found[0].decode("latin-1") if found else None


class _Told:
    """Tells the operator of callers who were not believed: at once, then at most once in ten seconds."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}
        self._next_s = 0.0

    def tell(self, reason: str, now_s: float) -> None:
        """One more."""
        self._since[reason] = self._since.get(reason, 0) + 1
        if now_s >= self._next_s:
            counts = ", ".join(f"{reason} {count}" for reason, count in sorted(self._since.items()))
            sys.stderr.write(f"execkit-mcp: callers refused: {counts}\n")
            sys.stderr.flush()
            self._since.clear()
            self._next_s = now_s + 10.0


async def _is_read(scope: Scope, receive: Receive) -> bool:
    """Read what is still coming, a little, for an answer that is sent while the other side writes may never be read.

    False if there may be more: then the connection cannot be used again.
    """
    headers = _Headers(scope)
    if scope["state"].get("is_slow") or headers.all(b"expect"):
        return False
    if not headers.all(b"content-length") and not headers.all(b"transfer-encoding"):
        return True
    left = _DISCARD_BYTES
    try:
        async with asyncio.timeout(_DISCARD_S):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return True
    except TimeoutError:
        pass
    return False


def _path_label(path: str) -> str:
    return path if path in (MCP_PATH, "/metrics", "/healthz", "/readyz", *METADATA_PATHS) else "other"
