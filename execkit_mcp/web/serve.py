"""From options to a running page: this module opens what it needs, listens, prints the link and serves.

Loopback is the default, and plain HTTP is spoken nowhere else: other addresses need TLS and the name under which
browsers reach them.
"""

import asyncio
import ipaddress
import socket
import ssl
import sys
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from msgspec import Struct

from execkit_mcp.audit.recording import recordings_folder
from execkit_mcp.config.settings import Settings
from execkit_mcp.config.trusted_file import read_trusted
from execkit_mcp.errors import CommandInvalid, ConfigError
from execkit_mcp.runtime.connections import KEEP_ALIVE_S, MAX_HEAD_BYTES, GuardedProtocol
from execkit_mcp.runtime.desk import ApprovalDesk
from execkit_mcp.runtime.environment import user_name
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.web.app import create_app
from execkit_mcp.web.links import LINK_TTL_S, Links
from execkit_mcp.web.logins import MIN_TOKEN, Logins
from execkit_mcp.web.respond import Pages
from execkit_mcp.web.running import Running, address_of
from execkit_mcp.web.site import Site
from execkit_mcp.web.tails import Tails
from execkit_mcp.web.witness import Witness

__all__ = ["DEFAULT_PORT", "WebOptions", "print_link", "serve"]

DEFAULT_PORT = 8730
_MAX_CONNECTIONS = 200
_LAST_WORDS_S = 1


class WebOptions(Struct, frozen=True, kw_only=True):
    """What the command line says of the page.

    Attributes:
        host: the address to listen on.
        port: the port; 0 for any free one.
        public_url: how browsers reach it, where that is not its own address.
        tls_cert: a file with the certificate chain; tls_key: one with its key.
        token_file: a file with a fixed token to log in with.
        audit_key: the key of the record.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    public_url: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    token_file: str | None = None
    audit_key: bytes | None = None

    @property
    def is_tls(self) -> bool:
        """Whether the page speaks TLS itself."""
        return self.tls_cert is not None


def serve(options: WebOptions, settings: Settings) -> int:
    """Serve until SIGINT or SIGTERM.

    Raises:
        ConfigError: the options would open the page to others without protection, or a file of theirs is no good.
        CommandInvalid: nothing can listen there.
        StorageUnavailable: a page runs already over this state folder, or the folder cannot be used.
    """
    public = checked(options)
    token = None if options.token_file is None else _token(Path(options.token_file))
    state = Path(settings.state_dir)
    clock, entropy = SystemClock(), SystemEntropy()
    links = Links(state, clock=clock, entropy=entropy)
    running = Running.claim(state)
    try:
        witness = Witness(Path(settings.audit_dir), clock=clock, entropy=entropy, key=options.audit_key)
        desk = ApprovalDesk.open(state_dir=state, audit_dir=settings.audit_dir, audit_key=options.audit_key)
        site = Site(
            settings=settings,
            desk=desk,
            tails=Tails(recordings_folder(settings.audit_dir), clock),
            logins=Logins(links, clock=clock, entropy=entropy, token=token),
            pages=Pages(),
            witness=witness,
            clock=clock,
            audit_key=options.audit_key,
            user=user_name(),
        )
        listener = _listen(options)
        address = public or _address(options, listener)
        config = _config(options, site, public)
        running.tell(address, listener.getsockname()[1])
        _print(address, links)
        try:
            asyncio.run(_Server(config, site).serve(sockets=[listener]))
        except KeyboardInterrupt:
            pass
        finally:
            witness.close()
            desk.close()
    finally:
        running.close()
    return 0


def print_link(settings: Settings) -> int:
    """Print a new link to the page that runs over this state folder; CommandInvalid if none does."""
    state = Path(settings.state_dir)
    address = address_of(state)
    if address is None:
        raise CommandInvalid("No page runs over this state folder.", hint="Start it: execkit-mcp web")
    _print(address, Links(state, clock=SystemClock(), entropy=SystemEntropy()))
    return 0


def checked(options: WebOptions) -> str | None:
    """The page's public origin, if it has one; ConfigError for what would open it without protection."""
    if (options.tls_cert is None) != (options.tls_key is None):
        raise ConfigError("--tls-cert and --tls-key belong together.", hint="Give both files, or neither.")
    public = _origin(options.public_url)
    if not _is_loopback(options.host) and not (options.is_tls and public):
        raise ConfigError(
            f"--host {options.host} would open the page to other machines without protection.",
            hint="Give --tls-cert FILE --tls-key FILE --public-url https://NAME[:PORT] as well;"
            " or stay on 127.0.0.1 and reach it through ssh -L or a proxy that speaks TLS.",
        )
    return public


def _origin(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    is_plain = parts.path in {"", "/"} and not parts.query and not parts.fragment and "@" not in parts.netloc
    if parts.scheme != "https" or not parts.netloc or not is_plain:
        raise ConfigError(
            f"--public-url {url} is not an address that can be used.", hint="Write https://NAME or https://NAME:PORT."
        )
    return f"https://{parts.netloc.lower().removesuffix(':443')}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _token(path: Path) -> str:
    token = read_trusted(path, what="token file", may_be_shared=False).decode("utf-8", "replace").strip()
    if path.stat().st_mode & 0o077:
        raise ConfigError(f"The token file {path} can be read by others.", hint=f"Run: chmod 600 {path}")
    if len(token) < MIN_TOKEN or len(set(token)) < MIN_TOKEN // 4:
        raise ConfigError(
            f"The token in {path} can be guessed: {MIN_TOKEN} characters of chance are the least.",
            hint=f"Make one: (umask 077; head -c 32 /dev/urandom | base64 > {path})",
        )
    return token


def _listen(options: WebOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise CommandInvalid(
            f"Nothing can listen on {options.host} port {options.port}: {error}.",
            hint="Choose another with --port, or --port 0 for any free one.",
        ) from error
    return listener


def _address(options: WebOptions, listener: socket.socket) -> str:
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"{'https' if options.is_tls else 'http'}://{host}:{listener.getsockname()[1]}"


def _print(address: str, links: Links) -> None:
    print(f"{address}/login?code={links.make()}", flush=True)  # noqa: T201 # the command's answer
    print(  # noqa: T201
        f"Open it within {LINK_TTL_S / 60:.0f} minutes; it works once. Another one: execkit-mcp web --link",
        file=sys.stderr,
        flush=True,
    )


def _config(options: WebOptions, site: Site, public: str | None) -> uvicorn.Config:
    config = uvicorn.Config(
        create_app(site, public=public, is_tls=options.is_tls),
        access_log=False,  # it would hold the codes of links
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="off",
        http=type("Connection", (GuardedProtocol,), {"most": _MAX_CONNECTIONS}),
        timeout_keep_alive=KEEP_ALIVE_S,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_graceful_shutdown=_LAST_WORDS_S,
        ssl_certfile=options.tls_cert,
        ssl_keyfile=options.tls_key,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"The certificate or its key cannot be used: {error}.", hint="Give PEM files that belong together."
        ) from error
    return config


class _Server(uvicorn.Server):
    """A server that tells the streams to end before it waits for them."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        self._site.is_stopping = True
        await super().shutdown(sockets)
