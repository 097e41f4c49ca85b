"""Real sshd processes for tests: own keys, own configuration, an unprivileged port on loopback."""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest

SSHD = next((path for path in ("/usr/sbin/sshd", shutil.which("sshd") or "") if path and os.access(path, os.X_OK)), "")
SFTP = next((path for path in ("/usr/lib/openssh/sftp-server", "/usr/libexec/sftp-server") if Path(path).exists()), "")


def require_sshd() -> None:
    """Skip, with the reason, where there is no sshd."""
    if not SSHD:
        pytest.skip("no sshd on this machine: install openssh-server (.ci/setup does where it is root)")


def new_key(path: Path, passphrase: str | None = None) -> str:
    """Make a key pair at ``path``; its fingerprint."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    path.write_bytes(key.export_private_key("openssh", passphrase))
    path.chmod(0o600)
    Path(f"{path}.pub").write_bytes(key.export_public_key("openssh"))
    return key.get_fingerprint()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Sshd:
    """One server; ``options`` are lines of sshd_config, the first of each name wins; ``last`` come last (Match)."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        address: str = "127.0.0.1",
        port: int | None = None,
        prefix: tuple[str, ...] = (),
        last: tuple[str, ...] = (),
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.address = address
        self.port = port or free_port()
        self.options = options
        self.last = last
        self.prefix = prefix
        self.user = getpass.getuser()
        self.identity = folder / "id"
        self.fingerprint = new_key(folder / "host_key")
        new_key(self.identity)
        (folder / "authorized_keys").write_bytes((folder / "id.pub").read_bytes())
        self.known_hosts = folder / "known_hosts"
        self.remember()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        """The host as known_hosts spells it."""
        return f"[{self.address}]:{self.port}"

    def remember(self, key: str = "host_key") -> None:
        """Write the host's key to the file of known hosts."""
        kind, text = (self.folder / f"{key}.pub").read_text().split()[:2]
        self.known_hosts.write_text(f"{self.name} {kind} {text}\n")

    def swap_key(self) -> str:
        """Give the host another key; its fingerprint. It shows with the next connection after a restart."""
        (self.folder / "host_key").unlink()
        self.fingerprint = new_key(self.folder / "host_key")
        return self.fingerprint

    def start(self) -> "Sshd":
        """Listen."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, parents=True, exist_ok=True)
        config = self.folder / "sshd_config"
        config.write_text(
            "\n".join(
                (
                    f"ListenAddress {self.address}",
                    f"Port {self.port}",
                    f"HostKey {self.folder / 'host_key'}",
                    *self.options,
                    f"AuthorizedKeysFile {self.folder / 'authorized_keys'}",
                    "PidFile none",
                    "StrictModes no",
                    "UsePAM no",
                    "PasswordAuthentication no",
                    "KbdInteractiveAuthentication no",
                    "PermitRootLogin yes",
                    "PermitUserEnvironment no",
                    "MaxStartups 100",
                    "LogLevel VERBOSE",
                    f"Subsystem sftp {SFTP or 'internal-sftp'}",
                    *self.last,
                    "",
                )
            )
        )
        with (self.folder / "log").open("ab") as log:
            begun = log.tell()
            self._process = subprocess.Popen(
                [*self.prefix, SSHD, "-D", "-e", "-f", str(config)], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if self.prefix:  # it may not be reached from here
                if b"Server listening on" in (self.folder / "log").read_bytes()[begun:]:
                    return self
            else:
                with contextlib.suppress(OSError), socket.create_connection((self.address, self.port), 1):
                    return self
            if self._process.poll() is not None:
                break
            time.sleep(0.01)
        raise RuntimeError(f"sshd did not start: {(self.folder / 'log').read_text()}")

    def stop(self) -> None:
        """Listen no more; connections stay."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def sessions(self) -> list[int]:
        """The server's processes for connections."""
        assert self._process is not None
        found = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        return [int(pid) for pid in found]

    def options_for(self, **other: object) -> dict[str, str | int | float]:
        """A target's options."""
        return {
            "host": self.address,
            "port": self.port,
            "user": self.user,
            "identity_file": str(self.identity),
            "known_hosts": str(self.known_hosts),
            "ssh_config": "none",
            **other,
        }  # type: ignore[dict-item]

    def yaml(self, name: str = "prod-1", **other: object) -> str:
        """A configuration that declares it."""
        lines = [f"targets:\n  {name}:\n    transport: ssh"]
        lines += [f"    {key}: {_scalar(value)}" for key, value in self.options_for(**other).items()]
        return "\n".join(lines) + "\n"


def _scalar(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextlib.contextmanager
def serving(folder: Path, *options: str, **place: object) -> Iterator[Sshd]:
    """A server for as long as the block lasts."""
    server = Sshd(folder, *options, **place)  # type: ignore[arg-type]
    server.start()
    try:
        yield server
    finally:
        server.stop()
