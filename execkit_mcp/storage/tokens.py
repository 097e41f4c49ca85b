"""Bearer tokens for HTTP: made once, shown once, kept as a digest, looked up on each request.

A token is ``ekt_ID_SECRET``: ID (8 hex digits) finds the row, SECRET (256 random bits) is compared with the digest in
constant time. Nothing guessable is hashed, so a plain SHA-256 is enough (OWASP, Cryptographic Storage: high-entropy
secrets need no slow hash), and whoever reads the database cannot call the server.
"""

import base64
import hashlib
import hmac
from typing import Final

import msgspec
from msgspec import Struct

from execkit_mcp.errors import CommandInvalid
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.storage.database import Database, Row

__all__ = ["PREFIX", "Token", "TokenScope", "Tokens"]

PREFIX: Final = "ekt_"
_SHAPE: Final = lazy_regex(r"ekt_([0-9a-f]{8})_([A-Za-z0-9_-]{43})")
_NAME: Final = lazy_regex(r"[a-z0-9][a-z0-9._-]{0,63}")
_SECRET_BYTES: Final = 32
_COLUMNS: Final = "id, name, digest, scope, created_s, expires_s, revoked_s"


class TokenScope(Struct, frozen=True, kw_only=True):
    """What a token lets its holder do; it only ever narrows what server and policy allow.

    Attributes:
        targets: the targets on which sessions may be opened; None: every declared one.
        policies: policies that must allow a command as well, besides the target's own.
        read_only: the same as the policy ``read-only`` among them.
        metrics: it reads ``/metrics`` and nothing else.
    """

    targets: tuple[str, ...] | None = None
    policies: tuple[str, ...] = ()
    read_only: bool = False
    metrics: bool = False

    def words(self) -> str:
        """The scope in words, for people and for the record."""
        if self.metrics:
            return "metrics only"
        parts = ["read-only"] if self.read_only else []
        if self.targets is not None:
            parts.append(f"targets {', '.join(self.targets)}")
        if self.policies:
            parts.append(f"policies {', '.join(self.policies)}")
        return "; ".join(parts) or "everything that the server allows"


class Token(Struct, frozen=True, kw_only=True):
    """A token as it is kept: everything but its secret."""

    id: str
    name: str
    digest: str
    scope: TokenScope
    created_s: float
    expires_s: float | None
    revoked_s: float | None

    def state(self, now_s: float) -> str:
        """``active``, ``expired`` or ``revoked``."""
        if self.revoked_s is not None:
            return "revoked"
        return "expired" if self.expires_s is not None and now_s >= self.expires_s else "active"


class Tokens:
    """The tokens in one database; any number of processes may have it open."""

    def __init__(self, database: Database, *, clock: Clock, entropy: Entropy) -> None:
        self._database = database
        self._clock = clock
        self._entropy = entropy

    def create(self, name: str, scope: TokenScope, *, lasts_s: float | None) -> tuple[Token, str]:
        """A new token and its text, which is to be had only now.

        Raises:
            CommandInvalid: the name is none, or an active token has it.
            StorageUnavailable: it could not be written.
        """
        if not _NAME.fullmatch(name):
            raise CommandInvalid(
                f"{name!r} is not a name for a token.", hint="Use lower case letters, digits, dot, dash, underscore."
            )
        now_s = self._clock.epoch_s()
        secret = base64.urlsafe_b64encode(self._entropy.token_bytes(_SECRET_BYTES)).decode().rstrip("=")
        token = Token(
            id=self._entropy.token_hex(4),
            name=name,
            digest=_digest(secret),
            scope=scope,
            created_s=now_s,
            expires_s=None if lasts_s is None else now_s + lasts_s,
            revoked_s=None,
        )
        with self._database.transaction() as transaction:
            rows = transaction.rows(f"SELECT {_COLUMNS} FROM tokens WHERE name = ?", (name,))  # noqa: S608 # constants
            if any(_load(row).state(now_s) == "active" for row in rows):
                raise CommandInvalid(
                    f"A token called {name!r} exists already.",
                    hint=f"Choose another name, or run: execkit-mcp tokens revoke {name}",
                )
            transaction.change(
                f"INSERT INTO tokens ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 # constants
                (
                    token.id,
                    name,
                    token.digest,
                    msgspec.json.encode(scope).decode(),
                    token.created_s,
                    token.expires_s,
                    None,
                ),
            )
        return token, f"{PREFIX}{token.id}_{secret}"

    def find(self, text: str) -> Token | None:
        """The token whose text this is, in whatever state; None if it is nobody's."""
        parts = _SHAPE.fullmatch(text)
        if parts is None:
            return None
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM tokens WHERE id = ?", (parts[1],))  # noqa: S608 # constants
        digest = _digest(parts[2])
        found = None
        for row in rows:
            token = _load(row)
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    def by_id(self, token_id: str) -> Token | None:
        """The token of that id, or None."""
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM tokens WHERE id = ?", (token_id,))  # noqa: S608 # constants
        return _load(rows[0]) if rows else None

    def all(self) -> tuple[Token, ...]:
        """Every token, oldest first."""
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM tokens ORDER BY created_s, id")  # noqa: S608 # constants
        return tuple(map(_load, rows))

    def revoke(self, name_or_id: str) -> Token:
        """End an active token at once.

        Raises:
            CommandInvalid: no active token has that name or id.
        """
        now_s = self._clock.epoch_s()
        with self._database.transaction() as transaction:
            rows = transaction.rows(
                f"SELECT {_COLUMNS} FROM tokens WHERE (name = ? OR id = ?) AND revoked_s IS NULL"  # noqa: S608 # constants
                " ORDER BY created_s DESC",
                (name_or_id, name_or_id),
            )
            if not rows:
                raise CommandInvalid(
                    f"No active token is called {name_or_id!r}.", hint="execkit-mcp tokens list shows them."
                )
            token = _load(rows[0])
            transaction.change("UPDATE tokens SET revoked_s = ? WHERE id = ?", (now_s, token.id))
        return msgspec.structs.replace(token, revoked_s=now_s)

    def now_s(self) -> float:
        """Seconds since 1970."""
        return self._clock.epoch_s()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _load(row: Row) -> Token:
    token_id, name, digest, scope, created_s, expires_s, revoked_s = row
    return Token(
        id=str(token_id),
        name=str(name),
        digest=str(digest),
        scope=msgspec.json.decode(str(scope), type=TokenScope),
        created_s=float(created_s or 0.0),
        expires_s=None if expires_s is None else float(expires_s),
        revoked_s=None if revoked_s is None else float(revoked_s),
    )
