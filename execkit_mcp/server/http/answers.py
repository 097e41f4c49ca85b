"""What is answered to those who do not get through: this module makes the short answers, and never quotes a request."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from starlette.types import Receive, Scope, Send

INVALID_REQUEST: Final = -32600
_SAFE: Final = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]


class Answer(Struct, frozen=True, kw_only=True):
    """A whole answer."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[bytes, bytes], ...] = ()

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send it."""
        headers = [
            (b"content-type", self.content_type.encode()),
            (b"content-length", str(len(self.body)).encode()),
            *_SAFE,
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def plain(status: int, text: str) -> Answer:
    """A line of text."""
    return Answer(status=status, body=f"{text}\n".encode(), content_type="text/plain; charset=utf-8")


def document(data: Mapping[str, object], *headers: tuple[bytes, bytes]) -> Answer:
    """A JSON document."""
    return Answer(status=200, body=json.dumps(data).encode(), headers=headers)


def fault(status: int, message: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> Answer:
    """An error as MCP clients read it: a JSON-RPC error without an id."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": message}}
    return Answer(status=status, body=json.dumps(body).encode(), headers=tuple(headers))


def later(status: int, message: str, retry_s: float) -> Answer:
    """The same, with the time after which to try again."""
    return fault(status, message, [(b"retry-after", str(max(1, round(retry_s + 0.5))).encode())])


def challenge(
    *, status: int, error: str, description: str, scope: str, metadata_url: str | None, retry_s: float | None = None
) -> Answer:
    """401 or 403 as RFC 6750 and RFC 9728 want it: which token is missing, and where to learn who gives one."""
    parts = [f'error="{error}"'] if error else []
    parts.append(f'error_description="{_quotable(description)}"')
    if scope:
        parts.append(f'scope="{_quotable(scope)}"')
    if metadata_url is not None:
        parts.append(f'resource_metadata="{metadata_url}"')
    body = {
        "error": error or ("temporarily_unavailable" if retry_s else "unauthorized"),
        "error_description": description,
    }
    headers = [(b"www-authenticate", f"Bearer {', '.join(parts)}".encode())] if status in (401, 403) else []
    if retry_s is not None:
        headers.append((b"retry-after", str(round(retry_s)).encode()))
    return Answer(status=status, body=json.dumps(body).encode(), headers=tuple(headers))


def _quotable(text: str) -> str:
    return "".join(char if 32 <= ord(char) < 127 and char not in '"\\' else "'" for char in text)  # noqa: PLR2004
