"""P7: requests that are malformed, oversized, slow or hostile change nothing and leave the server serving.

``make test`` sends some hundreds; ``make fuzz`` (``EXECKIT_HTTP_FUZZ=10000``) ten thousand. Everything goes to a server
on 127.0.0.1 that the test started.
"""

import contextlib
import json
import os
import random
import select
import socket
import time

import pytest

from tests.http_server import LEGACY, LIMIT_S, MODERN, meta

pytestmark = pytest.mark.promise("P7")

COUNT = int(os.environ.get("EXECKIT_HTTP_FUZZ", "300"))
SEED = 20261121
ODD = ["", "\0", "\u202e", "A" * 5000, "../../etc/passwd", "%00", "{{7*7}}", "$(id)", "\ud800", "1e999", "-1", "null"]
METHODS = ["initialize", "tools/call", "tools/list", "ping", "resources/read", "prompts/get", "server/discover",
           "subscriptions/listen", "logging/setLevel", "completion/complete", "notifications/cancelled"]  # fmt: skip


class Hostile:
    """Makes one bad request after another; each is the bytes of a whole connection."""

    def __init__(self, server, token, seed):
        self.chance = random.Random(seed)
        self.port = server.port
        self.token = token

    def next(self):
        """A request of some kind."""
        return self.chance.choice(
            [self.garbage, self.bad_line, self.bad_headers, self.bad_json, self.bad_envelope, self.bad_arguments,
             self.guess, self.rebinding, self.oversized, self.smuggling, self.wrong_place]
        )()  # fmt: skip

    def post(self, body, *, token=None, headers=(), host=None, path="/mcp", method="POST", length=None):
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: {host if host is not None else f'localhost:{self.port}'}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body) if length is None else length}",
            *([f"Authorization: Bearer {token}"] if token else []),
            *headers,
        ]
        return "\r\n".join(lines).encode("utf-8", "surrogatepass") + b"\r\n\r\n" + body

    def garbage(self):
        return self.chance.randbytes(self.chance.randrange(1, 600))

    def bad_line(self):
        line = self.chance.choice(
            [b"GET", b"GET / HTTP/9.9", b"POST /mcp", b"GET http://evil/ HTTP/1.1", b"GET /\x00 HTTP/1.1",
             b"PRI * HTTP/2.0\r\n\r\nSM\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"G" * 40_000,
             b"POST /mcp HTTP/1.1\nHost: localhost", b"CONNECT evil:443 HTTP/1.1", b"TRACE /mcp HTTP/1.1"]
        )  # fmt: skip
        return line + b"\r\nHost: localhost\r\n\r\n"

    def bad_headers(self):
        bad = self.chance.choice(
            [["X: " + "a" * 40_000], [f"X{n}: y" for n in range(3000)], ["Host: evil"], ["Transfer-Encoding: gzip"],
             [": x"], ["X\x00: y"], ["X : y"], [" folded"], ["Content-Length: -5"], ["Content-Length: 1e3"],
             ["Upgrade: websocket", "Connection: Upgrade"], ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings"],
             ["Expect: 100-continue"], ["Mcp-Session-Id: " + "\x7f" * 20], ["Mcp-Session-Id: ../../x"],
             ["MCP-Protocol-Version: 1999-01-01"],
             [f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: a", "Mcp-Method: b"],
             ["Accept: text/html"], ["Content-Encoding: gzip"], ["Last-Event-ID: 1"], ["Cookie: a=b"]]
        )  # fmt: skip
        return self.post(b"{}", token=self.chance.choice([None, self.token]), headers=bad)

    def bad_json(self):
        body = self.chance.choice(
            [b"", b"{", b"[]", b"[[[" * 20_000, b'{"a":' * 20_000, b"nul", b"\xff\xfe", b'"\\ud800"', b"1" * 10_000,
             b"NaN", b"{}" * 50, b'{"jsonrpc":"2.0"}',
             b"[" + b'{"jsonrpc":"2.0","id":1,"method":"ping"},' * 50 + b"{}]",
             b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"x"}', b" " * 100_000, b"\0" * 100]
        )  # fmt: skip
        return self.post(body, token=self.token, headers=self.era())

    def era(self):
        return self.chance.choice(
            [[], [f"MCP-Protocol-Version: {LEGACY}"], [f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: tools/call"]]
        )

    def bad_envelope(self):
        message = {
            "jsonrpc": self.chance.choice(["2.0", "1.0", 2, None]),
            "id": self.chance.choice([1, "a", None, True, 1.5, [], {}, -1, "\0", 10**30]),
            "method": self.chance.choice([*METHODS, 5, None, ["x"]]),
            "params": self.chance.choice([{}, [], None, "x", {"_meta": 5}, {"_meta": {"progressToken": {}}}, meta()]),
        }
        for name in self.chance.sample(sorted(message), self.chance.randrange(0, 3)):
            del message[name]
        return self.post(json.dumps(message).encode(), token=self.token, headers=self.era())

    def bad_arguments(self):
        tool = self.chance.choice(["shell_run", "shell_read", "shell_send", "shell_open", "shell_close", "nope", ""])
        names = ["command", "session", "exec_id", "wait_s", "target", "name", "cwd", "text", "key", "max_output", "x"]
        arguments = {
            name: self.chance.choice([*ODD, -1, 10**18, 1.5, True, [], {}, {"$ref": "#"}])
            for name in self.chance.sample(names, self.chance.randrange(1, 4))
            if name != "command"
        }
        if "session" not in arguments and tool in ("shell_open", "shell_run"):
            arguments["x"] = 1  # an unknown name: nothing may be opened
        params = {"name": tool, "arguments": arguments, "_meta": meta()}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
        told = [f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: tools/call", f"Mcp-Name: {tool}"]
        return self.post(body, token=self.token, headers=told)

    def guess(self):
        guess = self.chance.choice(
            ["ekt_" + self.chance.randbytes(4).hex() + "_" + self.chance.randbytes(32).hex()[:43], self.token[:-1],
             self.token.upper(), self.token + "A", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "admin", "0" * 8000]
        )  # fmt: skip
        return self.post(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', token=guess)

    def rebinding(self):
        host = self.chance.choice(["evil.example", "localhost.evil", "[::1", "localhost:99999", "", "127.1", "\u2139"])
        origin = self.chance.choice(["https://evil.example", "null", "http://localhost.evil", "chrome-extension://x"])
        if self.chance.random() < 0.5:
            return self.post(b"{}", token=self.token, host=host)
        return self.post(b"{}", token=self.token, headers=[f"Origin: {origin}"])

    def oversized(self):
        if self.chance.random() < 0.5:
            return self.post(b"x" * 1000, token=self.token, length=10**12)
        return self.post(b"x" * 5_000_000, token=self.chance.choice([None, self.token]))

    def smuggling(self):
        inner = b"GET /metrics HTTP/1.1\r\nHost: evil\r\n\r\n"
        extra = self.chance.choice(
            [["Transfer-Encoding: chunked"], ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
             ["Content-Length: 0"], ["Transfer-Encoding:\x0bchunked"], ["Transfer-Encoding: xchunked"]]
        )  # fmt: skip
        return self.post(b"0\r\n\r\n" + inner, token=self.token, headers=extra)

    def wrong_place(self):
        path = self.chance.choice(
            ["/", "/mcp/", "/mcp/../metrics", "/..%2f", "/MCP", "//mcp", "/.env", "/mcp?x=" + "y" * 999]
        )
        method = self.chance.choice(["GET", "PUT", "PATCH", "HEAD", "BREW", "DELETE", "OPTIONS"])
        return self.post(b"", token=self.chance.choice([None, self.token]), path=path, method=method)


def send(server, data):
    """Send it all, read a while, leave; True if it was answered."""
    with contextlib.suppress(OSError), server.connect() as link:
        link.settimeout(2)
        with contextlib.suppress(OSError):
            link.sendall(data)
            link.shutdown(socket.SHUT_WR)
        with contextlib.suppress(TimeoutError):
            return bool(link.recv(65_536))
    return False


def standing(server, token):
    """What must not change."""
    info = server.ask(token, "shell_info")
    return (info["sessions"], info["execs"], sorted(path.name for path in server.world.workspace.iterdir()))


def test_hostile_requests_change_nothing_and_leave_the_server_serving(http):
    server = http()
    token = server.token()
    assert server.ask(token, "shell_run", command="export GREETING=kept")["exit_code"] == 0
    before = standing(server, token)
    hostile = Hostile(server, token, SEED)
    for number in range(COUNT):
        send(server, hostile.next())
        if number % 100 == 0:
            assert server.ask(token, "shell_run", command="echo $GREETING")["stdout"] == "kept\n"
    assert server.process.poll() is None
    assert standing(server, token) == before
    assert server.ask(token, "shell_run", command="echo $GREETING")["stdout"] == "kept\n"
    assert not any("Traceback" in line for line in server.lines), "".join(server.lines)[-4000:]
    assert not any(token.rpartition("_")[2] in line for line in server.lines)
    assert server.end() == 0


def test_slow_senders_are_let_go_of_and_others_are_served_meanwhile(http):
    server = http()
    token = server.token()
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost:{server.port}\r\n".encode()
    whole = head + f"Authorization: Bearer {token}\r\nContent-Length: 1000\r\n\r\n".encode()
    slow = [server.connect() for _ in range(100)]
    try:
        for number, link in enumerate(slow):  # nothing, half a head, a head and half a body
            if number % 3:
                link.sendall(head if number % 3 == 1 else whole + b"{")
        for _ in range(20):
            assert server.ask(token, "shell_run", command="echo served")["stdout"] == "served\n"
        until = time.monotonic() + LIMIT_S + 10
        left = set(slow)
        while left:
            assert time.monotonic() < until, f"{len(left)} connections are still held"
            for link in select.select(list(left), [], [], 1)[0]:
                with contextlib.suppress(OSError):
                    while link.recv(4096):
                        pass
                left.discard(link)
    finally:
        for link in slow:
            link.close()
    assert server.ask(token, "shell_run", command="echo served")["stdout"] == "served\n"


def test_more_connections_than_there_may_be_do_not_shut_the_others_out(http, world):
    path = world.folder / "config.yaml"
    path.write_text("http: {limits: {connections: 16}}\n")
    path.chmod(0o644)
    server = http("--config", str(path))
    token = server.token()
    held = [server.connect() for _ in range(64)]
    try:
        assert server.ask(token, "shell_run", command="echo served")["stdout"] == "served\n"
        assert server.metric("execkit_http_connections") <= 16
    finally:
        for link in held:
            link.close()


def test_a_client_that_never_reads_does_not_hold_up_the_others(http):
    server = http()
    token = server.token()
    server.ask(token, "shell_run", command="seq 20000", wait_s=20)
    exec_id = server.ask(token, "shell_run", command="seq 40000", wait_s=20)["exec_id"]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "shell_read", "arguments": {"exec_id": exec_id, "max_output": 200_000}, "_meta": meta()}}  # fmt: skip
    body = json.dumps(message)
    request = (
        f"POST /mcp HTTP/1.1\r\nHost: localhost:{server.port}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        f"MCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: shell_read\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()
    links = [server.connect() for _ in range(10)]
    try:
        for link in links:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.sendall(request * 3)
        assert server.ask(token, "shell_run", command="echo served")["stdout"] == "served\n"
    finally:
        for link in links:
            link.close()
