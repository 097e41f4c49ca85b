"""Where a target really is once ``ssh_config`` has been read: host, port, user, files, jump hosts; this module says.

``~/.ssh/config`` is read as ssh reads it. A file that others can write is refused: it could send us anywhere. Reading
it may run a program (``Match exec``), so nobody who serves others reads it in his own thread.
"""

import getpass
import os
import stat
from pathlib import Path
from typing import Final

import asyncssh
from asyncssh.config import SSHClientConfig, SSHConfig
from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.errors import ConfigError, ConfigPermissions
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.transports.ssh.target import SshTarget

__all__ = ["Place", "Way", "place_of", "require_plain", "way_to"]

_GLOBAL_KNOWN_HOSTS: Final = "/etc/ssh/ssh_known_hosts"
_MAX_JUMPS: Final = 8
_NO_FILE: Final = "none"
_MOST_PORT: Final = 65_535
_LONGEST_HOST, _LONGEST_LABEL, _LONGEST_USER = 253, 63, 255
_UNFIT_HOST: Final = lazy_regex(r"""\A-|[\s'`"$\\;&<>|(){}]""")
_UNFIT_USER: Final = lazy_regex(r"""\A-|['`"$;&<>|(){}]|\s-|\\\Z""")
"""As ssh refuses them (ssh.c, valid_hostname, valid_ruser): ``Match exec`` and ``ProxyCommand`` make words of them."""


class Place(Struct, frozen=True, kw_only=True):
    """Where a target really is, once ``ssh_config`` has been read."""

    host: str
    port: int
    user: str
    key_name: str
    jumps: tuple[str, ...]
    known_hosts: tuple[str, ...]
    config: tuple[str, ...]
    states_ciphers: bool = False

    @property
    def address(self) -> str:
        """``user@host:port``, for people."""
        return f"{self.user}@{self.host}" + ("" if self.port == 22 else f":{self.port}")  # noqa: PLR2004 - ssh


class Way(Struct, frozen=True, kw_only=True):
    """A target's place, and the hops on the way to it, the first first."""

    place: Place
    hops: tuple[tuple[SshTarget, Place], ...] = ()


def way_to(target: SshTarget) -> Way:
    """Read ``ssh_config`` for ``target`` and all that it goes through. Raises ConfigError, ConfigPermissions."""
    place = place_of(target)
    hops = [hop_of(spelled, target) for spelled in all_jumps(place, target)]
    return Way(place=place, hops=tuple((hop, place_of(hop)) for hop in hops))


def require_plain(path: str | Path, what: str) -> None:
    """Raise ConfigError for a file that could keep its reader waiting for ever; one that is not there is fine."""
    try:
        facts = Path(path).expanduser().stat()
    except OSError:
        return
    is_nothing = stat.S_ISCHR(facts.st_mode) and facts.st_rdev == os.makedev(1, 3)
    if not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode) or is_nothing):
        raise ConfigError(f"{what} {path} is no regular file.", hint="Name a file; a pipe or device is never read.")


def place_of(target: SshTarget) -> Place:
    """Read ``ssh_config`` for ``target``. Raises ConfigError, ConfigPermissions."""
    _require_host(target.host, target)
    if target.user is not None:
        _require_user(target.user, target)
    paths = _config_paths(target)
    try:
        config = SSHClientConfig.load(
            None, list(paths), False, False, False, getpass.getuser(), target.user or (), target.host, target.port or ()
        )
    except RecursionError:
        raise ConfigError("ssh_config includes itself.", hint="Mend its Include lines.") from None
    except (asyncssh.ConfigParseError, ValueError, KeyError, OSError) as error:
        raise ConfigError(
            f"ssh_config cannot be read: {error}.", hint="Correct it, or set ssh_config: none."
        ) from error
    host = str(config.get("Hostname", target.host))
    port = int(str(config.get("Port", 22)))
    jump = target.proxy_jump if target.proxy_jump is not None else config.get("ProxyJump")
    if not 0 < port <= _MOST_PORT:
        raise ConfigError(f"Target {target.name} has the port {port}, which no host has.", hint="Mend its port.")
    user = str(config.get("User", None) or getpass.getuser())
    key_name = str(config.get("HostKeyAlias", None) or host)
    _require_user(user, target)
    _require_host(host, target)
    _require_host(key_name, target)
    jumps = () if jump is None or str(jump).lower() == _NO_FILE else tuple(filter(None, str(jump).split(",")))
    return Place(
        host=host,
        port=port,
        user=user,
        key_name=key_name,
        jumps=jumps,
        known_hosts=_known_hosts(target, config),
        config=paths,
        states_ciphers=config.get("Ciphers", None) is not None,
    )


