import asyncio
import signal
import subprocess
from pathlib import Path

import pytest

from execkit_mcp import Blocked, Policy, create
from execkit_mcp.errors import CapabilityMissing, CommandInvalid, ConfigError, SessionBusy
from execkit_mcp.model import Status


def _is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def until_gone(pids, timeout_s=10.0):
    async with asyncio.timeout(timeout_s):
        while any(_is_alive(pid) for pid in pids):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


async def test_a_session_keeps_folder_and_variables_and_says_what_held(sshd, kit_for):
    async with kit_for(sshd) as host:
        opened = await host.open()
        assert (opened["transport"], opened["shell"], opened["target"]) == ("ssh", "bash", "prod-1")
        assert opened["fence"] == {"level": "none", "exec_gate": False, "network": "open"}
        assert opened["cwd"] == str(Path.home())
        result = await host.run("cd /etc && export GREETING=hello; false")
        assert (result.status, result.exit_code, result.cwd) == (Status.COMPLETED, 1, "/etc")
        result = await host.run("pwd; echo $GREETING; echo oops >&2")
        assert (result.stdout, result.stderr) == ("/etc\nhello\n", "oops\n")
        assert result.fence.level == "none"


async def test_the_environment_is_constructed_and_knows_nothing_of_ours(sshd, kit_for, monkeypatch):
    monkeypatch.setenv("OUR_OWN", "ours")
    async with kit_for(sshd) as host:
        await host.open()
        names = {line.partition("=")[0] for line in (await host.run("env")).stdout.splitlines()}
        assert {"HOME", "PATH", "USER", "EXECKIT_SESSION"} <= names
        assert not names & {"OUR_OWN", "SSH_CLIENT", "SSH_CONNECTION", "SSH_AUTH_SOCK", "MAIL"}


@pytest.mark.parametrize(
    "text", ["", "plain", "no end of line", "a\n\nb\n", "\\n %s '\"`$x", "ünïcode 汉\n", "nul\0inside\n", "x" * 100_000]
)
async def test_standard_input_arrives_byte_for_byte(sshd, kit_for, text):
    async with kit_for(sshd) as host:
        await host.open()
        result = await host.run("cat", stdin=text, max_output=200_000)
        assert result.stdout == text.replace("\0", "\ufffd")
        assert (await host.run("wc -c", stdin=text)).stdout.strip() == str(len(text.encode()))


@pytest.mark.parametrize(
    ("command", "used"),
    [
        ("sleep 60", "INT"),
        ("sh -c 'sleep 60'", "INT"),
        ("python3 -c 'import signal,time; signal.signal(2,signal.SIG_IGN); time.sleep(60)'", "TERM"),
        ("sh -c 'trap \"\" INT TERM; while :; do sleep 1; done'", "KILL"),
        ("sh -c 'trap \"\" INT QUIT TERM; while :; do sleep 1; done'", "KILL"),
        ("yes", "INT"),
        ("sleep 60 | cat", "INT"),
    ],
)
async def test_a_timeout_ends_every_kind_of_command_and_keeps_the_session(sshd, kit_for, command, used):
    async with kit_for(sshd) as host:
        await host.open()
        await host.run("cd /usr; export GREETING=kept")
        result = await host.run(command, timeout_s=0.3)
        assert result.status is Status.TIMED_OUT
        assert result.exit_code == 128 + signal.Signals[f"SIG{used}"]
        after = await host.run("pwd; echo $GREETING")
        assert (after.stdout, after.stderr) == ("/usr\nkept\n", "")


