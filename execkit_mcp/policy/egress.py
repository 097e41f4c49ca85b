"""Whether a session may connect to a host and port, as its policy says; this module decides for the egress proxy.

Three questions, because a name is judged before anybody looks it up (a name that is looked up has already told its
owner something), and its addresses are judged before anybody connects (its owner chooses them):

``judge_target``   the host and port that were asked for: ``network.deny``, then ``network.allow`` and what a person
                   granted, then ``defaults.decision``.
``judge_address``  one address that the name stands for. An address of this very machine, a link-local one (where
                   clouds keep their metadata) or a multicast one needs an entry that names it; ``*`` does not. A name
                   that only a glob covers may not lead to a private address.
``judge_name``     the host that the client speaks of once the tunnel stands, in TLS or HTTP: the one that it asked for,
                   or one that it might have asked for.
"""

import ipaddress
import re

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.model.verdict import ALLOW, DENY, Verdict
from execkit_mcp.policy.document import NetworkRules
from execkit_mcp.policy.network import Address, Endpoint, address_of, endpoint_of, matching, pattern_of

__all__ = [
    "PROXY_PORT",
    "EgressRuling",
    "judge_address",
    "judge_name",
    "judge_target",
    "listeners",
    "opens_loopback",
    "target_of",
]

_LABEL = lazy_regex(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_MAX_NAME = 253
_MAX_PORT = 65_535
PROXY_PORT = 3128
"""Where programs inside find the proxy, on loopback."""
_MAX_SERVICES = 16
_NAMING_BITS = 8  # 127.0.0.0/8 names loopback; 0.0.0.0/0 names nothing
_BROADCAST = "255.255.255.255"
_LOCAL_HOSTS = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})


class EgressRuling(Struct, frozen=True, kw_only=True):
    """What was decided, why in a sentence, and what would change it.

    Attributes:
        verdict: allow, ask or deny.
        reason: why, naming the pattern.
        hint: what an operator could write, or nothing where nothing lifts it.
        pattern: the entry of the policy that decided, or None.
    """

    verdict: Verdict
    reason: str
    hint: str = ""
    pattern: str | None = None


def target_of(host: str, port: str) -> Endpoint | None:
    """The endpoint that a client asks for, or None where it is not written as one plain name or address and a port.

    Stricter than ``endpoint_of``, because what is connected to must be what was judged: no user part, zone, escape,
    blank or character outside ASCII.
    """
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= _MAX_PORT:
        return None
    number = str(int(port))
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if bare is not host or ":" in bare:
        try:
            ipaddress.IPv6Address(bare)
        except ValueError:
            return None
        return endpoint_of(f"[{bare}]:{number}") if "%" not in bare else None
    name = bare.removesuffix(".")
    if address_of(name) is None:
        labels = name.split(".")
        if len(name) > _MAX_NAME or not all(_LABEL.fullmatch(label) for label in labels):
            return None
        if not re.search(r"[A-Za-z_-]", labels[-1]):  # 1.2.3.4.5 or 0x7f.1.: some resolvers take them for addresses
            return None
    return endpoint_of(f"{name}:{number}")


def judge_target(
    endpoint: Endpoint, rules: NetworkRules, *, default: Verdict, granted: tuple[str, ...] = ()
) -> EgressRuling:
    """Whether ``endpoint`` may be asked for; ``granted`` are endpoints that a person agreed to."""
    refused = matching(endpoint, rules.deny, is_refusal=True)
    if refused is not None:
        return EgressRuling(
            verdict=DENY,
            reason=f"{endpoint} falls under `network.deny` ({refused}).",
            hint=f"Nothing lifts `network.deny`; an operator would have to take out `{refused}`.",
            pattern=refused,
        )
    allowed = matching(endpoint, (*(rules.allow or ()), *granted))
    if allowed is not None:
        return EgressRuling(verdict=ALLOW, reason=f"`network.allow` has {allowed}.", pattern=allowed)
    return EgressRuling(
        verdict=max(default, Verdict.ASK),
        reason=f"`network.allow` does not cover {endpoint}.",
        hint=f"Add `{endpoint}` to `network.allow`.",
    )


