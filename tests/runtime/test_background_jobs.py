"""Background jobs: their own id, their own output, their end; real bash."""

import asyncio

import pytest

from execkit_mcp.errors import CommandInvalid
from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest

LIMIT_S = 20


class Caller:
    def __init__(self, kit):
        self.kit = kit

    async def run(self, command, **options):
        request = RunRequest(command=command, **options)
        return await asyncio.wait_for(self.kit.run(request, requester="a"), LIMIT_S)

    async def read(self, exec_id, **options):
        request = ReadRequest(exec_id=exec_id, **options)
        return await asyncio.wait_for(self.kit.read(request, requester="a"), LIMIT_S)

    async def end_of(self, job):
        reading = await self.read(job.exec_id, wait_s=10)
        assert reading.status != "running"
        for _ in range(1000):  # how it ended is known once the shell was asked
            if reading.exit_code is not None:
                break
            reading = await self.read(job.exec_id)
            await asyncio.sleep(0)
        return reading

    async def signal(self, job, name):
        await self.kit.send(SendRequest(exec_id=job.exec_id, signal=name, wait_s=10), requester="a")

    def execs(self):
        return {row["exec_id"]: row for row in self.kit.info(requester="a")["execs"]}


@pytest.fixture
async def caller(world):
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ={}
    ) as kit:
        yield Caller(kit)


async def test_a_job_has_its_own_id_output_and_end_and_holds_no_call_open(caller, world):
    result = await caller.run("sh -c 'echo out; echo err >&2; cat gate; exit 3' & echo now", wait_s=10)
    assert (result.status.value, result.exit_code) == ("completed", 0)
    assert "now\n" in result.stdout
    (job,) = result.jobs
    assert job.exec_id != result.exec_id
    end = await caller.end_of(job)
    assert (end.exit_code, end.text) == (3, "out\n")
    assert (await caller.read(job.exec_id, stream="stderr")).text.startswith("err\n")
    assert (await caller.read(result.exec_id)).text in ("now\nout\n", "out\nnow\n")


async def test_a_running_job_is_listed_and_a_later_command_has_none_of_its_output(caller, world):
    fifo = world.workspace / "gate"
    made = await caller.run("python3 -c 'import os; os.mkfifo(\"gate\")'")
    assert (made.exit_code, made.stderr) == (0, "")
    begun = await caller.run(f"bash -c 'read x < {fifo}; echo late; exit 5' &")
    assert (begun.stdout, begun.stderr) == ("", "")
    (job,) = begun.jobs
    assert caller.execs()[job.exec_id]["background"]
    assert caller.execs()[job.exec_id]["pid"] == job.pid
    other = await caller.run(f"bash -c 'echo go > {fifo}'; wait {job.pid}; echo other $?")
    assert (other.stdout, other.stderr) == ("other 5\n", "")
    assert (await caller.end_of(job)).text == "late\n"
    assert job.exec_id not in caller.execs()


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        ("sh -c 'exit 4' & sh -c 'exit 5' & wait; echo $?", [4, 5]),
        ("sh -c 'exit 4' & wait %1; true; echo 4", [4]),
        ('for i in 1 2 3; do sh -c "exit $i" & done; wait', [1, 2, 3]),
        ("sh -c 'kill -9 $$' & wait", [137]),
        ("echo x | grep y & wait", [1]),
        ("{ echo a; sh -c 'exit 7'; } & wait", [7]),
        ("set -e; sh -c 'exit 8' & wait; echo on; set +e", [8]),
        ("set -u; sh -c 'exit 9' & wait; set +u", [9]),
    ],
)
async def test_the_exit_code_of_a_job_that_ended_within_its_call_is_known(caller, command, codes):
    result = await caller.run(command)
    assert [(await caller.end_of(job)).exit_code for job in result.jobs] == codes
    assert not caller.execs()
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("command", "ends"),
    [
        ("sh -c 'exit 4' & sleep 0.1", [("completed", 4)]),
        ("sh -c 'exit 4' & sleep 0.7", [("completed", 4)]),  # so long that it was seen before its code was known
        ("sleep 0.02 & wait -n", [("completed", 0)]),
        ("sh -c 'kill -9 $$' & sleep 0.1", [("completed", 137)]),
        ("for i in 1 2; do sh -c 'exit 5' & done; sleep 0.1", [("completed", 5), ("completed", 5)]),
        ("sh -c 'exit 4' & sleep 61 & sleep 0.1", [("completed", 4), ("running", None)]),
    ],
)
async def test_a_result_says_how_the_jobs_ended_that_ended_before_it(caller, command, ends):
    result = await caller.run(command)
    assert [(job.status.value, job.exit_code) for job in result.jobs] == ends


