"""Whose key a host may show, by known_hosts, a pinned fingerprint, the operator's word; this module decides.

``known_hosts`` is the authority, as OpenSSH reads it: hashed names, ``@cert-authority``, ``@revoked``, ``[host]:port``.
A host with entries of its own that shows another key is a mismatch, one without is unknown; both are refused, with
fingerprints. Nothing is ever added here but by ``trust``, which the operator calls.
"""

import contextlib
import ipaddress
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import asyncssh
from msgspec import Struct

from execkit_mcp.errors import ConfigError, HostKeyMismatch, HostKeyUnknown, TransportError
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.transports.ssh.place import require_plain

__all__ = ["HostKeys", "KnownKeys", "fingerprint_of", "known_name", "trust"]

_DEFAULT_PORT = 22
_MARKED = lazy_regex(r"\s*@(?:revoked|cert-authority)\b")
_Matches = tuple[list[asyncssh.SSHKey], list[asyncssh.SSHKey], list[asyncssh.SSHKey]]


def fingerprint_of(key: asyncssh.SSHKey) -> str:
    """The fingerprint as ``ssh-keygen -l`` prints it."""
    return str(key.get_fingerprint())


def known_name(host: str, port: int) -> str:
    """The host as known_hosts spells it."""
    return host if port == _DEFAULT_PORT else f"[{host}]:{port}"


class KnownKeys(Struct, frozen=True, kw_only=True):
    """What the files say of one host: its keys, authorities, revoked keys; ``is_exact``: of this very port."""

    keys: tuple[asyncssh.SSHKey, ...] = ()
    authorities: tuple[asyncssh.SSHKey, ...] = ()
    revoked: tuple[asyncssh.SSHKey, ...] = ()
    is_exact: bool = True


def _load(paths: Iterable[str]) -> asyncssh.SSHKnownHosts:
    """Lines that cannot be read are left out, as ssh does; a marked one that cannot be read is refused."""
    known = asyncssh.SSHKnownHosts()
    for path in paths:
        require_plain(path, "The file of known hosts")
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ConfigError(
                f"The file of known hosts {path} cannot be read: {error.strerror}.", hint="Mend its permissions."
            ) from error
        for number, line in enumerate(text.splitlines(), 1):
            try:
                known.load(line)
            except ValueError as error:
                if _MARKED.match(line):
                    raise ConfigError(
                        f"{path}:{number}: this line cannot be read, and it may revoke a key.",
                        hint="Correct it or take it out.",
                    ) from error
    return known


def _matches(known: asyncssh.SSHKnownHosts, host: str, port: int | None) -> _Matches:
    found = known.match(host, host if _is_address(host) else "", port)
    return list(found[0]), list(found[1]), list(found[2])


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _look_up(paths: Sequence[str], host: str, port: int) -> KnownKeys:
    known = _load(paths)
    keys, authorities, revoked = _matches(known, host, None if port == _DEFAULT_PORT else port)
    plain = _matches(known, host, None)
    revoked += [key for key in plain[2] if key not in revoked]
    is_exact = port == _DEFAULT_PORT or not keys or keys != plain[0]
    return KnownKeys(keys=tuple(keys), authorities=tuple(authorities), revoked=tuple(revoked), is_exact=is_exact)


