"""Terminals on a host: what ``tests/interaction`` shows of local ones, over a real sshd."""

import ast
import asyncio
import inspect
import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from execkit_mcp.errors import Blocked, CapabilityMissing
from execkit_mcp.fence import probe as probing
from execkit_mcp.model import Status
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest
from execkit_mcp.transports import seats
from execkit_mcp.transports.ssh import sent_terminal
from tests.ssh.proxy import Proxy

POLICY = """\
version: 1
name: screens
limits: {time_s: 60, background: allow}
shell: {state: [cd, export, read, exit, set, unset], env: {set: [GREETING]}}
paths: {write: [/tmp/**]}
rules:
  - allow: [ls, cat, echo, printf, sleep, seq, yes, head, "true", tput, printenv, tty, whoami, pwd, jobs]
  - {id: trusted, effects: trusted, allow: [bash, dash, sh, python3, less, vim, stty, setsid, kill]}
  - {id: never, deny: [rm], reason: Nothing is deleted here.}
"""


class Terminal:
    """One command on the host's terminal, driven as an agent does."""

    def __init__(self, host):
        self.host, self.exec_id = host, ""

    async def start(self, command, **arguments):
        arguments = {"wait_s": 0.05, **arguments}
        result = await self.host.kit.run(RunRequest(command=command, tty=True, **arguments), requester="test")
        self.exec_id = result.exec_id
        return result

    async def shows(self, pattern):
        request = ReadRequest(exec_id=self.exec_id, stream="screen", wait_for=pattern, wait_s=10)
        shown = await self.host.kit.read(request, requester="test")
        assert re.search(pattern, shown.text), shown.text
        return shown

    async def type(self, text=None, **options):
        request = SendRequest(exec_id=self.exec_id, text=text, **{"wait_s": 0.0, **options})
        return await self.host.kit.send(request, requester="test")

    async def ended(self):
        read = await self.host.kit.read(ReadRequest(exec_id=self.exec_id, wait_s=10), requester="test")
        assert read.status != "running"
        return read


@pytest.fixture
async def terminal(sshd, kit_for):
    async with kit_for(sshd, policy=POLICY) as host:
        await host.open(cols=120, rows=40)
        yield Terminal(host)


async def test_a_command_runs_on_a_terminal_and_the_session_keeps_its_state(terminal):
    run = terminal.host.run
    result = await run("cd /usr && export GREETING=kept; tty; tput cols; printenv TERM; whoami </dev/tty", tty=True)
    assert result.stdout.splitlines()[0].startswith("/dev/pts/")
    assert result.stdout.splitlines()[1:3] == ["120", "xterm-256color"]
    assert (result.status, result.exit_code, result.stderr) == (Status.COMPLETED, 0, "")
    assert (await run("pwd; echo $GREETING; tty")).stdout == "/usr\nkept\nnot a tty\n"
    assert (await run("sh -c 'exit 7'", tty=True)).exit_code == 7
    assert (await run("echo plain; echo err >&2")).stderr == "err\n"


async def test_an_editor_is_opened_used_and_left(terminal, tmp_path):
    if shutil.which("vim") is None:
        pytest.skip("vim is not installed here")
    file = tmp_path / "a.txt"
    file.write_text("".join(f"line {n} of the file\n" for n in range(1, 100)))
    await terminal.start(f"vim -u NONE {file}")
    await terminal.shows("line 30 of the file")
    await terminal.type("ihello ")
    await terminal.type(key="escape")
    await terminal.shows("hello line 1")
    await terminal.type(":wq\n")
    await terminal.ended()
    assert file.read_text().startswith("hello line 1 ")


