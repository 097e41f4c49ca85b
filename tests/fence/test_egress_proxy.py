"""The egress proxy passes what the policy allows and nothing else, with real programs in a real namespace."""

import asyncio
import sys

import pytest

from tests.fence.secluded import answering, secluded


async def test_curl_reaches_an_allowed_host_through_the_proxy() -> None:
    async with answering() as port:
        place = secluded([f"api.example.com:{port}", f"127.0.0.1:{port}"], names={"api.example.com": ["127.0.0.1"]})
        ran = await place.run("curl", "-sS", f"http://api.example.com:{port}/hello")
    assert (ran.code, ran.out) == (0, f"api.example.com:{port} /hello ")
    assert [(each.target, each.kind, each.is_open) for each in place.guard.outcomes] == [
        (f"api.example.com:{port}", "http", True)
    ]


async def test_curl_reaches_an_allowed_host_through_a_tunnel() -> None:
    async with answering() as port:
        place = secluded([f"127.0.0.1:{port}"])
        ran = await place.run("curl", "-sS", "--proxytunnel", f"http://127.0.0.1:{port}/hello")
    assert (ran.code, ran.out) == (0, f"127.0.0.1:{port} /hello ")
    assert [each.kind for each in place.guard.outcomes] == ["connect"]


async def test_a_body_and_its_answer_pass_unchanged() -> None:
    async with answering() as port:
        place = secluded([f"127.0.0.1:{port}"])
        ran = await place.run(
            "curl", "-sS", "-H", "Expect: 100-continue", "-d", "x" * 5000, f"http://127.0.0.1:{port}/p"
        )
    assert ran.out == f"127.0.0.1:{port} /p {'x' * 5000}"


async def test_a_host_that_no_entry_covers_is_refused_and_never_looked_up() -> None:
    place = secluded(["api.example.com:443"])
    ran = await place.run("curl", "-sS", "http://other.example.com/")
    assert "`network.allow` does not cover other.example.com:80" in ran.out
    assert place.looked_up == []
    assert [each.is_refused for each in place.guard.outcomes] == [True]


async def test_an_allowed_host_on_another_port_is_refused() -> None:
    place = secluded(["api.example.com:443"], names={"api.example.com": ["127.0.0.1"]})
    ran = await place.run("curl", "-sS", "https://api.example.com:8443/")
    assert ran.code == 56
    assert place.looked_up == []


async def test_a_denied_host_stays_denied_whatever_allows_it() -> None:
    async with answering() as port:
        place = secluded(["*"], deny=["127.0.0.1"], names={"api.example.com": ["127.0.0.1"]})
        ran = await place.run("curl", "-sS", f"http://api.example.com:{port}/")
    assert "falls under `network.deny` (127.0.0.1)" in ran.out


async def test_without_the_proxy_there_is_no_network_at_all() -> None:
    async with answering() as port:
        place = secluded([f"127.0.0.1:{port}"])
        ran = await place.run("curl", "-sS", "--max-time", "5", f"http://127.0.0.1:{port}/", env={})
    assert ran.code == 7


async def test_a_named_service_of_the_host_is_there_on_its_own_port() -> None:
    async with answering() as port:
        place = secluded([f"localhost:{port}"], services={port: port})
        ran = await place.run("curl", "-sS", f"http://localhost:{port}/direct", env={})
    assert ran.out == f"localhost:{port} /direct "
    assert [each.kind for each in place.guard.outcomes] == ["service"]


async def test_a_name_that_nobody_knows_is_said_to_be_unknown() -> None:
    place = secluded(["gone.example.com:80"])
    ran = await place.run("curl", "-sS", "http://gone.example.com/")
    assert "gone.example.com was not found" in ran.out


async def test_a_server_that_speaks_first_is_heard_through_a_tunnel() -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hello\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    place = secluded([f"127.0.0.1:{port}"])
    text = (
        "import socket,sys; s=socket.create_connection(('127.0.0.1',3128));"
        f"s.sendall(b'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n');"
        "d=b''\nwhile b'hello' not in d and (more := s.recv(99)): d+=more\nprint(d)"
    )
    ran = await place.python(text)
    server.close()
    assert "220 hello" in ran.out


async def test_what_cannot_be_recorded_is_not_connected() -> None:
    from execkit_mcp.errors import AuditWriteFailed

    def fail(_: object) -> None:
        raise AuditWriteFailed("The record cannot be written.")

    async with answering() as port:
        place = secluded([f"127.0.0.1:{port}"])
        place.guard.before_recording = fail
        ran = await place.run("curl", "-sS", f"http://127.0.0.1:{port}/")
    assert "The record cannot be written" in ran.out


@pytest.mark.parametrize("count", [300])
async def test_a_session_has_a_bounded_number_of_connections(count: int) -> None:
    text = (
        "import socket\n"
        f"held = [socket.create_connection(('127.0.0.1', 3128)) for _ in range({count})]\n"
        "last = held[-1]; last.settimeout(20)\n"
        "print(last.recv(999).decode())\n"
    )
    import resource

    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > count
    ran = await secluded().python(text)
    assert "429" in ran.out, ran


async def test_python_and_node_find_the_proxy_in_their_environment() -> None:
    async with answering() as port:
        place = secluded([f"127.0.0.1:{port}"])
        ran = await place.run(
            sys.executable, "-c", f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}/py').read())"
        )
    assert f"127.0.0.1:{port} /py" in ran.out
