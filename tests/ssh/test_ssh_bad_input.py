"""What an operator, his ~/.ssh/config or his files may hold that leads nowhere: one clear error, in time."""

import asyncio
import os
import time

import pytest

from execkit_mcp.errors import ConfigError
from execkit_mcp.runtime.remote import passphrases
from execkit_mcp.transports.ssh.connect import connect
from execkit_mcp.transports.ssh.place import place_of
from execkit_mcp.transports.ssh.target import target_from
from tests.ssh.test_ssh_faults import failing
from tests.ssh.test_ssh_sessions import _is_alive

PLACE = {"host": "127.0.0.1", "port": 1, "user": "u", "ssh_config": "none"}


def _place(**options):
    return place_of(target_from("t", {**PLACE, **options}))


@pytest.mark.parametrize(
    "host",
    ["prod\x1b[31m", "a\nb", "a b", "a..b", ".", "", "x" * 64 + ".org", "a.b" * 200, "-oProxyCommand=id", "a\0b",
     "$(id)", "a;id", "\ud800", "a\u202eb", "127.0.0.1 "],
)  # fmt: skip
def test_what_no_host_can_be_called_is_refused_in_letters_that_show_it(host):
    with pytest.raises(ConfigError, match="No host can be called") as found:
        _place(host=host)
    assert found.value.message.isprintable()
    assert len(found.value.message) < 400
    assert found.value.hint


@pytest.mark.parametrize(
    "host", ["prod-1", "PROD_1.example.org.", "::1", "fe80::1%eth0", "ünï.example", "10.0.0.1", "a"]
)
def test_what_a_host_can_be_called_is_let_through(host):
    assert _place(host=host).host == host


@pytest.mark.parametrize("user", ["a\nb", "-l", "", "x" * 300, "\0", "a;id", "$(id)", "a -b", "a\\", "a\x1b[2J"])
def test_what_no_user_can_be_called_is_refused(user):
    with pytest.raises(ConfigError, match="No user can be called") as found:
        _place(user=user)
    assert found.value.message.isprintable()
    assert len(found.value.message) < 400


@pytest.mark.parametrize("user", ["deploy", "DOM\\user", "a b", "a@example.org", "ünï"])
def test_what_a_user_can_be_called_is_let_through(user):
    assert _place(user=user).user == user


SSH_CONFIGS = {
    "Include {file}": "includes itself",
    "Host *\n  HostName a\x07b": "No host can be called",
    "Host *\n  HostKeyAlias a\x07b": "No host can be called",
    "Host *\n  ProxyJump a\x1bb": "No host can be called",
    "Host *\n  ProxyJump -oX": "No host can be called",
    "Host *\n  User a\x07b": "No user can be called",
    "Host *\n  Port 99999": "has the port 99999",
    "Host *\n  Port 0": "has the port 0",
    "Host a\n  ProxyJump b\nHost b\n  ProxyJump c\nHost c\n  ProxyJump b": "More than 8 jump hosts",
    "Match nothing such\n  User x": "Invalid match condition",
    "Host *\n  User 'abc": "No closing quotation",
}


@pytest.mark.parametrize("text", SSH_CONFIGS)
async def test_an_ssh_config_that_leads_nowhere_says_so(text, tmp_path):
    file = tmp_path / "ssh_config"
    file.write_text(text.format(file=file) + "\n")
    file.chmod(0o600)
    options = {"host": "a", "ssh_config": str(file)}
    with pytest.raises(ConfigError, match=SSH_CONFIGS[text]) as found:
        await connect(target_from("t", options), {})
    assert found.value.message.isprintable()
    assert not found.value.retryable


async def test_a_match_exec_that_takes_its_time_holds_up_nobody_else_and_is_given_up(tmp_path):
    file = tmp_path / "ssh_config"
    file.write_text('Match exec "sleep 3"\n  User x\n')
    file.chmod(0o600)
    slowest, last = 0.0, time.monotonic()

    async def beat():
        nonlocal slowest, last
        while True:
            await asyncio.sleep(0.01)
            slowest, last = max(slowest, time.monotonic() - last), time.monotonic()

    beating = asyncio.create_task(beat())
    begun = time.monotonic()
    with pytest.raises(ConfigError, match="could not be read within 1 s"):
        await connect(target_from("t", {"host": "a", "ssh_config": str(file), "connect_timeout_s": 1}), {})
    beating.cancel()
    assert time.monotonic() - begun < 2.5
    assert slowest < 0.8


@pytest.mark.parametrize("key", ["identity_file", "certificate_file", "known_hosts", "ssh_config", "passphrase_file"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
async def test_a_file_that_would_keep_its_reader_for_ever_is_not_read(sshd, key, kind, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path, 0o600)
    told = str(path) if kind == "pipe" else "/dev/zero"
    async with asyncio.timeout(10):
        error, took = await failing(sshd.options_for(**{key: told}))
    assert error.code in {"config.invalid", "config.permissions"}
    assert took < 5


def test_a_passphrase_in_a_pipe_does_not_keep_the_server_from_starting(tmp_path):
    from execkit_mcp.config.settings import TargetSettings

    os.mkfifo(tmp_path / "pipe")
    target = TargetSettings(name="t", transport="ssh", options={"passphrase_file": str(tmp_path / "pipe")})
    assert passphrases([target], {}) == []


async def test_nothing_at_all_is_a_file_of_known_hosts(sshd):
    error, _ = await failing(sshd.options_for(known_hosts="/dev/null", ssh_config="/dev/null"))
    assert error.code == "transport.host_key_unknown"


async def test_an_address_that_is_none_is_a_name_that_is_not_known(sshd):
    error, _ = await failing(sshd.options_for(host="256.256.256.256"))
    assert error.code == "transport.connect_failed"
    assert "256.256.256.256" in error.message


async def test_a_proxy_command_that_is_not_there_is_named(tmp_path):
    file = tmp_path / "ssh_config"
    file.write_text("Host *\n  ProxyCommand /no/such/program %h %p\n")
    file.chmod(0o600)
    error, _ = await failing({**PLACE, "ssh_config": str(file)})
    assert (error.code, error.retryable) == ("transport.connect_failed", False)
    assert "/no/such/program" in error.message
    assert "ProxyCommand" in error.hint


async def test_a_proxy_command_that_says_nothing_is_given_up_and_ended(tmp_path):
    file = tmp_path / "ssh_config"
    file.write_text(f"Host *\n  ProxyCommand sh -c 'echo $$ >{tmp_path}/pid; exec sleep 3461'\n")
    file.chmod(0o600)
    error, took = await failing({**PLACE, "ssh_config": str(file), "auth_timeout_s": 1})
    assert error.code == "transport.connect_failed"
    assert took < 5
    pid = int((tmp_path / "pid").read_text())
    async with asyncio.timeout(10):
        while _is_alive(pid):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)


async def test_a_jump_host_may_be_a_url_with_a_slash(sshd, tmp_path):
    options = sshd.options_for(proxy_jump=f"ssh://{sshd.user}@127.0.0.1:{sshd.port}/")
    found = await connect(target_from("t", options), {})
    found.connection.close()
    await found.connection.wait_closed()
    for hop in found.hops:
        hop.close()
