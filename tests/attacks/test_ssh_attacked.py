"""What an agent tries in a session on another host, and what a host tries."""

import asyncio

import pytest

from execkit_mcp.errors import CapabilityMissing
from execkit_mcp.model import Status
from execkit_mcp.runtime.remote_driver import RemoteDriver
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.transports.ssh.target import target_from
from execkit_mcp.transports.ssh.transport import SshTransport
from tests.ssh.conftest import kit_for, own_sshd, sshd

__all__ = ["kit_for", "own_sshd", "sshd"]

pytestmark = pytest.mark.promise("P1")


async def test_an_end_that_is_forged_in_the_output_is_output(sshd, kit_for):
    forged = (
        "printf '\\036%s%s\\000%s\\000%s\\000\\035%s\\n' 0123456789abcdef R 0 /tmp 0123456789abcdef; "
        "printf '\\036%s%s\\000%s\\000\\035%s\\n' 0123456789abcdef S /tmp 0123456789abcdef >&2; sleep 0.3; false"
    )
    async with kit_for(sshd) as host:
        opened = await host.open()
        result = await host.run(forged)
        assert (result.exit_code, result.cwd) == (1, opened["cwd"])
        assert "0123456789abcdefR" in result.stdout
        assert "0123456789abcdefS" in result.stderr
        assert (await host.run("pwd")).cwd != "/tmp"


async def test_the_nonces_of_a_session_are_not_in_what_a_command_sees(sshd):
    transport = SshTransport(target_from("t", sshd.options_for()), {})
    driver = await RemoteDriver.open(
        transport, env={"PATH": "/usr/bin:/bin"}, cwd="/", clock=SystemClock(), entropy=SystemEntropy()
    )
    out = bytearray()
    await driver.run("env; set; cat /proc/self/cmdline", sink=lambda _stream, data: out.extend(data))
    for nonce in driver._machine.nonces - {driver._machine._shell_nonce}:
        assert nonce.encode() not in out
    await driver.close()
    await transport.aclose()


async def test_a_link_that_appears_between_two_commands_is_seen(sshd, kit_for, tmp_path):
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.write_text("fine\n")
    folder.mkdir()
    (folder / "shadow").write_text("fine\n")
    async with kit_for(sshd) as host:
        await host.open()
        assert (await host.run(f"cat {file} {folder}/shadow")).stdout == "fine\nfine\n"
        file.unlink()
        file.symlink_to("/etc/shadow")
        (folder / "shadow").unlink()
        folder.rmdir()
        folder.symlink_to("/etc")
        for command in (f"cat {file}", f"cat {folder}/shadow", f"cat {folder}/s*", f"cd {tmp_path}; cat fil*"):
            assert (await host.run(command)).status is Status.DENIED, command


async def test_where_the_shell_stands_is_what_its_host_says_not_what_it_says_itself(sshd, kit_for, tmp_path):
    inside = tmp_path / "etc"
    inside.symlink_to("/etc")
    async with kit_for(sshd) as host:
        await host.open()
        assert (await host.run(f"cd {inside}")).cwd == "/etc"
        assert (await host.run("cat shadow")).status is Status.DENIED
        assert (await host.run("cat ./../etc/shadow")).status is Status.DENIED


async def test_killing_our_control_shell_frees_no_command_from_its_time(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        pid = int(await host.kit._opener.remote._transports["prod-1"]._control.ask("echo $$"))
        async with asyncio.timeout(40):
            result = await host.run(f"kill -9 {pid}; sleep 60", timeout_s=0.5)
        assert result.status in {Status.TIMED_OUT, Status.LOST}
        assert (await host.run("echo on")).stdout == "on\n"


async def test_what_runs_there_never_runs_here(sshd, kit_for, tmp_path):
    async with kit_for(sshd) as host:
        await host.open()
        with pytest.raises(CapabilityMissing):
            await host.run(f"echo x > {tmp_path}/file", durable=True)
        assert not (tmp_path / "file").exists()
        decision, _ = await host.kit.explain("cat ~/.ssh/id_ed25519", requester="test")
        assert decision.verdict.word == "deny"


async def test_names_of_files_are_words_to_our_own_shell_on_the_host(sshd, kit_for, tmp_path):
    trap = tmp_path / "trap"
    names = [f"$(touch {trap})", f"`touch {trap}`", f"'; touch {trap}; '", "a\nb", "-n", "* ?", "\\"]
    for number, name in enumerate(names):
        folder = tmp_path / f"d{number}"
        folder.mkdir()
        if "/" not in name:
            (folder / name).write_text("content\n")
    async with kit_for(sshd) as host:
        await host.open()
        for number, name in enumerate(names):
            quoted = "'" + name.replace("'", "'\\''") + "'"
            await host.run(f"cat -- {tmp_path}/d{number}/{quoted}")
            await host.run(f"cat -- {tmp_path}/d{number}/*")
        assert not trap.exists()
        assert (await host.run(f"cat {tmp_path}/d3/*")).stdout == "content\n"


async def test_a_host_that_floods_instead_of_a_shell_costs_no_memory_and_no_time(own_sshd, kit_for, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("while :; do printf %065536d 0; done\n")
    server = own_sshd(f"SetEnv HOME={home}")
    transport = SshTransport(target_from("t", server.options_for(open_timeout_s=1)), {})
    with pytest.raises(Exception, match=r"answer|lost|shell"):
        await transport.ready()
    await transport.aclose()
