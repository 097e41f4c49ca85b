import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from execkit_mcp.errors import ConnectFailed
from execkit_mcp.model import Status
from tests.conftest import ROOT
from tests.ssh.conftest import POLICY
from tests.ssh.proxy import Proxy


def _is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def until_gone(pids, timeout_s):
    async with asyncio.timeout(timeout_s):
        while any(_is_alive(pid) for pid in pids):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)


async def test_a_lost_link_loses_the_command_keeps_its_output_and_restores_the_session(sshd, kit_for):
    async with Proxy(sshd.port) as proxy:
        sshd.known_hosts.write_text(
            sshd.known_hosts.read_text() + sshd.known_hosts.read_text().replace(str(sshd.port), str(proxy.port))
        )
        async with kit_for(sshd, port=proxy.port) as host:
            await host.open()
            await host.run("cd /usr; export GREETING=kept")
            await asyncio.sleep(0.3)  # the state is taken while the session is idle
            call = asyncio.create_task(host.run("echo begun; echo $$; sleep 60"))
            await asyncio.sleep(0.5)
            proxy.drop()
            result = await call
            assert result.status is Status.LOST
            assert result.stdout.startswith("begun\n")
            assert result.exit_code is None
            assert any("lost" in each for each in result.warnings)
            shell = int(result.stdout.split()[1])
            after = await host.run("pwd; echo $GREETING; echo $$")
            assert after.status is Status.COMPLETED
            folder, greeting, fresh = after.stdout.split()
            assert (folder, greeting) == ("/usr", "kept")
            assert int(fresh) != shell
            assert any("made anew" in each and "Nothing was run again" in each for each in after.warnings)
            assert (await host.run("true")).warnings == ()
            await until_gone([shell], 10)


async def test_nothing_is_left_on_the_host_when_the_link_goes(own_sshd, kit_for):
    server = own_sshd()
    async with kit_for(server) as host:
        await host.open()
        result = await host.run("sleep 7001 & echo $!; setsid sleep 7002 & echo $!; sh -c 'sleep 7003 & echo $!'")
        pids = [int(word) for word in result.stdout.split()]
        assert len(pids) == 3
        assert all(map(_is_alive, pids))
        for pid in server.sessions():
            os.kill(pid, 9)
        await until_gone(pids, 10)


async def test_a_link_that_is_cut_without_a_word_is_found_and_leaves_nothing(own_sshd, kit_for):
    server = own_sshd()
    async with Proxy(server.port) as proxy:
        server.known_hosts.write_text(server.known_hosts.read_text().replace(str(server.port), str(proxy.port)))
        async with kit_for(server, port=proxy.port, keepalive_s=1) as host:
            await host.open()
            pid = int((await host.run("sleep 7004 & echo $!")).stdout)
            call = asyncio.create_task(host.run("sleep 60"))
            await asyncio.sleep(0.3)
            proxy.cut()
            begun = time.monotonic()
            result = await call
            assert result.status is Status.LOST
            assert time.monotonic() - begun < 2.5  # twice keepalive, and what a busy machine adds
            await until_gone([pid], 15)  # four times keepalive, and one second


async def test_a_host_that_is_away_is_an_error_and_comes_back(own_sshd, kit_for):
    server = own_sshd()
    async with kit_for(server, connect_timeout_s=2) as host:
        await host.open()
        await host.run("cd /usr")
        sessions = server.sessions()
        server.stop()
        for pid in sessions:
            os.kill(pid, 9)
        await host.until_unlinked()
        with pytest.raises(ConnectFailed, match="cannot be reached") as refused:
            await host.run("pwd")
        assert refused.value.retryable
        server.start()
        assert (await host.run("pwd")).stdout == "/usr\n"


async def test_latency_changes_nothing_but_time(own_sshd, kit_for):
    server = own_sshd()
    async with Proxy(server.port, delay_s=0.15) as proxy:
        server.known_hosts.write_text(server.known_hosts.read_text().replace(str(server.port), str(proxy.port)))
        async with kit_for(server, port=proxy.port) as host:
            await host.open()
            job = int((await host.run("sleep 7005 & echo $!")).stdout)
            for _ in range(2):
                result = await host.run("sleep 60", timeout_s=0.4)
                assert (result.status, result.exit_code) == (Status.TIMED_OUT, 130)
            assert (await host.run("echo out; echo err >&2; false")).exit_code == 1
            assert _is_alive(job)
            await host.run("cd /usr")
            assert (await host.run("pwd")).stdout == "/usr\n"


async def test_a_control_shell_that_is_killed_is_replaced(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        control = host.kit._opener.remote._transports["prod-1"]._control
        pid = int(await control.ask("echo $$"))
        result = await host.run(f"kill -9 {pid}; sleep 0.3; echo on")
        assert result.stdout == "on\n"
        result = await host.run("sleep 60", timeout_s=0.3)
        assert result.status in {Status.TIMED_OUT, Status.LOST}
        assert (await host.run("echo on")).stdout == "on\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_what_we_started_there_ends_with_us_however_we_end(sshd, tmp_path, number):
    config, policy = tmp_path / "config.yaml", tmp_path / "policy.yaml"
    config.write_text(sshd.yaml())
    policy.write_text(POLICY)
    for file in (config, policy):
        file.chmod(0o644)
    told = tmp_path / "pid"
    command = f"sh -c 'echo $$ > {told}; setsid sleep 7008 & exec sleep 7009'"
    ours = subprocess.Popen(  # noqa: ASYNC220 - nothing else runs
        [
            sys.executable, "-m", "execkit_mcp", "run", "--config", str(config), "--policy", str(policy),
            "--state-dir", str(tmp_path / "state"), "--target", "prod-1", "--", command,
        ],
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(40):
            while not (told.exists() and told.read_text().strip()):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.02)
        pid = int(told.read_text())
        others = _running(b"7008")
        assert _is_alive(pid)
        ours.send_signal(number)
        await until_gone([pid, *others], 10)
    finally:
        ours.kill()
        ours.wait(10)


def _running(word):
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and word in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found
