"""The SDK as its README shows it, blocking and awaited."""

import threading

import pytest

import execkit_mcp
from execkit_mcp import ApprovalDenied, ApprovalRequired, Blocked, Policy, aio, create
from execkit_mcp.errors import ConnectFailed, SessionClosed, TransportUnknown


@pytest.fixture
def options(world):
    return {"workspace": str(world.workspace), "state_dir": str(world.state)}


def test_the_example_of_the_readme(options):
    with create(policy=Policy.default_deny(allow=["ls", "cat", "echo"]), **options) as s:
        r = s.exec("echo hello")
        assert (r.stdout, r.exit_code, r.is_ok) == ("hello\n", 0, True)
        with pytest.raises(Blocked) as caught:
            s.exec("rm -rf /var/lib")
    assert caught.value.decision.verdict.word == "deny"
    assert caught.value.decision.hint


def test_ask_without_an_approver_names_the_approval(options):
    with (
        create(policy=Policy.default_deny(ask=["touch"]), **options) as s,
        pytest.raises(ApprovalRequired) as caught,
    ):
        s.exec("touch x")
    assert caught.value.approval_id.startswith("apr_")


@pytest.mark.parametrize("answer", [True, False])
def test_an_approver_decides(options, world, answer):
    seen = []

    def approver(question):
        seen.append(question)
        return answer

    with create(policy=Policy.default_deny(ask=["touch"]), approver=approver, **options) as s:
        if answer:
            assert s.exec("touch x").exit_code == 0
        else:
            with pytest.raises(ApprovalDenied):
                s.exec("touch x")
    assert (world.workspace / "x").exists() is answer
    assert "touch x" in seen[0].text.replace("/usr/bin/", "")


def test_a_deny_rule_beats_an_allow_rule(options):
    policy = Policy.default_deny(allow=["cat", "ls"], deny=["cat"])
    with create(policy=policy, **options) as s, pytest.raises(Blocked):
        s.exec("cat x")


def test_output_streams_as_it_comes(options):
    with create(policy=Policy.default_deny(allow=["echo", "sleep", "seq"]), **options) as s:
        chunks = list(s.stream("echo first; sleep 0.3; echo second >&2; seq 1 3"))
        assert "".join(c for c in chunks if c.stream == "stdout") == "first\n1\n2\n3\n"
        assert "".join(c for c in chunks if c.stream == "stderr") == "second\n"
        assert chunks[0] == "first\n"
        with pytest.raises(Blocked):
            list(s.stream("rm x"))


def test_leaving_a_stream_early_interrupts_its_command(options):
    with create(policy=Policy.default_deny(allow=["echo", "sleep"]), **options) as s:
        for _chunk in s.stream("echo go; sleep 60"):
            break
        assert s.exec("echo free").stdout == "free\n"


def test_nothing_is_left_behind(options):
    before = {thread.name for thread in threading.enumerate()}
    session = create(policy=Policy.default_deny(allow=["echo"]), **options)
    session.exec("echo x")
    session.close()
    session.close()
    with pytest.raises(SessionClosed):
        session.exec("echo y")
    assert {thread.name for thread in threading.enumerate()} == before


def test_two_sessions_at_once(options):
    policy = Policy.default_deny(allow=["echo"])
    with create(policy=policy, **options) as a, create(policy=policy, **options) as b:
        a.exec("x=1")
        assert b.exec('echo "[$x]"').stdout == "[]\n"
        assert a.exec('echo "[$x]"').stdout == "[1]\n"


@pytest.mark.parametrize(
    ("url", "error"), [("ssh://deploy@host.invalid", ConnectFailed), ("gopher://x", TransportUnknown),
                       ("mars", TransportUnknown)]
)  # fmt: skip
def test_a_target_that_is_not_there_says_so(options, url, error):
    with pytest.raises(error):
        create(url, policy=Policy.default_deny(allow=["ls"]), **options)


async def test_the_async_twin(options):
    async with aio.create(policy=Policy.default_deny(allow=["echo"]), **options) as s:
        assert (await s.exec("echo hi")).stdout == "hi\n"
        with pytest.raises(Blocked):
            await s.exec("ls")
    session = await aio.create(policy=Policy.default_deny(allow=["echo"]), **options)
    assert (await session.exec("echo again")).stdout == "again\n"
    await session.close()


def test_public_names_are_all_there():
    for name in execkit_mcp.__all__:
        assert getattr(execkit_mcp, name) is not None
