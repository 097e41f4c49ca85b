"""Getting in: from a target to an authenticated connection, through jump hosts if need be; this module does that.

``~/.ssh/config`` is read as ssh reads it, but for what would weaken us: agent and X11 forwarding are off, no
environment is sent, and no setting of it turns the check of host keys off. Every hop's key is verified in the same way.
Whatever goes wrong becomes one error of the contract that says what to do next.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import asyncssh
from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.errors import AuthFailed, ConfigError, ConnectFailed, ExecKitError
from execkit_mcp.transports.ssh.hostkeys import HostKeys, fingerprint_of, known_name
from execkit_mcp.transports.ssh.place import Place, Way, require_plain, way_to
from execkit_mcp.transports.ssh.target import SshTarget

__all__ = ["Connected", "connect"]

_WINDOW: Final = 1 << 21
_CIPHERS: Final = "^aes128-gcm@openssh.com,aes256-gcm@openssh.com"
"""First, unless ``ssh_config`` states others: one call a packet, where asyncssh needs four for chacha20-poly1305."""
_TOO_MANY: Final = 14
"""SSH_DISCONNECT_NO_MORE_AUTH_METHODS_AVAILABLE (RFC 4253, 11.1)."""


class _Failure(Struct, frozen=True, kw_only=True):
    """What is told when asyncssh or the system says ``when``."""

    when: tuple[type[Exception], ...]
    kind: type[ExecKitError]
    message: str
    hint: str
    is_retryable: bool = True


_FAILURES: Final = (
    _Failure(
        when=(asyncssh.PermissionDenied,),
        kind=AuthFailed,
        message="{where} does not let user {user} in: {said}.",
        hint=(
            "Check the user's name, that one of our keys (identity_file, agent, ~/.ssh) stands in its authorized_keys "
            "there, and that the account is not locked or expired and its shell exists there."
        ),
        is_retryable=False,
    ),
    _Failure(
        when=(asyncssh.KeyExchangeFailed, asyncssh.ProtocolNotSupported),
        kind=ConnectFailed,
        message="{where} and we have no algorithm in common: {said}.",
        hint="Bring its SSH server up to date.",
        is_retryable=False,
    ),
    _Failure(
        when=(asyncssh.ChannelOpenError,),
        kind=ConnectFailed,
        message="The jump host could not reach {where}: {said}.",
        hint="Check the name and port as the jump host sees them, and that it allows forwarding.",
    ),
    _Failure(
        when=(asyncssh.ConnectionLost,),
        kind=ConnectFailed,
        message="{where} closed the connection during {stage}.",
        hint="Check that an SSH server listens there, its log, and its limits (MaxStartups).",
    ),
    _Failure(
        when=(asyncssh.KeyImportError, asyncssh.ConfigParseError),
        kind=ConfigError,
        message="ssh_config, or a key that it names, cannot be used: {said}.",
        hint="Correct it.",
        is_retryable=False,
    ),
    _Failure(
        when=(socket.gaierror,),
        kind=ConnectFailed,
        message="The name {host} is not known: {said}.",
        hint="Check its spelling and the name service; an alias belongs into ~/.ssh/config.",
    ),
    _Failure(
        when=(FileNotFoundError, PermissionError),
        kind=ConnectFailed,
        message="{where} cannot be reached: a program or file on the way there cannot be used: {said}.",
        hint="Check ProxyCommand and IdentityAgent of ssh_config, and what a firewall forbids.",
        is_retryable=False,
    ),
    _Failure(
        when=(OSError,),
        kind=ConnectFailed,
        message="{where} cannot be reached: {said}.",
        hint="Check that the host is up, and address, port and firewall.",
    ),
)
_OTHER: Final = _Failure(
    when=(Exception,),
    kind=ConnectFailed,
    message="{where} broke off during {stage}: {said}.",
    hint="Check that an SSH server listens there.",
)

logging.getLogger("asyncssh").setLevel(logging.CRITICAL)  # what a host writes is not for our standard error


class Connected(Struct, frozen=True, kw_only=True):
    """An open connection: its place, the fingerprint that was accepted, the hops below it, the first first."""

    connection: asyncssh.SSHClientConnection
    place: Place
    fingerprint: str
    hops: tuple[asyncssh.SSHClientConnection, ...] = ()


class _Client(asyncssh.SSHClient):
    """Tells how far a connection came, and decides on host keys."""

    def __init__(self, keys: HostKeys, on_stage: Callable[[str], None]) -> None:
        self._keys = keys
        self._on_stage = on_stage

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """The host has taken the connection."""
        del conn
        self._on_stage("handshake")

    def begin_auth(self, username: str) -> None:
        """Its key was accepted."""
        del username
        self._on_stage("authentication")

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Ask ``HostKeys``."""
        del host, addr, port
        return self._keys.accepts(key)


