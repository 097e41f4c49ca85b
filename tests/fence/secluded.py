"""Programs in a network namespace of their own, with an egress proxy in front: what the tests of the proxy drive."""

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import ClassVar

from execkit_mcp.fence.egress import EgressProxy, Outcome
from execkit_mcp.model.verdict import Verdict
from execkit_mcp.policy.document import NetworkRules
from execkit_mcp.policy.egress import EgressRuling, judge_address, judge_name, judge_target
from execkit_mcp.policy.network import Endpoint

PORT = 3128
PROXIED = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), f"http://127.0.0.1:{PORT}")
INSIDE = """
import ctypes, fcntl, json, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
link, ports, argv = socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2]), sys.argv[3:]
uid, gid = os.getuid(), os.getgid()
if libc.unshare(0x10000000 | 0x40000000) != 0:
    raise OSError(ctypes.get_errno(), "unshare")
open("/proc/self/setgroups", "w").write("deny")
open("/proc/self/uid_map", "w").write(f"{uid} {uid} 1")
open("/proc/self/gid_map", "w").write(f"{gid} {gid} 1")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
    fcntl.ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", 1 | 0x40))
listeners = [socket.create_server(("127.0.0.1", port)) for port in ports]
socket.send_fds(link, [b"x"], [each.fileno() for each in listeners])
for each in listeners:
    each.close()
link.close()
os.execvp(argv[0], argv)
"""


@dataclass
class TableGuard:
    """Judges by a policy's rules; remembers each outcome."""

    rules: NetworkRules
    default: Verdict = Verdict.DENY
    granted: tuple[str, ...] = ()
    outcomes: list[Outcome] = field(default_factory=list)
    before_recording: Callable[[Outcome], None] = lambda _: None

    async def judge(self, endpoint: Endpoint) -> EgressRuling:
        return judge_target(endpoint, self.rules, default=self.default, granted=self.granted)

    def judge_address(self, endpoint: Endpoint, address: str, *, is_own: bool) -> EgressRuling:
        return judge_address(endpoint, address, self.rules, is_own=is_own, granted=self.granted)

    def judge_name(self, endpoint: Endpoint, name: Endpoint) -> EgressRuling:
        return judge_name(endpoint, name, self.rules, granted=self.granted)

    def record(self, outcome: Outcome) -> None:
        self.before_recording(outcome)
        self.outcomes.append(outcome)


@dataclass
class Ran:
    code: int
    out: str
    err: str


@dataclass
class Secluded:
    """A proxy and what is asked of it."""

    guard: TableGuard
    names: Mapping[str, Sequence[str]]
    looked_up: list[str] = field(default_factory=list)
    services: Mapping[int, int] = field(default_factory=dict)

    async def resolve(self, host: str, _port: int) -> Sequence[str]:
        self.looked_up.append(host)
        if host not in self.names:
            raise OSError("no such name")
        return self.names[host]

    async def run(self, *argv: str, env: Mapping[str, str] = PROXIED, cwd: Path | None = None) -> Ran:
        """Run a program inside, to its end."""
        ours, theirs = socket.socketpair()
        proxy = EgressProxy(self.guard, resolve=self.resolve)
        ports = json.dumps([PORT, *self.services])
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", "-c", INSIDE, str(theirs.fileno()), ports, *argv,
            pass_fds=(theirs.fileno(),), stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=cwd,
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", **env},
        )  # fmt: skip
        theirs.close()
        try:
            async with asyncio.timeout(60):
                fds = await asyncio.to_thread(lambda: socket.recv_fds(ours, 1, 16)[1])
                listeners = [socket.socket(fileno=fd) for fd in fds]
                await proxy.serve(listeners[0])
                for listener, port in zip(listeners[1:], self.services.values(), strict=True):
                    endpoint = Endpoint("127.0.0.1", str(port), ip_address("127.0.0.1"))
                    await proxy.serve_service(listener, endpoint)
                out, err = await process.communicate()
        finally:
            ours.close()
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            await proxy.close()
        assert process.returncode is not None
        return Ran(process.returncode, out.decode(), err.decode())

    async def python(self, text: str, *arguments: str) -> Ran:
        """Run Python inside."""
        return await self.run(sys.executable, "-I", "-S", "-c", text, *arguments)


class Answering(BaseHTTPRequestHandler):
    """Says who was asked for what; ``/to?URL`` redirects."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[tuple[str, str, str]]] = []

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

    def answer(self, body: str = "") -> None:
        self.seen.append((self.command, self.path, str(self.headers)))
        where = self.path.partition("?")[2]
        text = f"{self.headers['Host']} {self.path} {body}".encode()
        self.send_response(302 if where.startswith("http") else 200)
        if where.startswith("http"):
            self.send_header("Location", where)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.asynccontextmanager
async def answering() -> AsyncIterator[int]:
    """An HTTP server on this machine's loopback; its port."""
    Answering.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        thread.join()


def secluded(
    allow: Sequence[str] = (),
    *,
    deny: Sequence[str] = (),
    names: Mapping[str, Sequence[str]] | None = None,
    services: Mapping[int, int] | None = None,
) -> Secluded:
    """A proxy for a policy that allows and denies these."""
    guard = TableGuard(NetworkRules(allow=tuple(allow), deny=tuple(deny)))
    return Secluded(guard, names or {}, services=services or {})


Runner = Callable[..., Awaitable[Ran]]
