"""Sessions on hosts without bash, or whose operator has chosen another shell: dash, busybox ash, zsh."""

import shutil

import pytest

from execkit_mcp.errors import CapabilityMissing
from execkit_mcp.model import Status
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest
from execkit_mcp.transports.ssh import probe
from execkit_mcp.transports.ssh.check import check_target
from execkit_mcp.transports.ssh.target import target_from

NEEDS = {"dash": "dash", "ash": "busybox", "zsh": "zsh"}


@pytest.fixture(params=NEEDS)
def shell(request):
    if shutil.which(NEEDS[request.param]) is None:
        pytest.skip(f"no {NEEDS[request.param]} on this machine (.ci/setup installs it where it is root)")
    return request.param


async def test_a_session_says_its_shell_and_keeps_folder_and_exported_variables(sshd, kit_for, shell):
    async with kit_for(sshd, shell=shell) as host:
        opened = await host.open()
        assert opened["shell"] == shell
        assert (await host.run("cd /etc && export GREETING='hello  you'; false")).exit_code == 1
        result = await host.run('echo $?; pwd; echo "$GREETING" $GREETING; echo oops >&2')
        assert result.stdout == "1\n/etc\nhello  you hello you\n"
        assert (result.stderr, result.cwd) == ("oops\n", "/etc")
        assert (await host.run(r"echo 'a\tb'; echo -e 'a\tb'; echo -n x")).stdout == "a\\tb\na\tb\nx"


async def test_a_shell_that_ends_is_replaced_with_what_it_can_tell(sshd, kit_for, shell):
    async with kit_for(sshd, shell=shell) as host:
        await host.open()
        await host.run("cd /etc && export GREETING=hello")
        result = await host.run("exit 7")
        assert (result.exit_code, result.cwd) == (7, "/etc")
        assert "only the exported ones" in " ".join(result.warnings)
        assert (await host.run("pwd; echo $GREETING")).stdout == "/etc\nhello\n"


@pytest.mark.parametrize(
    "command", ["sleep 60", "python3 -c 'import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(60)'"]
)
async def test_a_timeout_ends_the_command_and_keeps_the_session(sshd, kit_for, shell, command):
    async with kit_for(sshd, shell=shell) as host:
        await host.open()
        await host.run("cd /etc")
        assert (await host.run(command, timeout_s=0.3)).status is Status.TIMED_OUT
        assert (await host.run("pwd; echo on")).stdout == "/etc\non\n"


async def test_an_interrupted_shell_that_drops_its_input_is_asked_again_at_once_and_nobody_is_blamed(
    sshd, kit_for, shell
):
    async with kit_for(sshd, shell=shell) as host:
        await host.open()
        result = await host.run("sleep 60", timeout_s=0.2)
        assert result.exit_code == 130
        assert host.kit._ledger.get(result.exec_id, "test").completion.interrupted_with == ("SIGINT",)
        running = await host.kit.run(RunRequest(command="sleep 60", wait_s=0.2), requester="test")
        await host.kit.send(SendRequest(exec_id=running.exec_id, key="ctrl-c", wait_s=0), requester="test")
        read = await host.kit.read(ReadRequest(exec_id=running.exec_id, wait_s=10), requester="test")
        assert (read.status, read.exit_code) == ("completed", 130)
        assert host.kit._ledger.get(running.exec_id, "test").completion.warnings == ()
        assert (await host.run("echo on")).stdout == "on\n"


@pytest.mark.parametrize("command", [": x </nowhere; echo on", "cd /nowhere; echo on", "ls /nowhere; echo on"])
async def test_an_error_within_a_text_ends_nothing(sshd, kit_for, shell, command):
    async with kit_for(sshd, shell=shell) as host:
        await host.open()
        result = await host.run(command)
        if result.status is not Status.DENIED:  # the redirect of a special builtin is one of the things left out
            assert result.stdout == "on\n"
        assert (await host.run("echo still")).stdout == "still\n"


async def test_standard_input_is_a_here_document_and_what_it_cannot_hold_is_refused(sshd, kit_for, shell):
    async with kit_for(sshd, shell=shell) as host:
        await host.open()
        for text in ("", "a b\n$x `y` \\n 'q'\n", "line\n" * 20_000):
            assert (await host.run("cat", stdin=text, max_output=200_000)).stdout == text
        for text in ("no end", "nul\0\n"):
            with pytest.raises(CapabilityMissing, match="line break at its end"):
                await host.run("cat", stdin=text)
        assert (await host.run("echo on")).stdout == "on\n"


@pytest.mark.promise("P1")
@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("[[ a == a ]]", "[["),
        ("cat <(ls)", "process substitution"),
        ("sleep 1 &", "background job"),
        ("echo $RANDOM", "RANDOM"),
        ("GREETING+=x", "+="),
        ("ls ~root", "~root"),
        ("cat <<< x", "<<<"),
    ],
)
async def test_what_means_something_else_there_is_refused_by_name(sshd, kit_for, shell, command, named):
    async with kit_for(sshd, shell=shell) as host:
        await host.open()
        result = await host.run(command)
        assert result.status is Status.DENIED
        assert named in result.decision.message
        assert shell in result.decision.message or result.decision.rule == "never"


async def test_a_flood_and_binary_output_come_whole(sshd, kit_for, shell):
    async with kit_for(sshd, shell=shell) as host:
        await host.open()
        result = await host.run("yes | head -c 3000000", max_output=100)
        assert result.truncated["stdout"].total_bytes == 3_000_000
        assert (await host.run("head -c 100 /dev/urandom | wc -c")).stdout.strip() == "100"


async def test_the_check_of_a_target_says_which_shell_it_found(sshd, shell):
    rows = {row.step: row for row in await check_target(target_from("t", sshd.options_for(shell=shell)), {})}
    assert rows["shell"].is_ok
    assert rows["shell"].found.startswith(shell)


async def test_a_shell_that_was_asked_for_and_is_not_there_is_named(sshd, kit_for, monkeypatch):
    monkeypatch.setitem(probe._QUESTIONS, "ash", "true")
    async with kit_for(sshd, shell="ash") as host:
        with pytest.raises(CapabilityMissing, match=r"has no ash \(it has bash"):
            await host.open()
