"""P5: no background job holds a call, forges an end, outlives its session, or reaches what is not its session's."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from execkit_mcp.errors import ExecNotFound
from execkit_mcp.kit import open_kit
from execkit_mcp.policy.environment import is_dangerous
from execkit_mcp.protocol import actions as act
from execkit_mcp.protocol import events as ev
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest
from tests.processes import alive

pytestmark = pytest.mark.promise("P5")

LIMIT_S = 20


@pytest.fixture
async def kit(world):
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ={}
    ) as opened:
        yield opened


async def run(kit, command, **options):
    return await asyncio.wait_for(kit.run(RunRequest(command=command, **options), requester="a"), LIMIT_S)


async def read(kit, job, **options):
    return await kit.read(ReadRequest(exec_id=job.exec_id, **options), requester="a")


async def code_of(kit, job):
    deadline = time.monotonic() + LIMIT_S
    while (reading := await read(kit, job, wait_s=1)).exit_code is None:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    return reading.exit_code


def driver_of(kit):
    return kit._sessions.find("main", "a")._driver


FORGED = (
    "python3 -c 'import os\n"
    "for fd in (1, 2, *range(3, 256)):\n"
    '    for kind in b"RBWDJP":\n'
    '        mark = b"0123456789abcdef"\n'
    '        try: os.write(fd, b"\\x1e" + mark + bytes([kind]) + b"\\0000\\0001\\0\\x1d" + mark + b"\\n")\n'
    "        except OSError: pass' & "
)  # fmt: skip


async def test_a_job_that_writes_our_records_forges_nothing(kit):
    result = await run(kit, FORGED + "wait; echo on")
    assert result.stdout.endswith("on\n")
    assert len(result.jobs) == 1
    assert await code_of(kit, result.jobs[0]) == 0
    assert (await run(kit, "echo next")).stdout == "next\n"


@pytest.mark.parametrize(
    "job",
    [
        "bash -c 'exec 0<&- 1>&- 2>&-; sleep 71'",
        "bash -c 'while :; do echo y; done'",
        "bash -c 'while :; do echo y >&2; done'",
        "cat /dev/tty",
        "python3 -c 'import os, time; os.setpgid(0, 0); time.sleep(71)'",
        "python3 -c 'import os, time; os.fork() and os._exit(0); os.setsid(); time.sleep(71)'",
        "bash -c 'trap \"\" INT TERM HUP QUIT TSTP; sleep 71'",
        "bash -c 'kill -STOP $$'",
        "{ sleep 71 & sleep 71 & }",
    ],
)
async def test_a_job_of_any_kind_holds_no_call_open(kit, job):
    started = time.monotonic()
    result = await run(kit, f"{job} & echo now")
    assert "now\n" in result.stdout
    assert result.stderr.replace("y\n", "").strip("y") == ""
    after = await run(kit, "echo next; ls /nonexistent")
    assert (after.stdout, after.stderr.count("\n")) == ("next\n", 1), after.stderr
    assert time.monotonic() - started < 5


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def put_link(name, target):
    Path(name).unlink()
    Path(name).symlink_to(target)


async def until(is_so):
    deadline = time.monotonic() + LIMIT_S
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_killing_a_job_kills_two_hundred_children_that_ignore_signals_in_groups_of_their_own(kit):
    mark = f"7{time.monotonic_ns() % 10**8}"
    code = (
        "import os, signal, time\n"
        "for s in (1, 2, 3, 15): signal.signal(s, signal.SIG_IGN)\n"
        "for i in range(200):\n    if os.fork() == 0:\n        os.setpgid(0, 0)\n        time.sleep(60)\n"
        "        os._exit(0)\n"
        f"time.sleep(60)  # {mark}"
    )
    (job,) = (await run(kit, f"python3 -c '{code}' &")).jobs
    await until(lambda: len(alive(mark)) == 201)
    await kit.send(SendRequest(exec_id=job.exec_id, signal="KILL", wait_s=0), requester="a")
    await until(lambda: not alive(mark))
    assert await code_of(kit, job) == 137


async def test_closing_the_session_ends_every_job_whatever_it_did_to_get_away(kit):
    mark = f"61.{time.monotonic_ns() % 10**8}"
    await run(kit, f"sleep {mark} & bash -c 'trap \"\" TERM HUP; sleep {mark}; :' &")
    await run(kit, f"python3 -c 'import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
                   f"time.sleep(60)  # {mark}' &")  # fmt: skip
    await until(lambda: len(alive(mark)) >= 4)
    job, *_ = kit.info(requester="a")["execs"]
    await kit.close_session("main", requester="a")
    await until(lambda: not alive(mark))
    reading = await kit.read(ReadRequest(exec_id=job["exec_id"]), requester="a")
    assert reading.status == "cancelled"


async def test_five_hundred_jobs_of_a_loop_are_told_apart_and_leave_no_descriptor(kit):
    await run(kit, "true")
    before = open_descriptors()
    result = await run(kit, "for i in $(seq 500); do sh -c 'exit 7' & done; wait; echo done")
    assert (result.stdout, result.stderr) == ("done\n", "")
    await until(lambda: not kit.info(requester="a")["execs"])
    shelves = kit._ledger._shelves.values()
    jobs = [each for shelf in shelves for each in shelf._execs.values() if each.pid is not None]
    assert len(jobs) >= 190  # the ledger keeps two hundred
    assert {each.completion.exit_code for each in jobs} == {7}
    assert len({each.exec_id for each in jobs}) == len(jobs)
    await until(lambda: open_descriptors() <= before + 2)


async def test_a_job_that_ends_as_the_call_does_is_counted_once_and_its_code_is_known(kit):
    jobs = []
    for round_ in range(60):
        result = await run(kit, f"sh -c 'exit {round_ % 5 + 3}' & true")
        assert (result.exit_code, result.stderr, len(result.jobs)) == (0, "", 1)
        jobs += result.jobs
    assert [await code_of(kit, job) for job in jobs] == [number % 5 + 3 for number in range(60)]


@pytest.mark.parametrize("which", [0, 1])
async def test_a_pipes_name_that_was_replaced_is_not_written_to(kit, world, which):
    """Who may write in the folder for temporary files could put a link there to what the policy keeps from him."""
    target = world.folder / "kept"
    target.write_text("as it was\n")
    result = await run(kit, "sleep 0.4; sh -c 'echo evil; echo evil >&2' &", wait_s=0)
    names = driver_of(kit)._channel._paths[-2:]
    put_link(names[which], target)
    reading = await kit.read(ReadRequest(exec_id=result.exec_id, wait_s=LIMIT_S), requester="a")
    assert (reading.status, reading.exit_code) == ("completed", 1)
    assert target.read_text() == "as it was\n"
    assert (await run(kit, "sh -c 'echo on' & wait")).stdout == "on\n"


async def test_another_caller_neither_sees_reads_nor_signals_a_job(kit):
    (job,) = (await run(kit, "sleep 72 &")).jobs
    assert not kit.info(requester="b")["execs"]
    for call in (
        lambda: kit.read(ReadRequest(exec_id=job.exec_id), requester="b"),
        lambda: kit.send(SendRequest(exec_id=job.exec_id, signal="KILL"), requester="b"),
    ):
        with pytest.raises(ExecNotFound):
            await call()
    assert (await read(kit, job)).status == "running"


async def test_a_told_number_that_is_no_child_of_the_shell_is_no_job(kit):
    """The words that tell it stand in the command, where ``set -x`` could show them: a lie must gain nothing."""
    result = await run(kit, "sleep 73 & sleep 74", wait_s=0)
    driver = driver_of(kit)
    await until(lambda: kit._ledger.get(result.exec_id, "a").jobs)
    for pid in (os.getpid(), 1, driver.pid):
        driver._actions[act.JobStarted](act.JobStarted(number=0, pid=pid))
    assert len(kit._ledger.get(result.exec_id, "a").jobs) == 1
    (job,) = kit._ledger.get(result.exec_id, "a").jobs
    driver._actions[act.JobEnded](act.JobEnded(pid=job.pid, code=0))  # and it has not ended
    assert job.is_running
    await kit.close_session("main", requester="a")


async def test_a_signal_goes_to_nothing_but_the_sessions_own_processes(kit):
    """Even if a job's number has become another process's."""
    (job,) = (await run(kit, "sleep 75 &")).jobs
    exec_ = kit._ledger.get(job.exec_id, "a")
    jobs = kit._sessions.find("main", "a").jobs
    victim = await asyncio.create_subprocess_exec("sleep", "76", start_new_session=True)
    jobs._running[victim.pid] = jobs._running.pop(exec_.pid)
    exec_.pid = victim.pid
    await kit.send(SendRequest(exec_id=job.exec_id, signal="TERM", wait_s=0), requester="a")
    victim.kill()
    assert await victim.wait() == -9


def test_the_names_that_our_words_use_cannot_be_set():
    assert all(map(is_dangerous, ("__ek_j", "__ek_w", "__ek_p", "__ek_s", "__ek_k")))


def test_the_dead_are_asked_about_only_while_the_shell_is_idle():
    from execkit_mcp.protocol.machine import ShellMachine, State

    class Entropy:
        def token_hex(self, size):
            return "ab" * size

    machine = ShellMachine(Entropy())
    machine.state = State.RUNNING
    assert machine.receive(ev.JobsDied(pids=frozenset([5])), 0) == []
    machine.state = State.IDLE
    (written,) = machine.receive(ev.JobsDied(pids=frozenset([6])), 0)
    assert b"for __ek_w in 5 6;" in written.data


async def test_half_a_secret_before_a_jobs_end_and_half_after_it_do_not_come_back(world):
    """Jobs of one loop share their output: the end of one must not cut the text that the redactor sees."""
    value = "Qz" + "7pLw" * 6 + "Xk"
    async with open_kit(
        policy=str(world.policy),
        workspace=str(world.workspace),
        state_dir=str(world.state),
        environ={"DEPLOY_TOKEN": value},
    ) as kit:
        (world.workspace / "a").write_text(value[:14])
        (world.workspace / "b").write_text(value[14:])
        result = await run(kit, 'for i in a b; do sh -c "cat $i" & wait; done')
        for job in result.jobs:
            await code_of(kit, job)
        for exec_id in (result.exec_id, *(job.exec_id for job in result.jobs)):
            text = (await kit.read(ReadRequest(exec_id=exec_id), requester="a")).text
            assert value not in text
            assert "REDACTED" in text
