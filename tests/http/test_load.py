"""Many clients at once: every call answered, none much slower than the others.

``make test`` runs a small version, ``make fuzz`` (``EXECKIT_HTTP_LOAD=200x50``) the whole. All of it goes to a server
on 127.0.0.1 that the test started.
"""

import asyncio
import json
import os
import time

from tests.http_server import MODERN, meta

CLIENTS, CALLS = map(int, os.environ.get("EXECKIT_HTTP_LOAD", "30x10").split("x"))
ENOUGH = 5000
LIMIT_S = 240


class Link:
    """One client on one connection."""

    def __init__(self, server, token):
        self.port = server.port
        self.token = token
        self.took_s = []

    async def run(self, calls):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            for number in range(calls):
                began = time.perf_counter()
                answer = await self.call(reader, writer, number)
                self.took_s.append(time.perf_counter() - began)
                assert answer["result"]["structuredContent"]["verdict"] == "allow", answer
        finally:
            writer.close()

    async def call(self, reader, writer, number):
        params = {"name": "shell_explain", "arguments": {"command": f"echo {number}"}, "_meta": meta()}
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()
        writer.write(
            f"POST /mcp HTTP/1.1\r\nHost: localhost:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: shell_explain\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert head.startswith("http/1.1 200 "), head
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        return json.loads(await reader.readexactly(length))


async def test_many_clients_are_all_answered_and_none_waits_long(http):
    server = http()
    links = [Link(server, server.token(f"client-{number}")) for number in range(min(CLIENTS, 8))]
    links = [Link(server, links[number % len(links)].token) for number in range(CLIENTS)]
    began = time.perf_counter()
    async with asyncio.timeout(LIMIT_S):
        await asyncio.gather(*(link.run(CALLS) for link in links))
    whole_s = time.perf_counter() - began
    took_s = sorted(each for link in links for each in link.took_s)
    assert len(took_s) == CLIENTS * CALLS
    p50, p99 = took_s[len(took_s) // 2], took_s[int(len(took_s) * 0.99)]
    print(f"{CLIENTS} clients x {CALLS} calls in {whole_s:.1f} s: p50 {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms")
    if len(took_s) >= ENOUGH:  # fewer say nothing of a hundredth
        assert p99 <= 10 * p50
    assert server.end() == 0
