"""Where the server listens: this module binds sockets, loads the certificate, and refuses what would not be safe."""

import errno
import ipaddress
import os
import socket
import ssl
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from execkit_mcp.config.http_settings import HttpSettings
from execkit_mcp.errors import ConfigError
from execkit_mcp.server.http.addresses import is_wildcard

_BACKLOG: Final = 512


class Listener(Struct, frozen=True, kw_only=True):
    """Open sockets, and what is known of them."""

    sockets: tuple[socket.socket, ...]
    port: int
    is_loopback: bool
    tls: ssl.SSLContext | None

    def close(self) -> None:
        """Close the sockets."""
        for each in self.sockets:
            each.close()


def listen(settings: HttpSettings) -> Listener:
    """Bind, after everything that can be wrong with it was looked at.

    Raises:
        ConfigError: the address is taken or not ours, the certificate does not load, or the listener would not be safe.
    """
    tls = _tls(settings)
    found = _resolve(settings)
    is_loopback = all(ipaddress.ip_address(address[0].partition("%")[0]).is_loopback for _, address in found)
    if not is_loopback:
        _refuse_unsafe(settings, has_tls=tls is not None)
    sockets: list[socket.socket] = []
    try:
        for family, address in found if settings.port else found[:1]:
            sockets.append(_bind(family, address, settings))
    except BaseException:
        for each in sockets:
            each.close()
        raise
    return Listener(sockets=tuple(sockets), port=sockets[0].getsockname()[1], is_loopback=is_loopback, tls=tls)


def base_url(settings: HttpSettings, listener: Listener) -> str:
    """How clients reach it, without a path."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    host = f"[{settings.host}]" if ":" in settings.host and not settings.host.startswith("[") else settings.host
    return f"{'https' if listener.tls else 'http'}://{host}:{listener.port}"


def _refuse_unsafe(settings: HttpSettings, *, has_tls: bool) -> None:
    if not has_tls and not settings.behind_proxy:
        raise ConfigError(
            f"{settings.host} can be reached from other machines; without TLS everybody on the way reads the tokens.",
            hint="Give --tls-cert and --tls-key; or --behind-proxy if a proxy in front of it does TLS; or listen on"
            " 127.0.0.1.",
        )
    if is_wildcard(settings.host) and settings.public_url is None and not settings.allowed_hosts:
        raise ConfigError(
            f"{settings.host} stands for every address, so the names that clients may use must be stated.",
            hint="Give --public-url https://NAME, or http.allowed_hosts in the configuration.",
        )


def _resolve(settings: HttpSettings) -> Sequence[tuple[socket.AddressFamily, tuple[str, int]]]:
    try:
        rows = socket.getaddrinfo(
            settings.host.strip("[]"), settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"The address {settings.host!r} to listen on means nothing here: {error}.", hint="Give --host an address."
        ) from error
    found = [(family, (str(address[0]), int(address[1]))) for family, _, _, _, address in rows]
    return list(dict.fromkeys(found))


def _bind(family: socket.AddressFamily, address: tuple[str, int], settings: HttpSettings) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        raise ConfigError(_why(error, settings), hint=_remedy(error, settings)) from error
    bound.setblocking(False)
    return bound


def _why(error: OSError, settings: HttpSettings) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {settings.port} on {settings.host} is in use by another program."
    return f"{settings.host} port {settings.port} cannot be listened on: {error.strerror or error}."


def _remedy(error: OSError, settings: HttpSettings) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"End that program (ss -ltnp 'sport = :{settings.port}' names it), or choose another with --port."
    if error.errno == errno.EACCES:
        return "Ports below 1024 need privileges: choose a higher one with --port."
    return "Give --host an address of this machine."


def _tls(settings: HttpSettings) -> ssl.SSLContext | None:
    if settings.tls_cert is None and settings.tls_key is None:
        return None
    if settings.tls_cert is None or settings.tls_key is None:
        raise ConfigError("TLS needs both a certificate and its key.", hint="Give both --tls-cert and --tls-key.")
    for name in (settings.tls_cert, settings.tls_key):
        try:
            os.close(os.open(name, os.O_RDONLY | os.O_CLOEXEC))
        except OSError as error:
            raise ConfigError(
                f"{name} cannot be read: {error.strerror}.", hint="Check the path and its mode."
            ) from error
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key, password=lambda: "")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise ConfigError(
            f"{settings.tls_cert} and {settings.tls_key} do not work together: {error}.",
            hint="Give a certificate chain and its own unencrypted key, both PEM.",
        ) from error
    return context