async def test_a_pager_takes_keys_and_follows_the_size(terminal, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("".join(f"line {n} of the file\n" for n in range(1, 500)))
    await terminal.start(f"less {file}")
    await terminal.shows("line 39 of the file")
    await terminal.type(" ")
    await terminal.shows("line 78 of the file")
    await terminal.type(cols=80, rows=20)
    await terminal.type("1g")
    assert "line 20 of" not in (await terminal.shows("line 19 of the file")).text
    await terminal.type("q")
    await terminal.ended()


async def test_a_python_prompt_computes_and_is_left_with_ctrl_d(terminal):
    await terminal.start("python3 -q")
    await terminal.shows(">>>")
    assert "42" in (await terminal.type("6*7\n", wait_for=r"\n42", wait_s=10)).text
    await terminal.type(key="ctrl-d")
    assert (await terminal.ended()).exit_code == 0


async def test_what_is_typed_at_a_shells_prompt_is_judged(terminal):
    await terminal.start("bash --norc -i")
    await terminal.shows(r"\$|#")
    with pytest.raises(Blocked, match="Nothing is deleted"):
        await terminal.type("rm -rf /tmp/x\n")
    sent = await terminal.type("echo $((6*7))\n", wait_for=r"\n42", wait_s=10)
    assert "42" in sent.text
    await terminal.type(key="ctrl-d")
    await terminal.ended()
    assert "exec.typed" in terminal.host.record()


async def test_a_password_is_typed_by_nobody_but_the_operator(terminal):
    await terminal.start("python3 -c 'import getpass; print(len(getpass.getpass()))'")
    await terminal.shows("Password:")
    with pytest.raises(Blocked, match="password"):
        await terminal.type("guessed\n")
    await terminal.type(key="ctrl-c")
    await terminal.ended()
    assert (await terminal.host.run("echo on", tty=True)).stdout == "on\n"


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60",
        "bash --norc -i",
        "python3 -c 'import signal,time; signal.signal(2,signal.SIG_IGN); time.sleep(60)'",
        "bash --norc -ic 'sleep 60 | cat'",
        "read x",
        "yes",
    ],
)
async def test_a_timeout_ends_it_and_the_terminal_serves_the_next(terminal, command):
    await terminal.host.run("cd /usr")
    result = await terminal.host.run(command, tty=True, timeout_s=0.7)
    assert result.status is Status.TIMED_OUT
    after = await terminal.host.run("pwd; stty -a", tty=True)
    assert after.stdout.startswith("/usr\n")
    assert " echo " in after.stdout.replace(";", " ")
    assert " icanon " in after.stdout
    await terminal.start("python3 -c 'print(input())'")
    await terminal.type("yes\n", wait_for="yes\nyes", wait_s=10)
    assert (await terminal.ended()).text.endswith("yes\nyes\n")


async def test_a_key_reaches_what_is_in_front_however_early_it_is_sent(terminal):
    await terminal.start("sleep 60", wait_s=0)
    await terminal.type(key="ctrl-c")
    assert (await terminal.ended()).exit_code == 130


async def test_nothing_is_left_when_the_session_closes(terminal, tmp_path):
    pids = tmp_path / "pids"
    await terminal.start(f"bash -c 'echo $$ >{pids}; setsid sleep 3456 & echo $! >>{pids}; tty; exec sleep 3457'")
    await terminal.shows("/dev/pts")
    before = _terminal_programs()
    assert before
    await terminal.host.kit.close_session("main", requester="test")
    await _until_gone([int(word) for word in pids.read_text().split()] + before)


async def test_a_cut_link_leaves_no_terminal_behind(own_sshd, kit_for, tmp_path):
    server = own_sshd()
    async with Proxy(server.port) as proxy, kit_for(server, policy=POLICY, port=proxy.port, keepalive_s=1,
                                                    fingerprint=server.fingerprint) as host:  # fmt: skip
        await host.open()
        terminal = Terminal(host)
        pids = tmp_path / "pids"
        await terminal.start(f"bash -c 'echo $$ >{pids}; tty; sleep 3458'")
        await terminal.shows("/dev/pts")
        left = [int(pids.read_text()), *_terminal_programs()]
        proxy.cut()
        read = await terminal.ended()
        assert (read.status, read.exit_code) == ("lost", None)
        await _until_gone(left, 20)
        proxy.mend()
        result = await host.run("cd / && tty", tty=True)
        assert result.stdout.startswith("/dev/pts/")
        assert any("made anew" in warning for warning in result.warnings)


