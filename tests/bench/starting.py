"""How long a client waits: for a server that starts, and for a hook that guards each of its own commands.

``python tests/bench/starting.py`` measures these alone.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TextIO

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from report import Report

ROOT = Path(__file__).resolve().parents[2]
SECTION = "Starting"
STARTS = 10
CALLS = 20
MOST_START_MS = 600
MOST_HOOK_MS = 60


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "EXECKIT_STATE_DIR": str(folder / "starting"),
    }


async def _start(folder: Path, mode: str, nothing: TextIO) -> tuple[float, float]:
    """Milliseconds from the start of the process to the handshake's end, and to the first command's result."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "execkit_mcp", "serve", "--workspace", str(folder)],
        env=_environment(folder),
    )
    began = time.perf_counter()
    async with Client(stdio_client(server, errlog=nothing), mode=mode) as client:
        initialized = time.perf_counter() - began
        ran = await client.call_tool("shell_run", {"command": "pwd"})
        first = time.perf_counter() - began
    assert (ran.structured_content or {})["exit_code"] == 0, ran
    return initialized * 1e3, first * 1e3


def _hook(folder: Path) -> float:
    """Milliseconds of one call of the hook's command line, from fork to exit."""
    call = {"tool_name": "Bash", "tool_input": {"command": "git status"}, "cwd": str(folder)}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "hook", "--client", "claude-code"],
        input=json.dumps(call).encode(), capture_output=True, env=_environment(folder), check=True, cwd=folder,
    )  # fmt: skip
    took = (time.perf_counter() - began) * 1e3
    assert b'"permissionDecision"' in done.stdout, done
    return took


async def measure(report: Report, folder: Path, nothing: TextIO) -> None:
    """A stock client over stdio in both eras; the hook as a client calls it; Python's own start beside them."""
    bare = []
    for _ in range(CALLS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append((time.perf_counter() - began) * 1e3)
    report.times(SECTION, "python -c pass", bare)
    for mode in ("auto", "legacy"):
        taken = [await _start(folder, mode, nothing) for _ in range(STARTS)]
        report.times(
            SECTION, f"serve: start to initialized ({mode})", [each for each, _ in taken], f"goal {MOST_START_MS} ms"
        )
        report.times(SECTION, f"serve: start to the first command's result ({mode})", [each for _, each in taken])
    report.times(SECTION, "hook: the first call, which starts the judge", [_hook(folder)])
    report.times(SECTION, "hook: one call", [_hook(folder) for _ in range(CALLS)], f"goal {MOST_HOOK_MS} ms")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="execkit-bench-") as name, Path(os.devnull).open("w") as hidden:
        asyncio.run(measure(Report(), Path(name), hidden))
