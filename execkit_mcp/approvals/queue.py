"""The queue in which questions wait for a person, and the ledger that lets each yes be used once.

Theory of operation. Every change is one transaction that holds the database's write lock and changes a row
only if it is still in the state that was read: of two answers the first counts, of two uses the first runs.
``redeem`` compares the request that is about to run with the one that was shown, so a yes for one command,
folder, target, policy, standard input or requester is worth nothing for another. Whatever is unclear
(unknown, lapsed, altered) is a no.

Only a channel to a person calls ``decide``; no tool of the server does.
"""

import hmac
import re
from collections.abc import Callable
from typing import Never

from execkit_mcp.approvals.approval import Approval, Channel, State
from execkit_mcp.approvals.request import ApprovalRequest
from execkit_mcp.errors import ApprovalDenied, ApprovalExpired, ApprovalRequired, StorageUnavailable
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.storage import Database, Row, Transaction

__all__ = ["MAX_PENDING", "MAX_PENDING_EACH", "ApprovalQueue"]

MAX_PENDING_EACH = 50  # by one requester: more is a flood that tires the person out
MAX_PENDING = 1000
_ID = re.compile(r"apr_[0-9a-f]{16}")
_COLUMNS = "id, digest, state, request, expires_s, decided_s, decided_by, decided_who, reason, redeemed_s"
_ASK_ANEW = "Call again without approval_id: a person must see what would run now."


