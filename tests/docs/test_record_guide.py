"""The guide of the record says what is so: each command in it runs against a real record."""

import asyncio
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp import aio
from execkit_mcp.runtime.sdk_policy import Policy

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "execkit_mcp/docs/guides/record.md").read_text()
CONSOLES = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
COMMANDS = [line.removeprefix("$ ") for block in CONSOLES for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")

    async def work():
        policy = Policy.default_deny(allow=["echo"])
        async with aio.create(policy=policy, state_dir=str(folder / "state"), workspace=str(folder)) as session:
            result = await session.exec("echo hello")
        return result.audit

    return folder, asyncio.run(work())


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_of_the_guide_runs(recorded, line):
    folder, mark = recorded
    words = shlex.split(line.replace("12:9f3a1c2b4d5e", f"{mark.seq}:{mark.head}"))
    assert words[0] == "execkit-mcp"
    environ = {**os.environ, "HOME": str(folder), "PYTHONPATH": str(ROOT), "EXECKIT_STATE_DIR": str(folder / "state")}
    done = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", *words[1:]],
        capture_output=True, text=True, env=environ, cwd=folder, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout or "--grep" in line
