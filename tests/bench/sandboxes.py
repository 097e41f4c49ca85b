"""Sandboxes and the way out: opening, swapping layers over 5,000 files and 100 MiB, a request through the proxy."""

import asyncio
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from report import Report

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sandboxing import SandboxRequest

SECTION = "Sandboxes (a workspace of 5,000 files and 100 MiB)"
NETWORK = "A request to a service of the host (curl, whole process)"
POLICY = """version: 1
name: bench
network: {{allow: ["localhost:{port}"]}}
rules:
  - {{id: all, effects: trusted, allow: [":", bash, curl, echo]}}
"""


class Short(BaseHTTPRequestHandler):
    """Answers with two bytes."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _workspace(folder: Path) -> Path:
    workspace = folder / "sandboxed"
    for number in range(50):
        inner = workspace / f"d{number}"
        inner.mkdir(parents=True)
        for each in range(100):
            (inner / f"f{each}").write_bytes(b"x" * 20_900)
    return workspace


async def measure(report: Report, folder: Path, rounds: int = 20) -> None:
    """Fill two sections."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Short)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    policy = folder / "sandboxes.yaml"
    policy.write_text(POLICY.format(port=port))
    policy.chmod(0o600)
    workspace = await asyncio.to_thread(_workspace, folder)
    async with open_kit(
        policy=str(policy), workspace=str(workspace), state_dir=str(folder / "sandboxes"), environ={}
    ) as kit:

        async def took(action: str, **more: str) -> float:
            facts = await kit.sandbox(SandboxRequest(action=action, session="sb", **more), requester="b")
            return float(str(facts["took_ms"]))

        opened: dict[str, list[float]] = {"local": [], "sandbox": []}
        for number in range(rounds):
            for target, samples in opened.items():
                start = time.perf_counter()
                await kit.open_session(target=target, name=f"{target}{number}", requester="b")
                samples.append((time.perf_counter() - start) * 1e3)
                await kit.close_session(f"{target}{number}", requester="b")
        report.times(SECTION, "open a local session, nothing warm", opened["local"])
        report.times(SECTION, "open a sandbox", opened["sandbox"])
        await kit.open_session(target="sandbox", name="sb", requester="b")
        await kit.run(RunRequest(command="bash -c 'for i in d*/f?; do echo x >>$i; done'", session="sb"), requester="b")
        report.times(SECTION, "snapshot", [await took("snapshot") for _ in range(rounds)])
        report.times(SECTION, "restore", [await took("restore", snapshot="s1") for _ in range(rounds)])
        forks = [await took("fork", snapshot="s1", name=f"fork{number}") for number in range(4)]
        report.times(SECTION, "fork of the workspace, without its shell", forks)
        for number in range(4):
            await kit.close_session(f"fork{number}", requester="b")
        start = time.perf_counter()
        facts = await kit.sandbox(SandboxRequest(action="diff", session="sb"), requester="b")
        report.add(SECTION, f"difference of {facts['count']} files", f"{(time.perf_counter() - start) * 1e3:.0f} ms")
        for name, flag in (
            ("straight to the port inside", ""),
            ("through the proxy", "--noproxy '' -x http://127.0.0.1:3128"),
        ):
            samples = []
            for _ in range(rounds):
                command = f"curl -sS {flag} http://localhost:{port}/"
                result = await kit.run(RunRequest(command=command, session="sb"), requester="b")
                assert result.stdout == "ok", result
                samples.append(result.duration_ms)
            report.times(NETWORK, name, samples)
    server.shutdown()
    server.server_close()