class HostKeys:
    """Decides on the key that one host shows; keeps the refusal, because asyncssh's own says less.

    Attributes:
        seen: the key that was shown.
        refusal: why it was refused; None if it was not.
    """

    def __init__(
        self,
        *,
        target: str,
        host: str,
        port: int,
        paths: Sequence[str],
        fingerprint: str | None,
        accepts_any: bool,
    ) -> None:
        self._target = target
        self.host, self.port = host, port
        self._name = known_name(host, port)
        self.paths = tuple(paths)
        self._pinned = None if fingerprint is None else fingerprint.rstrip("=")
        self._accepts_any = accepts_any
        is_free = accepts_any or fingerprint is not None
        found = _look_up(paths, host, port)
        self.known = KnownKeys(revoked=found.revoked) if is_free else found
        self.seen: asyncssh.SSHKey | None = None
        self.refusal: TransportError | None = None

    def lists(self, _host: str, _address: str, _port: int | None) -> tuple[Sequence[asyncssh.SSHKey], ...]:
        """What asyncssh checks certificates and revocation against; plain keys come to ``accepts``."""
        return (), self.known.authorities, self.known.revoked

    @property
    def algorithms(self) -> list[str]:
        """The kinds of host key to ask for: those that are known first, certificates only from known authorities."""
        plain = [each.decode() for each in asyncssh.public_key.get_default_public_key_algs()]
        plain.sort(key=lambda name: ("ed25519" not in name, "ecdsa" not in name, "sk-" in name))
        wanted = [each.decode() for key in self.known.keys for each in key.sig_algorithms if each.decode() in plain]
        certificates: list[str] = []
        if self.known.authorities:
            certificates = [each.decode() for each in asyncssh.public_key.get_default_certificate_algs()]
        return list(dict.fromkeys((*certificates, *wanted, *plain)))

    def accepts(self, key: asyncssh.SSHKey) -> bool:
        """Whether ``key`` may be this host's."""
        self.seen = key
        shown = fingerprint_of(key)
        if self._accepts_any or key in self.known.keys:
            return True
        if self._pinned is not None:
            if shown.rstrip("=") == self._pinned:
                return True
            self.refusal = self._mismatch(shown, [self._pinned], "pinned in the configuration")
        elif self.known.keys and self.known.is_exact:
            self.refusal = self._mismatch(shown, [fingerprint_of(each) for each in self.known.keys], "known")
        else:
            self.refusal = HostKeyUnknown(
                f"The host key of {self._name} is not known: {_kind(key)} {shown}.",
                hint=(
                    "Compare the fingerprint with the host's own (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), "
                    f"then an operator runs: execkit-mcp targets trust {self._target}"
                ),
                details={"target": self._target, "host": self._name, "fingerprint": shown},
            )
        return False

    @property
    def name(self) -> str:
        """The host as known_hosts spells it."""
        return self._name

    def trust(self) -> str:
        """Add the key that was shown to the first of the files, and say which that is."""
        assert self.seen is not None
        path = self.paths[0] if self.paths else str(Path("~/.ssh/known_hosts").expanduser())
        trust(path, self.host, self.port, self.seen)
        return path

    def _mismatch(self, shown: str, expected: list[str], what: str) -> HostKeyMismatch:
        return HostKeyMismatch(
            f"The host key of {self._name} is not the one that is {what}: it shows {shown}, "
            f"expected {' or '.join(dict.fromkeys(expected))}.",
            hint=(
                "Somebody may be listening in, or the host was set up anew. Nothing was sent. Ask the host's operator; "
                "only then put the new key in the place of the old one."
            ),
            details={
                "target": self._target,
                "host": self._name,
                "fingerprint": shown,
                "expected": ", ".join(dict.fromkeys(expected)),
            },
        )

    def rejected(self, why: str) -> TransportError:
        """What is told when asyncssh refused the key itself: revoked, or a certificate that does not hold."""
        if self.refusal is not None:
            return self.refusal
        return HostKeyMismatch(
            f"The host key of {self._name} was refused: {why}.",
            hint="A key that is marked @revoked, or a certificate that does not hold for this host, is never accepted.",
            details={"target": self._target, "host": self._name},
        )


def _kind(key: asyncssh.SSHKey) -> str:
    return key.get_algorithm().removeprefix("ssh-").upper()


def trust(path: str, host: str, port: int, key: asyncssh.SSHKey) -> None:
    """Add ``key`` as the host's to the file ``path``, which is made if need be."""
    file = Path(path)
    line = f"{known_name(host, port)} {key.export_public_key('openssh').decode().strip()}\n"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = b""
        with contextlib.suppress(FileNotFoundError):
            before = file.read_bytes()
        lead = "" if not before or before.endswith(b"\n") else "\n"
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write((lead + line).encode())
    except OSError as error:
        raise ConfigError(
            f"The file of known hosts {path} cannot be written: {error.strerror}.", hint="Mend its permissions."
        ) from error
