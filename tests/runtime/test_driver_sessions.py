"""Real bash behind the driver; every wait is bounded."""

import asyncio
import secrets
import time

import pytest

from execkit_mcp.errors import CommandInvalid, SessionBusy, SessionClosed
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.transports.base import ShellReport
from execkit_mcp.transports.local import LocalTransport

LIMIT_S = 20
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TERM": "dumb"}


class RealClock:
    def monotonic_s(self):
        return time.monotonic()

    def epoch_s(self):
        return time.time()


class RealEntropy:
    token_hex = staticmethod(secrets.token_hex)
    token_bytes = staticmethod(secrets.token_bytes)


class Shell:
    def __init__(self, driver, transport):
        self.driver, self.transport = driver, transport
        self.out = {}

    async def run(self, command, **options):
        out = self.out = {"stdout": bytearray(), "stderr": bytearray(), "tty": bytearray()}
        return await asyncio.wait_for(
            self.driver.run(command, sink=lambda name, data: out[name].extend(data), **options), LIMIT_S
        )

    async def says(self, command, **options):
        await self.run(command, **options)
        return self.out["stdout"].decode()


@pytest.fixture
async def shell(tmp_path):
    transport = LocalTransport()
    driver = await Driver.open(transport, env=ENV, cwd=str(tmp_path), clock=RealClock(), entropy=RealEntropy())
    yield Shell(driver, transport)
    await driver.close()
    await transport.close()


async def test_state_lasts_over_a_thousand_commands(shell):
    await shell.run("cd /usr; x=5; umask 027; f() { echo f; }")
    for number in range(1000):
        completion = await shell.run(f"n={number}")
        assert completion.exit_code == 0
    assert await shell.says("pwd; echo $x $n; umask; f") == "/usr\n5 999\n0027\nf\n"


async def test_streams_are_separate_and_codes_are_exact(shell):
    completion = await shell.run("echo out; echo err >&2; (exit 3) | true | (exit 4)")
    assert (completion.exit_code, completion.pipe_status) == (4, (3, 0, 4))
    assert (bytes(shell.out["stdout"]), bytes(shell.out["stderr"])) == (b"out\n", b"err\n")
    assert await shell.says("echo $?") == "4\n"


async def test_the_history_begins_empty(shell):
    assert await shell.says("history; fc -l") == ""


async def test_a_flood_is_counted_to_the_byte_in_bounded_chunks(shell):
    sizes = []
    await asyncio.wait_for(
        shell.driver.run("head -c 50000000 /dev/zero", sink=lambda _, data: sizes.append(len(data))), LIMIT_S
    )
    assert sum(sizes) == 50_000_000
    assert max(sizes) <= 1 << 18


@pytest.mark.parametrize(
    ("command", "tty", "used"),
    [
        ("sleep 60", False, ("SIGINT",)),
        (
            "python3 -c 'import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(60)'",
            False,
            ("SIGINT", "SIGTERM"),
        ),
        ("cat", True, ("SIGINT",)),
        ("while :; do :; done", False, ("SIGINT",)),
        ("stty raw -isig; cat", True, ("SIGINT",)),
    ],
)
async def test_a_timeout_ends_the_command_and_keeps_the_state(shell, command, tty, used):
    await shell.run("x=kept")
    pid = shell.driver.pid
    completion = await shell.run(command, tty=tty, timeout_s=1.0)
    assert completion.is_timed_out
    assert completion.interrupted_with == used
    assert await shell.says("echo $x") == "kept\n"
    assert shell.driver.pid == pid


