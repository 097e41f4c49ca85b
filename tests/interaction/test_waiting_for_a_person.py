"""A call that waits for a person: through the real server, the real client and the real queue."""

import asyncio
import json
import sqlite3
import time

import pytest

from execkit_mcp.approvals import Channel, Scope, State
from execkit_mcp.runtime.desk import ApprovalDesk

pytestmark = pytest.mark.promise("P4")


def refusals(world):
    entries = map(json.loads, (world.state / "audit-000001.jsonl").read_text().splitlines())
    return [entry["data"] for entry in entries if entry["kind"] == "decision"]


@pytest.fixture
def desk(world):
    opened = ApprovalDesk.open(state_dir=world.state, audit_dir=world.state)
    yield opened
    opened.close()


async def asked(desk):
    """The first approval that waits."""
    async with asyncio.timeout(20):
        while True:
            if waiting := desk.pending():
                return waiting[0]
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_waiting_call_goes_on_when_the_person_says_yes(serve, world, desk, mode):
    async with serve(mode=mode) as served:
        await served.run("true")
        call = asyncio.create_task(served.run("touch made.txt", wait_s=30, reason="to have it"))
        found = await asked(desk)
        assert found.request.agent_reason == "to have it"
        assert found.request.recent == ("true  [exit 0]",)
        desk.approve(found.id, by=Channel.WEB, who="anna")
        body = await call
        assert (body["status"], body["exit_code"]) == ("completed", 0)
        assert desk.get(found.id).state is State.REDEEMED
    assert (world.workspace / "made.txt").exists()


async def test_a_waiting_call_ends_with_the_person_s_no_and_its_reason(serve, world, desk):
    async with serve() as served:
        call = asyncio.create_task(served.call("shell_run", command="touch made.txt", wait_s=30))
        desk.deny((await asked(desk)).id, by=Channel.WEB, who="anna", reason="use mkdir instead")
        result = await call
        assert result.structured_content["error"]["code"] == "approval.denied"
        assert "use mkdir instead" in result.content[0].text
    assert not (world.workspace / "made.txt").exists()


async def test_an_approval_that_runs_out_while_a_call_waits_is_a_no(serve, world):
    world.policy.write_text(
        world.policy.read_text().replace("ask: [touch, mkdir],", "ask: [touch, mkdir], approval: {ttl_s: 0.3},")
    )
    async with serve() as served:
        result = await served.call("shell_run", command="touch made.txt", wait_s=30)
        assert result.structured_content["error"]["code"] == "approval.expired"
        assert "nobody answered in time" in result.content[0].text
    assert not (world.workspace / "made.txt").exists()


async def test_a_call_that_waited_long_enough_goes_on_and_comes_back_with_the_id(serve, world, desk):
    async with serve() as served:
        body = await served.run("touch made.txt", wait_s=0.1, reason="first")
        assert body["status"] == "approval_pending"
        again = asyncio.create_task(served.run("touch made.txt", wait_s=30, approval_id=body["approval_id"]))
        assert [each.id for each in desk.pending()] == [body["approval_id"]]  # not asked anew for want of the reason
        desk.approve(body["approval_id"], by=Channel.CLI, who="anna")
        assert (await again)["status"] == "completed"


async def test_progress_tells_what_a_call_waits_for(serve, world, desk):
    heard = asyncio.Queue()

    async def listen(progress, total, message):
        heard.put_nowait(message)

    async with serve() as served:
        call = asyncio.create_task(
            served.client.call_tool("shell_run", {"command": "touch made.txt", "wait_s": 30}, progress_callback=listen)
        )
        found = await asked(desk)
        async with asyncio.timeout(20):
            message = await heard.get()
        desk.deny(found.id, by=Channel.CLI, who="anna")
        await call
    assert found.id in message


