"""The ``http:`` part of the configuration: where the server listens, whom it believes, how much each may have."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.model.shape import BROKEN, Broken, Field, JsonSchema, ListOf, Number, Record, Text, describe
from execkit_mcp.model.source import Node, Place, Problems, Scalar

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8765
MCP_PATH: Final = "/mcp"
_HERE: Final = lazy_regex(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?")


class OAuthSettings(Struct, frozen=True, kw_only=True):
    """Whose JSON Web Tokens are believed.

    Attributes:
        issuer: what ``iss`` must be, character by character.
        jwks_url: where its keys are; None: as its metadata (RFC 8414, OpenID Discovery) says.
        audience: what ``aud`` must hold (RFC 8707); None: this server's own address.
        required_scopes: scopes that a token must have.
    """

    issuer: str
    jwks_url: str | None = None
    audience: str | None = None
    required_scopes: tuple[str, ...] = ()


class HttpLimits(Struct, frozen=True, kw_only=True):
    """How much is served.

    Attributes:
        requests_per_minute: of one subject; as many may come at once.
        sessions: that one subject may have open at a time; None: as many as the server may.
        minutes_per_day: of running commands that one subject may use in a day (UTC); None: no limit.
        request_kb: kilobytes of one request's body.
        output_chars: characters a stream that one answer may hold, whatever is asked for.
        connections: open at a time, in all.
        calls: in progress at a time, in all.
        drain_s: seconds that calls in progress get to finish after SIGTERM.
    """

    requests_per_minute: int = 30_000
    sessions: int | None = None
    minutes_per_day: int | None = None
    request_kb: int = 4096
    output_chars: int | None = None
    connections: int = 1024
    calls: int = 512
    drain_s: float = 10.0


class HttpSettings(Struct, frozen=True, kw_only=True):
    """Everything about ``serve --transport http``.

    Attributes:
        host: the address to listen on.
        port: the port; 0: any free one.
        public_url: how clients reach this server, without a path.
        behind_proxy: whether a proxy in front of it does TLS.
        tls_cert: certificate chain (PEM).
        tls_key: its private key (PEM).
        allowed_hosts: values of ``Host`` that are accepted besides its own addresses.
        allowed_origins: values of ``Origin`` that are accepted besides its own.
        oauth: whose JSON Web Tokens are believed; None: nobody's.
        limits: how much is served.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    public_url: str | None = None
    behind_proxy: bool = False
    tls_cert: str | None = None
    tls_key: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    oauth: OAuthSettings | None = None
    limits: HttpLimits = HttpLimits()


