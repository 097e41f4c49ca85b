# ruff: noqa: E501 - rows of cases read one case a line
"""Every spelling of an address is one address."""

import pytest

from execkit_mcp.policy.network import endpoint_of, matching


@pytest.mark.parametrize(
    "spelled",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "[::ffff:127.0.0.1]:80",
        "user:pass@127.0.0.1", "http://127.0.0.1/x", "http://a@127.0.0.1:80/", "127.0.0.1.", "[::ffff:7f00:1]",
    ],
)  # fmt: skip
def test_spellings_of_loopback_are_loopback(spelled):
    endpoint = endpoint_of(spelled)
    assert endpoint is not None
    assert str(endpoint.address) == "127.0.0.1"
    assert matching(endpoint, ("127.0.0.0/8",), is_refusal=True)


@pytest.mark.parametrize(
    ("text", "pattern", "is_refusal", "expected"),
    [
        ("web.example.com:443", "*.example.com:443", False, True), ("web.example.com:80", "*.example.com:443", False, False),
        ("example.com.evil.test", "example.com", False, False), ("EXAMPLE.com", "example.com", False, True),
        ("10.2.3.4:443", "10.0.0.0/8:443", False, True), ("10.2.3.4", "10.0.0.0/8:443", False, False),
        ("10.2.3.4", "10.0.0.0/8:443", True, True), ("localhost:8080", "localhost:*", False, True),
        ("[2001:db8::1]:443", "[2001:db8::/32]:443", False, True), ("2001:db8::1", "2001:db8::1", False, True),
        ("127.0.0.1:80", "localhost:*", False, True), ("example.com", "10.0.0.0/8", False, False),
        ("http://good.example.com@evil.test/", "good.example.com", False, False),
        ("http://evil.test\\@good.example.com/", "good.example.com", False, False),
    ],
)  # fmt: skip
def test_patterns_match_hosts_and_ports(text, pattern, is_refusal, expected):
    endpoint = endpoint_of(text)
    assert endpoint is not None
    assert (matching(endpoint, (pattern,), is_refusal=is_refusal) is not None) is expected


@pytest.mark.parametrize("text", ["", "a b", "$HOST", "{a,b}.example.com", "[::1", "http:///x"])
def test_what_is_no_single_host_is_no_endpoint(text):
    assert endpoint_of(text) is None
