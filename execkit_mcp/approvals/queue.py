"""The queue in which questions wait for a person, and the ledger that lets each yes be used once.

Theory of operation. Every change is one transaction that holds the write lock and changes a row only if it is still in
the state that was read: of two answers the first counts, of two uses the first runs. A no that comes within a
second of a yes beats it, as long as the yes was not used. ``redeem`` compares the request that is about to run with the
one that was shown, so a yes for one command, folder, target, policy, standard input or requester is worth nothing for
another. Whatever is unclear (unknown, lapsed, altered) is a no.

What is stored is the request with its secrets replaced; what is compared is a keyed digest of the true one.

Only a channel to a person calls ``decide``; no tool of the server does.
"""

import hmac
import json
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from execkit_mcp.approvals.approval import Approval, Channel, Scope, ScopeKind, State
from execkit_mcp.approvals.approver import Approver
from execkit_mcp.approvals.flood import MAX_PENDING, MAX_PENDING_EACH, refuse_flood
from execkit_mcp.approvals.grants import Grant, GrantBook
from execkit_mcp.approvals.refusals import (
    ASK_ANEW,
    refuse_channel,
    refuse_decided,
    refuse_edited,
    refuse_unapproved,
)
from execkit_mcp.approvals.request import ApprovalRequest
from execkit_mcp.approvals.rows import COLUMNS, WHOLE, load, load_or_none, marks_of, seal_of
from execkit_mcp.errors import ApprovalDenied, ApprovalExpired, StorageUnavailable
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.storage import Database, Row, Transaction

__all__ = ["MAX_PENDING", "MAX_PENDING_EACH", "ApprovalQueue"]

DENY_BEATS_S: Final = 1.0
_ID = lazy_regex(r"apr_[0-9a-f]{16}")
_KEY_NAME: Final = "approvals"
_GRANT: Final = "(grant)"
_MAX_REASON: Final = 2000


