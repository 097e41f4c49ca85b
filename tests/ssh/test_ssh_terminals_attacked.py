"""P2, P3 and P5 on a host's terminal: what is typed there is judged for who really reads it, and nothing gets past."""

import asyncio
import json

import pytest

from execkit_mcp.errors import Blocked, CapabilityMissing
from execkit_mcp.transports.ssh import sent_terminal
from execkit_mcp.transports.ssh.terminal import SshTerminal
from tests.ssh.test_ssh_terminals import POLICY, Terminal

pytestmark = pytest.mark.promise("P2")
VALUE = "Tr0ub4dor" + "-and-3-staples"
ASKS = "python3 -c 'import getpass; x = getpass.getpass(); print(len(x), x)'"


@pytest.fixture
async def terminal(sshd, kit_for):
    async with kit_for(sshd, policy=POLICY) as host:
        await host.open()
        yield Terminal(host)


async def _seen(terminal, wanted):
    driver = terminal.host.kit._sessions.get("main", "test")._driver
    async with asyncio.timeout(10):
        while True:
            state = await driver.look()
            if state is not None and wanted <= {each.path.rpartition("/")[2] for each in state.front}:
                return driver, state
            await asyncio.sleep(0.02)


HIDE = """
import os, time
{0}
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
os.wait()
"""
OPENED = "null = os.open('/dev/null', 2)\nos.open('/dev/tty', 2)\nfor fd in (0, 1, 2): os.dup2(null, fd)"


@pytest.mark.parametrize("first", ["", OPENED])
async def test_a_process_that_left_its_parents_and_holds_the_terminal_is_in_front(terminal, tmp_path, first):
    """A shell of this machine keeps whatever it starts below it; there, nothing does: so everybody is looked at."""
    (tmp_path / "hide.py").write_text(HIDE.format(first))
    await terminal.start(f"python3 {tmp_path}/hide.py; sleep 60")
    _, state = await _seen(terminal, {"sleep"})
    assert [each.path for each in state.front if "python" in each.path]


async def test_a_job_of_an_earlier_command_is_behind_until_it_opens_the_terminal(terminal, tmp_path):
    go = tmp_path / "go"
    (tmp_path / "reads.py").write_text(
        f"import os, time\nwhile not os.path.exists('{go}'):\n    time.sleep(0.01)\nopen('/dev/tty').read()\n"
    )
    await terminal.host.run("true", tty=True)
    await terminal.host.run(f"python3 {tmp_path}/reads.py &")
    await terminal.start("sleep 60")
    driver, state = await _seen(terminal, {"sleep"})
    assert [each.path for each in state.behind if "python" in each.path]
    go.touch()
    later = state
    async with asyncio.timeout(10):
        while not any("python" in each.path for each in later.front):
            later = await driver.look() or later
            await asyncio.sleep(0.02)
    assert not (await driver.type(b"for the sleeper\n", state)).is_typed


async def test_nothing_is_typed_when_another_program_has_come_since_it_was_judged(terminal):
    await terminal.start("sh -c 'sleep 60; cat'")
    driver, state = await _seen(terminal, {"sleep"})
    await terminal.host.kit.open_session(requester="test", target="prod-1", name="other")
    sleeper = next(each.pid for each in state.front if each.path.endswith("sleep"))
    await terminal.host.run(f"kill {sleeper}", session="other")
    await _seen(terminal, {"cat"})
    told = await driver.type(b"for the sleeper\n", state)
    assert not told.is_typed
    told = await driver.type(b"for the cat\n", (await _seen(terminal, {"cat"}))[1])
    assert told.is_typed
    await terminal.shows("for the cat\nfor the cat")
    assert "sleeper" not in (await terminal.shows("for the cat")).text


async def test_a_line_for_a_shell_is_judged_though_the_shell_hides_behind_another_name(terminal, tmp_path):
    (tmp_path / "hide.sh").write_text("exec -a cat bash --norc -i\n")
    await terminal.start(f"bash {tmp_path}/hide.sh")
    await terminal.shows(r"\$|#")
    with pytest.raises(Blocked, match="Nothing is deleted"):
        await terminal.type("rm -rf /tmp/x\n")