async def test_a_shell_that_ends_on_a_terminal_is_replaced_with_its_state(terminal):
    result = await terminal.host.run("cd /usr && export GREETING=kept; echo last words; exit 7", tty=True)
    assert (result.exit_code, result.stdout) == (7, "last words\nexit\n")
    assert any("options were restored. Its" in warning for warning in result.warnings)
    assert (await terminal.host.run("printenv TERM")).stdout == "dumb\n"
    assert (await terminal.host.run("echo $PWD $GREETING; tty", tty=True)).stdout.startswith("/usr kept\n/dev/pts/")


async def test_a_terminal_that_is_ended_from_below_costs_the_command_not_the_session(terminal):
    await terminal.start("echo begun; sleep 60")
    await terminal.shows("begun")
    (program,) = _terminal_programs()
    os.kill(program, signal.SIGKILL)  # which hangs the terminal up
    assert (await terminal.ended()).exit_code == 129
    assert (await terminal.host.run("tty", tty=True)).stdout.startswith("/dev/pts/")


async def test_a_background_job_lives_on_through_commands_on_the_terminal(terminal):
    pid = int((await terminal.host.run("sleep 4567 & echo $!")).stdout)
    assert (await terminal.host.run("tty", tty=True)).exit_code == 0
    assert (await terminal.host.run("sleep 60", tty=True, timeout_s=0.5)).status is Status.TIMED_OUT
    assert _is_alive(pid)


@pytest.mark.parametrize("tty", [False, True])
async def test_a_shell_that_is_stopped_goes_on_and_says_so(terminal, tty):
    result = await terminal.host.run("kill -STOP $$; echo on", tty=tty, timeout_s=20)
    assert (result.status, result.stdout) == (Status.COMPLETED, "on\n")
    assert any("was stopped by a signal and was continued" in warning for warning in result.warnings)


async def test_what_bash_says_of_its_terminal_is_not_the_commands_output(terminal):
    result = await terminal.host.run("echo begun; bash -c 'trap \"\" INT TERM; sleep 60'", tty=True, timeout_s=0.5)
    assert (result.status, result.stdout) == (Status.TIMED_OUT, "begun\n")


async def test_what_would_stop_the_session_is_refused(terminal):
    await terminal.start("sleep 60")
    for request in ({"key": "ctrl-z"}, {"signal": "STOP"}):
        with pytest.raises(CapabilityMissing, match="job control"):
            await terminal.type(**request)
    await terminal.type(signal="TERM")
    await terminal.ended()


async def test_a_flood_on_the_terminal_ends_with_its_last_byte(terminal):
    result = await terminal.host.run("seq 200000; echo end of it", tty=True, max_output=1000)
    assert result.stdout.endswith("200000\nend of it\n")
    assert result.truncated["stdout"].total_lines == 200_001


@pytest.mark.parametrize("shell", ["dash", "ash"])
async def test_lesser_shells_have_a_terminal_too(sshd, kit_for, shell):
    async with kit_for(sshd, policy=POLICY, shell=shell) as host:
        try:
            await host.open()
        except CapabilityMissing as error:
            pytest.skip(error.message)
        terminal = Terminal(host)
        await terminal.start("cd /usr && tty && printenv TERM && python3 -c 'print(input())'")
        await terminal.shows(r"/dev/pts/\d+\nxterm-256color")
        await terminal.type("yes\n", wait_for="yes\nyes", wait_s=10)
        assert (await terminal.ended()).exit_code == 0
        assert (await host.run("pwd")).stdout == "/usr\n"
        assert (await host.run("sleep 60", tty=True, timeout_s=0.5)).status is Status.TIMED_OUT
        assert (await host.run("tty", tty=True)).stdout.startswith("/dev/pts")