def judge_address(
    endpoint: Endpoint, address: str, rules: NetworkRules, *, is_own: bool, granted: tuple[str, ...] = ()
) -> EgressRuling:
    """Whether ``endpoint``, which may be asked for, may be reached at ``address``.

    Args:
        endpoint: what was asked for and allowed.
        address: one of the addresses that it stands for.
        rules: the policy's.
        is_own: whether the address belongs to this machine.
        granted: endpoints that a person agreed to.
    """
    found = address_of(address)
    if found is None:
        return EgressRuling(verdict=DENY, reason=f"{address} is no address.")
    literal = Endpoint(str(found), endpoint.port, found)
    refused = matching(literal, rules.deny, is_refusal=True)
    if refused is not None:
        return EgressRuling(
            verdict=DENY,
            reason=f"{endpoint} leads to {found}, which falls under `network.deny` ({refused}).",
            pattern=refused,
        )
    sources = (*(rules.allow or ()), *granted)
    kind = _kind(found, is_own=is_own)
    if kind == "private" and _is_named_exactly(endpoint, sources):
        kind = ""
    if not kind:
        return EgressRuling(verdict=ALLOW, reason=f"{found} may be reached.")
    if kind == "private":
        naming = matching(literal, sources)
    else:
        naming = next((each for each in sources if _names(each, literal, endpoint)), None)
    if naming is not None:
        return EgressRuling(verdict=ALLOW, reason=f"`network.allow` names it: {naming}.", pattern=naming)
    shown = "localhost" if found.is_loopback else str(found)
    return EgressRuling(
        verdict=DENY,
        reason=f"{endpoint} leads to {found}, {_ARTICLES[kind]}, and no entry of `network.allow` names that.",
        hint=f"If that is meant, add `{Endpoint(shown, endpoint.port, None)}` to `network.allow`.",
    )


def judge_name(
    endpoint: Endpoint, name: Endpoint, rules: NetworkRules, *, granted: tuple[str, ...] = ()
) -> EgressRuling:
    """Whether a tunnel to ``endpoint`` may speak of ``name``."""
    ruling = judge_target(name, rules, default=DENY, granted=granted)
    is_refused = matching(name, rules.deny, is_refusal=True) is not None
    is_free = name.host == endpoint.host or (endpoint.address is not None and name.address is None)
    if ruling.verdict is ALLOW or (is_free and not is_refused):
        return EgressRuling(verdict=ALLOW, reason=f"{name.host} may be spoken of.", pattern=ruling.pattern)
    return EgressRuling(
        verdict=DENY,
        reason=f"A tunnel to {endpoint} was used to speak of {name.host}: {ruling.reason}",
        hint=ruling.hint,
        pattern=ruling.pattern,
    )


_ARTICLES = {
    "own": "an address of this machine",
    "link-local": "a link-local address (clouds keep their metadata there)",
    "special": "an address of no single machine",
    "private": "a private address",
}


def _kind(address: Address, *, is_own: bool) -> str:
    """Which of the kinds that need a name of their own; empty for an ordinary public address."""
    if address.is_link_local:
        return "link-local"
    if is_own or address.is_loopback or address.is_unspecified:
        return "own"
    if address.is_multicast or str(address) == _BROADCAST:
        return "special"
    return "private" if not address.is_global else ""


def _is_named_exactly(endpoint: Endpoint, sources: tuple[str, ...]) -> bool:
    """Whether an entry without a wildcard in its host covers what was asked for."""
    exact = tuple(each for each in sources if not re.search(r"[*?\[]", _host_of(each)))
    return matching(endpoint, exact) is not None


def _names(source: str, literal: Endpoint, endpoint: Endpoint) -> bool:
    """Whether an entry names the address itself: as an address, a block, or as localhost."""
    pattern = pattern_of(source)
    if pattern.network is not None:
        return pattern.network.prefixlen >= _NAMING_BITS and pattern.matches(literal, is_refusal=False)
    assert literal.address is not None
    if pattern.host not in _LOCAL_HOSTS or not literal.address.is_loopback:
        return False
    return pattern.matches(Endpoint(pattern.host, endpoint.port, None), is_refusal=False)


def _host_of(source: str) -> str:
    pattern = pattern_of(source)
    return "" if pattern.network is not None else pattern.host


def listeners(rules: NetworkRules) -> tuple[int, ...]:
    """The ports inside that are served from outside: the proxy's, then each service of loopback that is named."""
    ports = []
    for source in rules.allow or ():
        pattern = pattern_of(source)
        if _is_loopback(source) and pattern.port.isdecimal() and int(pattern.port) != PROXY_PORT:
            ports.append(int(pattern.port))
    return (PROXY_PORT, *tuple(dict.fromkeys(ports))[:_MAX_SERVICES])


def opens_loopback(rules: NetworkRules) -> bool:
    """Whether every port of this machine's loopback is named: then loopback is reached through the proxy as well."""
    return any(_is_loopback(each) and pattern_of(each).port in {"", "*"} for each in rules.allow or ())


def _is_loopback(source: str) -> bool:
    """Whether an entry names this machine's loopback, as localhost or as one address."""
    pattern = pattern_of(source)
    if pattern.network is None:
        return pattern.host in _LOCAL_HOSTS
    return pattern.network.is_loopback and pattern.network.prefixlen == pattern.network.max_prefixlen
