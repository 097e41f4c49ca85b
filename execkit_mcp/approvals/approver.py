"""The approver's secret: a code from the approver's own device, without which a critical yes is worth nothing.

Whoever can start programs as the operator can run ``execkit-mcp approve``. With a secret enrolled, a yes to a critical
request (or to any, if enrolled so) needs the six digits that an authenticator app shows. A code counts once; five wrong
ones close the door for a while. The yes carries a proof, a keyed digest of what was approved, and the server takes no
yes without it: a row written into the database by hand is not enough.

The secret lies in ``approver.json`` of the state folder (0600), because a time-based code can only be checked by who
knows it. So it holds against everybody who cannot read that folder: the fence and the policy's ``never`` keep sessions
out. A server remembers the secret that it has seen; taking the file away or putting another one there makes every yes
void until the server is started again.
"""

import hmac
import json
import os
import stat
from pathlib import Path
from typing import Final, Literal, Self, get_args

from msgspec import Struct

from execkit_mcp.approvals import totp
from execkit_mcp.approvals.request import ApprovalRequest, keyed
from execkit_mcp.errors import ApprovalDenied, StorageUnavailable
from execkit_mcp.model import Entropy
from execkit_mcp.storage import Transaction
from execkit_mcp.storage.folder import check_private_file, create_private_file, open_private_folder, sync_folder

__all__ = ["FILE_NAME", "Approver", "Wanted", "enrol"]

FILE_NAME = "approver.json"
Wanted = Literal["critical", "all"]
_SECRET_BYTES: Final = 20
_MAX_WRONG: Final = 5
_CLOSED_S: Final = 300.0
_MAX_FILE: Final = 4096


class _Secret(Struct, frozen=True):
    value: bytes
    wanted: str


