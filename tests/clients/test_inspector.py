"""The Model Context Protocol Inspector's command line against the real server."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("EXECKIT_TEST_CLIENTS", f"{sys.prefix}/clients"))
PROGRAM = FOLDER / "node_modules" / ".bin" / "mcp-inspector"


@pytest.fixture
def inspect(world):
    if not PROGRAM.exists():
        reason = FOLDER / "mcp-inspector.failed"
        why = reason.read_text().strip() if reason.exists() else f"{PROGRAM} is not there; run .ci/setup dev"
        pytest.skip(f"npm did not deliver the Inspector: {why}")
    variables = [word for name, value in world.environment().items() for word in ("-e", f"{name}={value}")]

    def run(*words):
        done = subprocess.run(
            [PROGRAM, "--cli", *variables, *world.serve_command(), *words],
            cwd=world.workspace, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return run


def test_the_inspector_lists_the_tools_and_calls_one(inspect):
    names = [tool["name"] for tool in inspect("--method", "tools/list")["tools"]]
    assert names[0] == "shell_run"
    called = inspect("--method", "tools/call", "--tool-name", "shell_run", "--tool-arg", "command=echo seen")
    assert called["structuredContent"]["stdout"] == "seen\n"
    assert "seen" in called["content"][0]["text"]
