"""What the MCP layer itself costs: a call that does nothing; the client is a pipe and no more."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from report import Report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SECTION = "The MCP layer alone (stdio, a client that writes and reads lines)"


class Piped:
    """A server, spoken to in lines."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        about = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "pipe", "version": "1"}, "capabilities": {}}
        self.ask({"id": 0, "method": "initialize", "params": about})
        self.write({"method": "notifications/initialized"})

    def write(self, message: dict[str, object]) -> None:
        """Send a message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, message: dict[str, object]) -> bytes:
        """Send a request; the line that answers it."""
        assert self.process.stdout is not None
        self.write(message)
        return self.process.stdout.readline()

    def call(self, tool: str, arguments: dict[str, object]) -> float:
        """Milliseconds of one call."""
        began = time.perf_counter()
        answer = self.ask({"id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        took = (time.perf_counter() - began) * 1e3
        assert b'"result"' in answer, answer
        return took

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)


def measure(report: Report, folder: Path, rounds: int) -> None:
    """A no-op of ours (closing a session that is not open) against the stock low-level server's, calls interleaved."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "EXECKIT_STATE_DIR": str(folder / "protocol")}
    command = [sys.executable, "-m", "execkit_mcp", "serve", "--workspace", str(folder)]
    stock = Piped([sys.executable, str(HERE / "stock_lowlevel.py")], environment)
    ours = Piped(command, environment)
    taken: dict[str, list[float]] = {"stock": [], "ours": []}
    for _ in range(rounds):
        taken["stock"].append(stock.call("noop", {}))
        taken["ours"].append(ours.call("shell_close", {"session": "none"}))
    stock.close()
    ours.close()
    report.times(SECTION, "the stock low-level server's no-op", taken["stock"])
    ratio = sorted(taken["ours"])[rounds // 2] / sorted(taken["stock"])[rounds // 2]
    report.times(SECTION, "ours: shell_close of what is not open", taken["ours"], f"{ratio:.2f} x")