@pytest.mark.parametrize(
    ("command", "code", "name"),
    [("exit 7", 7, None), ("set -e; false", 1, None), ("kill -9 $$", 137, "SIGKILL")],
)
async def test_a_shell_that_ends_is_replaced_and_the_result_says_so(shell, command, code, name):
    await shell.run("cd /usr; x=5; export y='a b'; umask 027; shopt -s dotglob; f() { echo f$x; }")
    taken = asyncio.get_running_loop().time() + 5
    while shell.driver._machine._snapshot is None or shell.driver._machine._snapshot.cwd != "/usr":
        assert asyncio.get_running_loop().time() < taken
        await asyncio.sleep(0)
    completion = await shell.run(f"echo before; {command}")
    assert (completion.exit_code, completion.signal) == (code, name)
    assert completion.is_shell_replaced
    assert completion.is_state_restored
    assert "replaced" in completion.warnings[0]
    assert shell.out["stdout"] == b"before\n"
    assert completion.cwd == "/usr"
    assert await shell.says("f; sh -c 'echo $y'; umask; shopt dotglob") == "f5\na b\n0027\ndotglob        \ton\n"


async def test_a_background_job_that_holds_stdout_does_not_hang_and_keeps_its_own_sink(shell, tmp_path):
    gate = tmp_path / "gate"
    completion = await shell.run(f"mkfifo {gate}; (read x <{gate}; echo late) & echo now")
    mine = shell.out
    assert mine["stdout"] == b"now\n"
    assert completion.background_pids
    assert await shell.says(f"echo go >{gate}; wait; echo other") == "other\n"
    for _ in range(1000):
        if mine["stdout"] == b"now\nlate\n":
            break
        await asyncio.sleep(0)
    assert mine["stdout"] == b"now\nlate\n"


async def test_stdin_of_any_size_and_content_arrives(shell):
    data = bytes(range(256)) * 4096
    await shell.run("cat", stdin=data)
    assert bytes(shell.out["stdout"]) == data
    assert await shell.says("cat; echo end") == "end\n"


async def test_a_command_that_stops_itself_is_completed_and_its_job_is_named(shell):
    completion = await shell.run("sh -c 'kill -STOP $$'")
    assert (completion.exit_code, completion.signal) == (147, "SIGSTOP")
    assert "kill -STOP" in (completion.stopped_job or "")
    assert "job" in completion.warnings[0]
    assert await shell.says("kill -9 %1; echo on") == "on\n"


async def test_a_timeout_spares_background_jobs_and_ends_what_was_daemonised(shell):
    await shell.run("sleep 71 & old=$!")
    completion = await shell.run("sleep 72 & own=$!; setsid -f sleep 73; sleep 74", timeout_s=0.5)
    assert completion.is_timed_out
    assert await shell.says("kill -0 $old && kill -0 $own && echo both") == "both\n"
    assert "sleep 73" not in await shell.says("ps -eo args --no-headers --ppid $$ ; ps -o args --ppid $$")


async def test_keys_reach_a_command_on_the_terminal(shell):
    task = asyncio.ensure_future(shell.run("read -r line; echo got $line", tty=True))
    while not shell.driver.is_busy:  # noqa: ASYNC110 - turns of the loop, bounded
        await asyncio.sleep(0)
    shell.driver.send(b"hello\n")
    assert (await task).exit_code == 0
    assert b"got hello" in shell.out["tty"]


async def test_what_was_typed_before_a_command_is_not_for_it(shell):
    await shell.run("true", tty=True)
    shell.driver.send(b"early\n")
    task = asyncio.ensure_future(shell.run("read -r -t 1 line; echo got $line", tty=True))
    await task
    assert b"got early" not in shell.out["tty"]


async def test_modes_that_a_command_left_behind_are_not_the_next_ones(shell):
    await shell.run("stty -echo raw", tty=True)
    await shell.run("stty -a", tty=True)
    assert b" echo " in shell.out["tty"]
    assert b" icanon " in shell.out["tty"]


async def test_a_hidden_prompt_is_seen(shell):
    assert shell.driver.terminal() is None
    task = asyncio.ensure_future(shell.run("read -rs line; echo done", tty=True))
    until = asyncio.get_running_loop().time() + LIMIT_S
    while (seen := shell.driver.terminal()) is None or not seen.is_reading_password:
        assert asyncio.get_running_loop().time() < until
        await asyncio.sleep(0)
    shell.driver.send(b"hidden\n")
    assert (await task).exit_code == 0
    assert b"hidden" not in shell.out["tty"]