class ApprovalQueue:
    """The approvals in one database; any number of processes may have it open.

    Attributes:
        grants: what was allowed for more than one run.
        approver: whose code a critical yes needs.
    """

    def __init__(self, database: Database, *, clock: Clock, entropy: Entropy, approver: Approver | None = None) -> None:
        self._database = database
        self._clock = clock
        self._entropy = entropy
        self._key = _key_of(database, entropy)
        self.approver = approver
        self.grants = GrantBook(database, key=self._key, clock=clock, entropy=entropy)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────

    def submit(self, request: ApprovalRequest, *, redact: Callable[[str], str] = str) -> Approval:
        """Put a question to the person; the same question, still unanswered, is not put twice.

        Args:
            request: the true request.
            redact: what every text goes through before it is stored.

        Raises:
            ApprovalDenied: too many questions wait already, or came too fast.
            StorageUnavailable: it could not be written.
        """
        now_s = self._clock.epoch_s()
        digest = request.digest(self._key)
        shown = request.shown_by(redact)
        with self._database.transaction() as transaction:
            rows = transaction.rows(
                f"SELECT {WHOLE} FROM approvals WHERE state = 'pending' AND digest = ?"  # noqa: S608 # constants
                " AND expires_s > ? ORDER BY created_s DESC",
                (digest, now_s),
            )
            for waiting in (load(row, self._key, now_s) for row in rows):
                # Only when the person sees the same: another reason or session is another question.
                if waiting.state is State.PENDING and _same_sight(waiting.request, shown):
                    return waiting
            refuse_flood(transaction, ascii(shown.requester), now_s)
            approval = Approval(
                id=f"apr_{self._entropy.token_hex(8)}",
                request=shown,
                state=State.PENDING,
                expires_s=request.expires_s,
                digest=digest,
            )
            slim, detail = shown.split()
            marks = json.dumps(
                {**request.marks(self._key), _GRANT: request.grant_digest(self._key)}, separators=(",", ":")
            )
            seal = seal_of(self._key, approval.id, digest, slim, marks=marks, detail=detail)
            transaction.change(
                "INSERT INTO approvals"
                " (id, digest, requester, state, request, created_s, expires_s, marks, detail, seal)"
                " VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?)",
                (
                    approval.id,
                    digest,
                    ascii(shown.requester),
                    slim,
                    request.created_s,
                    request.expires_s,
                    marks,
                    detail,
                    seal,
                ),
            )
        return approval

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────

    def get(self, approval_id: str) -> Approval | None:
        """The approval of that id as it stands now, or None."""
        rows = self._database.rows(
            f"SELECT {WHOLE} FROM approvals WHERE id = ?",  # noqa: S608 # constants
            (ascii(approval_id)[1:-1],),
        )
        return load(rows[0], self._key, self._clock.epoch_s()) if rows else None

    def pending(self) -> tuple[Approval, ...]:
        """Every question that still waits, oldest first; rows that were not written by us are left out."""
        now_s = self._clock.epoch_s()
        rows = self._database.rows(
            f"SELECT {WHOLE} FROM approvals WHERE state = 'pending' AND expires_s > ?"  # noqa: S608 # constants
            " ORDER BY created_s, id",
            (now_s,),
        )
        return tuple(found for found in self._readable(rows, now_s) if found.state is State.PENDING)

    def waiting_of(self, requester: str) -> int:
        """How many questions of ``requester`` wait."""
        [(count,)] = self._database.rows(
            "SELECT count(*) FROM approvals WHERE state = 'pending' AND requester = ? AND expires_s > ?",
            (ascii(requester), self._clock.epoch_s()),
        )
        return int(count or 0)

    def latest(self, limit: int = 100) -> tuple[Approval, ...]:
        """The newest ``limit`` approvals in any state, oldest of them first, without what only ``get`` tells."""
        now_s = self._clock.epoch_s()
        found = self._database.read(
            f"SELECT {COLUMNS} FROM approvals ORDER BY created_s DESC, rowid DESC LIMIT ?",  # noqa: S608 # constants
            lambda row: load_or_none(row, self._key, now_s),
            (limit,),
        )
        return tuple(found[::-1])

    def damaged(self) -> int:
        """How many rows of what could be answered or used were not written by us, or not like that."""
        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM approvals WHERE state NOT IN ('denied', 'redeemed') AND expires_s > ?",  # noqa: S608
            (self._clock.epoch_s(),),
        )
        return len(rows) - len(self._readable(rows, self._clock.epoch_s()))

    def _readable(self, rows: list[Row], now_s: float) -> list[Approval]:
        return [found for row in rows if (found := load_or_none(row, self._key, now_s)) is not None]

    # ── answering ────────────────────────────────────────────────────────────────────────────────────────

    def decide(
        self,
        approval_id: str,
        *,
        approve: bool,
        by: Channel,
        who: str = "",
        reason: str = "",
        scope: Scope | None = None,
        edited: str = "",
        code: str | None = None,
        record: Callable[[Approval], object] | None = None,
    ) -> Approval:
        """Write down a person's answer; the first one counts, and a no beats a yes of the same second.

        A yes is good for one use within the request's own time to live, counted from now; with another ``scope`` it
        comes with a grant.

        Args:
            approval_id: which.
            approve: yes or no.
            by: the channel over which the person answered.
            who: the person, as far as the channel knows.
            reason: the person's words; a no carries them to the agent.
            scope: how far a yes reaches; None: one run.
            edited: a text to run instead; it is judged again before it runs.
            code: what the approver's device shows.
            record: called with the decided approval before anything is final; when it raises, nothing was decided.
                This is where the audit entry is written.

        Raises:
            ApprovalExpired: it is unknown, answered already, or its time is over.
            ApprovalDenied: this channel may not say yes to it, or the code is missing or wrong.
            CommandInvalid: scope or edited text make no sense.
        """
        now_s = self._clock.epoch_s()
        chosen = (scope or Scope.once()).checked(now_s)
        refusal: ApprovalDenied | None = None
        with self._database.transaction() as transaction:
            row, found = self._find(transaction, approval_id, now_s)
            if not approve and _is_beaten(found, now_s):
                self.grants.revoke_of(transaction, found.id, by="denied in the same second", now_s=now_s)
            elif found.state is not State.PENDING:
                refuse_decided(found)
            if approve:
                refuse_channel(found, by)
                refuse_edited(found, edited, chosen)
            proof = ""
            if approve and self.approver is not None and self.approver.wants_code(found.request):
                try:
                    proof = self.approver.prove(transaction, found.digest, code, now_s)
                except ApprovalDenied as error:  # committed: a wrong code counts
                    refusal = error
            decided = replace(
                found,
                state=State.APPROVED if approve else State.DENIED,
                expires_s=now_s + found.request.ttl_s if approve else found.expires_s,
                decided_s=now_s,
                decided_by=by.value,
                decided_who=_clean(who),
                reason=_clean(reason),
                scope=chosen.kind if approve else ScopeKind.ONCE,
                edited=edited if approve else "",
            )
            if refusal is None:
                self._write(transaction, decided, was=found.state, proof=proof)
                if approve and chosen.kind is not ScopeKind.ONCE:
                    covered = marks_of(row)[_GRANT]
                    proof = self.approver.proof_of(covered) if self.approver is not None and proof else ""
                    self.grants.give(transaction, replace(decided, digest=covered), chosen, proof=proof)
                if record is not None:
                    record(decided)
        if refusal is not None:
            raise refusal
        return decided

    def _write(self, transaction: Transaction, decided: Approval, *, was: State, proof: str) -> None:
        touched = transaction.change(
            "UPDATE approvals SET state = ?, expires_s = ?, decided_s = ?, decided_by = ?, decided_who = ?,"
            " reason = ?, scope = ?, edited = ?, proof = ? WHERE id = ? AND state = ?",
            (
                decided.state.value,
                decided.expires_s,
                decided.decided_s,
                decided.decided_by,
                decided.decided_who,
                decided.reason,
                decided.scope.value,
                decided.edited,
                proof,
                decided.id,
                was.value,
            ),
        )
        if touched != 1:
            refuse_decided(decided)

    # ── using ────────────────────────────────────────────────────────────────────────────────────────────

    def redeem(self, approval_id: str, request: ApprovalRequest) -> Approval:
        """Use the approval for ``request``, which is about to run. Succeeds exactly once, over all processes.

        Raises:
            ApprovalRequired: nobody has answered yet.
            ApprovalDenied: a person said no, with the reason; or the yes lacks the approver's code.
            ApprovalExpired: it is unknown, used, over its time, or was given for something else.
        """
        now_s = self._clock.epoch_s()
        digest = request.digest(self._key)
        with self._database.transaction() as transaction:
            row, found = self._find(transaction, approval_id, now_s)
            if not hmac.compare_digest(found.digest, digest):
                differs = request.differences(marks_of(row), self._key) or ("request",)
                raise ApprovalExpired(
                    f"Approval {approval_id} was given for another {' and another '.join(differs)}.",
                    hint=ASK_ANEW,
                    details={"approval_id": approval_id, "differs": list(differs)},
                )
            if found.state is not State.APPROVED:
                refuse_unapproved(found)
            if self.approver is not None and not self.approver.accepts(found.request, digest, str(row[-1])):
                raise ApprovalDenied(
                    f"Approval {approval_id} was given without the approver's code, so it does not count.",
                    hint="An operator must look into it: was the approver's secret changed while the server ran?",
                    details={"approval_id": approval_id},
                )
            touched = transaction.change(
                "UPDATE approvals SET state = 'redeemed', redeemed_s = ? WHERE id = ? AND state = 'approved'",
                (now_s, approval_id),
            )
            if touched != 1:
                refuse_unapproved(found)
            if found.scope is not ScopeKind.ONCE:
                self.grants.count_first_use(transaction, approval_id, now_s)
        return replace(found, state=State.REDEEMED, redeemed_s=now_s)

    def use_grant(self, request: ApprovalRequest) -> Grant | None:
        """Use a grant that covers ``request``, which is about to run; None if none does."""
        digest = request.grant_digest(self._key)

        def accepts(grant: Grant) -> bool:
            return self.approver is None or self.approver.accepts(grant.request, digest, grant.proof)

        return self.grants.use(request, digest, accepts=accepts)

    def require_code(self, code: str) -> None:
        """Return if ``code`` is what the approver's device shows, and use it up.

        Raises:
            ApprovalDenied: it is not.
        """
        refusal: ApprovalDenied | None = None
        with self._database.transaction() as transaction:
            try:
                if self.approver is not None:
                    self.approver.prove(transaction, "", code, self._clock.epoch_s())
            except ApprovalDenied as error:  # committed: a wrong code counts
                refusal = error
        if refusal is not None:
            raise refusal

    # ── the rest ─────────────────────────────────────────────────────────────────────────────────────────

    def digest_of(self, request: ApprovalRequest) -> str:
        """What ``request`` is known by in this database."""
        return request.digest(self._key)

    def change_mark(self) -> tuple[int, int]:
        """A value that differs after any change in the database; a few microseconds to ask for."""
        return self._database.change_mark()

    def now_s(self) -> float:
        """The time by which the queue judges expiry."""
        return self._clock.epoch_s()

    def _find(self, transaction: Transaction, approval_id: str, now_s: float) -> tuple[Row, Approval]:
        if _ID.fullmatch(approval_id):
            rows = transaction.rows(
                f"SELECT {WHOLE} FROM approvals WHERE id = ?",  # noqa: S608 # constants
                (approval_id,),
            )
            if rows:
                return rows[0], load(rows[0], self._key, now_s)
        raise ApprovalExpired(
            f"There is no approval {ascii(approval_id)[1:-1][:40]}.",
            hint="An id looks like apr_0123456789abcdef; `execkit-mcp approvals` lists what waits.",
        )


