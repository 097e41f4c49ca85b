"""P7: what is unclear, unknown or broken is refused, says why, and says what would be allowed."""

import pytest

from execkit_mcp import aio
from execkit_mcp.audit.writer import AuditLog
from execkit_mcp.errors import AuditError, AuditWriteFailed, Blocked
from execkit_mcp.model import ReasonCode, Verdict
from execkit_mcp.policy import Context, compile_policy, judge
from execkit_mcp.policy.document import Element, PolicyDocument, Rule
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.policies import load_policy

pytestmark = pytest.mark.promise("P7")

CONTEXT = Context(cwd="/srv/app", home="/home/op", workspace="/srv/app")

UNCLEAR = [
    ("coproc cat", ReasonCode.UNPARSED),
    ("f() { ls; }", ReasonCode.UNPARSED),
    ("ls $(", ReasonCode.UNPARSED),
    ("echo 'open", ReasonCode.UNPARSED),
    ("echo a\x00b", ReasonCode.UNPARSED),
    ("echo \u202eabc", ReasonCode.UNPARSED),
    ("no-such-program-at-all", None),
    ("ls --no-such-flag", ReasonCode.UNKNOWN_FLAG),
    ("$x -l", ReasonCode.DYNAMIC_WORD),
    ("echo " + "x" * 70_000, ReasonCode.LIMIT),
    ("; ".join(["ls"] * 500), ReasonCode.LIMIT),
    ("(" * 5000, None),
    ("$(" * 3000 + ")" * 3000, None),
    ("{a,b}" * 40, None),
]


@pytest.mark.parametrize(("text", "code"), UNCLEAR, ids=lambda value: repr(value)[:30])
def test_what_is_unclear_is_never_allowed_and_says_why(text, code):
    decision = judge(text, load_policy("read-only"), CONTEXT)
    assert decision.verdict > Verdict.ALLOW
    assert decision.message
    assert decision.hint
    if code is not None:
        assert decision.reason_code is code


@pytest.mark.parametrize("text", ["ls 'open", "coproc cat", "ls $(", "cat <<EOF"])
async def test_where_the_policy_asks_about_what_did_not_parse_a_session_refuses_it_and_records_it(tmp_path, text):
    async with aio.create(policy="workstation", workspace=tmp_path, state_dir=tmp_path / "state") as session:
        with pytest.raises(Blocked) as caught:
            await session.exec(text)
        assert caught.value.decision.reason_code is ReasonCode.UNPARSED
        assert caught.value.decision.hint
        assert (await session.exec("echo on")).stdout == "on\n"
    entries = (tmp_path / "state" / "audit-000001.jsonl").read_text()
    assert '"reason_code":"policy.unparsed"' in entries


def test_a_rule_that_breaks_while_judging_counts_as_deny(monkeypatch):
    from execkit_mcp.policy import programs

    document = PolicyDocument(
        name="t", digest="0", rules=(Rule(id="r", verdict=Verdict.ALLOW, elements=(Element(program="ls"),)),)
    )
    policy = compile_policy(document)
    assert judge("ls", policy, CONTEXT).verdict is Verdict.ALLOW

    def broken(*_arguments, **_options):
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(programs, "interpret", broken)
    decision = judge("ls", policy, CONTEXT)
    assert decision.verdict is Verdict.DENY
    assert decision.warnings


async def test_without_a_record_nothing_runs(world, monkeypatch):
    reached = []
    begin = Driver.begin

    def spy(self, command, **options):
        reached.append(command)
        return begin(self, command, **options)

    monkeypatch.setattr(Driver, "begin", spy)
    async with aio.create(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state)
    ) as session:
        await session.exec("echo one")

        def broken(self, *_arguments, **_options):
            raise AuditWriteFailed("The disk is full.")

        with monkeypatch.context() as broken_disk:
            for name in ("append", "enter"):
                broken_disk.setattr(AuditLog, name, broken)
            with pytest.raises(AuditWriteFailed):
                await session.exec("echo two")
        assert (await session.exec("echo three")).stdout == "three\n"
    assert reached == ["echo one", "echo three"]


@pytest.mark.parametrize(
    "attack",
    [
        'python3 -c \'import shutil; getattr(shutil, "rm" + "tree")("{state}")\'',
        'python3 -c \'open("{state}/audit-" + "000001.jsonl", "a").write("x" + chr(10))\'',
    ],
)
async def test_a_command_that_harms_the_record_is_told_so_and_is_the_last(world, attack, monkeypatch):
    monkeypatch.setenv("EXECKIT_FENCE", "off")  # behind a fence it cannot
    told: list[object] = []
    with pytest.raises(AuditError):  # noqa: PT012 - closing cannot be recorded either
        async with aio.create(
            policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state)
        ) as session:
            # by a short way: pytest-xdist's folders are called popen-…, and that is a hazard in a program's text
            told.append((await session.exec(attack.format(state="../state"))).warnings[0])
            for _ in range(3):
                try:
                    told.append(await session.exec("echo again"))
                except AuditError as error:
                    told.append(error.code)
    assert [str(each).partition(".")[0] for each in told] == ["audit"] * 4


@pytest.mark.parametrize(("wanted", "levels"), [("off", {"none"}), ("auto", {"none", "process", "namespaces"})])
async def test_each_result_says_which_fence_held(world, wanted, levels, monkeypatch):
    monkeypatch.setenv("EXECKIT_FENCE", wanted)
    async with aio.create(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state)
    ) as session:
        assert (await session.exec("echo x")).fence.level in levels


async def test_a_rule_that_requires_a_fence_is_not_met_without_one(world, monkeypatch):
    monkeypatch.setenv("EXECKIT_FENCE", "off")
    world.policy.write_text(
        "version: 1\nname: fenced\nrules:\n  - {id: f, allow: [ls], require: {fence: namespaces}}\n"
    )
    async with aio.create(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state)
    ) as session:
        with pytest.raises(Blocked) as caught:
            await session.exec("ls")
    assert caught.value.decision.reason_code is ReasonCode.FENCE