async def test_cancelling_the_call_interrupts_the_command(shell):
    await shell.run("x=1")
    task = asyncio.ensure_future(shell.run("sleep 60"))
    while not shell.driver.is_busy:  # noqa: ASYNC110 - turns of the loop, bounded
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, LIMIT_S)
    assert await shell.says("echo $x") == "1\n"


async def test_a_second_command_is_refused_while_one_runs(shell):
    task = asyncio.ensure_future(shell.run("cat", tty=True))
    while not shell.driver.is_busy:  # noqa: ASYNC110 - turns of the loop, bounded
        await asyncio.sleep(0)
    with pytest.raises(SessionBusy):
        await shell.driver.run("true", sink=lambda *_: None)
    shell.driver.interrupt()
    assert (await task).is_cancelled


async def test_nul_is_refused_before_anything_is_sent(shell):
    with pytest.raises(CommandInvalid):
        await shell.run("echo a\0b")
    assert await shell.says("echo ok") == "ok\n"


async def test_a_killed_keeper_loses_the_session_cleanly_and_the_next_one_opens(shell, tmp_path):
    import os
    import signal

    assert shell.transport.keeper_pid is not None
    task = asyncio.ensure_future(shell.run("sleep 60"))
    while not shell.driver.is_busy:  # noqa: ASYNC110 - turns of the loop, bounded
        await asyncio.sleep(0)
    os.kill(shell.transport.keeper_pid, signal.SIGKILL)
    completion = await asyncio.wait_for(task, LIMIT_S)
    assert completion.is_lost
    with pytest.raises(SessionClosed):
        await shell.run("true")
    again = await Driver.open(shell.transport, env=ENV, cwd=str(tmp_path), clock=RealClock(), entropy=RealEntropy())
    assert again.is_open
    await again.close()


async def test_a_job_that_ended_between_two_commands_says_nothing_in_the_second(shell):
    (running,) = (await shell.run("sleep 60 &")).background_pids
    (pid,) = (await shell.run("(sleep 0.01; exit 3) &")).background_pids
    deadline = time.monotonic() + 5
    while pid in shell.driver._channel.children():
        assert time.monotonic() < deadline
        await asyncio.sleep(0)
    await shell.run("/bin/true")
    assert shell.out["stderr"] == b""
    assert await shell.says(f"echo $?; wait {pid}; echo $?; jobs -p") == f"0\n3\n{running}\n"
    assert shell.out["stderr"] == b""


async def test_news_of_a_shell_that_was_let_go_harms_nobody(tmp_path):
    transport = LocalTransport()
    driver = await Driver.open(transport, env=ENV, cwd=str(tmp_path), clock=RealClock(), entropy=RealEntropy())
    await driver.close()
    for report in (ShellReport(kind="stopped"), ShellReport(kind="exited", code=0), ShellReport(kind="lost")):
        driver._on_report(report)
    await transport.close()


async def test_a_fault_of_our_own_protocol_ends_the_session_and_hangs_nobody(shell, monkeypatch, caplog):
    def broken(_data, _nonces):
        raise ValueError("a fault")

    monkeypatch.setattr(shell.driver._machine._parser, "push", broken)
    completion = await shell.run("echo x")
    assert completion.is_lost
    assert not shell.driver.is_open
    assert "a fault" in caplog.text
    with pytest.raises(SessionClosed):
        await shell.run("echo y")


async def test_a_closed_session_waits_for_no_moment_any_more(shell):
    await shell.run("echo x")
    await shell.driver.close()
    waiting = [handle for handle in asyncio.get_running_loop()._scheduled if not handle.cancelled()]
    assert not [handle for handle in waiting if "Driver" in repr(handle)]
