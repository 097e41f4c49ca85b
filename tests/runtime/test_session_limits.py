"""Sessions beyond a limit: which, and that whoever asks next is told why; real bash."""

import asyncio
import json
import time

import pytest

from execkit_mcp.errors import SessionNotFound
from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.limits import LimitFacts, SessionLimits, Usage, overruns
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest

MB = 1 << 20


def facts(name, *, used_s=0.0, is_busy=False, memory=0, processes=0, most=None):
    usage = Usage(memory_bytes=memory * MB, processes=processes)
    return LimitFacts(key=("a", name), used_s=used_s, is_busy=is_busy, usage=usage, most_processes=most)


ROWS = [
    (SessionLimits(), [facts("s", memory=9999, processes=9999)], []),
    (SessionLimits(idle_s=10), [facts("s", used_s=90), facts("t", used_s=91)], [("s", "limits.idle_s")]),
    (SessionLimits(idle_s=10), [facts("s", is_busy=True)], []),
    (SessionLimits(memory_bytes=5 * MB), [facts("s", memory=6), facts("t", memory=5)], [("s", "limits.memory_mb")]),
    (SessionLimits(), [facts("s", processes=5, most=4), facts("t", processes=4, most=4)],
     [("s", "limits.processes of the policy")]),
    (SessionLimits(total_memory_bytes=10 * MB), [facts("s", memory=4), facts("t", memory=5), facts("u", memory=3)],
     [("t", "limits.total_memory_mb")]),
    (SessionLimits(total_memory_bytes=10 * MB), [facts("s", memory=5), facts("t", memory=5)], []),
    (SessionLimits(memory_bytes=5 * MB, total_memory_bytes=6 * MB), [facts("s", memory=6), facts("t", memory=5)],
     [("s", "limits.memory_mb")]),
]  # fmt: skip


@pytest.mark.parametrize(("limits", "sessions", "wanted"), ROWS)
def test_the_sessions_beyond_a_limit_are_named_with_it(limits, sessions, wanted):
    assert [(each.key[1], each.limit) for each in overruns(sessions, limits, 100.0)] == wanted


class Clock:
    """Time that a test moves on."""

    def __init__(self):
        self.ahead_s = 0.0

    def monotonic_s(self):
        return time.monotonic() + self.ahead_s

    epoch_s = staticmethod(time.time)


@pytest.fixture
def opened(world):
    def start(limits, clock=None):
        config = world.folder / "config.yaml"
        config.write_text(f"limits: {limits}\n")
        config.chmod(0o600)
        return open_kit(
            policy=str(world.policy),
            workspace=str(world.workspace),
            state_dir=str(world.state),
            config=str(config),
            environ={},
            clock=clock,
        )

    return start


async def test_an_idle_session_is_closed_and_the_next_call_says_why(opened):
    clock = Clock()
    async with opened("{idle_s: 3600}", clock) as kit:
        await kit.open_session(name="side", requester="a")
        await kit.run(RunRequest(command="cd /usr"), requester="a")
        await kit.enforce_limits()
        assert len(kit.info(requester="a")["sessions"]) == 2
        clock.ahead_s = 3700
        await kit.enforce_limits()
        assert not kit.info(requester="a")["sessions"]
        with pytest.raises(SessionNotFound) as caught:
            await kit.run(RunRequest(command="pwd", session="side"), requester="a")
        assert "not used for 3600 s (limits.idle_s)" in caught.value.message
        assert caught.value.details["limit"] == "limits.idle_s"
        result = await kit.run(RunRequest(command="pwd"), requester="a")
        assert "limits.idle_s" in result.warnings[0]
        assert not (await kit.run(RunRequest(command="pwd"), requester="a")).warnings


async def test_a_session_in_which_something_runs_is_not_idle(opened):
    clock = Clock()
    async with opened("{idle_s: 3600}", clock) as kit:
        await kit.run(RunRequest(command="sleep 60 &"), requester="a")
        clock.ahead_s = 3700
        await kit.enforce_limits()
        assert len(kit.info(requester="a")["sessions"]) == 1


HUNGRY = "python3 -c 'x = bytearray(80 << 20); print(1, flush=True); import time; time.sleep(60)'"


async def test_a_session_that_holds_too_much_memory_is_closed_and_its_command_says_why(opened):
    async with opened("{memory_mb: 64}") as kit:
        await kit.open_session(name="other", requester="a")
        result = await kit.run(RunRequest(command=HUNGRY, wait_s=20), requester="a")
        assert result.status.value == "lost"
        assert any("limits.memory_mb" in warning for warning in result.warnings)
        assert [row["session"] for row in kit.info(requester="a")["sessions"]] == ["other"]
        assert "limits.memory_mb" in (await kit.run(RunRequest(command="pwd"), requester="a")).warnings[0]


async def test_of_all_sessions_together_the_greatest_is_closed(opened):
    async with opened("{total_memory_mb: 64}") as kit:
        await kit.open_session(name="small", requester="b")
        (job,) = (await kit.run(RunRequest(command=HUNGRY + " &"), requester="a")).jobs
        reading = await kit.read(ReadRequest(exec_id=job.exec_id, wait_s=20), requester="a")
        assert reading.status == "cancelled"
        assert kit.info(requester="b")["sessions"]
        assert not kit.info(requester="a")["sessions"]


async def test_closing_the_kit_ends_a_watch_that_is_closing_a_session(opened, world):
    clock = Clock()
    async with opened("{idle_s: 1}", clock) as kit:
        await kit.run(RunRequest(command="pwd"), requester="a")
        clock.ahead_s = 3700
        while kit.info(requester="a")["sessions"]:  # noqa: ASYNC110 - closing now is the moment that is tested
            await asyncio.sleep(0)
    # leaving it must neither hang nor leave the record open in the middle
    (log,) = world.state.glob("audit*.jsonl")
    kinds = [json.loads(line)["kind"] for line in log.read_text().splitlines()]
    assert kinds[-2:] == ["session.closed", "server.stopped"]


async def test_the_policy_bounds_the_processes_of_a_session(opened, world):
    world.policy.write_text(world.policy.read_text().replace("time_s: 60", "time_s: 60, processes: 20"))
    async with opened("{sessions: 4}") as kit:
        bomb = "python3 -c 'import os, time\nfor i in range(50): os.fork() or time.sleep(60)\ntime.sleep(60)'"
        result = await kit.run(RunRequest(command=bomb, wait_s=20), requester="a")
        assert result.status.value == "lost"
        assert any("limits.processes of the policy" in warning for warning in result.warnings)


async def test_output_of_a_session_beyond_its_bound_ages_out_and_its_counts_stay(opened):
    async with opened("{output_mb: 1}") as kit:
        first = await kit.run(RunRequest(command="seq 100000"), requester="a")
        await kit.run(RunRequest(command="seq 100000"), requester="a")
        await kit.run(RunRequest(command="seq 100000"), requester="a")
        with pytest.raises(Exception, match="aged out") as caught:
            await kit.read(ReadRequest(exec_id=first.exec_id), requester="a")
        assert caught.value.details["stdout"]["total_lines"] == 100000
