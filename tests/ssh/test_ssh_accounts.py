"""Accounts of every kind on a host of their own: an sshd that sees other files of users than this machine."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.ssh.sshd import Sshd, require_sshd
from tests.ssh.test_ssh_faults import failing

SHELLS = {
    "bash": "/bin/bash", "dash": "/bin/dash", "zsh": "/usr/bin/zsh", "tcsh": "/bin/tcsh", "fish": "/usr/bin/fish",
    "nologin": "/usr/sbin/nologin", "false": "/bin/false", "rbash": "/bin/rbash", "cat": "/bin/cat",
    "python": "/usr/bin/python3", "none": "/no/such/shell",
}  # fmt: skip
STATES = {"locked": "!:19000:0:99999:7:::", "expired": "*:19000:0:99999:7::1:"}


@pytest.fixture(scope="module")
def accounts():
    require_sshd()
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs root and mount namespaces, so that an sshd can have users of its own")
    folder = Path(tempfile.mkdtemp(prefix="ek-accounts-", dir="/tmp"))
    folder.chmod(0o755)
    home = folder / "home"
    home.mkdir(mode=0o777)
    files = {name: Path("/etc", name).read_text() for name in ("passwd", "shadow")}
    kinds = [*((name, shell, "*:19000:0:99999:7:::") for name, shell in SHELLS.items())]
    kinds += [(name, "/bin/bash", state) for name, state in STATES.items()]
    for number, (name, shell, state) in enumerate(kinds, 5300):
        files["passwd"] += f"ek{name}:x:{number}:{number}::{home}:{shell}\n"
        files["shadow"] += f"ek{name}:{state}\n"
    binds = ""
    for name, text in files.items():
        (folder / name).write_text(text)
        binds += f"mount --bind {folder / name} /etc/{name} && "
    server = Sshd(folder / "host", prefix=("unshare", "-m", "sh", "-c", f'{binds}exec "$@"', "sshd"))
    server.folder.chmod(0o755)
    (server.folder / "authorized_keys").chmod(0o644)
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["bash", "dash", "zsh", "tcsh", "fish"])
async def test_an_account_whose_login_shell_is_any_shell_has_a_session(accounts, kit_for, name):
    if shutil.which(SHELLS[name]) is None:
        pytest.skip(f"no {name} on this machine (.ci/setup installs dash and zsh where it is root)")
    async with kit_for(accounts, user=f"ek{name}") as host:
        opened = await host.open()
        assert opened["shell"] == "bash"
        assert (await host.run("whoami; echo err >&2; false")).stdout == f"ek{name}\n"
        assert (await host.run("cd /usr && pwd", tty=True)).stdout == "/usr\n"
        assert (await host.run("sleep 60", timeout_s=0.2)).exit_code == 130


REFUSED = {
    "nologin": ("transport.connect_failed", "not available", "has a shell"),
    "false": ("transport.connect_failed", "ended the account's shell", "has a shell"),
    "rbash": ("transport.connect_failed", "restricted", "has a shell"),
    "cat": ("transport.connect_failed", "cat: invalid option", "has a shell"),
    "python": ("transport.connect_failed", "Traceback", "has a shell"),
    "none": ("transport.auth_failed", "eknone", "its shell exists"),
    "locked": ("transport.auth_failed", "eklocked", "not locked"),
    "expired": ("transport.auth_failed", "ekexpired", "expired"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_an_account_that_gives_no_session_says_why_and_what_to_do(accounts, name):
    code, said, remedy = REFUSED[name]
    error, took = await failing(accounts.options_for(user=f"ek{name}", open_timeout_s=3))
    assert (error.code, error.retryable) == (code, False)
    assert said in error.message
    assert remedy in error.hint
    assert took < 8
