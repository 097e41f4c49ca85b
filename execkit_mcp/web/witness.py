"""What the page puts on the record about itself: who came in, who left, that somebody guessed."""

from collections.abc import Mapping
from pathlib import Path

from execkit_mcp.audit.writer import AuditLog
from execkit_mcp.errors import AuditError, ExecKitError
from execkit_mcp.model import Clock, Entropy

__all__ = ["Witness"]


class Witness:
    """Writes to the record in ``folder``; several processes may."""

    def __init__(self, folder: Path, *, clock: Clock, entropy: Entropy, key: bytes | None) -> None:
        self._log = AuditLog.open(folder, clock=clock, entropy=entropy, key=key)
        self._must_reopen = False

    def tell(self, kind: str, facts: Mapping[str, object]) -> None:
        """Put it on the record.

        Raises:
            AuditWriteFailed, AuditChainBroken: it is not on the record, so it must not happen.
        """
        if self._must_reopen:
            self._log.reopen()
            self._must_reopen = False
        try:
            self._log.append(kind, facts)
        except AuditError:
            self._must_reopen = True
            raise

    def tell_if_possible(self, kind: str, facts: Mapping[str, object]) -> None:
        """The same for what only takes something away: it happens all the same."""
        try:
            self.tell(kind, facts)
        except ExecKitError:
            self._must_reopen = True

    def close(self) -> None:
        """Let go of the record."""
        self._log.close()
