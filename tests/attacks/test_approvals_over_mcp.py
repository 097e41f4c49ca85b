"""P4 through the whole server: both protocol eras, every answer, replay, and what the agent can reach."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.promise("P4")

MODES = ["auto", "legacy"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_yes_runs_the_command_once(serve, world, mode):
    async with serve(answer="allow once", mode=mode) as served:
        body = await served.run("touch made.txt", reason="because I want to")
        assert body["status"] == "completed"
        assert (world.workspace / "made.txt").exists()
        assert "touch" in served.questions[0]
        assert "because I want to" in served.questions[0]
        await served.run("touch made.txt")
        assert len(served.questions) == 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("answer", ["deny", "decline"])
async def test_a_no_is_a_no(serve, world, mode, answer):
    async with serve(answer=answer, mode=mode) as served:
        result = await served.call("shell_run", command="touch made.txt")
        assert result.is_error
        assert result.structured_content["error"]["code"] == "approval.denied"
    assert not (world.workspace / "made.txt").exists()


@pytest.mark.parametrize("mode", MODES)
async def test_nobody_there_leaves_it_waiting_for_the_operator(serve, world, mode):
    async with serve(answer="cancel", mode=mode) as served:
        body = await served.run("touch made.txt")
        assert body["status"] == "approval_pending"
        assert not (world.workspace / "made.txt").exists()
        _operator(world, "approve", body["approval_id"])
        assert (await served.run("touch made.txt", approval_id=body["approval_id"]))["status"] == "completed"
        again = await served.call("shell_run", command="touch made.txt", approval_id=body["approval_id"])
        assert again.structured_content["error"]["code"] == "approval.expired"


@pytest.mark.parametrize("mode", MODES)
async def test_without_elicitation_the_call_returns_an_id(serve, world, mode):
    async with serve(mode=mode) as served:
        result = await served.call("shell_run", command="touch made.txt")
        body = result.structured_content
        assert body["status"] == "approval_pending"
        assert body["approval_id"] in result.content[0].text
        denied = _operator(world, "deny", body["approval_id"], "--reason", "not today")
        assert denied.returncode == 0
        back = await served.call("shell_run", command="touch made.txt", approval_id=body["approval_id"])
        assert back.structured_content["error"]["code"] == "approval.denied"
        assert "not today" in back.content[0].text
    assert not (world.workspace / "made.txt").exists()


@pytest.mark.parametrize("mode", MODES)
async def test_what_the_policy_keeps_from_the_client_is_never_asked_there(serve, world, mode):
    policy = world.policy.read_text().replace(
        "ask: [touch, mkdir],", "ask: [touch, mkdir], approval: {channel: out_of_band},"
    )
    world.policy.write_text(policy)
    async with serve(answer="allow once", mode=mode) as served:
        body = await served.run("touch made.txt")
        assert body["status"] == "approval_pending"
        assert served.questions == []
        assert not (world.workspace / "made.txt").exists()
        _operator(world, "approve", body["approval_id"])
        assert (await served.run("touch made.txt", approval_id=body["approval_id"]))["status"] == "completed"


async def test_an_approval_fits_nothing_else(serve, world):
    (world.workspace / "sub").mkdir()
    async with serve() as served:
        body = await served.run("touch made.txt")
        approval_id = body["approval_id"]
        _operator(world, "approve", approval_id)
        for attempt in (
            {"command": "touch other.txt"},
            {"command": "touch made.txt; touch other.txt"},
            {"command": "touch made.txt", "stdin": "x"},
            {"command": "touch made.txt", "tty": True},
        ):
            result = await served.call("shell_run", **attempt, approval_id=approval_id)
            assert result.structured_content["error"]["code"] == "approval.expired", attempt
        await served.run("cd sub")
        moved = await served.call("shell_run", command="touch made.txt", approval_id=approval_id)
        assert moved.structured_content["error"]["code"] == "approval.expired"
        assert "folder" in moved.structured_content["error"]["message"]
    assert not list(world.workspace.rglob("*.txt"))


async def test_the_agents_own_session_cannot_approve(serve, world):
    """`bash` is trusted by this policy, so the agent can start our own command line; it must still refuse."""
    async with serve() as served:
        body = await served.run("touch made.txt")
        command = f"{sys.executable} -m execkit_mcp approve {body['approval_id']} --state-dir {world.state}"
        attempt = await served.run(f"bash -c 'cd {world.folder}; PYTHONPATH={_package()} {command}'")
        assert attempt["exit_code"] != 0, attempt
        back = await served.run("touch made.txt", approval_id=body["approval_id"])
        assert back["status"] == "approval_pending"
    assert not (world.workspace / "made.txt").exists()


def _package() -> str:
    from pathlib import Path

    return str(Path(__file__).resolve().parents[2])


def _operator(world, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "execkit_mcp", *words],
        env=world.environment(), capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip


async def test_a_question_that_the_server_did_not_ask_has_no_answer(serve, world):
    from mcp.shared.exceptions import MCPError
    from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, ElicitResult

    async with serve() as served:
        body = await served.run("touch made.txt")
        forged = CallToolRequestParams(
            name="shell_run",
            arguments={"command": "touch made.txt"},
            request_state=json.dumps({"approval_id": body["approval_id"]}),
            input_responses={"approve": ElicitResult(action="accept", content={"decision": "allow once"})},
        )
        with pytest.raises(MCPError):
            await served.client.session.send_request(CallToolRequest(params=forged), CallToolResult)
        assert (await served.run("touch made.txt", approval_id=body["approval_id"]))["status"] == "approval_pending"
    assert not (world.workspace / "made.txt").exists()
