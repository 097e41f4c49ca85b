"""One-time tokens: the right to answer one approval once, for a channel that has no login of its own.

A token leaves this process in one signed message; the database keeps its hash. Who has it may say yes or no, once; a
second use is refused, whoever was first.
"""

import hashlib
from typing import Final

from execkit_mcp.errors import ApprovalExpired
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.storage import Database

__all__ = ["TokenBook", "is_token"]

_TOKEN: Final = lazy_regex(r"apt_[0-9a-f]{64}")


def is_token(text: str) -> bool:
    """Whether ``text`` has the form of a token."""
    return _TOKEN.fullmatch(text) is not None


class TokenBook:
    """The tokens in one database."""

    def __init__(self, database: Database, *, clock: Clock, entropy: Entropy) -> None:
        self._database = database
        self._clock = clock
        self._entropy = entropy

    def issue(self, approval_id: str) -> str:
        """A new token for ``approval_id``."""
        token = f"apt_{self._entropy.token_hex(32)}"
        with self._database.transaction() as transaction:
            transaction.change(
                "INSERT INTO approval_tokens (token_hash, approval_id) VALUES (?, ?)", (_hash(token), approval_id)
            )
        return token

    def approval_of(self, token: str) -> str:
        """The approval that ``token`` may answer; it is not used up by this.

        Raises:
            ApprovalExpired: it is no token of ours, or was used.
        """
        rows = (
            self._database.rows(
                "SELECT approval_id FROM approval_tokens WHERE token_hash = ? AND used_s IS NULL", (_hash(token),)
            )
            if is_token(token)
            else []
        )
        if not rows:
            raise ApprovalExpired(
                "The token is unknown or was used already.", hint="Each token answers one approval, once."
            )
        return str(rows[0][0])

    def use(self, token: str) -> str:
        """Use the token up and say which approval it may answer; raises as ``approval_of``."""
        approval_id = self.approval_of(token)
        with self._database.transaction() as transaction:
            touched = transaction.change(
                "UPDATE approval_tokens SET used_s = ? WHERE token_hash = ? AND used_s IS NULL",
                (self._clock.epoch_s(), _hash(token)),
            )
        if touched != 1:
            raise ApprovalExpired(
                "The token was used just now by somebody else.", hint="Each token answers one approval, once."
            )
        return approval_id


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
