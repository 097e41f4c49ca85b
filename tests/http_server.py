"""A real HTTP server of one test's world, spoken to in bytes, in requests, and through the SDK's client."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.storage import open_database
from execkit_mcp.storage.tokens import Tokens, TokenScope

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
LIMIT_S = 30


def make_token(state: Any, name: str, *, lasts_s: float | None = 3600, **scope: Any) -> str:
    """A token in the state folder, as `execkit-mcp tokens create` makes it."""
    database = open_database(state)
    try:
        tokens = Tokens(database, clock=SystemClock(), entropy=SystemEntropy())
        return tokens.create(name, TokenScope(**scope), lasts_s=lasts_s)[1]
    finally:
        database.close()


class HttpServer:
    """``serve --transport http`` in a process of its own."""

    def __init__(
        self, world: Any, *flags: str, program: tuple[str, ...] = ("-m", "execkit_mcp"), **environment: str
    ) -> None:
        self.world = world
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            world.serve_command("--transport", "http", "--port", "0", *flags, program=program),
            env=world.environment(**environment),
            cwd=world.workspace,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.url = self._until(r"serving on (\S+),")
        self.port = int(re.search(r":(\d+)/", self.url)[1])
        self._rest = threading.Thread(target=self._drain, daemon=True)
        self._rest.start()

    def _until(self, pattern: str) -> str:
        for line in self.process.stderr:
            self.lines.append(line)
            found = re.search(pattern, line)
            if found:
                return found[1]
        self.process.wait(LIMIT_S)
        self.process.stderr.close()
        raise AssertionError("".join(self.lines))

    def _drain(self) -> None:
        for line in self.process.stderr:
            self.lines.append(line)

    def token(self, name: str = "tester", **options: Any) -> str:
        """A new token."""
        return make_token(self.world.state, name, **options)

    def request(
        self, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One request on a connection of its own: status, headers by lower-case name, body."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        try:
            link.request(method, path, body=body, headers=dict(headers or {}))
            answer = link.getresponse()
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        finally:
            link.close()

    def post(self, token: str | None, message: object, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """POST a message to the endpoint; ``headers`` in snake case."""
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **({"Authorization": f"Bearer {token}"} if token is not None else {}),
            **{key.replace("_", "-"): value for key, value in headers.items()},
        }
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.request("POST", "/mcp", body=body, headers=sent)

    def call(self, token: str | None, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool in the newest revision; the JSON-RPC answer."""
        status, _, body = self.post(
            token,
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
             "params": {"name": tool, "arguments": arguments, "_meta": meta()}},
            MCP_Protocol_Version=MODERN, Mcp_Method="tools/call", Mcp_Name=tool,
        )  # fmt: skip
        assert status == 200, (status, body)
        return message_in(body)

    def ask(self, token: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured result of a tool."""
        answer = self.call(token, tool, **arguments)
        assert "result" in answer, answer
        return answer["result"]["structuredContent"]

    @asynccontextmanager
    async def client(self, token: str, mode: str = "auto", **options: Any) -> AsyncIterator[Any]:
        """The SDK's client."""
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, limits=httpx2.Limits(max_connections=500)) as link,
            Client(streamable_http_client(self.url, http_client=link), mode=mode, **options) as client,
        ):
            yield client

    def connect(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)

    def is_serving(self) -> bool:
        """Whether it answers."""
        return self.request("GET", "/healthz")[0] == 200

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        text = self.request("GET", "/metrics")[2].decode()
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE))

    def end(self) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_S)

    def close(self) -> None:
        """Kill it, if it is still there."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL) if self.process.poll() is None else None
        self.process.wait(LIMIT_S)
        self._rest.join(LIMIT_S)
        self.process.stderr.close()


def meta() -> dict[str, Any]:
    """What each request of the newest revision says of its client."""
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }


def message_in(body: bytes) -> dict[str, Any]:
    """The last JSON-RPC message of an answer, plain or as a stream of events."""
    if body.startswith(b"{"):
        return json.loads(body)
    return json.loads(re.findall(rb"^data: (\{.*)\r?$", body, re.MULTILINE)[-1])