class Approver:
    """What is enrolled in one state folder, as this process knows it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: _Secret | None = None
        self._stamp: tuple[int, int, int] | None = None

    @classmethod
    def of(cls, state_dir: str | Path) -> Self:
        """The approver of that state folder; reads the secret if there is one."""
        approver = cls(Path(state_dir, FILE_NAME))
        approver._look()
        return approver

    @property
    def is_enrolled(self) -> bool:
        """Whether a secret is known."""
        return self._look() is not None

    @property
    def wanted_for(self) -> str:
        """``critical``, ``all``, or empty where nothing is enrolled."""
        secret = self._look()
        return "" if secret is None else secret.wanted

    def wants_code(self, request: ApprovalRequest) -> bool:
        """Whether a yes to ``request`` needs a code."""
        secret = self._look()
        return secret is not None and (secret.wanted == "all" or request.is_critical)

    def known_values(self) -> tuple[str, ...]:
        """What must never be seen in output: the secret as it is written."""
        secret = self._look()
        return () if secret is None else (totp.secret_text(secret.value), secret.value.hex())

    def prove(self, transaction: Transaction, digest: str, code: str | None, now_s: float) -> str:
        """The proof for a yes, once ``code`` is found good; counts wrong ones.

        The caller commits the transaction whether this raises or not: wrong codes must count.

        Raises:
            ApprovalDenied: no code, a wrong one, one that was used, or too many wrong ones lately.
        """
        secret = self._look()
        if secret is None:
            return ""
        stored = {str(name): float(value or 0) for name, value in transaction.rows("SELECT * FROM approver_codes")}
        closed_until = stored.get("closed_until_s", 0.0)
        if now_s < closed_until <= now_s + _CLOSED_S:
            raise ApprovalDenied(
                f"Too many wrong codes were given; no code counts for another {closed_until - now_s:.0f} s.",
                hint="Denying needs no code.",
                details={"retry_after_s": round(closed_until - now_s)},
            )
        if not code:
            raise ApprovalDenied(
                "This approval needs the code of the approver's device.",
                hint="Give the six digits that the authenticator shows: execkit-mcp approve ID --code 123456.",
                details={"needs_code": True},
            )
        last = int(stored.get("last_step", -1))
        step = totp.matching_step(secret.value, code, now_s, after=last)
        if step is None:
            wrong = int(stored.get("wrong", 0)) + 1
            is_closing = wrong >= _MAX_WRONG
            _put(transaction, "wrong", 0 if is_closing else wrong)
            if is_closing:
                _put(transaction, "closed_until_s", now_s + _CLOSED_S)
            raise ApprovalDenied(
                "The code is wrong, too old, or was used already.",
                hint=f"Each code counts once: wait for the next one (at most {totp.PERIOD_S} s).",
                details={"needs_code": True},
            )
        _put(transaction, "last_step", step)
        _put(transaction, "wrong", 0)
        return self.proof_of(digest)

    def proof_of(self, digest: str) -> str:
        """What stands beside a yes that was given with a good code."""
        secret = self._look()
        return "" if secret is None else keyed(secret.value, "approved", digest)

    def accepts(self, request: ApprovalRequest, digest: str, proof: str) -> bool:
        """Whether a yes with ``proof`` may be used."""
        if not self.wants_code(request):
            return True
        return hmac.compare_digest(self.proof_of(digest), proof)

    def _look(self) -> _Secret | None:
        """The secret; the first one that was seen stays the one, whatever becomes of the file."""
        if self._known is not None:
            return self._known
        try:
            found = self._path.lstat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(self._path, error.strerror or str(error)) from error
        stamp = (found.st_mtime_ns, found.st_ino, found.st_size)
        if stamp == self._stamp:
            return self._known
        self._known = _read(self._path)
        self._stamp = stamp
        return self._known


def enrol(state_dir: str | Path, *, wanted: Wanted, entropy: Entropy) -> bytes:
    """Make a new secret, write it down and return it.

    Raises:
        ApprovalDenied: one is enrolled already.
        StorageUnavailable: it cannot be written.
    """
    folder = open_private_folder(state_dir)
    path = folder / FILE_NAME
    if os.path.lexists(path):
        raise ApprovalDenied(
            "An approver is enrolled already.",
            hint="Remove that one first, with a code of it: execkit-mcp approver remove --code 123456.",
        )
    secret = entropy.token_bytes(_SECRET_BYTES)
    new = path.with_suffix(".new")
    try:
        new.unlink(missing_ok=True)
        create_private_file(new)
        new.write_text(json.dumps({"totp": totp.secret_text(secret), "for": wanted}))
        new.rename(path)
        sync_folder(folder)
    except OSError as error:
        raise StorageUnavailable(
            f"The approver's secret cannot be written to {path}: {error.strerror}.",
            hint="See that the state folder is writable and its disk has room.",
        ) from error
    return secret


def remove(state_dir: str | Path) -> None:
    """Forget the enrolled secret."""
    Path(state_dir, FILE_NAME).unlink(missing_ok=True)


def _put(transaction: Transaction, name: str, value: float) -> None:
    if not transaction.change("UPDATE approver_codes SET value = ? WHERE name = ?", (value, name)):
        transaction.change("INSERT INTO approver_codes (name, value) VALUES (?, ?)", (name, value))


def _read(path: Path) -> _Secret:
    check_private_file(path)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise _unreadable(path, "it is not a regular file")
            value = json.loads(file.read(_MAX_FILE))
        secret, wanted = totp.secret_from_text(str(value["totp"])), str(value["for"])
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, "its content is not what was written there") from error
    if len(secret) < _SECRET_BYTES or wanted not in get_args(Wanted):
        raise _unreadable(path, "its content is not what was written there")
    return _Secret(secret, wanted)


def _unreadable(path: Path, why: str) -> StorageUnavailable:
    return StorageUnavailable(
        f"The approver's secret {path} cannot be read: {why}.",
        hint="No approval counts until it can. Find out who changed it; removing the file ends the enrolment.",
    )
