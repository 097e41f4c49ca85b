"""Approved commands that the fence would stop: which they are, what the person is told, and what carries over."""

import asyncio

import pytest

from tests.fence.conftest import fenced  # noqa: F401 - a fixture
from tests.processes import alive

ASKING = """\
version: 1
name: asking
defaults: {decision: ask}
limits: {background: allow}
shell: {state: [cd, export], env: {set: [GREETING]}}
paths: {write: ["${workspace}/**"]}
rules:
  - allow: [ls, cat, echo, printenv]
  - {id: never, deny: [rm]}
"""
LEAVES = (
    ("mount /dev/null /mnt", "mount takes on another user's rights"),
    ("apt-get install hello", "apt-get changes the machine"),
    ("kill 1", "kill may reach processes outside"),
    ("touch {outside}/made", "it writes {outside}/made"),
    ("echo x > {outside}/made", "it writes {outside}/made"),
    ("ping -c 1 127.0.0.1", "ping takes on another user's rights"),
)
STAYS = ("mkdir made", "touch made.txt", "id", "python3 -c 'print(1)'")


@pytest.mark.parametrize(("command", "reason"), LEAVES)
async def test_the_question_says_that_it_would_leave_the_fence_and_why(fenced, tmp_path, command, reason):  # noqa: F811
    async with fenced(ASKING) as f:
        result = await f.run(command.format(outside=tmp_path))

        assert result.approval_id, result
        assert f"It would run outside the fence: {reason.format(outside=tmp_path)}." in result.decision.message
        question = f.kit.question(result.approval_id, channel="cli")
        assert "outside the fence" in question


@pytest.mark.parametrize("command", STAYS)
async def test_what_the_fence_lets_through_stays_inside(fenced, command):  # noqa: F811
    async with fenced(ASKING) as f:
        asked = await f.run(command)
        assert asked.approval_id, asked
        assert "outside the fence" not in asked.decision.message
        f.kit.answer(asked.approval_id, approve=True, channel="cli", who="anna")
        result = await f.run(command, approval_id=asked.approval_id)
        assert (result.exit_code, result.fence.level) == (0, "process"), result


async def test_it_has_the_sessions_folder_and_variables_and_leaves_none_behind(fenced, tmp_path):  # noqa: F811
    async with fenced(ASKING) as f:
        (f.workspace / "sub").mkdir()
        await f.run("cd sub; export GREETING=hello")
        command = f"printenv GREETING > {tmp_path}/made; export GREETING=bye; cd /"
        asked = await f.run(command)
        f.kit.answer(asked.approval_id, approve=True, channel="cli", who="anna")
        result = await f.run(command, approval_id=asked.approval_id)
        assert (result.exit_code, result.fence.level) == (0, "none"), result
        assert any("outside the session's fence" in line for line in result.warnings)
        assert (tmp_path / "made").read_text() == "hello\n"
        after = await f.run("printenv GREETING")
        assert (after.stdout, after.fence.level) == ("hello\n", "process")
        assert after.cwd == str(f.workspace / "sub")


async def test_what_it_leaves_running_ends_with_it(fenced, tmp_path):  # noqa: F811
    async with fenced(ASKING) as f:
        command = f"touch {tmp_path}/made; sleep 300.0517 &"
        asked = await f.run(command)
        f.kit.answer(asked.approval_id, approve=True, channel="cli", who="anna")
        result = await f.run(command, approval_id=asked.approval_id)
        assert result.fence.level == "none"
        async with asyncio.timeout(10):
            while alive("300.0517"):
                await f.run("echo")


async def test_a_no_leaves_everything_as_it_was(fenced, tmp_path):  # noqa: F811
    async with fenced(ASKING) as f:
        asked = await f.run(f"touch {tmp_path}/made")
        f.kit.answer(asked.approval_id, approve=False, channel="cli", who="anna")
        with pytest.raises(Exception, match="denied"):
            await f.run(f"touch {tmp_path}/made", approval_id=asked.approval_id)
        assert not (tmp_path / "made").exists()
        assert (await f.run("ls")).fence.level == "process"
