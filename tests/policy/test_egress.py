"""Whether a session may connect is decided by host, by address and by what is spoken of: the table of it."""

import pytest

from execkit_mcp.model.verdict import Verdict
from execkit_mcp.policy.document import NetworkRules
from execkit_mcp.policy.egress import judge_address, judge_name, judge_target, target_of

ALLOW, ASK, DENY = Verdict


@pytest.mark.parametrize(
    ("allow", "deny", "default", "host", "port", "verdict"),
    [
        (["a.example.com:443"], [], DENY, "a.example.com", "443", ALLOW),
        (["a.example.com:443"], [], DENY, "A.Example.COM.", "0443", ALLOW),
        (["a.example.com:443"], [], DENY, "a.example.com", "80", DENY),
        (["a.example.com:443"], [], ASK, "a.example.com", "80", ASK),
        (["a.example.com:443"], [], ALLOW, "b.example.com", "443", ASK),
        (["*.example.com"], [], DENY, "x.y.example.com", "22", ALLOW),
        (["*.example.com"], [], DENY, "example.com", "22", DENY),
        (["*"], ["b.example.com"], DENY, "b.example.com", "443", DENY),
        (["*"], ["10.0.0.0/8"], ASK, "10.9.8.7", "443", DENY),
        (["10.0.0.0/8:443"], [], DENY, "10.9.8.7", "443", ALLOW),
        (["10.0.0.0/8:443"], [], DENY, "0x0a090807", "443", ALLOW),
        (["[fd00::1]:443"], [], DENY, "[fd00:0::1]", "443", ALLOW),
        ([], [], DENY, "a.example.com", "443", DENY),
    ],
)
def test_a_target_is_judged_by_the_policy(  # noqa: PLR0917 - the columns of the table
    allow: list[str], deny: list[str], default: Verdict, host: str, port: str, verdict: Verdict
) -> None:
    endpoint = target_of(host, port)
    assert endpoint is not None
    rules = NetworkRules(allow=tuple(allow), deny=tuple(deny))
    assert judge_target(endpoint, rules, default=default).verdict is verdict


@pytest.mark.parametrize(
    ("allow", "host", "address", "is_own", "verdict"),
    [
        (["a.example.com"], "a.example.com", "93.184.216.34", False, ALLOW),
        (["a.example.com"], "a.example.com", "10.0.0.5", False, ALLOW),
        (["*.example.com"], "a.example.com", "10.0.0.5", False, DENY),
        (["*.example.com", "10.0.0.0/8"], "a.example.com", "10.0.0.5", False, ALLOW),
        (["*"], "a.example.com", "10.0.0.5", False, ALLOW),
        (["a.example.com"], "a.example.com", "127.0.0.1", True, DENY),
        (["a.example.com"], "a.example.com", "203.0.113.9", True, DENY),
        (["a.example.com", "203.0.113.9"], "a.example.com", "203.0.113.9", True, ALLOW),
        (["a.example.com", "127.0.0.0/8"], "a.example.com", "127.0.0.1", True, ALLOW),
        (["localhost:443"], "localhost", "127.0.0.1", True, ALLOW),
        (["localhost:443"], "localhost", "::1", True, ALLOW),
        (["localhost:80"], "a.example.com", "127.0.0.1", True, DENY),
        (["*"], "a.example.com", "127.0.0.1", True, DENY),
        (["0.0.0.0/0"], "a.example.com", "127.0.0.1", True, DENY),
        (["*"], "a.example.com", "169.254.169.254", False, DENY),
        (["a.example.com"], "a.example.com", "169.254.169.254", False, DENY),
        (["169.254.169.254"], "169.254.169.254", "169.254.169.254", False, ALLOW),
        (["*"], "a.example.com", "fe80::1", False, DENY),
        (["*"], "a.example.com", "224.0.0.1", False, DENY),
        (["*"], "a.example.com", "255.255.255.255", False, DENY),
        (["*"], "a.example.com", "0.0.0.0", True, DENY),
        (["*"], "a.example.com", "::ffff:127.0.0.1", True, DENY),
        (["*"], "a.example.com", "nonsense", False, DENY),
    ],
)
def test_an_address_is_judged_before_it_is_connected_to(
    allow: list[str],
    host: str,
    address: str,
    is_own: bool,  # noqa: FBT001 - a column
    verdict: Verdict,
) -> None:
    endpoint = target_of(host, "443")
    assert endpoint is not None
    rules = NetworkRules(allow=tuple(allow))
    assert judge_address(endpoint, address, rules, is_own=is_own).verdict is verdict


@pytest.mark.parametrize(
    ("allow", "host", "name", "verdict"),
    [
        (["a.example.com"], "a.example.com", "A.example.com", ALLOW),
        (["a.example.com"], "a.example.com", "b.example.com", DENY),
        (["*.example.com"], "a.example.com", "b.example.com", ALLOW),
        (["10.0.0.5"], "10.0.0.5", "inner.example.com", ALLOW),
        (["10.0.0.5"], "10.0.0.5", "10.0.0.6", DENY),
        (["10.0.0.5"], "10.0.0.5", "denied.example.com", DENY),
    ],
)
def test_a_tunnel_speaks_of_what_might_have_been_asked_for(
    allow: list[str], host: str, name: str, verdict: Verdict
) -> None:
    rules = NetworkRules(allow=tuple(allow), deny=("denied.example.com",))
    endpoint, spoken = target_of(host, "443"), target_of(name, "443")
    assert endpoint is not None
    assert spoken is not None
    assert judge_name(endpoint, spoken, rules).verdict is verdict


def test_what_a_person_granted_counts_like_an_entry_and_lifts_no_deny() -> None:
    granted = ("b.example.com:443", "127.0.0.1:443")
    for host, verdict in (("b.example.com", ALLOW), ("127.0.0.1", ALLOW), ("c.example.com", DENY)):
        endpoint = target_of(host, "443")
        assert endpoint is not None
        rules = NetworkRules(deny=("c.example.com",))
        assert judge_target(endpoint, rules, default=ASK, granted=(*granted, "c.example.com:443")).verdict is verdict


@pytest.mark.parametrize("host", ["", ".", "*", "a b", "a@b", "a/b", "a%2eb", "a..b", "a\n", "a" * 64, "ä.example.com"])
def test_what_is_not_one_plain_name_is_no_target(host: str) -> None:
    assert target_of(host, "443") is None


@pytest.mark.parametrize("host", ["[::1", "::1%lo", "[1.2.3.4]", "1.2.3.4.5", "0x7f.1.2.3.4"])
def test_what_is_not_one_plain_address_is_no_target(host: str) -> None:
    assert target_of(host, "443") is None


@pytest.mark.parametrize("port", ["", "0", "65536", "+1", "1_0", " 1", "٤٤٣", "http"])
def test_what_is_not_one_plain_port_is_no_target(port: str) -> None:
    assert target_of("a.example.com", port) is None
