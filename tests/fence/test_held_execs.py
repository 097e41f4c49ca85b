"""A program that a trusted one starts and that the policy asks about waits inside its execve until a person answers."""

import asyncio

import pytest

from execkit_mcp import aio
from execkit_mcp.errors import ApprovalExpired, ApprovalRequired, Blocked
from execkit_mcp.model import Status
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest
from tests.fence.conftest import fenced  # noqa: F401 - a fixture

ASKING = """\
version: 1
name: asking
shell: {state: [cd]}
paths: {write: ["${workspace}/**"]}
rules:
  - {id: code, allow: [python3, make], effects: trusted}
  - allow: [ls]
  - {id: look, ask: [id, nproc], reason: A person looks at this.APPROVAL}
  - {id: never, deny: [rm]}
"""
NESTED = """
import os, subprocess
print("before", os.getpid(), flush=True)
try:
    print("got", subprocess.check_output(["/usr/bin/nproc"], text=True), flush=True)
except OSError as error:
    print("refused:", error.strerror, flush=True)
print("after", os.getpid(), flush=True)
"""


def policy(terms: str = "") -> str:
    return ASKING.replace(" this.APPROVAL}", f" this.{terms}}}")


async def held(f, code=NESTED):
    """Start it; the running result, once the nested program waits."""
    (f.workspace / "nested.py").write_text(code)
    result = await f.kit.run(RunRequest(command="python3 nested.py", wait_s=0.5), requester="agent")
    async with asyncio.timeout(20):
        while not result.approval_id:
            assert result.status is Status.RUNNING, result
            result = await read(f, result)
    return result


async def read(f, result):
    """The exec's result as it is now."""
    exec_ = f.kit._ledger.get(result.exec_id, "agent")
    await exec_.wait(0.2)
    return exec_.result(now_s=0, max_output=20000, cwd="", fence=result.fence)


async def ended(f, result):
    exec_ = f.kit._ledger.get(result.exec_id, "agent")
    async with asyncio.timeout(30):
        await exec_.wait(None)
    return await read(f, result)


def answer(f, result, *, yes, who="anna"):
    f.kit.answer(result.approval_id, approve=yes, channel="cli", who=who, reason="" if yes else "not now")


async def test_a_yes_resumes_the_very_process_that_was_held(fenced):  # noqa: F811
    async with fenced(policy()) as f:
        waiting = await held(f)
        note = next(line for line in waiting.warnings if line.startswith("held:"))
        assert waiting.approval_id in note
        assert "started by /usr/bin/python3 nested.py" in note
        answer(f, waiting, yes=True)
        result = await ended(f, waiting)
        lines = result.stdout.split()
        assert lines[0] == "before"
        assert lines[lines.index("after") + 1] == lines[1], "the program was started again"
        assert lines[lines.index("got") + 1].isdecimal()
        assert (result.exit_code, result.refused) == (0, ())


async def test_a_no_refuses_it_with_the_persons_words_and_the_rest_goes_on(fenced):  # noqa: F811
    async with fenced(policy()) as f:
        waiting = await held(f)
        answer(f, waiting, yes=False)
        result = await ended(f, waiting)
        assert "refused: Permission denied" in result.stdout
        assert "after" in result.stdout
        refusal = result.refused[0]
        assert (refusal.rule, refusal.argv) == ("look", ("/usr/bin/nproc",))
        assert "not now" in refusal.message


async def test_silence_until_the_question_expires_is_a_no(fenced):  # noqa: F811
    async with fenced(policy(", approval: {ttl_s: 1}")) as f:
        waiting = await held(f)
        result = await ended(f, waiting)
        assert "refused: Permission denied" in result.stdout
        assert result.refused[0].rule == "look"


async def test_of_two_people_the_first_answer_counts(fenced):  # noqa: F811
    async with fenced(policy()) as f:
        waiting = await held(f)
        answer(f, waiting, yes=False, who="anna")
        with pytest.raises(ApprovalExpired):
            answer(f, waiting, yes=True, who="otto")
        result = await ended(f, waiting)
        assert "refused: Permission denied" in result.stdout


async def test_one_yes_is_good_for_one_exec_alone(fenced):  # noqa: F811
    code = NESTED + "subprocess.call(['/usr/bin/nproc'])"
    async with fenced(policy()) as f:
        first = await held(f, code)
        answer(f, first, yes=True)
        async with asyncio.timeout(20):
            second = await read(f, first)
            while second.approval_id in {None, first.approval_id}:
                second = await read(f, first)
        assert second.status is Status.RUNNING
        answer(f, second, yes=False)
        result = await ended(f, second)
        assert len(result.refused) == 1