async def connect(
    target: SshTarget, environ: Mapping[str, str], on_keys: Callable[[HostKeys], None] = lambda _: None
) -> Connected:
    """Connect to ``target``; ``on_keys`` is told who decides on each hop's key.

    Raises:
        ConnectFailed: it cannot be reached, or does not speak with us.
        AuthFailed: it does not let us in.
        HostKeyUnknown, HostKeyMismatch: its key is not the one that we know.
        ConfigError: ``ssh_config``, a key file or known_hosts cannot be used.
    """
    way = await _way(target)
    hops: list[asyncssh.SSHClientConnection] = []
    try:
        for hop, place in way.hops:
            last = await _connect_one(hop, place, environ, hops[-1] if hops else None, on_keys)
            hops.append(last.connection)
        found = await _connect_one(target, way.place, environ, hops[-1] if hops else None, on_keys)
    except BaseException:
        for connection in reversed(hops):
            connection.abort()
        raise
    return replace(found, hops=tuple(hops))


async def _way(target: SshTarget) -> Way:
    """Read ``ssh_config`` beside the loop: a ``Match exec`` may take its time, and everybody else has to go on."""
    try:
        async with asyncio.timeout(target.connect_s):
            return await asyncio.to_thread(way_to, target)
    except TimeoutError:
        raise ConfigError(
            f"ssh_config could not be read within {target.connect_s:g} s.",
            hint="Look at its Match exec lines, and at the file system that it is on; connect_timeout_s sets the time.",
        ) from None


def _passphrase(target: SshTarget, environ: Mapping[str, str]) -> str | None:
    if target.passphrase_env is not None:
        value = environ.get(target.passphrase_env)
        if not value:
            raise ConfigError(
                f"${target.passphrase_env}, the passphrase of target {target.name}, is not set.", hint="Set it."
            )
        return value
    if target.passphrase_file is not None:
        path = Path(target.passphrase_file).expanduser()
        require_plain(path, "The passphrase file")
        try:
            return path.read_text(encoding="utf-8").partition("\n")[0]
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"The passphrase file {path} cannot be read.", hint="Mend passphrase_file.") from error
    return None


def _credentials(target: SshTarget, environ: Mapping[str, str]) -> dict[str, object]:
    """What asyncssh may log in with: the configured key alone, or agent, ``ssh_config`` and the usual files."""
    if target.identity_file is None:
        return {"passphrase": _passphrase(target, environ)} if target.passphrase_env or target.passphrase_file else {}
    path = Path(target.identity_file).expanduser()
    certificates = [] if target.certificate_file is None else [str(Path(target.certificate_file).expanduser())]
    for each in (str(path), *certificates):
        require_plain(each, "The key")
    try:
        pairs = asyncssh.load_keypairs([str(path)], _passphrase(target, environ), certificates)
    except FileNotFoundError as error:
        raise AuthFailed(f"There is no key {error.filename or path}.", hint="Mend identity_file.") from error
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, OSError, ValueError) as error:
        if "passphrase" not in str(error).lower() and not isinstance(error, asyncssh.KeyEncryptionError):
            raise AuthFailed(f"The key {path} cannot be used: {_plain(error)}.", hint="Mend identity_file.") from error
        public = Path(f"{path}.pub")
        if environ.get("SSH_AUTH_SOCK") and public.exists() and not (target.passphrase_env or target.passphrase_file):
            return {"client_keys": [], "agent_path": environ["SSH_AUTH_SOCK"], "agent_identities": [str(public)]}
        raise AuthFailed(
            f"The key {path} cannot be opened: {_plain(error)}.",
            hint="Set passphrase_env or passphrase_file for this target, or put the key into an ssh agent.",
        ) from error
    return {"client_keys": pairs, "agent_path": None}