class ApprovalQueue:
    """The approvals in one database; any number of processes may have it open."""

    def __init__(self, database: Database, *, clock: Clock, entropy: Entropy) -> None:
        self._database = database
        self._clock = clock
        self._entropy = entropy

    def submit(self, request: ApprovalRequest) -> Approval:
        """Put a question to the person; the same question, still unanswered, is not put twice.

        Raises:
            ApprovalDenied: too many questions wait already.
            StorageUnavailable: it could not be written.
        """
        now_s = self._clock.epoch_s()
        digest = request.digest()
        with self._database.transaction() as transaction:
            rows = transaction.rows(
                f"SELECT {_COLUMNS} FROM approvals WHERE state = 'pending' AND digest = ?"  # noqa: S608 # constants
                " AND expires_s > ? ORDER BY created_s DESC",
                (digest, now_s),
            )
            for waiting in (_load(row, now_s) for row in rows):
                # Only when the person sees the same: another reason or hazard is another question.
                if waiting.state is State.PENDING and _same_sight(waiting.request, request):
                    return waiting
            self._refuse_flood(transaction, request.requester, now_s)
            approval = Approval(
                id=f"apr_{self._entropy.token_hex(8)}",
                request=request,
                state=State.PENDING,
                expires_s=request.expires_s,
            )
            transaction.change(
                "INSERT INTO approvals (id, digest, requester, state, request, created_s, expires_s)"
                " VALUES (?, ?, ?, 'pending', ?, ?, ?)",
                (
                    approval.id,
                    digest,
                    ascii(request.requester),
                    request.dumps(),
                    request.created_s,
                    request.expires_s,
                ),
            )
        return approval

    def get(self, approval_id: str) -> Approval | None:
        """The approval of that id as it stands now, or None."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM approvals WHERE id = ?",  # noqa: S608 # constants
            (ascii(approval_id)[1:-1],),
        )
        return _load(rows[0], self._clock.epoch_s()) if rows else None

    def pending(self) -> tuple[Approval, ...]:
        """Every question that still waits, oldest first."""
        now_s = self._clock.epoch_s()
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM approvals WHERE state = 'pending' AND expires_s > ?"  # noqa: S608 # constants
            " ORDER BY created_s, id",
            (now_s,),
        )
        return tuple(found for row in rows if (found := _load(row, now_s)).state is State.PENDING)

    def latest(self, limit: int = 100) -> tuple[Approval, ...]:
        """The newest ``limit`` approvals in any state, oldest of them first."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM approvals ORDER BY created_s DESC, id DESC LIMIT ?",  # noqa: S608 # constants
            (limit,),
        )
        now_s = self._clock.epoch_s()
        return tuple(_load(row, now_s) for row in reversed(rows))

    def decide(
        self,
        approval_id: str,
        *,
        approve: bool,
        by: Channel,
        who: str = "",
        reason: str = "",
        record: Callable[[Approval], object] | None = None,
    ) -> Approval:
        """Write down a person's answer; the first one counts.

        A yes is good for one use within the request's own time to live, counted from now.

        Args:
            approval_id: which.
            approve: yes or no.
            by: the channel over which the person answered.
            who: the person, as far as the channel knows.
            reason: the person's words; a no carries them to the agent.
            record: called with the decided approval before anything is final; when it raises, nothing was
            decided.
                This is where the audit entry is written.

        Raises:
            ApprovalExpired: it is unknown, answered already, or its time is over.
            ApprovalDenied: this channel may not say yes to it.
        """
        now_s = self._clock.epoch_s()
        with self._database.transaction() as transaction:
            found = self._find(transaction, approval_id, now_s)
            if found.state is not State.PENDING:
                _refuse_decided(found)
            if approve and by is Channel.ELICIT and found.request.is_out_of_band_only:
                raise ApprovalDenied(
                    f"Approval {approval_id} cannot be given in the client's dialogue.",
                    hint=f"An operator must run: execkit-mcp approve {approval_id}",
                    details={"approval_id": approval_id},
                )
            decided = Approval(
                id=found.id,
                request=found.request,
                state=State.APPROVED if approve else State.DENIED,
                expires_s=now_s + found.request.ttl_s if approve else found.expires_s,
                decided_s=now_s,
                decided_by=by.value,
                decided_who=who,
                reason=reason,
            )
            touched = transaction.change(
                "UPDATE approvals SET state = ?, expires_s = ?, decided_s = ?, decided_by = ?,"
                " decided_who = ?, reason = ? WHERE id = ? AND state = 'pending'",
                (decided.state.value, decided.expires_s, now_s, by.value, who, reason, approval_id),
            )
            if touched != 1:
                _refuse_decided(found)
            if record is not None:
                record(decided)
        return decided

    def redeem(self, approval_id: str, request: ApprovalRequest) -> Approval:
        """Use the approval for ``request``, which is about to run. Succeeds exactly once, over all processes.

        Raises:
            ApprovalRequired: nobody has answered yet.
            ApprovalDenied: a person said no; the hint carries the reason.
            ApprovalExpired: it is unknown, used, over its time, or was given for something else.
        """
        now_s = self._clock.epoch_s()
        with self._database.transaction() as transaction:
            found = self._find(transaction, approval_id, now_s)
            if not hmac.compare_digest(found.request.digest(), request.digest()):
                raise ApprovalExpired(
                    f"Approval {approval_id} was given for another "
                    f"{' and another '.join(found.request.differences(request))}.",
                    hint=_ASK_ANEW,
                    details={
                        "approval_id": approval_id,
                        "differs": list(found.request.differences(request)),
                    },
                )
            if found.state is not State.APPROVED:
                _refuse_unapproved(found)
            touched = transaction.change(
                "UPDATE approvals SET state = 'redeemed', redeemed_s = ? WHERE id = ? AND state = 'approved'",
                (now_s, approval_id),
            )
            if touched != 1:
                _refuse_unapproved(found)
        return Approval(
            id=found.id,
            request=found.request,
            state=State.REDEEMED,
            expires_s=found.expires_s,
            decided_s=found.decided_s,
            decided_by=found.decided_by,
            decided_who=found.decided_who,
            reason=found.reason,
            redeemed_s=now_s,
        )

    def change_mark(self) -> tuple[int, int]:
        """A value that differs after any change in the database; a few microseconds to ask for."""
        return self._database.change_mark()

    def now_s(self) -> float:
        """The time by which the queue judges expiry."""
        return self._clock.epoch_s()

    def _find(self, transaction: Transaction, approval_id: str, now_s: float) -> Approval:
        if _ID.fullmatch(approval_id):
            rows = transaction.rows(
                f"SELECT {_COLUMNS} FROM approvals WHERE id = ?",  # noqa: S608 # constants
                (approval_id,),
            )
            if rows:
                return _load(rows[0], now_s)
        raise ApprovalExpired(
            f"There is no approval {ascii(approval_id)[1:-1][:40]}.",
            hint="An id looks like apr_0123456789abcdef; `execkit-mcp approvals` lists what waits.",
        )

    def _refuse_flood(self, transaction: Transaction, requester: str, now_s: float) -> None:
        waiting = "SELECT count(*) FROM approvals WHERE state = 'pending' AND expires_s > ?"
        [(total,)] = transaction.rows(waiting, (now_s,))
        [(mine,)] = transaction.rows(f"{waiting} AND requester = ?", (now_s, ascii(requester)))
        if int(total or 0) >= MAX_PENDING or int(mine or 0) >= MAX_PENDING_EACH:
            raise ApprovalDenied(
                f"Too many approvals wait already: {mine} of this requester, {total} in all"
                f" (limits {MAX_PENDING_EACH} and {MAX_PENDING}).",
                hint="Wait until a person has answered some of them.",
            )