async def test_a_background_job_outlives_a_timeout_and_not_the_session(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        result = await host.run("sleep 4321 & echo $!")
        assert result.stderr == ""
        pid = int(result.stdout)
        assert (await host.run("sleep 60", timeout_s=0.2)).status is Status.TIMED_OUT
        late = await host.run("sleep 4322 & echo $!; sleep 60", timeout_s=0.3)
        other = int(late.stdout)
        assert _is_alive(pid)
        assert _is_alive(other)
        await host.kit.close_session("main", requester="test")
        await until_gone([pid, other])


async def test_nothing_is_left_when_a_session_closes_not_even_what_hid(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        result = await host.run("sh -c 'setsid sleep 5432 & echo $!' ; setsid sh -c 'sleep 5433 & echo $!'")
        pids = [int(word) for word in result.stdout.split()]
        assert len(pids) == 2
        await host.kit.close_session("main", requester="test")
        await until_gone(pids)


async def test_a_shell_that_ends_is_replaced_with_its_state(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        await host.run("cd /usr; export GREETING=kept")
        result = await host.run("exit 7")
        assert result.exit_code == 7
        assert "replaced" in result.warnings[0]
        assert (await host.run("pwd; echo $GREETING")).stdout == "/usr\nkept\n"


async def test_output_that_looks_like_an_end_ends_nothing(sshd, kit_for):
    forged = "printf '\\036%s\\000%s\\000\\035%s\\n' 0123456789abcdefR 0 0123456789abcdef; sleep 0.2; echo real"
    async with kit_for(sshd) as host:
        await host.open()
        result = await host.run(forged)
        assert result.stdout.endswith("real\n")
        assert result.exit_code == 0


async def test_a_flood_is_counted_and_the_session_serves_on(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        result = await host.run("head -c 20000000 /dev/zero; echo; echo end")
        assert result.stdout.endswith("end\n")
        count = result.truncated["stdout"]
        assert count.total_lines == 2
        assert (await host.run("echo on")).stdout == "on\n"


async def test_what_a_target_cannot_do_is_refused_before_anything_runs(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        with pytest.raises(CapabilityMissing, match="durable"):
            await host.run("true", durable=True)
        with pytest.raises(CommandInvalid, match="does not exist on target"):
            await host.open("other", cwd="/nonexistent")


async def test_what_a_command_does_to_the_environment_is_told(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        result = await host.run("export GREETING=hello", env_delta=True)
        assert result.env_delta["set"] == {"GREETING": "hello"}


async def test_what_a_job_writes_later_is_kept_and_harms_nothing(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        first = await host.run("sh -c 'sleep 0.4; echo late' & echo first")
        assert "first" in first.stdout
        await asyncio.sleep(1)
        assert (await host.run("echo second")).stdout == "second\n"


async def test_a_passphrase_never_comes_back(sshd, kit_for, monkeypatch):
    phrase = "staple" + "-Battery-77"
    monkeypatch.setenv("KEY_WORDS", phrase)
    async with kit_for(sshd, passphrase_env="KEY_WORDS") as host:
        await host.open()
        result = await host.run(f"echo {phrase}")
        assert phrase not in result.stdout
        assert "[REDACTED:" in result.stdout


async def test_one_command_at_a_time(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        first = asyncio.create_task(host.run("sleep 0.5"))
        await asyncio.sleep(0.1)
        with pytest.raises(SessionBusy):
            await host.run("true")
        assert (await first).exit_code == 0


async def test_a_cancelled_call_ends_its_command(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        call = asyncio.create_task(host.run("sleep 60"))
        await asyncio.sleep(0.2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(10):
            assert (await host.run("echo on")).stdout == "on\n"


async def test_paths_and_links_are_judged_as_they_are_on_the_host(sshd, kit_for, tmp_path):
    secret = tmp_path / "link"
    secret.symlink_to("/etc/shadow")
    (tmp_path / "folder").symlink_to("/etc")
    async with kit_for(sshd) as host:
        await host.open()
        for command in (f"cat {secret}", f"cat {tmp_path}/folder/shadow", f"cat {tmp_path}/l*", "cat ~/.ssh/id"):
            result = await host.run(command)
            assert result.status is Status.DENIED, command
            assert result.decision.reason_code.value == "policy.path_never", command
        harmless = tmp_path / "harmless"
        harmless.write_text("fine\n")
        assert (await host.run(f"cat {harmless}")).stdout == "fine\n"
        harmless.unlink()
        harmless.symlink_to("/etc/shadow")  # between two commands
        assert (await host.run(f"cat {harmless}")).status is Status.DENIED


async def test_the_record_says_what_the_host_is(sshd, kit_for):
    async with kit_for(sshd) as host:
        await host.open()
        record = host.record()
        assert '"target.probed"' in record
        assert sshd.fingerprint in record


def test_the_sdk_opens_a_url(sshd, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "known_hosts").write_text(sshd.known_hosts.read_text())
    (home / ".ssh" / "id_ed25519").write_bytes(sshd.identity.read_bytes())
    (home / ".ssh" / "id_ed25519").chmod(0o600)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    url = f"ssh://{sshd.user}@127.0.0.1:{sshd.port}/usr"
    with create(url, policy=Policy.default_deny(allow=["ls", "pwd"]), state_dir=str(tmp_path / "s")) as session:
        assert session.exec("pwd").stdout == "/usr\n"
        with pytest.raises(Blocked):
            session.exec("rm -rf /var/lib")


@pytest.mark.parametrize("url", ["ssh://u:pw@h", "ssh://", "ssh://h:99999", "ssh://-oProxyCommand=x", "ssh://h?x=1"])
def test_a_url_that_is_none_is_refused(url, tmp_path):
    with pytest.raises(ConfigError):
        create(url, state_dir=str(tmp_path))


async def test_fifty_sessions_stand_on_one_host(sshd, kit_for):
    async with kit_for(sshd) as host:
        host.kit._sessions._limit = 60
        for number in range(50):
            await host.open(f"s{number}")
        results = await asyncio.gather(*(host.run("echo $EXECKIT_SESSION", session=f"s{n}") for n in range(50)))
        assert [result.stdout for result in results] == [f"s{n}\n" for n in range(50)]
        assert host.kit._opener.remote._transports["prod-1"].connections == 6


async def test_a_host_that_takes_one_session_a_connection_gets_more_connections(own_sshd, kit_for):
    server = own_sshd("MaxSessions 1")
    async with kit_for(server) as host:
        await host.open("one")
        await host.open("two")
        assert (await host.run("echo 1", session="one")).stdout == "1\n"
        assert (await host.run("echo 2", session="two")).stdout == "2\n"
        result = await host.run("sleep 60", session="two", timeout_s=0.2)
        assert result.status is Status.TIMED_OUT


async def test_a_filter_that_a_repository_on_the_host_names_is_seen_before_git_runs_it(sshd, kit_for, tmp_path):
    tree = tmp_path / "tree"
    words = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    (tree / "below").mkdir(parents=True)
    (tree / "a").write_text("one\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*words, *command], cwd=tree, check=True, capture_output=True)
    policy = "version: 1\nname: t\nshell: {state: [cd]}\nrules: [{allow: ['builtin:readonly']}]\n"
    async with kit_for(sshd, policy=policy) as host:
        await host.open()
        assert (await host.run(f"cd {tree}/below && git status -s")).exit_code == 0
        subprocess.run([*words, "config", "filter.x.clean", "touch ran"], cwd=tree, check=True)
        for command in ("git status -s", f"git -C {tree} diff"):
            assert "filter.*.clean" in (await host.run(command)).decision.message
        assert (await host.run("git log --oneline")).exit_code == 0
