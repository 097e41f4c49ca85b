import asyncio
import contextlib
import os
import shutil
import subprocess
import time

import asyncssh
import pytest

from execkit_mcp.errors import (
    AuthFailed,
    CapabilityMissing,
    ConnectFailed,
    ExecKitError,
    TransportLost,
    TransportUnavailable,
)
from execkit_mcp.model import Status
from execkit_mcp.transports.base import ShellPlan
from execkit_mcp.transports.ssh.connect import connect
from execkit_mcp.transports.ssh.probe import probe
from execkit_mcp.transports.ssh.target import target_from
from execkit_mcp.transports.ssh.transport import SshTransport
from tests.ssh.proxy import Proxy
from tests.ssh.sshd import free_port, new_key


async def failing(options, environ=None):
    """The error that opening a session gives, and the seconds it took."""
    transport = SshTransport(target_from("t", options), environ or {})
    begun = time.monotonic()
    try:
        with pytest.raises(ExecKitError) as found:
            await transport.open(ShellPlan(env={"PATH": "/usr/bin:/bin"}, cwd="/"))
    finally:
        await transport.aclose()
    assert found.value.hint
    return found.value, time.monotonic() - begun


# ── who we are ───────────────────────────────────────────────────────────────────────────────────────────


async def test_a_wrong_user_and_a_wrong_key_are_not_let_in(sshd, tmp_path):
    error, _ = await failing(sshd.options_for(user="nobody-such"))
    assert isinstance(error, AuthFailed)
    assert "nobody-such" in error.message
    new_key(tmp_path / "other")
    error, _ = await failing(sshd.options_for(identity_file=str(tmp_path / "other")))
    assert isinstance(error, AuthFailed)
    assert not error.retryable


async def test_a_key_with_a_passphrase_wants_it_from_a_secret_source(own_sshd, tmp_path):
    server = own_sshd()
    phrase = "correct" + "-horse"
    new_key(server.identity, phrase)
    (server.folder / "authorized_keys").write_bytes((server.folder / "id.pub").read_bytes())
    error, _ = await failing(server.options_for())
    assert isinstance(error, AuthFailed)
    assert "passphrase_env" in error.hint
    error, _ = await failing(server.options_for(passphrase_env="PHRASE"), {"PHRASE": "wrong"})
    assert isinstance(error, AuthFailed)
    assert "wrong" not in str(error)
    file = tmp_path / "phrase"
    file.write_text(phrase + "\n")
    for options, environ in (({"passphrase_env": "PHRASE"}, {"PHRASE": phrase}), ({"passphrase_file": str(file)}, {})):
        found = await connect(target_from("t", server.options_for(**options)), environ)
        found.connection.close()
        await found.connection.wait_closed()


async def test_a_user_certificate_lets_in(own_sshd, tmp_path):
    authority = asyncssh.generate_private_key("ssh-ed25519")
    (tmp_path / "ca.pub").write_bytes(authority.export_public_key("openssh"))
    server = own_sshd(f"TrustedUserCAKeys {tmp_path / 'ca.pub'}")
    (server.folder / "authorized_keys").write_text("")
    public = asyncssh.read_public_key(f"{server.identity}.pub")
    certificate = authority.generate_user_certificate(public, "u", principals=[server.user])
    (tmp_path / "cert.pub").write_bytes(certificate.export_certificate())
    found = await connect(target_from("t", server.options_for(certificate_file=str(tmp_path / "cert.pub"))), {})
    found.connection.close()
    await found.connection.wait_closed()


# ── the way there ────────────────────────────────────────────────────────────────────────────────────────


async def test_an_unreachable_host_and_an_unknown_name_say_so(sshd):
    error, _ = await failing(sshd.options_for(port=free_port()))
    assert (error.code, error.retryable) == ("transport.connect_failed", True)
    error, _ = await failing(sshd.options_for(host="no-such-host.invalid"))
    assert isinstance(error, ConnectFailed)
    assert "no-such-host.invalid" in error.message


