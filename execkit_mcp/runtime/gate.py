"""The gate in front of every session: judges, asks, and puts each step on the record before the next is taken."""

import asyncio
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from execkit_mcp.approvals.approval import Approval, Channel, State
from execkit_mcp.approvals.display import describe
from execkit_mcp.approvals.queue import ApprovalQueue
from execkit_mcp.approvals.request import ApprovalRequest
from execkit_mcp.audit.writer import AuditLog
from execkit_mcp.errors import ApprovalRequired, AuditError, ExecKitError
from execkit_mcp.model import Clock, Decision, ProgramLocator
from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.session import Session, SessionFacts

SYNC_AFTER_S: Final = 0.01


class Gate:
    """What stands between a call and a session."""

    def __init__(
        self,
        *,
        queue: ApprovalQueue,
        audit: AuditLog,
        clock: Clock,
        locator: ProgramLocator,
        run_as: str,
    ) -> None:
        self._queue = queue
        self._audit = audit
        self._clock = clock
        self._locator = locator
        self._run_as = run_as
        self._must_reopen = False
        self._sync_timer: asyncio.TimerHandle | None = None

    # ── judging ──────────────────────────────────────────────────────────────────────────────────────────

    def judge(self, text: str, session: Session) -> Decision:
        """What the session's policy says of ``text`` where the session stands now."""
        return self.judge_in(text, session.facts, cwd=session.cwd)

    def judge_in(self, text: str, facts: SessionFacts, *, cwd: str) -> Decision:
        """What a session with these facts would say of ``text`` in the folder ``cwd``."""
        context = Context(
            cwd=cwd,
            home=facts.home,
            workspace=facts.workspace,
            locator=self._locator,
            fence=facts.fence,
        )
        return judge(text, facts.policy, context)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────

    def redeem(self, decision: Decision, request: RunRequest, session: Session) -> bool:
        """Use up the approval that came with the call; False if none came or nobody has answered it yet.

        Raises:
            ApprovalDenied, ApprovalExpired: it does not let this command run.
        """
        if request.approval_id is None:
            return False
        question = self._question(decision, request, session)
        try:
            approval = self._queue.redeem(request.approval_id, question)
        except ApprovalRequired:
            return False
        self._append(
            "approval.redeemed",
            {"approval_id": approval.id, "digest": question.digest(), "by": approval.decided_by},
        )
        return True

    def submit(self, decision: Decision, request: RunRequest, session: Session) -> str:
        """Put the question to the person; returns the approval's id."""
        question = self._question(decision, request, session)
        approval = self._queue.submit(question)
        self._append(
            "approval.requested",
            {
                **self._facts(decision, session),
                "approval_id": approval.id,
                "digest": question.digest(),
                "reason": session.redact(request.reason),
                "expires_s": approval.expires_s,
            },
        )
        return approval.id

    def question(self, approval_id: str, *, channel: str) -> str | None:
        """What a person is to be shown over ``channel``; None if this one must be answered elsewhere."""
        approval = self._queue.get(approval_id)
        if approval is None or approval.state is not State.PENDING or _is_elsewhere(approval, channel):
            return None
        return describe(approval, now_s=self._clock.epoch_s())

    def answer(self, approval_id: str, *, approve: bool, channel: str, who: str, reason: str = "") -> None:
        """Enter a person's answer that came over ``channel``.

        Raises:
            ApprovalExpired: it was answered already, or its time is over.
            ApprovalDenied: this channel may not say yes to it.
        """

        def record(approval: Approval) -> None:
            self._append(
                "approval.decided",
                {"approval_id": approval.id, "state": approval.state.value, "by": channel, "who": who},
            )

        self._queue.decide(approval_id, approve=approve, by=Channel(channel), who=who, reason=reason, record=record)

    def _question(self, decision: Decision, request: RunRequest, session: Session) -> ApprovalRequest:
        facts = session.facts
        return ApprovalRequest.from_decision(
            decision,
            target=facts.target,
            cwd=session.cwd,
            requester=facts.owner,
            now_s=self._clock.epoch_s(),
            run_as=self._run_as,
            stdin=request.stdin,
            is_tty=request.tty,
            agent_reason=request.reason,
        )

    # ── the record ───────────────────────────────────────────────────────────────────────────────────────

    def record_refusal(self, decision: Decision, request: RunRequest, session: Session) -> None:
        """Put a refusal on the record; a text that did not parse stands there as it came, cut and redacted."""
        facts = self._facts(decision, session)
        if decision.canonical is None:
            facts["text"] = session.redact(request.command[:2000])
        self._append("decision", facts)

    def record_start(self, exec_: Exec, request: RunRequest, session: Session) -> None:
        """Put the decision to run on the record; raises AuditWriteFailed, and then nothing runs."""
        self._append(
            "exec.started",
            {
                **self._facts(exec_.decision, session),
                "exec_id": exec_.exec_id,
                "tty": exec_.is_tty,
                "stdin_bytes": len(request.stdin.encode()) if request.stdin is not None else None,
                "approval_id": request.approval_id,
            },
        )

    def record_end(self, exec_: Exec, session: Session) -> None:
        """Put the end on the record; if that fails the result says so, and nothing runs after it.

        It has happened already, so the result does not wait for the disk: that is synced a moment later.
        """
        end = exec_.completion
        assert end is not None
        counts = {name: exec_.chains[name].snapshot() for name in ("stdout", "stderr")}
        try:
            self._append(
                "exec.finished",
                {
                    "exec_id": exec_.exec_id,
                    "session": session.name,
                    "status": exec_.status.value,
                    "exit_code": end.exit_code,
                    "signal": end.signal,
                    "duration_ms": round(end.duration_ms, 3),
                    "cwd": session.redact(end.cwd),
                    "stdout_bytes": counts["stdout"].total_bytes,
                    "stderr_bytes": counts["stderr"].total_bytes,
                    "redactions": exec_.redactions(),
                    "fence": session.facts.fence.to_json(),
                },
                is_synced=False,
            )
            self._sync_soon()
        except ExecKitError as error:
            exec_.completion = replace(end, warnings=(*end.warnings, str(error)))

    def record(self, kind: str, data: Mapping[str, object]) -> None:
        """Put anything else on the record."""
        self._append(kind, data)

    def _sync_soon(self) -> None:
        """Sync once it is quiet: the next command's own record, which is synced, puts this one on the disk as well."""
        if self._sync_timer is not None:
            self._sync_timer.cancel()
        self._sync_timer = asyncio.get_running_loop().call_later(SYNC_AFTER_S, self.sync)

    def sync(self) -> None:
        """Put what has been recorded on the disk; if that fails, the next command finds the record closed."""
        try:
            self._audit.sync()
        except AuditError:
            self._must_reopen = True

    def _append(self, kind: str, data: Mapping[str, object], *, is_synced: bool = True) -> None:
        """Write one entry; after a failure the log is read anew first, and nothing runs until that succeeds."""
        if self._must_reopen:
            self._audit.reopen()
            self._must_reopen = False
        try:
            self._audit.append(kind, data, is_synced=is_synced)
        except AuditError:
            self._must_reopen = True
            raise

    def _facts(self, decision: Decision, session: Session) -> dict[str, object]:
        facts = session.facts
        return {
            "session": session.name,
            "target": facts.target,
            "requester": facts.owner,
            "cwd": session.redact(session.cwd),
            "verdict": decision.verdict.word,
            "reason_code": decision.reason_code.value,
            "rule": decision.rule,
            "message": session.redact(decision.message),
            "canonical": session.redact(decision.canonical) if decision.canonical is not None else None,
            "hazards": [hit.id for hit in decision.hazards],
            "policy": {"name": decision.policy.name, "digest": decision.policy.digest},
        }


def _is_elsewhere(approval: Approval, channel: str) -> bool:
    return channel == Channel.ELICIT and approval.request.is_out_of_band_only
