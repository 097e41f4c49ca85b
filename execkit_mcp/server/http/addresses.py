"""Which values of ``Host`` and ``Origin`` are ours: DNS rebinding stops here, always.

A web page that a victim visits can point a name of its own at 127.0.0.1 and talk to what listens there; its browser
then sends that name as ``Host``, and the page's address as ``Origin`` (MCP 2025-11-25, Transports, Security Warning).
"""

import ipaddress
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_USUAL_PORT: Final = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``: an address, or the name localhost."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def is_wildcard(host: str) -> bool:
    """Whether ``host`` stands for every address of the machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


class Addresses(Struct, frozen=True, kw_only=True):
    """What is accepted.

    Attributes:
        hosts: ``host`` or ``host:port``, lower case; a host without a port is accepted with any.
        origins: ``scheme://host`` or ``scheme://host:port``, lower case.
        any_port_origins: ``scheme://host`` with any port.
    """

    hosts: frozenset[str]
    origins: frozenset[str]
    any_port_origins: frozenset[str] = frozenset()

    def accepts_host(self, host: str | None) -> bool:
        """Whether a request may name ``host`` as the one that it is for."""
        if host is None:
            return False
        host = host.lower()
        return host in self.hosts or _without_port(host) in self.hosts

    def accepts_origin(self, origin: str | None) -> bool:
        """Whether a page of ``origin`` may call; None: no browser."""
        if origin is None:
            return True
        origin = origin.lower()
        return origin in self.origins or _without_port(origin) in self.any_port_origins


def _without_port(text: str) -> str:
    base, colon, port = text.rpartition(":")
    return base if colon and port.isascii() and port.isdigit() else text


def addresses(
    *, host: str, port: int, public_url: str | None, allowed_hosts: Iterable[str], allowed_origins: Iterable[str]
) -> Addresses:
    """What a server on ``host:port`` accepts: itself, its public address, and what the operator added."""
    hosts, origins, any_port = (
        {each.lower() for each in allowed_hosts},
        {_origin(each) for each in allowed_origins},
        set(),
    )
    if is_loopback(host):
        hosts.update(f"{name}:{port}" for name in LOOPBACK_NAMES)
        if port in _USUAL_PORT.values():
            hosts.update(LOOPBACK_NAMES)
        any_port = {f"{scheme}://{name}" for scheme in _USUAL_PORT for name in LOOPBACK_NAMES}
        origins.update(any_port)
    elif not is_wildcard(host):
        shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
        hosts.update((f"{shown}:{port}".lower(), shown.lower()))
    if public_url is not None:
        parts = urlsplit(public_url)
        usual = parts.port is None or parts.port == _USUAL_PORT.get(parts.scheme)
        hosts.add(parts.netloc.lower())
        if usual and parts.hostname is not None:
            name = parts.netloc.lower() if parts.port is None else _without_port(parts.netloc.lower())
            hosts.update((name, f"{name}:{_USUAL_PORT.get(parts.scheme)}"))
        origins.add(_origin(public_url))
    return Addresses(hosts=frozenset(hosts), origins=frozenset(origins), any_port_origins=frozenset(any_port))


def _origin(url: str) -> str:
    return url.rstrip("/").lower()
