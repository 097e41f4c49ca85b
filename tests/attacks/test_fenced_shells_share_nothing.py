"""P2: a fenced shell gets its own descriptors and no other: not the gate of another shell, not the keeper's links."""

import asyncio

import pytest

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.request import RunRequest

pytestmark = pytest.mark.promise("P2")


async def descriptors(world, fence):
    """What the shells of six sessions that were opened at once hold."""
    found = set()
    async with open_kit(
        policy=str(world.policy),
        workspace=str(world.workspace),
        state_dir=str(world.state),
        environ={"EXECKIT_FENCE": fence},
    ) as kit:
        names = [f"s{number}" for number in range(6)]
        await asyncio.gather(*[kit.open_session(name=name, requester="a") for name in names])
        for name in names:
            listed = (await kit.run(RunRequest(command="echo /dev/fd/*", session=name), requester="a")).stdout
            found |= {int(path.rpartition("/")[2]) for path in listed.split()}
    return found


async def test_no_descriptor_of_another_shell_reaches_a_fenced_shell(world):
    assert await descriptors(world, "auto") <= await descriptors(world, "off")


async def test_what_a_shell_knew_outlives_its_end_in_many_sessions_at_once(world):
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ={}
    ) as kit:

        async def work(name):
            await kit.open_session(name=name, requester="a")
            for _ in range(5):
                await kit.run(RunRequest(command="cd /usr", session=name), requester="a")
                told = (await kit.run(RunRequest(command="exit 3", session=name), requester="a")).warnings[0]
                assert "before the last commands" not in told
                assert (await kit.run(RunRequest(command="pwd", session=name), requester="a")).stdout == "/usr\n"

        await asyncio.gather(*[work(f"s{number}") for number in range(6)])