def _same_sight(first: ApprovalRequest, second: ApprovalRequest) -> bool:
    return (
        first.agent_reason == second.agent_reason
        and first.hazards == second.hazards
        and first.effects == second.effects
        and first.channel == second.channel
    )


def _load(row: Row, now_s: float) -> Approval:
    approval_id, digest, state, request, expires_s, decided_s, by, who, reason, redeemed_s = row
    try:
        approval = Approval(
            id=str(approval_id),
            request=ApprovalRequest.loads(str(request)),
            state=State(str(state)),
            expires_s=float(expires_s or 0),
            decided_s=None if decided_s is None else float(decided_s),
            decided_by=str(by),
            decided_who=str(who),
            reason=str(reason),
            redeemed_s=None if redeemed_s is None else float(redeemed_s),
        )
        is_whole = hmac.compare_digest(approval.request.digest(), str(digest))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _altered(approval_id) from error
    if not is_whole:
        raise _altered(approval_id)
    if approval.state in {State.PENDING, State.APPROVED} and approval.has_lapsed(now_s):
        return Approval(
            id=approval.id,
            request=approval.request,
            state=State.EXPIRED,
            expires_s=approval.expires_s,
            decided_s=approval.decided_s,
            decided_by=approval.decided_by,
            decided_who=approval.decided_who,
            reason=approval.reason,
        )
    return approval


def _altered(approval_id: object) -> StorageUnavailable:
    return StorageUnavailable(
        f"Approval {approval_id!a} in the database is not what was written there.",
        hint="Find out who changed it; then move the database away to begin with an empty one.",
    )


def _refuse_decided(found: Approval) -> Never:
    """Nothing can be decided any more: say how it stands."""
    answers = {
        State.APPROVED: f"was approved already over {found.decided_by}",
        State.DENIED: f"was denied already over {found.decided_by}",
        State.REDEEMED: "was approved and used already",
        State.EXPIRED: "ran out: its time is over, which counts as no",
    }
    raise ApprovalExpired(
        f"Approval {found.id} {answers.get(found.state, 'was decided by somebody else just now')}.",
        hint="The first answer counts; a new call of the agent asks anew.",
        details={"approval_id": found.id, "state": found.state.value},
    )


def _refuse_unapproved(found: Approval) -> Never:
    """It cannot be used: say why."""
    details = {"approval_id": found.id, "state": found.state.value}
    if found.state is State.PENDING:
        raise ApprovalRequired(
            f"Nobody has answered approval {found.id} yet.",
            approval_id=found.id,
            hint=f"A person must run `execkit-mcp approve {found.id}`; then call again with this id.",
        )
    if found.state is State.DENIED:
        raise ApprovalDenied(
            f"A person denied approval {found.id}" + (f": {found.reason}" if found.reason else "."),
            hint="Do not ask for the same again; do it another way, or explain why it is needed.",
            details=details | {"reason": found.reason},
        )
    if found.state is State.EXPIRED:
        was = "it was approved but not used in time" if found.decided_s else "nobody answered in time"
        raise ApprovalExpired(
            f"Approval {found.id} ran out: {was}, which counts as no.", hint=_ASK_ANEW, details=details
        )
    raise ApprovalExpired(
        f"Approval {found.id} was used already; each is good for one run.", hint=_ASK_ANEW, details=details
    )