async def test_an_interrupt_ends_what_is_held_and_a_late_yes_runs_nothing(fenced):  # noqa: F811
    async with fenced(policy()) as f:
        (f.workspace / "Makefile").write_text("x:\n\tnproc && touch ran\n")
        waiting = await f.kit.run(RunRequest(command="make -s x", wait_s=0.5), requester="agent")
        async with asyncio.timeout(20):
            while not waiting.approval_id:
                waiting = await read(f, waiting)
        await f.kit.send(SendRequest(exec_id=waiting.exec_id, key="ctrl-c"), requester="agent")
        result = await ended(f, waiting)
        assert result.exit_code != 0
        answer(f, waiting, yes=True)
        after = await f.run("ls")
        assert (after.exit_code, after.stdout) == (0, "Makefile\n")
        assert f.kit._gate.asking.queue.get(waiting.approval_id).state.value == "approved", "nothing was let run"


async def test_an_agent_cannot_answer_for_the_person_by_asking_again(fenced):  # noqa: F811
    async with fenced(policy()) as f:
        waiting = await held(f)
        with pytest.raises(Exception, match="busy"):
            await f.run("nproc", approval_id=waiting.approval_id)
        assert (await read(f, waiting)).status is Status.RUNNING
        answer(f, waiting, yes=False)
        await ended(f, waiting)


async def test_a_no_holds_for_every_name_that_the_file_has(fenced):  # noqa: F811
    async with fenced(policy()) as f:
        (f.workspace / "Makefile").write_text("x:\n\tnproc && touch ran\n")  # sh looks in each folder of PATH
        waiting = await f.kit.run(RunRequest(command="make -s x", wait_s=0.5), requester="agent")
        async with asyncio.timeout(20):
            while not waiting.approval_id:
                waiting = await read(f, waiting)
        answer(f, waiting, yes=False)
        result = await ended(f, waiting)
        assert result.exit_code != 0
        assert len(result.refused) == 1


@pytest.mark.parametrize("yes", [True, False])
async def test_the_sdks_approver_is_asked_about_what_is_held(tmp_path, yes, monkeypatch):
    monkeypatch.setenv("EXECKIT_FENCE", "process")
    asked = []

    async def person(question):
        asked.append(question)
        return yes

    (tmp_path / "work").mkdir()
    (tmp_path / "work/nested.py").write_text(NESTED)
    file = tmp_path / "policy.yaml"
    file.write_text(policy())
    async with aio.create(
        policy=str(file),
        workspace=str(tmp_path / "work"),
        cwd=str(tmp_path / "work"),
        state_dir=str(tmp_path / "state"),
        approver=person,
    ) as session:
        result = await session.exec("python3 nested.py", timeout_s=30)
    assert [each.decision.rule for each in asked] == ["look"]
    assert "nproc" in asked[0].text
    assert "python3 nested.py" in asked[0].text
    assert ("got" in result.stdout) is yes
    assert ("refused: Permission denied" in result.stdout) is not yes


async def test_a_line_that_was_approved_before_it_was_typed_is_not_asked_about_again_and_runs_once(fenced):  # noqa: F811
    shells = policy().replace("[python3, make]", "[python3, make, bash, sh]")
    async with fenced(shells) as f:
        (f.workspace / "again.sh").write_text("/usr/bin/id -u\n")
        opened = await f.kit.run(RunRequest(command="bash --norc", tty=True, wait_s=0.3), requester="agent")

        async def typed(text, **options):
            return await f.kit.send(SendRequest(exec_id=opened.exec_id, text=text, **options), requester="agent")

        approval_id = ""
        async with asyncio.timeout(20):
            while not approval_id:
                try:
                    await typed("id -u\n", wait_s=0.1)
                except ApprovalRequired as asked:
                    approval_id = str(asked.details["approval_id"])
                except Blocked:  # the shell does not read yet
                    continue
        f.kit.answer(approval_id, approve=True, channel="cli", who="anna")
        await typed("id -u\n", approval_id=approval_id, wait_for=r"(?m)^\d+\r?$", wait_s=20)
        assert not f.kit.held("main", requester="agent")
        await typed("sh again.sh\n", wait_s=0.2)
        async with asyncio.timeout(20):
            while not f.kit.held("main", requester="agent"):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)
        await f.kit.send(SendRequest(exec_id=opened.exec_id, signal="KILL"), requester="agent")
