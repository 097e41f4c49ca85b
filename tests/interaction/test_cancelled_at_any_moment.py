"""A call that is cancelled, whenever that is, ends its command and gives the session back at once."""

import asyncio
import contextlib
import time

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.request import RunRequest

ROUNDS = 100
SOON_S = 2.5


async def test_the_next_command_runs_whenever_the_one_before_was_cancelled(world):
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ={}
    ) as kit:
        await kit.run(RunRequest(command="true"), requester="a")
        for number in range(ROUNDS):
            call = asyncio.create_task(kit.run(RunRequest(command="sleep 60"), requester="a"))
            for _ in range(number % 6):
                await asyncio.sleep(0)
            if number % 3 == 0:
                await asyncio.sleep((number % 20) / 10_000)
            call.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await call
            began = time.monotonic()
            after = await kit.run(RunRequest(command="echo usable", wait_s=10), requester="a")
            assert (after.stdout, after.warnings) == ("usable\n", ()), number
            assert time.monotonic() - began < SOON_S, number