async def _flood(_reader, writer):
    with contextlib.suppress(OSError):
        while True:
            writer.write(b"welcome to the flood\r\n" * 1000)
            await writer.drain()


async def _long_line(_reader, writer):
    with contextlib.suppress(OSError):
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()


def _says(*pieces):
    async def say(reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await reader.read(64)
            writer.close()

    return say


async def _silence(reader, _writer):
    with contextlib.suppress(OSError):
        await reader.read()
        await asyncio.sleep(60)


STEPS = {
    "closes at once": _says(),
    "closes after its version": _says(b"SSH-2.0-X\r\n"),
    "speaks another protocol": _says(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "speaks the first version": _says(b"SSH-1.5-X\r\n"),
    "sends rubbish after its version": _says(b"SSH-2.0-X\r\n", b"\x00\x00\x00\x0c\x0arubbish!!!!!" * 50),
    "sends a packet without end": _says(b"SSH-2.0-X\r\n", b"\x7f\xff\xff\xff" + b"\x00" * 4000),
    "floods with lines before its version": _flood,
    "floods with one line": _long_line,
    "says nothing": _silence,
}


@pytest.mark.parametrize("step", STEPS)
async def test_a_server_that_breaks_the_handshake_is_one_clear_error_in_time(step, sshd):
    writers = []

    async def serve(reader, writer):
        writers.append(writer)
        await STEPS[step](reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        error, took = await failing(sshd.options_for(port=port, connect_timeout_s=1, auth_timeout_s=2))
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)  # they close in the loop's next turn
    assert isinstance(error, ConnectFailed), error
    assert took < 8


class _Banners(asyncssh.SSHServer):
    def connection_made(self, conn):
        self._conn = conn

    def begin_auth(self, username):
        for _ in range(2000):
            self._conn.send_auth_banner("flood " * 1000)
        return True


class _Leaves(asyncssh.SSHServer):
    def connection_made(self, conn):
        self._conn = conn

    def begin_auth(self, username):
        self._conn.abort()
        return True


class _NoSessions(asyncssh.SSHServer):
    def begin_auth(self, username):
        return False

    def session_requested(self):
        return False


@contextlib.asynccontextmanager
async def fake(factory, tmp_path, **options):
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.listen("127.0.0.1", 0, server_host_keys=[key], server_factory=factory, **options)
    yield {
        "host": "127.0.0.1",
        "port": server.get_port(),
        "user": "u",
        "fingerprint": key.get_fingerprint(),
        "ssh_config": "none",
        "identity_file": str(tmp_path / "id"),
        "auth_timeout_s": 4,
        "open_timeout_s": 1,
    }
    server.close()


async def test_servers_that_end_it_during_login_or_give_no_session(tmp_path):
    new_key(tmp_path / "id")
    async with fake(_Banners, tmp_path) as options:
        error, took = await failing(options)
        assert isinstance(error, AuthFailed | ConnectFailed)
        assert took < 10
    async with fake(_Leaves, tmp_path) as options:
        error, _ = await failing(options)
        assert isinstance(error, AuthFailed | ConnectFailed)
    async with fake(_NoSessions, tmp_path) as options:
        error, _ = await failing(options)
        assert isinstance(error, ConnectFailed)
        assert not error.retryable


def _ends(process):
    process.stdout.write("This account is currently not available.\n\x1b]0;x\x07")
    process.exit(1)


def _echoes_for_ever(process):
    async def go():
        with contextlib.suppress(Exception):
            while True:
                process.stdout.write("x" * 65536)
                await process.stdout.drain()

    return go()


def _is_silent(process):
    async def go():
        with contextlib.suppress(Exception):
            await asyncio.sleep(60)

    return go()


@pytest.mark.parametrize(
    ("handler", "kind", "said"),
    [
        (_ends, ConnectFailed, "not available"),
        (_echoes_for_ever, (TransportUnavailable, TransportLost, ConnectFailed), ""),
        (_is_silent, TransportUnavailable, "within 1 s"),
    ],
)
async def test_a_shell_that_is_none_is_told_of_in_time(tmp_path, handler, kind, said):
    new_key(tmp_path / "id")

    class Server(asyncssh.SSHServer):
        def begin_auth(self, username):
            return False

    async with fake(Server, tmp_path, process_factory=handler) as options:
        error, took = await failing(options)
        assert isinstance(error, kind)
        assert said in error.message
        assert "\x1b" not in error.message
        assert took < 8


async def test_a_host_without_a_shell_that_we_speak_says_what_it_lacks_and_what_it_has():
    class Control:
        async def fields(self, scripts):
            return [b"/usr/bin/fish\n/bin/ksh\n" if "fish" in each else b"" for each in scripts]

    with pytest.raises(CapabilityMissing, match=r"no bash, dash, busybox or zsh \(it has fish ksh\)"):
        await probe(Control(), "t")


# ── what start-up files do ───────────────────────────────────────────────────────────────────────────────

RC = {
    "prints": "echo welcome; echo trouble >&2; printf '\\036\\036\\036'",
    "prints much": "head -c 3000000 /dev/zero",
    "prints very much": "head -c 40000000 /dev/zero; head -c 3000000 /dev/zero >&2",
    "reads": "read -r -t 0.2 line",
    "sleeps": "sleep 1",
    "is another shell": "exec sh",
    "ignores signals and stops at errors": "trap '' HUP INT TERM; set -e; umask 777",
    "has an environment of its own": "export LD_PRELOAD=/none.so PATH=/nowhere BASH_ENV=/etc/passwd ENV=/etc/passwd",
    "sets traps and functions": "trap 'echo bye' EXIT; cd() { echo no; }; printf() { echo no; }; set -u",
    "fails": "exit_is_not_called || false",
}


@pytest.mark.parametrize("what", RC)
async def test_a_start_up_file_spoils_nothing(own_sshd, kit_for, tmp_path, what):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text(RC[what] + "\n")
    server = own_sshd(f"SetEnv HOME={home}")
    async with kit_for(server) as host:
        if what == "reads":  # it has swallowed our first lines
            with pytest.raises(ExecKitError) as found:
                await host.open()
            assert "start-up" in found.value.hint
            return
        await host.open()
        result = await host.run("echo fine; echo err >&2")
        assert (result.stdout, result.stderr, result.exit_code) == ("fine\n", "err\n", 0)
        assert (await host.run("cd /usr && pwd")).stdout == "/usr\n"


NO_SHELL = {
    "ForceCommand cat": ("sends back what it is sent", "forced command"),
    "ForceCommand sleep 6007": ("No shell answered", "forced command"),
    "ForceCommand echo only this": ("only this", "forced command"),
    "Match User *\n  ForceCommand internal-sftp": ("sftp connections only", "forced command"),
    "Match Address 127.0.0.1\n  MaxSessions 0": ("gives no session", "MaxSessions"),
    "rc: exec cat": ("sends back what it is sent", ".bashrc"),
    "rc: while :; do echo yes; done": ("yes yes", ".bashrc"),
    "rc: exit 0": ("ended the account's shell", ".bashrc"),
    "rc: exec rbash": ("restricted", ".bashrc"),
    "rc: echo not for you >&2; exit 1": ("not for you", ".bashrc"),
    "rc: exec >&-": ("ended the account's shell", ".bashrc"),
    "rc: exec python3 -i": ("No shell answered", ".bashrc"),
}


@pytest.mark.parametrize("what", NO_SHELL)
async def test_what_gives_no_shell_is_told_with_its_remedy_in_time(own_sshd, tmp_path, what):
    said, remedy = NO_SHELL[what]
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text(what.removeprefix("rc: ") + "\n" if what.startswith("rc: ") else "")
    server = own_sshd(f"SetEnv HOME={home}", last=() if what.startswith("rc: ") else (what,))
    error, took = await failing(server.options_for(open_timeout_s=2))
    assert error.code in {"transport.connect_failed", "transport.unavailable"}
    assert said in error.message
    assert remedy in error.hint
    assert took < 8


@pytest.mark.parametrize(
    "options", [["PermitTTY no"], ["MaxSessions 1"], ["RekeyLimit 64K"], ["DisableForwarding yes"]]
)
async def test_a_server_that_allows_little_is_enough(own_sshd, kit_for, options):
    async with kit_for(own_sshd(*options)) as host:
        await host.open()
        assert (await host.run("yes | head -c 1000000 | wc -c")).stdout.strip() == "1000000"
        assert (await host.run("sleep 60", timeout_s=0.2)).status is Status.TIMED_OUT
        assert (await host.run("echo on")).stdout == "on\n"


@pytest.mark.parametrize("after", [0, 10, 30, 100, 300, 700, 1200, 1500, 1800, 2200, 2600, 3000, 3500])
async def test_a_real_server_that_closes_at_any_step_is_one_clear_error_in_time(sshd, after):
    """``after``: bytes from the server that still come through."""
    async with Proxy(sshd.port, closes_after=after) as proxy:
        options = sshd.options_for(port=proxy.port, fingerprint=sshd.fingerprint, auth_timeout_s=3)
        error, took = await failing(options)
    assert error.code in {"transport.connect_failed", "transport.lost", "transport.unavailable"}, error
    assert error.hint
    assert took < 8


async def test_a_banner_of_ten_megabytes_is_met(own_sshd, kit_for, tmp_path):
    banner = tmp_path / "banner"
    banner.write_text(("x" * 99 + "\n") * 100_000)
    async with kit_for(own_sshd(f"Banner {banner}")) as host:
        await host.open()
        assert (await host.run("echo on")).stdout == "on\n"


async def test_a_start_up_file_that_never_ends_is_an_error_in_time(own_sshd, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("sleep 6006 & wait\n")
    server = own_sshd(f"SetEnv HOME={home}")
    error, took = await failing(server.options_for(open_timeout_s=1))
    assert isinstance(error, TransportUnavailable)
    assert ".bashrc" in error.hint
    assert took < 6


async def test_an_encrypted_key_may_be_in_the_agent(own_sshd, tmp_path, monkeypatch):
    if shutil.which("ssh-agent") is None or shutil.which("ssh-add") is None:
        pytest.skip("no ssh-agent on this machine")
    server = own_sshd()
    socket = tmp_path / "agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL) as agent:  # noqa: ASYNC220 - nothing else runs
        try:
            async with asyncio.timeout(10):
                while not socket.exists():  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.01)
            environ = {**os.environ, "SSH_AUTH_SOCK": str(socket)}
            subprocess.run(["ssh-add", "-q", str(server.identity)], env=environ, check=True)
            key = asyncssh.read_private_key(str(server.identity))
            server.identity.write_bytes(key.export_private_key("openssh", "phrase" + "-of-a-key"))
            found = await connect(target_from("t", server.options_for()), environ)
            found.connection.close()
            await found.connection.wait_closed()
            options = server.options_for()
            del options["identity_file"]
            monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
            found = await connect(target_from("t", options), environ)
            found.connection.close()
            await found.connection.wait_closed()
        finally:
            agent.terminate()


async def test_a_host_that_serves_files_only_says_so_in_time(own_sshd):
    server = own_sshd("ForceCommand internal-sftp")
    error, took = await failing(server.options_for(open_timeout_s=1))
    assert isinstance(error, TransportUnavailable | ConnectFailed)
    assert took < 8


async def test_a_start_up_file_that_closes_its_outputs_or_ignores_signals(own_sshd, kit_for, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("trap '' INT QUIT TERM HUP; exec 2>/dev/null; ulimit -S -n 64\n")
    server = own_sshd(f"SetEnv HOME={home}")
    async with kit_for(server) as host:
        await host.open()
        result = await host.run("sleep 60", timeout_s=0.3)
        assert result.status.value == "timed_out"
        assert (await host.run("echo on; echo err >&2")).stdout == "on\n"


async def test_an_account_with_too_few_descriptors_is_told_so(own_sshd, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("ulimit -n 64\n")
    error, took = await failing(own_sshd(f"SetEnv HOME={home}").options_for())
    assert "open files" in error.message
    assert took < 10
