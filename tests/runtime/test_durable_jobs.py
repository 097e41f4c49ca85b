"""Durable jobs: they go on without their server, and the next one finds them; real processes."""

import asyncio
import json
import stat
import time

import pytest

from execkit_mcp.errors import CommandInvalid, ExecNotFound
from execkit_mcp.kit import open_kit
from execkit_mcp.output.retained import RetainedText
from execkit_mcp.output.retained_state import load, save
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest
from execkit_mcp.storage.durable import job_folders


@pytest.fixture
def server(world):
    world.policy.write_text(world.policy.read_text().replace("background: allow", "background: allow, durable: allow"))

    def start(**environ):
        return open_kit(
            policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ=environ
        )

    return start


async def run(kit, command, **options):
    request = RunRequest(command=command, **{"durable": True, **options})
    return await asyncio.wait_for(kit.run(request, requester="a"), 20)


async def read(kit, exec_id, **options):
    return await kit.read(ReadRequest(exec_id=exec_id, **{"wait_s": 20, **options}), requester="a")


async def test_a_durable_job_is_found_by_the_next_server_with_its_output_and_exit_code(server, world):
    async with server() as kit:
        (world.workspace / "sub").mkdir()
        await run(kit, "export GREETING=hey; cd sub", durable=False)
        started = time.monotonic()
        result = await run(kit, "echo $GREETING; pwd; sleep 0.5; sh -c 'echo err >&2; exit 7'")
        assert time.monotonic() - started < 5
        assert (result.status.value, result.exit_code, bool(result.exec_id)) == ("running", None, True)
        (row,) = kit.info(requester="a")["execs"]
        assert (row["exec_id"], row["durable"], row["status"]) == (result.exec_id, True, "running")
    async with server() as kit:
        reading = await read(kit, result.exec_id)
        assert (reading.status, reading.exit_code) == ("completed", 7)
        assert reading.text == f"hey\n{world.workspace}/sub\n"
        assert (await read(kit, result.exec_id, stream="stderr")).text == "err\n"
        (row,) = kit.info(requester="a")["execs"]
        assert (row["status"], row["exit_code"]) == ("completed", 7)
    entries = [json.loads(line) for path in world.state.glob("audit*") for line in path.read_text().splitlines()]
    ends = [entry for entry in entries if entry.get("kind") == "durable.finished"]
    assert [end["data"]["exit_code"] for end in ends] == [7]


async def test_its_output_can_be_waited_for_paged_and_searched_while_it_runs(server):
    async with server() as kit:
        result = await run(kit, "seq 5; sleep 0.3; echo here; sleep 60")
        reading = await read(kit, result.exec_id, wait_for="here", tail=1)
        assert (reading.status, reading.text) == ("running", "here\n")
        assert (await read(kit, result.exec_id, wait_s=0, offset=2, max_output=200)).text == "2\n3\n4\n5\nhere\n"
        assert (await read(kit, result.exec_id, wait_s=0, grep="[24]")).text == "2:2\n4:4\n"
        await kit.send(SendRequest(exec_id=result.exec_id, signal="TERM", wait_s=20), requester="a")
        assert (await read(kit, result.exec_id)).exit_code == 143
        with pytest.raises(CommandInvalid):
            await kit.send(SendRequest(exec_id=result.exec_id, signal="TERM"), requester="a")


async def test_what_the_policy_says_of_durable_jobs_holds(server, world):
    text = world.policy.read_text()
    for word, status in (("deny", "denied"), ("ask", "approval_pending")):
        world.policy.write_text(text.replace("durable: allow", f"durable: {word}"))
        async with server() as kit:
            result = await run(kit, "echo x")
            assert result.status.value == status
            assert result.decision.reason_code == "policy.limit"
            assert (await run(kit, "echo x", durable=False)).exit_code == 0
            assert not kit.info(requester="a")["execs"]
    assert not job_folders(world.state)


async def test_an_approval_of_a_command_is_none_of_the_durable_one(server, world):
    world.policy.write_text(world.policy.read_text().replace("durable: allow", "durable: ask"))
    async with server() as kit:
        asked = await run(kit, "touch x", durable=False)
        kit.answer(asked.approval_id, approve=True, channel="cli", who="me")
        with pytest.raises(Exception, match="durable"):
            await run(kit, "touch x", approval_id=asked.approval_id)
        asked = await run(kit, "touch x")
        assert "goes on when the server ends" in kit.question(asked.approval_id, channel="cli")
        kit.answer(asked.approval_id, approve=True, channel="cli", who="me")
        result = await run(kit, "touch x", approval_id=asked.approval_id)
        assert (await read(kit, result.exec_id)).exit_code == 0


async def test_a_durable_jobs_time_can_be_bounded(server):
    async with server() as kit:
        result = await run(kit, "sh -c 'trap \"\" TERM; echo on; sleep 60'", timeout_s=0.3)
        reading = await read(kit, result.exec_id)
        assert (reading.status, reading.text) == ("timed_out", "on\n")


async def test_it_takes_no_input_and_a_folder_that_is_gone_is_said(server, world):
    async with server() as kit:
        for options in ({"tty": True}, {"stdin": "x"}, {"idempotency_key": "k"}):
            with pytest.raises(CommandInvalid):
                await run(kit, "cat", **options)
        (world.workspace / "gone").mkdir()
        await run(kit, "cd gone", durable=False)
        (world.workspace / "gone").rmdir()
        with pytest.raises(Exception, match="could not be started"):
            await run(kit, "echo x")
        assert not job_folders(world.state)


async def test_what_lies_on_disk_is_private_bounded_and_its_counts_exact(server, world):
    async with server() as kit:
        result = await run(kit, "seq 2000000")
        reading = await read(kit, result.exec_id, tail=1)
        assert (reading.status, reading.text, reading.total_lines) == ("completed", "2000000\n", 2000000)
        (folder,) = job_folders(world.state)
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
        for path in folder.path.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert path.stat().st_size <= 8_388_608
        assert (await read(kit, result.exec_id, offset=0, max_output=200)).text.startswith("1\n2\n3\n")


async def test_a_signal_without_a_word_of_its_own_ends_a_job_as_any_other(server):
    async with server() as kit:
        result = await run(kit, "bash -c 'kill -40 $$' ; exit 3")
        assert (await read(kit, result.exec_id, wait_s=10)).exit_code == 3
        result = await run(kit, "kill -40 $$")
        reading = await read(kit, result.exec_id, wait_s=10)
        assert (reading.status, reading.exit_code) == ("completed", 168)


async def test_an_unknown_id_is_not_found_whatever_it_looks_like(server):
    async with server() as kit:
        for exec_id in ("x_0123456789ab", "../../etc", "x_../.././..", ""):
            with pytest.raises(ExecNotFound):
                await kit.read(ReadRequest(exec_id=exec_id), requester="a")


def test_a_text_is_the_same_after_it_was_written_down():
    text = RetainedText(limit_bytes=1000)
    for number in range(500):
        text.append(f"line {number}\n")
    again = load(save(text), text._store)
    assert (again.total_bytes, again.total_lines, again.dropped_bytes) == (
        text.total_bytes, text.total_lines, text.dropped_bytes,
    )  # fmt: skip
    assert (again.tail(3).text, again.grep("line 4.$").text) == (text.tail(3).text, text.grep("line 4.$").text)