def _check_url(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        return f'"{text}" is no web address; begin with https://'
    return "" if text.isascii() and text.isprintable() and " " not in text else "an address holds no blanks"


def _check_issuer(text: str) -> str:
    told = _check_url(text)
    host = text.partition("://")[2].partition("/")[0]
    if not told and text.startswith("http:") and not _HERE.fullmatch(host):
        return f'"{text}" is no https address (http only on this machine): who answers on the way could make tokens'
    return told


def check_base(text: str) -> str:
    """What is wrong with ``text`` as the address of this server; "" if nothing is."""
    told = _check_url(text)
    if not told and "/" in text.partition("://")[2].rstrip("/"):
        return f'"{text}" has a path; write only scheme, host and port'
    return told


def _check_file(text: str) -> str:
    return "" if text.startswith(("/", "~/")) and "\0" not in text else f'"{text}" is relative; begin with / or ~/'


_URL = Text(what="a web address", example="https://login.example.com", check=_check_url)
_ISSUER = Text(what="a web address", example="https://login.example.com", check=_check_issuer)
_BASE = Text(what="a web address without a path", example="https://shell.example.com", check=check_base)
_FILE = Text(what="a file", example="~/tls/server.pem", check=_check_file)
_HOST = Text(what="a host, with its port if it has one", pattern=r"[A-Za-z0-9.:\[\]_-]+", example="box:8765")
_SCOPE = Text(what="a scope", pattern=r"[!#-\[\]-~]+", example="execkit:use")


class _Truth:
    """true or false."""

    def read(self, node: Node, problems: Problems, label: str) -> bool | Broken:
        """The truth value."""
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        problems.add(node.place, f"{label}: expected true or false, found {describe(node)}")
        return BROKEN

    def schema(self) -> JsonSchema:
        """A boolean."""
        return {"type": "boolean"}


def _limits(*, place: Place, **values: object) -> HttpLimits:
    del place
    return HttpLimits(**values)  # type: ignore[arg-type] # the record has read each with its own shape


def _oauth(*, place: Place, **values: object) -> OAuthSettings:
    del place
    return OAuthSettings(**values)  # type: ignore[arg-type] # as above


def _count(what: str, low: int, high: int) -> Number:
    return Number(what=what, low=low, high=high)


_LIMITS: Record[HttpLimits] = Record(
    build=_limits,
    what="the limits of HTTP",
    fields=(
        Field(
            key="requests_per_minute",
            shape=_count("a number of requests", 1, 10_000_000),
            doc="Requests of one subject in a minute.",
        ),
        Field(key="sessions", shape=_count("a number of sessions", 1, 1000), doc="Open sessions of one subject."),
        Field(
            key="minutes_per_day",
            shape=_count("a number of minutes", 1, 1_000_000),
            doc="Minutes of running commands that one subject may use in a day (UTC).",
        ),
        Field(key="request_kb", shape=_count("a number of kilobytes", 1, 65_536), doc="Size of one request."),
        Field(
            key="output_chars",
            shape=_count("a number of characters", 200, 200_000),
            doc="Characters a stream in one answer, whatever is asked for.",
        ),
        Field(key="connections", shape=_count("a number of connections", 8, 65_536), doc="Open connections in all."),
        Field(key="calls", shape=_count("a number of calls", 1, 65_536), doc="Calls in progress in all."),
        Field(
            key="drain_s",
            shape=Number(what="a number of seconds", low=0, high=3600, is_whole=False),
            doc="Seconds that calls in progress get to finish after SIGTERM.",
        ),
    ),
)
_OAUTH: Record[OAuthSettings] = Record(
    build=_oauth,
    what="issuer, jwks_url, audience, required_scopes",
    fields=(
        Field(key="issuer", shape=_ISSUER, doc="What iss must be.", is_required=True),
        Field(key="jwks_url", shape=_ISSUER, doc="Where its keys are; its metadata says so unless set."),
        Field(key="audience", shape=_URL, doc="What aud must hold; this server's own address unless set."),
        Field(
            key="required_scopes",
            shape=ListOf(item=_SCOPE, what="scopes"),
            doc="Scopes that every token must have.",
        ),
    ),
)


def _http(*, place: Place, **values: object) -> Mapping[str, object]:
    del place
    return values


HTTP: Final[Record[Mapping[str, object]]] = Record(
    build=_http,
    what="host, port, public_url, …",
    fields=(
        Field(key="host", shape=_HOST, doc=f"The address to listen on; {DEFAULT_HOST} unless set."),
        Field(key="port", shape=_count("a port", 0, 65_535), doc=f"The port; {DEFAULT_PORT} unless set."),
        Field(key="public_url", shape=_BASE, doc="How clients reach this server."),
        Field(key="behind_proxy", shape=_Truth(), doc="Whether a proxy in front of it does TLS."),
        Field(key="tls_cert", shape=_FILE, doc="Certificate chain, PEM."),
        Field(key="tls_key", shape=_FILE, doc="Its private key, PEM."),
        Field(
            key="allowed_hosts",
            shape=ListOf(item=_HOST, what="hosts"),
            doc="Values of the header Host that are accepted besides its own.",
        ),
        Field(
            key="allowed_origins",
            shape=ListOf(item=_BASE, what="origins"),
            doc="Web pages (scheme, host and port) that may call it.",
        ),
        Field(key="oauth", shape=_OAUTH, doc="Whose JSON Web Tokens are believed."),
        Field(key="limits", shape=_LIMITS, doc="How much is served."),
    ),
)
"""The shape of ``http:`` in ``config.yaml``."""
