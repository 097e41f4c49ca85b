"""Where a connection would go, and whether a list of ``host:port`` patterns covers it.

A pattern is ``HOST``, ``HOST:PORT``, ``CIDR`` or ``CIDR:PORT``; HOST may be a glob, PORT may be ``*`` (as is
no port); IPv6 addresses stand in brackets when a port follows. Every spelling of an address is one address:
``0x7f000001``, ``2130706433``, ``127.1`` and ``[::ffff:127.0.0.1]`` are all ``127.0.0.1``, as they are to
``inet_aton`` and the kernel.
"""

import ipaddress
import re
from functools import lru_cache

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy import globs

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NUMBER = lazy_regex(r"0[xX][0-9a-fA-F]+|\d+")
_SCHEME = lazy_regex(r"[A-Za-z][A-Za-z0-9+.-]*://")
_LOCAL_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LOCAL = ipaddress.IPv4Address("127.0.0.1")


class Endpoint(Struct, frozen=True):
    """One end of a connection; ``port`` is ``""`` if the program chooses."""

    host: str
    port: str
    address: Address | None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host


class NetworkPattern(Struct, frozen=True):
    """One pattern of a policy."""

    source: str
    host: str
    port: str
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None

    def matches(self, endpoint: Endpoint, *, is_refusal: bool) -> bool:
        """Whether the endpoint falls under it; a refusal also catches a port that is not known."""
        if self.port not in ("", "*") and endpoint.port != self.port and not (is_refusal and not endpoint.port):
            return False
        if self.network is not None:
            address = endpoint.address
            if address is None and endpoint.host in _LOCAL_NAMES:
                address = _LOCAL
            return address is not None and address.version == self.network.version and address in self.network
        if endpoint.address is not None and not is_refusal:
            local = self.host in _LOCAL_NAMES and endpoint.address.is_loopback
            return self.host == "*" or local or globs.matches(str(endpoint.address), self.host)
        names = {endpoint.host, str(endpoint.address)} if endpoint.address is not None else {endpoint.host}
        if self.host in _LOCAL_NAMES and endpoint.address is not None and endpoint.address.is_loopback:
            return True
        return any(globs.matches(name, self.host) for name in names)


def address_of(host: str) -> Address | None:
    """The address that ``host`` spells, in any spelling that C libraries take; None if it is a name."""
    try:
        found: Address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return _loose_ipv4(host)
    return _inside(found) if isinstance(found, ipaddress.IPv6Address) else found


def _inside(address: ipaddress.IPv6Address) -> Address:
    """The IPv4 address that an IPv6 one carries (mapped, 6to4, NAT64), or itself."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _loose_ipv4(host: str) -> Address | None:
    """``inet_aton``: one to four numbers, decimal, octal or hexadecimal, the last filling what is left."""
    parts = host.removesuffix(".").split(".")
    if not 1 <= len(parts) <= 4 or not all(_NUMBER.fullmatch(part) for part in parts):  # noqa: PLR2004 — IPv4
        return None
    try:
        numbers = [
            int(part, 16) if part[:2] in ("0x", "0X") else int(part, 8 if part[0] == "0" and part != "0" else 10)
            for part in parts
        ]
    except ValueError:
        return None
    *heads, last = numbers
    if any(head > 255 for head in heads) or last >= 256 ** (5 - len(parts)):  # noqa: PLR2004 — a byte
        return None
    value = last
    for index, head in enumerate(heads):
        value += head << (8 * (3 - index))
    return ipaddress.IPv4Address(value)


@lru_cache(maxsize=2048)
def endpoint_of(text: str) -> Endpoint | None:
    """The endpoint that a word names (``host``, ``host:port``, ``[v6]:port``, a URL), or None."""
    rest = text.strip()
    if (scheme := _SCHEME.match(rest)) is not None:
        rest = rest[scheme.end() :]
    rest = re.split(r"[/?#\\]", rest, maxsplit=1)[0].rpartition("@")[2]
    if rest.startswith("["):
        host, closing, tail = rest[1:].partition("]")
        if not closing or (tail and not tail.startswith(":")):
            return None
        port = tail[1:]
    elif rest.count(":") > 1:
        host, port = rest, ""
    else:
        host, _, port = rest.partition(":")
    host = host.lower().rstrip(".")
    if not host or re.search(r"[\s%*{}$]", host.partition("%")[0]):
        return None
    address = address_of(host)
    return Endpoint(str(address) if address is not None else host, port, address)


@lru_cache(maxsize=512)
def pattern_of(source: str) -> NetworkPattern:
    """A pattern as written in a policy."""
    text = source.lower()
    if text.startswith("["):
        host, _, tail = text[1:].partition("]")
        suffix, _, port = tail.partition(":")
        host += suffix
    elif text.count(":") > 1:
        host, port = text, ""
    else:
        host, _, port = text.partition(":")
    try:
        network = ipaddress.ip_network(host, strict=False)
    except ValueError:
        network = None
    return NetworkPattern(source, host, port, network)


def matching(endpoint: Endpoint, sources: tuple[str, ...], *, is_refusal: bool = False) -> str | None:
    """The first of the patterns that the endpoint falls under."""
    for source in sources:
        if pattern_of(source).matches(endpoint, is_refusal=is_refusal):
            return source
    return None