async def _connect_one(
    target: SshTarget,
    place: Place,
    environ: Mapping[str, str],
    tunnel: asyncssh.SSHClientConnection | None,
    on_keys: Callable[[HostKeys], None],
) -> Connected:
    keys = HostKeys(
        target=target.name,
        host=place.key_name,
        port=place.port,
        paths=place.known_hosts,
        fingerprint=target.fingerprint,
        accepts_any=target.accepts_any_host_key,
    )
    on_keys(keys)
    stage = "connection"
    timer = asyncio.timeout(target.connect_s)

    def reached(name: str) -> None:
        nonlocal stage
        if stage == "connection":
            timer.reschedule(asyncio.get_running_loop().time() + target.auth_s)
        stage = name

    credentials = _credentials(target, environ)
    try:
        async with timer:
            connection = await asyncssh.connect(
                target.host,
                target.port or (),
                config=list(place.config),
                username=place.user,
                tunnel=tunnel,
                client_factory=lambda: _Client(keys, reached),
                known_hosts=keys.lists,
                server_host_key_algs=keys.algorithms,
                agent_forwarding=False,
                x11_forwarding=False,
                env=None,
                send_env=None,
                command=None,
                request_pty=False,
                keepalive_interval=target.keepalive_s / 2,
                keepalive_count_max=2,
                login_timeout=0,
                connect_timeout=None,
                compression_algs=None,
                encryption_algs=() if place.states_ciphers else _CIPHERS,
                window=_WINDOW,
                encoding=None,
                gss_auth=False,
                gss_kex=False,
                **credentials,
            )
    except TimeoutError:
        raise _timed_out(stage, target, place) from None
    except (asyncssh.Error, OSError, ValueError) as error:
        raise _translated(error, stage, place, keys) from error
    shown = connection.get_server_host_key()
    if shown is None:
        connection.abort()
        raise ConnectFailed(f"{place.address} showed no host key.", hint="It is not an SSH host that can be verified.")
    return Connected(connection=connection, place=place, fingerprint=fingerprint_of(shown))


def _timed_out(stage: str, target: SshTarget, place: Place) -> ExecKitError:
    where = known_name(place.host, place.port)
    if stage == "connection":
        return ConnectFailed(
            f"{where} did not answer within {target.connect_s:g} s.",
            hint="Check address, port and firewall; connect_timeout_s sets the time.",
            details={"host": where},
        )
    return ConnectFailed(
        f"{where} took the connection, but its {stage} was not done within {target.auth_s:g} s.",
        hint="Check that an SSH server listens there and is not overloaded; auth_timeout_s sets the time.",
        details={"host": where, "stage": stage},
    )


def _translated(error: Exception, stage: str, place: Place, keys: HostKeys) -> ExecKitError:
    """One error of ours for whatever asyncssh or the system said."""
    if keys.refusal is not None or isinstance(error, asyncssh.HostKeyNotVerifiable):
        return keys.rejected(str(error))
    row = next((row for row in _FAILURES if isinstance(error, row.when)), _OTHER)
    if isinstance(error, asyncssh.DisconnectError) and error.code == _TOO_MANY:
        row = _FAILURES[0]
    said = _plain(error)
    if isinstance(error, OSError) and error.strerror:
        said = error.strerror if error.filename is None else f"{error.strerror}: {error.filename}"
    where = known_name(place.host, place.port)
    return row.kind(
        row.message.format(where=where, host=place.host, user=place.user, stage=stage, said=said),
        hint=row.hint,
        retryable=row.is_retryable,
        details={"host": where, "stage": stage},
    )


def _plain(error: Exception) -> str:
    """What an error says, without what a host could have put into it to deceive a reader."""
    text = "".join(each if each.isprintable() else " " for each in str(error))
    return " ".join(text.split())[:200].rstrip(".") or type(error).__name__