async def test_jobs_that_a_result_has_no_room_for_are_counted(caller):
    result = await caller.run("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do : & done; wait")
    assert len(result.jobs) == 20
    assert any("2 more jobs" in warning for warning in result.warnings)


async def test_wait_for_jobs_of_earlier_calls_tells_how_each_ended(caller):
    (one,) = (await caller.run("sh -c 'sleep 0.2; exit 4' &")).jobs
    (two,) = (await caller.run("sh -c 'sleep 0.2; exit 5' &")).jobs
    result = await caller.run("wait; echo $?")
    assert (result.stdout, result.stderr) == ("0\n", "")
    assert [(await caller.end_of(job)).exit_code for job in (one, two)] == [4, 5]


async def test_what_bash_says_of_jobs_is_not_in_any_output(caller):
    result = await caller.run("sleep 0.05 & for i in 1 2; do sleep 0.1; done & sleep 0.4; echo $!; sleep 0.1")
    assert result.stderr == ""
    after = await caller.run("sleep 0.05 & sleep 0.2; ls /nonexistent")
    assert after.stderr.count("\n") == 1
    for job in (*result.jobs, *after.jobs):
        for stream in ("stdout", "stderr"):
            assert (await caller.read(job.exec_id, stream=stream)).text == ""


async def test_nor_of_one_that_only_an_inner_text_starts(caller, world):
    world.policy.write_text(world.policy.read_text().replace("[cd, ", "[eval, cd, "))
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state) + "2", environ={}
    ) as kit:
        result = await Caller(kit).run("eval 'sleep 60 &'; echo on")
        assert (result.stdout, result.stderr, len(result.jobs)) == ("on\n", "", 1)


async def test_an_error_in_a_jobs_own_words_is_in_its_output(caller):
    (job,) = (await caller.run('echo "$(cat /nonexistent)" &')).jobs
    end = await caller.end_of(job)
    assert end.text == "\n"
    assert "/nonexistent" in (await caller.read(job.exec_id, stream="stderr")).text


async def test_the_shells_own_words_for_jobs_go_on(caller):
    await caller.run("sleep 61 & sleep 62 | sleep 63 &")
    listed = await caller.run("jobs")
    assert listed.stdout.splitlines() == [
        "[1]-  Running                 /usr/bin/sleep 61 &",
        "[2]+  Running                 /usr/bin/sleep 62 | /usr/bin/sleep 63 &",
    ]
    assert (await caller.run("kill %1; wait %1; echo $?; kill %2; wait; jobs; echo $?")).stdout == "143\n0\n"


@pytest.mark.parametrize("name", ["TERM", "KILL", "INT", "HUP"])
async def test_a_job_can_be_signalled(caller, name):
    (job,) = (await caller.run("sleep 64 &")).jobs
    await caller.signal(job, name)
    end = await caller.end_of(job)
    assert end.exit_code == 128 + {"TERM": 15, "KILL": 9, "INT": 2, "HUP": 1}[name]
    with pytest.raises(CommandInvalid):
        await caller.signal(job, name)


