"""Standard output of ``serve`` carries protocol lines only, whatever a library prints."""

import json
import subprocess
import sys

_NOISY = """
import os, sys
from execkit_mcp.kit import ExecKit
from execkit_mcp.server.serve import serve_stdio


async def run(self, request, *, requester, run=ExecKit.run):
    print("noise from a library", flush=True)
    os.write(1, b"noise from below\\n")
    return await run(self, request, requester=requester)

ExecKit.run = run
sys.exit(serve_stdio(policy=sys.argv[1], config=None, workspace=sys.argv[2], state_dir=None))
"""

_INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def test_a_stray_print_never_lands_between_protocol_lines(world):
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "shell_run", "arguments": {"command": "echo hello"}}},
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-c", _NOISY, str(world.policy), str(world.workspace)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=world.environment(),
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        for request in requests:
            server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        assert server.stdout.read() == b""
        log = server.stderr.read()
    assert answers[1]["result"]["structuredContent"]["stdout"] == "hello\n"
    assert b"noise from a library" in log
    assert b"noise from below" in log
