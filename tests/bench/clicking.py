"""From the click on "Allow once" to the start of the command, through the real page and a served session.

The call waits for the person; the click is the form that the page sends; the start is the time of the entry on the
record that stands there before the command reaches the shell.
"""

import asyncio
import http.client
import json
import os
import re
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from urllib.parse import urlencode

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from report import Report
from watching import login

from execkit_mcp.runtime.desk import ApprovalDesk

SECTION = "From the click on the page to the start of the command"
ROOT = Path(__file__).resolve().parents[2]
POLICY = """\
version: 1
name: bench
paths: {write: ["${workspace}/**"]}
rules:
  - {id: look, ask: [touch]}
"""


def _send(
    connection: http.client.HTTPConnection, method: str, path: str, headers: dict[str, str], body: str = ""
) -> str:
    connection.request(method, path, body or None, headers)
    return connection.getresponse().read().decode()


def _started_s(state: Path, approval_id: str) -> float:
    """When the command of that approval was started, from the record."""
    for path in sorted(state.glob("audit-*.jsonl"), reverse=True):
        for line in reversed(path.read_text().splitlines()):
            entry = json.loads(line)
            if entry["kind"] == "exec.started" and approval_id in line:
                return datetime.fromisoformat(entry["time"]).timestamp()
    raise LookupError(approval_id)


async def measure(report: Report, folder: Path, rounds: int) -> None:
    """Fill the section."""
    state, policy = folder / "clicked", folder / "click.yaml"
    policy.write_text(POLICY)
    environment = {"PYTHONPATH": str(ROOT), "EXECKIT_STATE_DIR": str(state), "EXECKIT_POLICY": str(policy)}
    page = subprocess.Popen(  # noqa: ASYNC220 - before anything is measured
        [sys.executable, "-m", "execkit_mcp", "web", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "execkit_mcp", "serve", "--workspace", str(folder)], env=environment
    )
    samples: list[float] = []
    try:
        assert page.stdout is not None
        address, base, cookie = login(page.stdout.readline().strip())
        connection = http.client.HTTPConnection(address)
        headers = {"Cookie": cookie, "Origin": f"http://{address}", "Content-Type": "application/x-www-form-urlencoded"}
        desk = ApprovalDesk.open(state_dir=state, audit_dir=state)
        async with Client(server) as client:
            for number in range(rounds):
                call = asyncio.create_task(client.call_tool("shell_run", {"command": f"touch made-{number}"}))
                while not (pending := desk.pending()):  # noqa: ASYNC110 - another process puts it there
                    await asyncio.sleep(0.005)
                (wanted,) = pending
                card = await asyncio.to_thread(_send, connection, "GET", f"{base}/inbox", headers)
                fields = {name: re.search(f'name="{name}" value="([^"]+)"', card) for name in ("csrf", "digest")}
                body = urlencode({name: found[1] for name, found in fields.items() if found} | {"answer": "once"})
                clicked_s = time.time()
                await asyncio.to_thread(_send, connection, "POST", f"{base}/inbox/{wanted.id}", headers, body)
                result = await call
                assert (result.structured_content or {})["status"] == "completed", result
                samples.append((_started_s(state, wanted.id) - clicked_s) * 1e3)
        desk.close()
    finally:
        page.terminate()
        page.wait()
    report.times(SECTION, "click to start", samples, limit=50)
