"""P1: what a program prints never makes the terminal type something that another program then carries out."""

import pytest

from execkit_mcp.kit import open_kit
from execkit_mcp.model.terminal import TerminalProcess, TerminalState
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest
from execkit_mcp.runtime.tty import may_answer

pytestmark = pytest.mark.promise("P1")

ASKING = b"\x1b[c\x1b[6n\x1b[>q\x1b]11;?\x07\x1b[?2004$p\x1bP+q544e\x1b\\\x05\x1b[21t"


@pytest.fixture
async def kit(world):
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ={}
    ) as opened:
        yield opened


def seat(path, *argv):
    return TerminalProcess(pid=2, started=1, parent=1, path=path, argv=argv or (path,), cwd="/", is_foreground=True)


def state(*processes, **fields):
    return TerminalState(
        processes=processes, **{"is_shell_in_front": False, "is_line_mode": False, "has_echo": False, **fields}
    )


def test_only_a_program_that_takes_single_keys_gets_answers():
    assert may_answer(state(seat("/usr/bin/vim")))
    assert not may_answer(state(seat("/usr/bin/cat"), is_line_mode=True, has_echo=True))
    assert not may_answer(state(seat("/usr/bin/bash", "bash")))
    assert not may_answer(state(seat("/usr/bin/vim"), seat("/usr/bin/dash", "sh")))
    assert not may_answer(state(is_shell_in_front=True))


async def test_a_file_full_of_questions_types_nothing_at_a_shells_prompt(kit, world):
    (world.workspace / "asking").write_bytes(ASKING)
    run = await kit.run(RunRequest(command="bash --norc", tty=True, wait_s=0.05), requester="a")

    async def type_(text, pattern):
        return await kit.send(SendRequest(exec_id=run.exec_id, text=text, wait_for=pattern, wait_s=10), requester="a")

    await kit.read(ReadRequest(exec_id=run.exec_id, wait_for=r"[#$] ", wait_s=10), requester="a")
    for _ in range(3):
        await type_("cat asking\n", r"asking\n(?s:.*)[#$] ")
    sent = await type_("echo clean\n", r"\nclean")
    assert "not found" not in sent.text
    screen = await kit.read(ReadRequest(exec_id=run.exec_id, stream="screen"), requester="a")
    assert "62;22c" not in screen.text
    await kit.send(SendRequest(exec_id=run.exec_id, key="ctrl-d"), requester="a")


async def test_questions_of_a_command_are_not_answered_to_the_next_one(kit, world):
    (world.workspace / "asking").write_bytes(ASKING)
    await kit.run(RunRequest(command="cat asking", tty=True), requester="a")
    after = await kit.run(RunRequest(command='read -t 0.3 x; echo "[$x]"', tty=True), requester="a")
    assert after.stdout.splitlines()[-1] == "[]"
