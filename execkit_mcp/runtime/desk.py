"""The desk at which people answer: one object for the command line, ``watch``, the web page and the webhook.

It opens the queue in the state folder from any process, and puts each answer on the record in the same breath: one that
cannot be recorded is not given. It needs no server, no asyncio, and no policy. No tool of the server reaches it.
"""

import threading
from pathlib import Path
from typing import Self

from execkit_mcp.approvals import Approval, ApprovalQueue, ApproverSecret, Channel, Grant, Scope, describe
from execkit_mcp.approvals.tokens import TokenBook
from execkit_mcp.audit import AuditLog
from execkit_mcp.errors import CommandInvalid
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.storage import Database, open_database

__all__ = ["ApprovalDesk", "decided_facts", "grant_facts"]


class ApprovalDesk:
    """Everything that a person can do about approvals and grants; may be used from any thread."""

    def __init__(
        self,
        database: Database,
        *,
        state_dir: str | Path,
        audit_dir: str | Path,
        audit_key: bytes | None = None,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._entropy = entropy or SystemEntropy()
        self._database = database
        self._audit_dir = Path(audit_dir)
        self._audit_key = audit_key
        self._lock = threading.Lock()
        self.approver = ApproverSecret.of(state_dir)
        self.queue = ApprovalQueue(database, clock=self._clock, entropy=self._entropy, approver=self.approver)
        self.tokens = TokenBook(database, clock=self._clock, entropy=self._entropy)

    @classmethod
    def open(cls, *, state_dir: str | Path, audit_dir: str | Path, audit_key: bytes | None = None) -> Self:
        """The desk of a state folder.

        Raises:
            StorageUnavailable: the folder or its database cannot be used.
            ConfigPermissions: they belong to others or are writable by them.
        """
        return cls(open_database(state_dir), state_dir=state_dir, audit_dir=audit_dir, audit_key=audit_key)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────

    def pending(self) -> tuple[Approval, ...]:
        """What waits, oldest first."""
        return self.queue.pending()

    def latest(self, limit: int = 100) -> tuple[Approval, ...]:
        """The newest ``limit`` approvals in any state, oldest of them first."""
        return self.queue.latest(limit)

    def get(self, approval_id: str) -> Approval | None:
        """One approval with everything in it, or None."""
        return self.queue.get(approval_id)

    def damaged(self) -> int:
        """How many rows of the queue are not as they were written."""
        return self.queue.damaged()

    def grants(self, *, all: bool = False) -> tuple[Grant, ...]:  # noqa: A002 - says it best
        """The grants that hold; with ``all`` those that ended as well."""
        return self.queue.grants.listed(with_ended=all)

    def needs_code(self, approval: Approval) -> bool:
        """Whether a yes needs the code of the approver's device."""
        return self.approver.wants_code(approval.request)

    def text_of(self, approval: Approval) -> str:
        """The whole question as text that is safe to show."""
        return describe(approval, now_s=self.now_s())

    def change_mark(self) -> tuple[int, int]:
        """A value that differs after any change by any process; a few microseconds."""
        return self.queue.change_mark()

    def now_s(self) -> float:
        """The time by which expiry is judged."""
        return self._clock.epoch_s()

    # ── answering ────────────────────────────────────────────────────────────────────────────────────────

    def approve(
        self,
        approval_id: str,
        *,
        by: Channel,
        who: str,
        scope: Scope | None = None,
        edited: str | None = None,
        code: str | None = None,
        reason: str = "",
    ) -> Approval:
        """Say yes; see ``ApprovalQueue.decide``.

        Raises:
            ApprovalExpired, ApprovalDenied, CommandInvalid: it cannot be given.
            AuditWriteFailed, StorageUnavailable: it cannot be written, so it was not given.
        """
        if edited is not None and not edited.strip():  # never the agent's own text in its place
            raise CommandInvalid(
                "The edited text is empty.", hint="Nothing was decided. Write what should run instead."
            )
        return self._decide(
            approval_id, approve=True, by=by, who=who, scope=scope, edited=edited or "", code=code, reason=reason
        )

    def deny(self, approval_id: str, *, by: Channel, who: str, reason: str = "") -> Approval:
        """Say no; the agent reads the reason. Raises as ``approve`` does."""
        return self._decide(approval_id, approve=False, by=by, who=who, scope=None, edited="", code=None, reason=reason)

    def revoke(self, grant_id: str, *, by: Channel, who: str) -> Grant:
        """Take a grant back; raises ApprovalExpired if there is none, or it was revoked already."""
        with self._lock:
            log = self._open_log()
            try:
                return self.queue.grants.revoke(
                    grant_id,
                    by=by.value,
                    who=who,
                    record=lambda grant: log.append(
                        "grant.revoked", {**grant_facts(grant), "revoked_by": by.value, "who": who}
                    ),
                )
            finally:
                log.close()

    def record(self, kind: str, data: dict[str, object]) -> None:
        """Put something else that a person did on the record; raises AuditWriteFailed."""
        with self._lock:
            log = self._open_log()
            try:
                log.append(kind, data)
            finally:
                log.close()

    def _decide(
        self,
        approval_id: str,
        *,
        approve: bool,
        by: Channel,
        who: str,
        scope: Scope | None,
        edited: str,
        code: str | None,
        reason: str,
    ) -> Approval:
        with self._lock:
            log = self._open_log()
            try:
                return self.queue.decide(
                    approval_id,
                    approve=approve,
                    by=by,
                    who=who,
                    reason=reason,
                    scope=scope,
                    edited=edited,
                    code=code,
                    record=lambda approval: log.append("approval.decided", decided_facts(approval)),
                )
            finally:
                log.close()

    def _open_log(self) -> AuditLog:
        return AuditLog.open(self._audit_dir, clock=self._clock, entropy=self._entropy, key=self._audit_key)

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()


def decided_facts(approval: Approval) -> dict[str, object]:
    """What the record keeps of an answer: the digest stands for the command."""
    return {
        "approval_id": approval.id,
        "state": approval.state.value,
        "digest": approval.digest,
        "target": approval.request.target,
        "requester": approval.request.requester,
        "by": approval.decided_by,
        "who": approval.decided_who,
        "reason": approval.reason,
        "scope": approval.scope.value,
        "is_edited": bool(approval.edited),
    }


def grant_facts(grant: Grant) -> dict[str, object]:
    """What the record keeps of a grant."""
    return {
        "grant_id": grant.id,
        "approval_id": grant.approval_id,
        "scope": grant.scope.value,
        "digest": grant.digest,
        "target": grant.target,
        "requester": grant.requester,
        "uses": grant.uses,
    }
