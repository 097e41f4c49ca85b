"""Asking a person, and using what he answered: the part of the gate that stands between ``ask`` and a start.

    question (true) ─ grant that covers it? ─ approval that came with the call? ─ else: wait in the queue
                         └── used, counted ────── used up, once

A yes may carry an edited text. That text is judged like any other: what the policy denies stays denied; what it allows
or asks about runs, because a person wrote it, unless it needs a better channel or a code that the yes did not have.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.approvals import Approval, Channel, Scope, State, describe
from execkit_mcp.approvals.queue import ApprovalQueue
from execkit_mcp.approvals.request import ApprovalRequest
from execkit_mcp.errors import ApprovalDenied, ApprovalExpired, ApprovalRequired, ExecKitError
from execkit_mcp.model import Clock, Decision, Verdict
from execkit_mcp.runtime.overwrites import NOTHING, overwrites
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.session import Session
from execkit_mcp.runtime.system import is_process_alive

__all__ = ["Asking", "AskingTerms", "Permit", "Waiting"]

_FEW = 3
Record = Callable[[str, Mapping[str, object]], object]
Judge = Callable[[str, Session], Decision]


class AskingTerms(Struct, frozen=True, kw_only=True):
    """What the configuration says about asking.

    Attributes:
        channels: ``elicit``, ``out_of_band``, or both.
        ttl_s: seconds after which an unanswered request is a denial, where the policy states no time.
        wait_s: seconds that a call waits for the answer unless it says itself.
    """

    channels: tuple[str, ...] = ("elicit", "out_of_band")
    ttl_s: float | None = None
    wait_s: float = 3.0


class Permit(Struct, frozen=True, kw_only=True):
    """A person's yes that has been used for this run.

    Attributes:
        decision: on the text that runs: the agent's, or the person's.
        approval_id: the approval that was used up, or by which the grant was given.
        grant_id: the grant that was used.
        by: the channel over which it was given.
        who: by whom.
        note: what the agent must know, such as that the text was changed.
    """

    decision: Decision
    approval_id: str
    by: str
    who: str
    grant_id: str = ""
    note: str = ""


class Waiting(Struct, frozen=True, kw_only=True):
    """Nobody has answered yet."""

    approval_id: str


class Asking:
    """Questions to a person, on behalf of sessions."""

    def __init__(
        self,
        queue: ApprovalQueue,
        *,
        clock: Clock,
        run_as: str,
        record: Record,
        judge: Judge,
        terms: AskingTerms,
        on_request: Callable[[Approval], None] | None = None,
        show: Callable[[Decision, RunRequest, Session, str], None] = lambda *_: None,
        refuse: Callable[[Decision, RunRequest, Session, ExecKitError], None] = lambda *_: None,
    ) -> None:
        self.queue = queue
        self.terms = terms
        self._clock = clock
        self._run_as = run_as
        self._record = record
        self._judge = judge
        self._on_request = on_request
        self._show = show
        self._refuse = refuse

    def ask(
        self, decision: Decision, request: RunRequest, session: Session, *, typed_into: str = ""
    ) -> Permit | Waiting:
        """A person's yes to ``decision`` (verdict ``ask``), used up for the run that follows; else the question waits.

        Raises:
            ApprovalDenied, ApprovalExpired: the approval that came with the call does not let this run; or too many
                questions wait.
            StorageUnavailable, AuditWriteFailed: it cannot be written, so nothing runs.
        """
        question = self._question(decision, request, session, typed_into)
        if request.approval_id is not None:
            try:
                with self._refusing(decision, request, session):
                    approval = self.queue.redeem(request.approval_id, question)
            except ApprovalRequired as pending:
                return Waiting(approval_id=pending.approval_id)
            self._record(
                "approval.redeemed",
                {
                    "approval_id": approval.id,
                    "digest": approval.digest,
                    "by": approval.decided_by,
                    "who": approval.decided_who,
                    "is_edited": bool(approval.edited),
                },
            )
            return self._permit(approval, decision, request, session)
        grant = self.queue.use_grant(question)
        if grant is not None:
            self._record(
                "grant.used",
                {
                    "grant_id": grant.id,
                    "approval_id": grant.approval_id,
                    "digest": grant.digest,
                    "by": grant.granted_by,
                    "who": grant.who,
                },
            )
            return Permit(
                decision=decision,
                approval_id=grant.approval_id,
                grant_id=grant.id,
                by=grant.granted_by,
                who=grant.who,
            )
        with self._refusing(decision, request, session):
            waiting = self._submit(question, decision, session, original=session.redact(request.command))
        self._show(decision, request, session, waiting.approval_id)
        return waiting

    def _submit(self, question: ApprovalRequest, decision: Decision, session: Session, *, original: str) -> Waiting:
        approval = self.queue.submit(question, redact=session.redact)
        shown = approval.request
        self._record(
            "approval.requested",
            {
                "session": shown.session,
                "target": shown.target,
                "requester": shown.requester,
                "cwd": shown.cwd,
                "verdict": decision.verdict.word,
                "reason_code": decision.reason_code.value,
                "rule": decision.rule,
                "message": shown.message,
                "original": original,
                "canonical": shown.canonical,
                "hazards": [hit.id for hit in decision.hazards],
                "policy": {"name": decision.policy.name, "digest": decision.policy.digest},
                "approval_id": approval.id,
                "digest": approval.digest,
                "reason": shown.agent_reason,
                "expires_s": approval.expires_s,
            },
        )
        if self._on_request is not None and approval.request.created_s == question.created_s:  # not asked before
            self._on_request(approval)
        return Waiting(approval_id=approval.id)

    def question(self, approval_id: str, *, channel: str) -> str | None:
        """What a person is to be shown over ``channel``; None if this one must be answered elsewhere."""
        approval = self.queue.get(approval_id)
        if approval is None or approval.state is not State.PENDING:
            return None
        if channel == Channel.ELICIT and not self._may_elicit(approval):
            return None
        return describe(approval, now_s=self._clock.epoch_s())

    def _may_elicit(self, approval: Approval) -> bool:
        approver = self.queue.approver
        needs_code = approver is not None and approver.wants_code(approval.request)
        return "elicit" in self.terms.channels and not needs_code and not approval.request.is_out_of_band_only

    def answer(
        self,
        approval_id: str,
        *,
        approve: bool,
        channel: str,
        who: str,
        reason: str = "",
        scope: Scope | None = None,
        edited: str = "",
    ) -> None:
        """Enter a person's answer that came over ``channel``.

        Raises:
            ApprovalExpired: it was answered already, or its time is over.
            ApprovalDenied: this channel may not say yes to it.
        """

        def record(approval: Approval) -> None:
            self._record(
                "approval.decided",
                {
                    "approval_id": approval.id,
                    "state": approval.state.value,
                    "digest": approval.digest,
                    "by": channel,
                    "who": who,
                    "scope": approval.scope.value,
                    "is_edited": bool(approval.edited),
                },
            )

        self.queue.decide(
            approval_id,
            approve=approve,
            by=Channel(channel),
            who=who,
            reason=reason,
            scope=scope,
            edited=edited,
            record=record,
        )

    def patience_s(self, requester: str) -> float:
        """Seconds that a call waits for a person unless it says itself: none, where several questions wait already."""
        return self.terms.wait_s if self.queue.waiting_of(requester) <= _FEW else 0.0

    def session_opened(self, session: Session) -> None:
        """Take over the grants of the session of that name whose server is gone."""
        self.queue.grants.adopt(
            requester=session.redact(session.facts.owner),
            session=session.redact(session.name),
            session_key=session.key,
            is_alive=lambda key: is_process_alive(key.rpartition("/")[0]),
        )

    def session_closed(self, session: Session) -> None:
        """End the grants that held for that session."""
        self.queue.grants.session_closed(session.key)

    def _permit(self, approval: Approval, decision: Decision, request: RunRequest, session: Session) -> Permit:
        permit = Permit(
            decision=decision,
            approval_id=approval.id,
            by=approval.decided_by,
            who=approval.decided_who,
        )
        if not approval.edited:
            return permit
        judged = self._judge(approval.edited, session)
        details: dict[str, object] = {"approval_id": approval.id, "verdict": judged.verdict.word}
        with self._refusing(judged, replace(request, command=approval.edited), session):
            if judged.canonical is None or judged.verdict is Verdict.DENY:
                raise ApprovalDenied(
                    f"A person changed the command, and the policy denies the changed one: {judged.message}",
                    hint="Nothing ran. Call again without approval_id, or do it another way.",
                    details=details,
                )
            if judged.verdict is Verdict.ASK and judged.canonical != decision.canonical:
                self._refuse_better_asked(approval, judged, details)
        if judged.canonical == decision.canonical:
            return permit
        return replace(
            permit,
            decision=judged,
            note=f"A person changed the command before approving it; what ran is: {session.redact(judged.canonical)}",
        )

    @contextlib.contextmanager
    def _refusing(self, decision: Decision, request: RunRequest, session: Session) -> Iterator[None]:
        """What does not let ``decision`` run goes on the record."""
        try:
            yield
        except (ApprovalDenied, ApprovalExpired) as error:
            self._refuse(decision, request, session, error)
            raise

    def _refuse_better_asked(self, approval: Approval, judged: Decision, details: dict[str, object]) -> None:
        """The edited text may need more than the answer had: another channel, or the approver's code."""
        asked = replace(approval.request, hazards=judged.hazards, channel=judged.approval.channel)
        approver = self.queue.approver
        lacks_code = approver is not None and approver.wants_code(asked) and not approver.wants_code(approval.request)
        is_elsewhere = approval.decided_by == Channel.ELICIT and asked.is_out_of_band_only
        if lacks_code or is_elsewhere:
            raise ApprovalDenied(
                "A person changed the command, and the changed one needs an approval of its own.",
                hint="Nothing ran. Call with the changed command, so that it is asked for by itself.",
                details=details,
            )

    def _question(self, decision: Decision, request: RunRequest, session: Session, typed_into: str) -> ApprovalRequest:
        facts = session.facts
        found = (
            NOTHING
            if typed_into
            else overwrites(decision, stdin=request.stdin, transport=facts.transport, redact=session.redact)
        )
        if self.terms.ttl_s is not None and not decision.approval.is_ttl_stated:
            decision = replace(decision, approval=replace(decision.approval, ttl_s=self.terms.ttl_s))
        return ApprovalRequest.from_decision(
            decision,
            target=facts.target,
            cwd=session.cwd,
            requester=facts.owner,
            now_s=self._clock.epoch_s(),
            session=session.name,
            session_key=session.key,
            run_as=facts.run_as or self._run_as,
            stdin=request.stdin,
            is_tty=request.tty,
            typed_into=typed_into,
            is_durable=request.durable,
            agent_reason=request.reason,
            recent=tuple(session.recent),
            diff=found.text,
            replaced=found.digest,
        )