@pytest.fixture
async def asked(sshd, kit_for, tmp_path, monkeypatch):
    monkeypatch.setenv("MAIL_PASSWORD", VALUE)
    secrets = "secrets:\n  typed:\n    mail: {env: MAIL_PASSWORD, to: [python3]}\n"
    secrets += "    other: {env: MAIL_PASSWORD, to: [sudo]}\n"
    plain = sshd.yaml
    monkeypatch.setattr(sshd, "yaml", lambda **options: plain(**options) + secrets)
    async with kit_for(sshd, policy=POLICY) as host:
        await host.open()
        terminal = Terminal(host)
        await terminal.start(ASKS)
        await terminal.shows("Password:")
        yield terminal


@pytest.mark.promise("P3")
async def test_a_declared_secret_is_typed_on_the_host_and_appears_nowhere(asked):
    await asked.type("${secret:mail}\n", wait_s=5, wait_for=r"\d+ ")
    end = await asked.ended()
    assert f"{len(VALUE)} [REDACTED:known:" in end.text
    for form in (VALUE, VALUE[::-1], VALUE.encode().hex()):
        assert form not in end.text + asked.host.record()


@pytest.mark.promise("P3")
async def test_a_secret_for_one_program_is_not_typed_to_another(asked):
    with pytest.raises(Blocked, match="sudo"):
        await asked.type("${secret:other}\n")


@pytest.mark.promise("P5")
@pytest.mark.parametrize(
    "said",
    [
        b"x" * 64,
        sent_terminal.HEAD.pack(b"t", 0xFFFFFFFF) + b"x" * 64,
        sent_terminal.HEAD.pack(b"a", 2) + b"{}",
        sent_terminal.HEAD.pack(b"?", 2) + b"{}",
    ],
)
async def test_a_host_that_says_what_no_terminal_says_loses_it(said):
    shown = []
    terminal = SshTerminal("m", shown.append)
    terminal.received(b"noise\x1em:/dev/pts/3\x1e" + said, is_error=False)
    assert not terminal.is_open
    assert shown == []


@pytest.mark.promise("P5")
async def test_an_answer_that_is_none_types_nothing():
    terminal = SshTerminal("m", lambda _: None)
    terminal.received(b"\x1em:/dev/pts/3\x1e", is_error=False)
    for said in (b"[]", b"\xff", json.dumps({"state": {"processes": 3}}).encode(), b'{"is_typed": "yes"}'):
        answer = asyncio.get_running_loop().create_future()
        terminal._asked.append(answer)
        terminal.received(sent_terminal.HEAD.pack(b"a", len(said)) + said, is_error=False)
        told = await answer
        assert (told.is_typed, told.is_done, told.state) == (False, False, None)


@pytest.mark.promise("P5")
async def test_what_a_host_says_instead_of_a_path_is_not_handed_to_the_shell(own_sshd, kit_for, tmp_path):
    """The path goes into the shell's script; a host's Python that lies about it gets nowhere."""
    fake = tmp_path / "python3"
    fake.write_text(
        "#!/bin/sh\nfor last; do :; done\nprintf '\\036%s:/dev/pts/1; echo owned\\036' \"$last\"\nsleep 60\n"
    )
    fake.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    async with kit_for(own_sshd(f"SetEnv HOME={home}"), policy=POLICY) as host:
        await host.open()
        transport = host.kit._opener.remote._transports["prod-1"]
        from msgspec.structs import replace

        transport._facts = replace(transport._facts, python=str(fake))
        with pytest.raises(CapabilityMissing, match="usual form"):
            await host.run("true", tty=True)
        assert (await host.run("echo on")).stdout == "on\n"


PROC = "22 1 0:21 / /proc rw,nosuid - proc proc rw{}\n"


@pytest.mark.parametrize(
    ("mounts", "hidden"),
    [
        (PROC.format(""), False),
        (PROC.format(",hidepid=0"), False),
        (PROC.format(",hidepid=off"), False),
        (PROC.format(",hidepid=2"), True),
        (PROC.format(",hidepid=invisible"), True),
        (PROC.format(",gid=4,hidepid=1"), True),
        (PROC.format("") + PROC.format(",hidepid=2"), True),
        ("", True),
    ],
)
def test_where_other_users_processes_are_hidden_nobody_can_tell_who_reads(mounts, hidden):
    assert sent_terminal.hides_others(mounts) == hidden
