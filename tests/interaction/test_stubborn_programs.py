"""Every stubborn program ends when its time is up, and the session goes on in the state it was in."""

import asyncio

import pytest

from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.transports.local import LocalTransport
from tests.interaction.stubborn import KINDS

LIMIT_S = 20


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name.replace(" ", "-"))
async def test_it_ends_and_the_session_keeps_its_state(kind, tmp_path):
    transport = LocalTransport()
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "xterm"}
    driver = await Driver.open(transport, env=env, cwd=str(tmp_path), clock=SystemClock(), entropy=SystemEntropy())
    out = bytearray()

    async def run(command, **options):
        out.clear()
        return await asyncio.wait_for(
            driver.run(command, sink=lambda _stream, data: out.extend(data), **options), LIMIT_S
        )

    try:
        await run("cd /usr; kept=yes; greet() { echo hello; }")
        completion = await run(kind.command, tty=kind.tty, timeout_s=0.2)
        assert completion.is_timed_out, completion
        assert completion.interrupted_with[0] == "SIGINT"
        await run('echo "$kept $(pwd)"; greet')
        assert bytes(out) == b"yes /usr\nhello\n"
    finally:
        await driver.close()
        await transport.close()