async def test_what_a_host_lacks_for_a_terminal_is_said(own_sshd, kit_for, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    async with kit_for(own_sshd(f"SetEnv HOME={home}"), policy=POLICY, shell="zsh") as host:
        try:
            opened = await host.open()
        except CapabilityMissing as error:
            pytest.skip(error.message)
        assert "tty" not in opened["capabilities"]
        with pytest.raises(CapabilityMissing, match="a session of zsh takes none"):
            await host.run("true", tty=True)
        assert (await host.run("echo on")).stdout == "on\n"


async def test_a_session_whose_shell_leads_nothing_says_that_it_can_take_no_terminal(own_sshd, kit_for, tmp_path):
    (tmp_path / "wrap").write_text('#!/bin/sh\nsh -c "$SSH_ORIGINAL_COMMAND"\nexit $?\n')
    (tmp_path / "wrap").chmod(0o755)
    async with kit_for(own_sshd(f"ForceCommand {tmp_path}/wrap"), policy=POLICY) as host:
        await host.open()
        with pytest.raises(CapabilityMissing, match="something stands between"):
            await host.run("true", tty=True)
        assert (await host.run("echo on")).stdout == "on\n"


async def test_a_server_that_gives_no_terminals_and_few_channels_is_enough(own_sshd, kit_for):
    async with kit_for(own_sshd("PermitTTY no", "MaxSessions 1"), policy=POLICY) as host:
        await host.open()
        assert (await host.run("tty", tty=True)).stdout.startswith("/dev/pts/")


async def test_a_fenced_session_has_a_terminal(sshd, kit_for):
    async with kit_for(sshd, policy=POLICY, fence="auto") as host:
        opened = await host.open()
        if not {"landlock", "seccomp"} <= probing.probe().has:
            pytest.skip(f"this kernel gives no fence: {probing.probe().lacking}")
        assert opened["fence"]["level"] == "process", opened["fence"]
        result = await host.run("tty", tty=True)
        assert result.stdout.startswith("/dev/pts/")
        assert result.fence.level == "process"


def _terminal_programs():
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                mark = b"EXECKIT_MARK=" in (folder / "environ").read_bytes()
            except OSError:
                continue
            if mark and words[1:4] == [b"-I", b"-S", b"-c"] and words[4].startswith(b"import base64"):
                found.append(int(folder.name))
    return found


def _is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def _until_gone(pids, timeout_s=10.0):
    async with asyncio.timeout(timeout_s):
        while any(_is_alive(pid) for pid in pids):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


async def test_two_sessions_on_one_host_have_terminals_of_their_own(terminal):
    host = terminal.host
    await host.open("other")
    other = Terminal(host)
    await terminal.start("python3 -q")
    await other.start("python3 -q", session="other")
    for each, text in ((terminal, "6*7"), (other, "6*8")):
        await each.shows(">>>")
        await each.type(f"{text}\n")
    assert "48" not in (await terminal.shows("\n42")).text
    assert "42" not in (await other.shows("\n48")).text


async def test_latency_costs_time_and_nothing_else(own_sshd, kit_for):
    server = own_sshd()
    async with (
        Proxy(server.port, delay_s=0.15) as proxy,
        kit_for(server, policy=POLICY, port=proxy.port, fingerprint=server.fingerprint) as host,
    ):
        await host.open()
        terminal = Terminal(host)
        await terminal.start("cd /usr && python3 -c 'print(input())'")
        await terminal.type("yes\n", wait_for="yes\nyes", wait_s=10)
        assert (await terminal.ended()).text == "yes\nyes\n"
        await terminal.start("sleep 60")
        await terminal.type(key="ctrl-c")
        assert (await terminal.ended()).exit_code == 130


@pytest.mark.parametrize("module", [seats, sent_terminal])
def test_what_is_sent_can_be_read_by_an_older_python(module):
    ast.parse(inspect.getsource(module), feature_version=(3, 8))
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Import):
            assert {each.name.partition(".")[0] for each in node.names} <= sys.stdlib_module_names
        elif isinstance(node, ast.ImportFrom) and node.module != "execkit_mcp.transports.seats":
            assert (node.module or "").partition(".")[0] in sys.stdlib_module_names
