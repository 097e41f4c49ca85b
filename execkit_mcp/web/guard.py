"""What stands before every page: this module checks a request's host, origin, login and form before anybody sees it.

In this order, and each is a refusal unless it holds:

1. ``Host`` is a name of this page. A foreign name that points here (DNS rebinding) gets nothing, not even the login.
2. The request was not made by another site: ``Sec-Fetch-Site`` where the browser sends it; any ``Origin`` is ours.
3. A path below ``/s/<key>`` needs the cookie of that login.
4. A form is small, is a form, comes with our ``Origin``, and carries the login's token. The one exception is
   ``TOKEN_PATH``: answers of other programs, each of which carries a token of its own that is good once.

Every answer leaves with the headers of ``headers``, errors included.
"""

import asyncio
import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.web.headers import SECURITY_HEADERS
from execkit_mcp.web.logins import Login, Logins

__all__ = ["COOKIE", "MAX_FORM_BYTES", "TOKEN_PATH", "Guard", "is_loopback_host"]

COOKIE: Final = "execkit"
MAX_FORM_BYTES: Final = 512 * 1024
BODY_S: Final = 20.0
_MAX_FIELDS: Final = 64
_HOST: Final = lazy_regex(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?")
_LOGIN_PATH: Final = lazy_regex(r"/s/([0-9a-f]{32})(?:/.*)?")
_FORM_TYPE: Final = "application/x-www-form-urlencoded"
_JSON_TYPE: Final = "application/json"
TOKEN_PATH: Final = "/approvals/answer"  # noqa: S105 # a path
_OWN_SITES: Final = frozenset({"", "none", "same-origin"})


class Refused(Exception):  # an answer, not a fault
    """The request goes no further."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class Guard:
    """The application in ``app``, behind every check."""

    def __init__(self, app: ASGIApp, *, logins: Logins, public: str | None, is_tls: bool) -> None:
        self._app = app
        self._logins = logins
        self._public = None if public is None else public.lower()
        self._scheme = "https" if is_tls else "http"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _with_ours(message.get("headers", []), scope["path"])}
            await send(message)

        try:
            await self._check(scope, receive)
        except Refused as refused:
            await _answer(guarded, refused.status, refused.text)
            if refused.status is HTTPStatus.REQUEST_TIMEOUT:
                scope["state"]["abort"]()  # the rest would be waited for
            return
        await self._app(scope, receive, guarded)

    async def _check(self, scope: Scope, receive: Receive) -> None:
        headers = _Headers(scope)
        own = self._origin(headers.one("host").lower())
        self._same_site(scope, headers, own)
        state = scope.setdefault("state", {})
        state["is_secure"] = own.startswith("https:")
        login = self._login(scope["path"], headers)
        state["login"] = login
        state["form"], state["body"] = {}, b""
        if scope["method"] in {"GET", "HEAD"}:
            return
        if scope["method"] != "POST":
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and POST are served here.")
        if scope["path"] == TOKEN_PATH:
            state["body"] = await _body(headers, receive, _JSON_TYPE)
            return
        form = _form(await _body(headers, receive, _FORM_TYPE))
        if login is not None and not hmac.compare_digest(form.get("csrf", "").encode(), login.csrf.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, "The form is not of this login. Load the page again.")
        state["form"] = form

    def _origin(self, host: str) -> str:
        """The origin of this page under that name, which must be one of its own."""
        if self._public is not None and self._public.partition("://")[2] == host:
            return self._public
        match = _HOST.fullmatch(host)
        if match is None or not is_loopback_host(match[1]):
            raise Refused(
                HTTPStatus.MISDIRECTED_REQUEST,
                "This page does not answer under that name. Use the address that execkit-mcp web printed.",
            )
        return f"{self._scheme}://{host}"

    @staticmethod
    def _same_site(scope: Scope, headers: "_Headers", own: str) -> None:
        origin = headers.one("origin")
        is_visit = scope["method"] == "GET" and headers.one("sec-fetch-mode") == "navigate"
        is_own = headers.one("sec-fetch-site") in _OWN_SITES
        if scope["method"] in {"GET", "HEAD"}:
            # A link on another page may lead here, to a page as a whole; nothing of ours is part of another page.
            is_top = is_visit and headers.one("sec-fetch-dest") in {"", "document"}
            if (not is_own and not is_top) or (origin and origin != own):
                raise Refused(HTTPStatus.FORBIDDEN, "Another site asked for this.")
            return
        if scope["path"] == TOKEN_PATH and not origin and is_own:
            return  # no browser: what comes carries an authority of its own
        if not is_own or origin != own:
            raise Refused(HTTPStatus.FORBIDDEN, "The form was sent by another site.")

    def _login(self, path: str, headers: "_Headers") -> Login | None:
        match = _LOGIN_PATH.fullmatch(path)
        if match is None:
            if path == "/s" or path.startswith("/s/"):
                raise Refused(HTTPStatus.NOT_FOUND, "There is no such page.")
            return None
        login = self._logins.find(match[1], headers.cookies(COOKIE))
        if login is None:
            raise Refused(HTTPStatus.UNAUTHORIZED, "You are not logged in. Make a new link: execkit-mcp web --link")
        return login


class _Headers:
    def __init__(self, scope: Scope) -> None:
        self._all: list[tuple[bytes, bytes]] = scope["headers"]

    def one(self, name: str) -> str:
        """The value; empty if there is none. Two of them are none that can be trusted."""
        found = [value for key, value in self._all if key == name.encode()]
        if len(found) > 1:
            raise Refused(HTTPStatus.BAD_REQUEST, f"The header {name} stands there twice.")
        return found[0].decode("latin-1") if found else ""

    def cookies(self, name: str) -> list[str]:
        """Every value of that cookie: another port may have set one of the same name, which must not shut us out."""
        pairs = (
            part.strip().partition("=")
            for key, value in self._all
            if key == b"cookie"
            for part in value.decode("latin-1").split(";")
        )
        return [value for found, _, value in pairs if found == name]


def is_loopback_host(host: str) -> bool:
    """Whether a name (as in ``Host``, without its port) can only mean this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


async def _body(headers: _Headers, receive: Receive, kind: str) -> bytes:
    try:
        async with asyncio.timeout(BODY_S):
            return await _whole_body(headers, receive, kind)
    except TimeoutError:
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, "The form did not come in time.") from None


async def _whole_body(headers: _Headers, receive: Receive, kind: str) -> bytes:
    if headers.one("content-type").partition(";")[0].strip().lower() != kind:
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Only {kind} is taken here.")
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Refused(HTTPStatus.BAD_REQUEST, "The form did not arrive whole.")
        body += message.get("body", b"")
        if len(body) > MAX_FORM_BYTES:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The form is over {MAX_FORM_BYTES} bytes.")
        if not message.get("more_body", False):
            return bytes(body)


def _form(body: bytes) -> Mapping[str, str]:
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
    except ValueError as error:
        raise Refused(HTTPStatus.BAD_REQUEST, "The form cannot be read.") from error
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Refused(HTTPStatus.BAD_REQUEST, "The form names a field twice.")
    return fields


def _with_ours(headers: Iterable[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in headers if name.lower() != b"server"]
    names = {name.lower() for name, _ in kept}
    if b"cache-control" not in names:
        kept.append((b"cache-control", b"max-age=3600" if path.startswith("/static/") else b"no-store"))
    return [*kept, *SECURITY_HEADERS]


async def _answer(send: Send, status: HTTPStatus, text: str) -> None:
    body = f"{status.value} {status.phrase}\n{text}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": body})
