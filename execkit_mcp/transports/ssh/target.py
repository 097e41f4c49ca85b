"""What an ssh target is: the operator's words about one host, with every default filled in."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

__all__ = ["ACCEPT_ANY", "SshTarget", "target_from"]

ACCEPT_ANY: Final = "insecure_accept_any_host_key"
CONNECT_S: Final = 10.0
AUTH_S: Final = 20.0
OPEN_S: Final = 20.0
KEEPALIVE_S: Final = 15.0


class SshTarget(Struct, frozen=True, kw_only=True):
    """One host.

    Attributes:
        name: what callers say.
        host: host name, address or alias of ``ssh_config``.
        port: None: what ``ssh_config`` says, else 22.
        user: None: what ``ssh_config`` says, else the user we run as.
        identity_file: a private key; None: agent, ``ssh_config``, the usual files.
        certificate_file: an OpenSSH user certificate for that key.
        passphrase_env: the server's variable that holds the key's passphrase.
        passphrase_file: or the file whose first line it is.
        known_hosts: the file of host keys; None: what ``ssh_config`` says, else ``~/.ssh/known_hosts``.
        fingerprint: the one host key that is accepted, whatever is in files.
        accepts_any_host_key: nothing protects this connection.
        ssh_config: the file to read; None: ``~/.ssh/config``; ``none``: no file.
        proxy_jump: hosts to go through, ``[user@]host[:port]`` with commas; None: what ``ssh_config`` says.
        shell: ``bash``, ``dash``, ``ash`` or ``zsh``; None: the first of them that the host has.
        fence: what holds beneath the shell there: ``off``, ``auto`` or ``process``.
        connect_s: seconds until the host must have answered.
        auth_s: seconds until it must have let us in.
        open_s: seconds until a shell must have answered.
        keepalive_s: a dead link is found within twice this many seconds.
    """

    name: str
    host: str
    port: int | None = None
    user: str | None = None
    identity_file: str | None = None
    certificate_file: str | None = None
    passphrase_env: str | None = None
    passphrase_file: str | None = None
    known_hosts: str | None = None
    fingerprint: str | None = None
    accepts_any_host_key: bool = False
    ssh_config: str | None = None
    proxy_jump: str | None = None
    shell: str | None = None
    fence: str = "off"
    connect_s: float = CONNECT_S
    auth_s: float = AUTH_S
    open_s: float = OPEN_S
    keepalive_s: float = KEEPALIVE_S


_TEXTS: Final = (
    "user", "identity_file", "certificate_file", "passphrase_env", "passphrase_file", "known_hosts", "fingerprint",
    "ssh_config", "proxy_jump", "shell", "fence",
)  # fmt: skip
_SECONDS: Final = {
    "connect_timeout_s": "connect_s",
    "auth_timeout_s": "auth_s",
    "open_timeout_s": "open_s",
    "keepalive_s": "keepalive_s",
}


def target_from(name: str, options: Mapping[str, str | int | float]) -> SshTarget:
    """The target that a configuration's options (already checked there) describe."""
    texts = {key: str(options[key]) for key in _TEXTS if key in options}
    seconds = {field: float(options[key]) for key, field in _SECONDS.items() if key in options}
    port = options.get("port")
    return SshTarget(
        name=name,
        host=str(options.get("host", name)),
        port=int(port) if port is not None else None,
        accepts_any_host_key=bool(options.get(ACCEPT_ANY, False)),
        **texts,  # type: ignore[arg-type]
        **seconds,  # type: ignore[arg-type]
    )
