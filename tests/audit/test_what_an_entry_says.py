"""Who asked, what, what was decided, who approved, and how it ended: all of it stands in the entries."""

import hashlib
import json

import pytest

from execkit_mcp import aio
from execkit_mcp.redaction.shape import ALNUM, assemble, fill

SECRET = "gh" + "p_" + assemble((fill(ALNUM, 36),), "audit entries")


def entries(world, kind):
    lines = (world.state / "audit-000001.jsonl").read_bytes().splitlines()
    return [entry for entry in map(json.loads, lines) if entry["kind"] == kind]


async def test_a_started_command_is_recorded_with_who_asked_and_both_texts(world, serve):
    async with serve() as served:
        await served.run("echo  'a'   b")
    (entry,) = entries(world, "exec.started")
    data = entry["data"]
    assert data["original"] == "echo  'a'   b"
    assert data["canonical"] == "echo a b"
    assert data["client"]["name"] == "mcp"
    assert data["client"]["version"]
    assert data["client"]["subject"]
    assert (data["target"], data["verdict"]) == ("local", "allow")
    assert entry["prev"]


async def test_a_finished_command_is_recorded_with_digests_of_its_whole_output(world, serve):
    async with serve() as served:
        result = await served.run("seq 100000; echo problem >&2", max_output=200)
        text = "".join([f"{number}\n" for number in range(1, 100_001)])
    (entry,) = entries(world, "exec.finished")
    data = entry["data"]
    assert data["stdout_sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert data["stderr_sha256"] == hashlib.sha256(b"problem\n").hexdigest()
    assert data["fence"] == result["fence"]
    assert result["audit"] == {"seq": entry["seq"], "head": entry["hash"]}


async def test_an_approved_command_names_the_approval_and_who_gave_it(world, serve):
    async with serve(answer="allow once") as served:
        await served.run("touch file")
    (entry,) = entries(world, "exec.started")
    (asked,) = entries(world, "approval.requested")
    approval = entry["data"]["approval"]
    assert approval["id"] == asked["data"]["approval_id"]
    assert approval["by"] == "elicit"
    assert approval["who"]


@pytest.mark.parametrize("command", ["rm -rf /", "echo | |", "touch x"])
async def test_a_result_of_what_did_not_run_carries_its_entry_too(world, serve, command):
    async with serve() as served:
        result = await served.run(command)
    lines = (world.state / "audit-000001.jsonl").read_bytes().splitlines()
    entry = json.loads(lines[result["audit"]["seq"] - 1])
    assert entry["hash"] == result["audit"]["head"]
    assert entry["data"]["original"] == command


async def test_no_half_of_a_secret_stands_where_a_long_text_was_cut(world, serve):
    async with serve() as served:
        for at in (1990, 1970):
            await served.run("echo " + "x" * at + " " + SECRET + " | |")
    for path in world.state.rglob("*"):
        if path.suffix in (".jsonl", ".cast"):
            assert SECRET[:16] not in path.read_text()


async def test_the_sdk_and_its_user_are_named(tmp_path):
    async with aio.create(policy="read-only", state_dir=str(tmp_path / "state"), workspace=str(tmp_path)) as session:
        await session.exec("ls")
    lines = (tmp_path / "state" / "audit-000001.jsonl").read_bytes().splitlines()
    (data,) = (e["data"] for e in map(json.loads, lines) if e["kind"] == "exec.started")
    assert data["client"]["name"] == "sdk"
    assert data["client"]["subject"]
