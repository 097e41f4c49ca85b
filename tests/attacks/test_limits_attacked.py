"""P7: a session that goes beyond a limit is closed, its processes with it, and it is said why."""

import asyncio
import time

import pytest

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.request import RunRequest
from tests.processes import alive

pytestmark = pytest.mark.promise("P7")


HOLD = "x = bytearray(90 << 20); time.sleep(60)"


@pytest.mark.parametrize(
    "code",
    [
        f"import os, time; {HOLD}",
        f"import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n{HOLD}",
        f"import os, signal, time\nfor n in range(1, 32): n in (9, 19) or signal.signal(n, signal.SIG_IGN)\n{HOLD}",
        "import os, time\nfor i in range(9): os.fork() or (bytearray(10 << 20), time.sleep(60))\ntime.sleep(60)"
        .replace("bytearray(10 << 20), ", "globals().update(x=bytearray(10 << 20)), "),
    ],
    ids=["plain", "daemon", "deaf", "spread"],
)  # fmt: skip
async def test_memory_cannot_be_hidden_from_the_limit(world, code):
    mark = f"mark-{time.monotonic_ns()}"
    config = world.folder / "config.yaml"
    config.write_text("limits: {memory_mb: 64}\n")
    config.chmod(0o600)
    async with open_kit(
        policy=str(world.policy),
        workspace=str(world.workspace),
        state_dir=str(world.state),
        config=str(config),
        environ={},
    ) as kit:
        await kit.run(RunRequest(command=f"python3 -c '{code}  # {mark}' &"), requester="a")
        deadline = time.monotonic() + 20
        while kit.info(requester="a")["sessions"] or alive(mark):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        result = await kit.run(RunRequest(command="echo on"), requester="a")
        assert result.stdout == "on\n"
        assert "limits.memory_mb" in result.warnings[0]