async def test_a_job_behind_a_redirection_writes_there_and_its_end_is_known(caller, world):
    result = await caller.run("{ sh -c 'echo out; echo err >&2; exit 4' & wait; } > there")
    assert (world.workspace / "there").read_text() == "out\n"
    assert (result.stdout, result.stderr) == ("", "err\n")
    (job,) = result.jobs
    assert (await caller.end_of(job)).exit_code == 4


async def test_a_stopped_job_goes_on_and_its_end_is_known(caller):
    (job,) = (await caller.run("sh -c 'sleep 0.3; exit 4' &")).jobs
    for name in ("STOP", "CONT"):
        await caller.kit.send(SendRequest(exec_id=job.exec_id, signal=name, wait_s=0), requester="a")
    assert (await caller.end_of(job)).exit_code == 4


async def test_a_job_takes_no_text(caller):
    (job,) = (await caller.run("sleep 65 &")).jobs
    with pytest.raises(CommandInvalid):
        await caller.kit.send(SendRequest(exec_id=job.exec_id, text="x"), requester="a")
    await caller.kit.send(SendRequest(exec_id=job.exec_id, key="ctrl-c", wait_s=10), requester="a")
    assert (await caller.end_of(job)).exit_code == 130


async def test_the_running_command_can_be_signalled_too(caller):
    result = await caller.run("sleep 66", wait_s=0)
    await caller.kit.send(SendRequest(exec_id=result.exec_id, signal="TERM", wait_s=10), requester="a")
    assert (await caller.read(result.exec_id, wait_s=10)).exit_code == 143


async def test_jobs_of_a_loop_share_their_output(caller):
    result = await caller.run('for i in 1 2 3; do sh -c "echo $i" & wait; done')
    assert len({job.exec_id for job in result.jobs}) == 3
    for job in result.jobs:
        assert (await caller.end_of(job)).text == "1\n2\n3\n"


async def test_hundreds_of_jobs_push_no_command_out_and_output_goes_with_its_last_reader(caller):
    first = await caller.run("echo first")
    loop = await caller.run("for i in $(seq 250); do sh -c 'echo x' & done; wait; echo end")
    left = await caller.run("echo shared; (sleep 0.1 &)")
    for _ in range(3):
        await caller.run("for i in $(seq 100); do true & done; wait")
    assert (await caller.read(first.exec_id)).text == "first\n"
    assert (await caller.read(loop.exec_id)).total_lines == 251
    assert (await caller.read(left.exec_id)).text == "shared\n"


async def test_what_a_command_leaves_without_an_ampersand_of_its_own_is_a_job_as_well(caller):
    (job,) = (await caller.run("(sleep 67 &)")).jobs
    assert job.command == "(/usr/bin/sleep 67 &)"
    await caller.signal(job, "KILL")
    assert (await caller.read(job.exec_id, wait_s=10)).status == "completed"


async def test_a_jobs_end_is_seen_while_another_command_runs(caller):
    result = await caller.run("sh -c 'exit 4' & sleep 68", wait_s=0)
    for _ in range(2000):
        reading = await caller.read(result.exec_id)
        jobs = caller.kit._ledger.get(result.exec_id, "a").jobs
        if jobs:
            break
        await asyncio.sleep(0.005)
    reading = await caller.read(jobs[0].exec_id, wait_s=10)
    assert (reading.status, reading.exit_code) == ("completed", None)
    await caller.kit.send(SendRequest(exec_id=result.exec_id, signal="TERM", wait_s=10), requester="a")
    assert (await caller.end_of(jobs[0])).exit_code == 4


async def test_when_the_shell_is_replaced_its_jobs_are_told_as_ended(caller):
    (job,) = (await caller.run("sleep 69 &")).jobs
    await caller.run("exit 3")
    reading = await caller.read(job.exec_id, wait_s=10)
    assert reading.status == "cancelled"
    (job,) = (await caller.run("sh -c 'exit 4' &")).jobs
    assert (await caller.end_of(job)).exit_code == 4