def _key_of(database: Database, entropy: Entropy) -> bytes:
    """The key of this database's digests, made by whoever comes first."""
    wanted = "SELECT value FROM keys WHERE name = ?"
    rows = database.rows(wanted, (_KEY_NAME,))
    if not rows:
        with database.transaction() as transaction:
            rows = transaction.rows(wanted, (_KEY_NAME,))
            if not rows:
                made = entropy.token_hex(32)
                transaction.change("INSERT INTO keys (name, value) VALUES (?, ?)", (_KEY_NAME, made))
                rows = [(made,)]
    try:
        return bytes.fromhex(str(rows[0][0]))
    except ValueError as error:
        raise StorageUnavailable(
            "The key of the approvals in the database is damaged.",
            hint="Nothing can be approved. Move execkit.db away to begin with an empty one (open approvals are lost).",
        ) from error


def _same_sight(first: ApprovalRequest, second: ApprovalRequest) -> bool:
    return (
        first.agent_reason == second.agent_reason
        and first.session_key == second.session_key
        and first.channel == second.channel
    )


def _is_beaten(found: Approval, now_s: float) -> bool:
    """Whether a no that comes now beats the yes that is there."""
    return found.state is State.APPROVED and found.decided_s is not None and abs(now_s - found.decided_s) < DENY_BEATS_S


def _clean(words: str) -> str:
    """A person's words, as far as they are text, bounded."""
    return words.encode("utf-8", "replace").decode()[:_MAX_REASON]
