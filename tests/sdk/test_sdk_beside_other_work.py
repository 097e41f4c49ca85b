"""An SDK session in an event loop that has other work: a quick command is waited for where it is, nothing else is."""

import asyncio
import time

import pytest

from execkit_mcp import Policy, aio
from execkit_mcp.errors import SessionBusy, SessionClosed

_ALLOWED = ["echo", ":", "sleep", "seq"]
_ENOUGH_TURNS = 10


@pytest.fixture
async def session(tmp_path):
    policy = Policy.default_deny(allow=_ALLOWED)
    async with aio.create(policy=policy, state_dir=str(tmp_path / "state"), workspace=str(tmp_path)) as opened:
        yield opened


async def test_a_loop_of_quick_commands_leaves_others_their_turn(session):
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.001)

    task = asyncio.create_task(other())
    until = time.monotonic() + 2
    while time.monotonic() < until:
        await session.exec(":")
    task.cancel()
    assert turns > _ENOUGH_TURNS


async def test_an_endless_loop_of_quick_commands_can_be_timed_out(session):
    ended = 0

    async def for_ever():
        nonlocal ended
        async with asyncio.timeout(0.5):
            while True:
                assert (await session.exec(f"echo {ended}")).stdout == f"{ended}\n"
                ended += 1

    with pytest.raises(TimeoutError):
        await for_ever()
    assert ended
    assert (await session.exec("echo on")).stdout == "on\n"


async def test_a_slow_command_holds_nobody(session):
    ticks = []

    async def other():
        while True:
            ticks.append(time.monotonic())
            await asyncio.sleep(0.005)

    task = asyncio.create_task(other())
    await session.exec("sleep 0.5")
    task.cancel()
    assert len(ticks) > _ENOUGH_TURNS


@pytest.mark.parametrize("timeout_s", [0.0001, 0.05])
async def test_a_timeout_counts_from_the_start(session, timeout_s):
    result = await session.exec("sleep 5", timeout_s=timeout_s)
    assert result.status.value == "timed_out"
    assert (await session.exec("echo on")).stdout == "on\n"


async def test_more_than_a_pipe_holds_is_whole(session):
    result = await session.exec("seq 1 400000")
    assert result.truncated["stdout"].total_bytes == sum(len(f"{number}\n") for number in range(1, 400_001))
    assert result.stdout.startswith("1\n2\n")
    assert result.stdout.endswith("400000\n")


async def test_a_stream_that_was_left_keeps_no_command_waiting_or_busy(session):
    for _ in range(5):
        async for _chunk in session.stream("echo go; sleep 60"):
            break
        assert (await session.exec("echo free")).stdout == "free\n"
        async for _chunk in session.stream("echo go; sleep 60"):
            break
        assert [str(chunk) async for chunk in session.stream("echo again")] == ["again\n"]


async def test_a_stream_that_is_still_read_is_in_the_way_of_others(session):
    async for _chunk in session.stream("echo go; sleep 60"):
        with pytest.raises(SessionBusy):
            await session.exec("echo x")
        break


async def test_what_a_slow_reader_of_a_stream_missed_is_told_and_nothing_comes_twice(session):
    chunks = []
    async for chunk in session.stream("seq 3000000"):
        if not chunks:
            await asyncio.sleep(4)  # meanwhile the middle falls out
        chunks.append(chunk)
    text = "".join(chunks)
    (gap,) = [line for line in text.splitlines() if line.startswith("[…")]
    before, after = text.split(f"\n{gap}\n")
    told = int(gap.split()[1])
    whole = "".join(f"{number}\n" for number in range(1, 3_000_001))
    assert whole.startswith(before)
    assert whole.endswith(after)
    assert len(before) + told + len(after) == len(whole)


async def test_a_closed_session_says_so(session):
    await session.close()
    await session.close()
    with pytest.raises(SessionClosed):
        await session.exec("echo x")
    with pytest.raises(SessionClosed):
        [chunk async for chunk in session.stream("echo x")]
