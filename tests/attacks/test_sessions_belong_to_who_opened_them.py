"""P5: what one caller runs, another can neither read, type into, close nor see."""

import pytest

from execkit_mcp.errors import ExecNotFound, SessionNotFound
from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest

pytestmark = pytest.mark.promise("P5")


@pytest.fixture
async def kit(world):
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ={}
    ) as opened:
        yield opened


async def test_an_exec_is_read_and_typed_into_by_its_owner_only(kit):
    mine = await kit.run(RunRequest(command="echo mine"), requester="a")
    assert (await kit.read(ReadRequest(exec_id=mine.exec_id), requester="a")).text == "mine\n"
    with pytest.raises(ExecNotFound):
        await kit.read(ReadRequest(exec_id=mine.exec_id), requester="b")
    running = await kit.run(RunRequest(command="cat", tty=True, wait_s=0), requester="a")
    with pytest.raises(ExecNotFound):
        await kit.send(SendRequest(exec_id=running.exec_id, text="x\n"), requester="b")
    await kit.send(SendRequest(exec_id=running.exec_id, key="ctrl-d"), requester="a")


async def test_a_session_is_used_and_closed_by_its_owner_only(kit):
    await kit.open_session(name="s1", requester="a")
    with pytest.raises(SessionNotFound):
        await kit.run(RunRequest(command="pwd", session="s1"), requester="b")
    await kit.close_session("s1", requester="b")  # closing is idempotent: there is no such session of b's
    assert (await kit.run(RunRequest(command="pwd", session="s1"), requester="a")).exit_code == 0


async def test_a_key_of_one_caller_gives_nothing_to_another(kit):
    mine = await kit.run(RunRequest(command="echo mine", idempotency_key="k"), requester="a")
    other = await kit.run(RunRequest(command="echo mine", idempotency_key="k"), requester="b")
    assert other.exec_id != mine.exec_id


async def test_two_callers_have_two_default_sessions(kit, world):
    (world.workspace / "sub").mkdir()
    await kit.run(RunRequest(command="cd sub"), requester="a")
    assert (await kit.run(RunRequest(command="pwd"), requester="b")).stdout.strip() == str(world.workspace)
    assert (await kit.run(RunRequest(command="pwd"), requester="a")).stdout.strip() == str(world.workspace / "sub")


async def test_what_one_caller_runs_makes_nothing_of_anothers_age_out(kit):
    mine = await kit.run(RunRequest(command="echo mine", idempotency_key="k"), requester="a")
    for _ in range(250):  # more than are kept of one caller
        await kit.run(RunRequest(command=":"), requester="b")
    assert (await kit.read(ReadRequest(exec_id=mine.exec_id), requester="a")).text == "mine\n"
    again = await kit.run(RunRequest(command="echo mine", idempotency_key="k"), requester="a")
    assert again.exec_id == mine.exec_id