def _require_host(host: str, target: SshTarget) -> None:
    """Raise ConfigError for what no host can be called."""
    labels = [host] if ":" in host else host.removesuffix(".").split(".")
    is_fit = all(0 < len(label) <= _LONGEST_LABEL for label in labels) and len(host) <= _LONGEST_HOST
    if not is_fit or not host.isprintable() or _UNFIT_HOST.search(host) is not None:
        raise ConfigError(
            f"No host can be called {_shown(host)} (target {_shown(target.name)}).",
            hint="Mend `host`, or HostName, HostKeyAlias or ProxyJump of ssh_config.",
        )


def _require_user(user: str, target: SshTarget) -> None:
    is_fit = 0 < len(user) <= _LONGEST_USER and user.isprintable()
    if not is_fit or _UNFIT_USER.search(user) is not None:
        raise ConfigError(
            f"No user can be called {_shown(user)} (target {_shown(target.name)}).",
            hint="Mend `user`, or User of ssh_config.",
        )


def _shown(text: str) -> str:
    """A name that may hold anything, for a message."""
    return ascii(text[:_LONGEST_LABEL]) + ("…" if len(text) > _LONGEST_LABEL else "")


def _config_paths(target: SshTarget) -> tuple[str, ...]:
    if target.ssh_config in {_NO_FILE, os.devnull}:
        return ()
    path = Path(target.ssh_config or "~/.ssh/config").expanduser()
    require_plain(path, "The file")
    try:
        facts = path.stat()
    except OSError as error:
        if target.ssh_config is None:
            return ()
        raise ConfigError(f"The file {path} cannot be read: {error.strerror}.", hint="Mend ssh_config.") from error
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or facts.st_uid not in {0, os.geteuid()}:
        raise ConfigPermissions(
            f"The file {path} can be written by others, who could send us anywhere.", hint=f"Run: chmod go-w {path}"
        )
    return (str(path),)


def _known_hosts(target: SshTarget, config: SSHConfig) -> tuple[str, ...]:
    if target.known_hosts is not None:
        return (str(Path(target.known_hosts).expanduser()),)
    stated = config.get("UserKnownHostsFile", None)
    own = [str(each) for each in stated] if isinstance(stated, list) and stated else ["~/.ssh/known_hosts"]
    shared = config.get("GlobalKnownHostsFile", None)
    everyone = [str(each) for each in shared] if isinstance(shared, list) else [_GLOBAL_KNOWN_HOSTS]
    home = str(Path("~").expanduser())
    return tuple(str(Path(each.replace("%d", home)).expanduser()) for each in (*own, *everyone) if each != _NO_FILE)


def all_jumps(place: Place, target: SshTarget) -> list[str]:
    """The hops in order; a jump host may have jump hosts of its own in ``ssh_config``."""
    found: list[str] = []

    def add(spelled: str, depth: int) -> None:
        if depth > _MAX_JUMPS or len(found) > _MAX_JUMPS:
            raise ConfigError(f"More than {_MAX_JUMPS} jump hosts lead to {target.host}.", hint="Mend ProxyJump.")
        if not found:
            for each in place_of(hop_of(spelled, target)).jumps:
                if each != spelled:  # a jump host that a pattern sends to itself
                    add(each, depth + 1)
        found.append(spelled)

    for each in place.jumps:
        add(each, 1)
    return found


def hop_of(spelled: str, target: SshTarget) -> SshTarget:
    """A jump host: its own words, and our timeouts; a pinned key or an open door is not handed on."""
    text = spelled.removeprefix("ssh://").rstrip("/") if spelled.startswith("ssh://") else spelled
    user, at, rest = text.rpartition("@")
    host, colon, port = rest.rpartition(":")
    if not colon or not port.isdigit():
        host, port = rest, ""
    return replace(
        target,
        host=host.strip("[]"),
        user=user if at else None,
        port=int(port) if port else None,
        proxy_jump=None,
        fingerprint=None,
        accepts_any_host_key=False,
    )