async def test_out_of_band_answers_a_question_that_the_client_is_showing(serve, world, desk):
    """Legacy era: the dialogue stays open, and the operator answers elsewhere."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    shown = asyncio.Event()

    async def nobody(_context, _question):
        shown.set()
        await asyncio.Event().wait()

    command = world.serve_command()
    parameters = StdioServerParameters(
        command=command[0], args=command[1:], env=world.environment(), cwd=world.workspace
    )
    async with Client(stdio_client(parameters), mode="legacy", elicitation_callback=nobody) as client:
        call = asyncio.create_task(client.call_tool("shell_run", {"command": "touch made.txt"}))
        async with asyncio.timeout(20):
            await shown.wait()
            desk.approve((await asked(desk)).id, by=Channel.WEB, who="anna")
            assert (await call).structured_content["status"] == "completed"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_dialogue_allows_for_the_session(serve, world, desk, mode):
    async with serve(answer="allow for this session", mode=mode) as served:
        for _ in range(3):
            assert (await served.run("touch made.txt"))["status"] == "completed"
        assert len(served.questions) == 1
        [grant] = desk.grants()
        assert (grant.uses, grant.scope.value) == (3, "session")
        await served.call("shell_close", session="main")
        assert desk.grants() == ()


async def test_an_edited_command_is_judged_again_and_runs_in_its_place(serve, world, desk):
    async with serve() as served:
        call = asyncio.create_task(served.run("touch made.txt", wait_s=30))
        desk.approve((await asked(desk)).id, by=Channel.WEB, who="anna", edited="touch other.txt")
        body = await call
        assert body["status"] == "completed"
        assert "touch other.txt" in body["warnings"][0]
        assert [path.name for path in world.workspace.iterdir()] == ["other.txt"]
        call = asyncio.create_task(served.call("shell_run", command="touch made.txt", wait_s=30))
        desk.approve((await asked(desk)).id, by=Channel.WEB, who="anna", edited="rm -r .")
        result = await call
        assert result.structured_content["error"]["code"] == "approval.denied"
        assert "never" in result.content[0].text
        assert (world.workspace / "other.txt").exists()
    [refused] = refusals(world)
    assert (refused["canonical"], refused["verdict"]) == ("/usr/bin/rm -r .", "deny")
    assert refused["approval_id"] == result.structured_content["error"]["details"]["approval_id"]


async def test_what_no_approval_lets_run_is_on_the_record(serve, world, desk):
    async with serve() as served:
        waiting = await served.run("touch made.txt", wait_s=0)
        desk.approve(waiting["approval_id"], by=Channel.WEB, who="anna")
        for command in ("touch other.txt", "touch made.txt", "touch made.txt"):
            await served.call("shell_run", command=command, approval_id=waiting["approval_id"])
        await served.call("shell_run", command="touch made.txt", approval_id="apr_" + "0" * 16)
    told = [(each["canonical"], each["refused"]["code"], each["refused"]["message"]) for each in refusals(world)]
    assert [(canonical, code) for canonical, code, _ in told] == [
        ("/usr/bin/touch other.txt", "approval.expired"),
        ("/usr/bin/touch made.txt", "approval.expired"),
        ("/usr/bin/touch made.txt", "approval.expired"),
    ]
    assert [
        part in text
        for part, (_, _, text) in zip(("another command", "used already", "no approval"), told, strict=True)
    ] == [True] * 3


async def test_from_the_answer_to_the_start_it_takes_less_than_50_ms(serve, world, desk):
    took = []
    async with serve() as served:
        await served.run("true")
        for number in range(9):
            call = asyncio.create_task(served.run(f"touch made{number}.txt", wait_s=30))
            found = await asked(desk)
            desk.approve(found.id, by=Channel.WEB, who="anna")
            since = time.time()
            await call
            took.append((world.workspace / f"made{number}.txt").stat().st_mtime - since)
    assert sorted(took)[4] < 0.05, took


async def test_grants_and_pending_approvals_survive_a_restart(serve, world, desk):
    async with serve() as served:
        call = asyncio.create_task(served.run("touch made.txt", wait_s=30))
        desk.approve((await asked(desk)).id, by=Channel.WEB, who="anna", scope=Scope.session())
        await call
        waiting = await served.run("mkdir later", wait_s=0)
    async with serve() as served:
        assert (await served.run("touch made.txt"))["status"] == "completed"  # the grant was handed on
        desk.approve(waiting["approval_id"], by=Channel.WEB, who="anna")
        body = await served.run("mkdir later", approval_id=waiting["approval_id"])
        assert body["status"] == "completed"


async def test_a_second_server_beside_the_first_has_none_of_its_session_grants(serve, world, desk):
    async with serve() as first:
        call = asyncio.create_task(first.run("touch made.txt", wait_s=30))
        desk.approve((await asked(desk)).id, by=Channel.WEB, who="anna", scope=Scope.session())
        await call
        async with serve() as second:
            assert (await second.run("touch made.txt", wait_s=0))["status"] == "approval_pending"


async def test_what_is_asked_shows_no_secret_and_neither_does_the_database(serve, world, desk):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]
    async with serve() as served:
        body = await served.run(f"touch {secret}", wait_s=0, reason=f"the key is {secret}")
        text = desk.text_of(desk.get(body["approval_id"]))
        assert secret[4:] not in text
        assert "[REDACTED:" in text
        assert "looks like a secret" in text
        for path in world.state.rglob("*"):
            if path.is_file():
                assert secret.encode()[4:] not in path.read_bytes(), path
        desk.approve(body["approval_id"], by=Channel.CLI, who="anna")
        assert (await served.run(f"touch {secret}", approval_id=body["approval_id"]))["status"] == "completed"
    assert (world.workspace / secret).exists()


async def test_the_database_that_is_damaged_lets_nothing_run(serve, world):
    async with serve() as served:
        await served.run("true")
        raw = sqlite3.connect(world.state / "execkit.db")
        raw.execute("DROP TABLE approvals")
        raw.commit()
        raw.close()
        result = await served.call("shell_run", command="touch made.txt")
        assert result.structured_content["error"]["code"] == "storage.unavailable"
        assert result.structured_content["error"]["hint"]
    assert not (world.workspace / "made.txt").exists()
