"""Grants: a yes that holds for more than one run, and nothing but the very same run.

A grant is bound to the digest of what the person saw (command, target, folder, user, policy, requester, input, effects,
files to overwrite), to its scope (one session, or a time), to a number of uses and to an expiry. Looking a grant up and
counting its use is one statement under the write lock, so that a grant of three uses gives three, over all processes.

A session is known by a key that names the server process and a random part. A session that ends or is closed takes its
grants along; those of a server that is gone can be taken over by the session of the same name and requester in
the next one (``adopt``): a restart keeps them, and two servers side by side never share them.
"""

import hmac
from collections.abc import Callable

from msgspec import Struct

from execkit_mcp.approvals.approval import CLOCK_SLACK_S, Approval, Scope, ScopeKind
from execkit_mcp.approvals.request import ApprovalRequest, keyed
from execkit_mcp.errors import ApprovalExpired
from execkit_mcp.model import Clock, Entropy, PolicyRef
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.storage import Database, Row, Transaction

__all__ = ["Grant", "GrantBook"]

_ID = lazy_regex(r"grt_[0-9a-f]{16}")
_COLUMNS = (
    "id, approval_id, digest, scope, session_key, request, seal, created_s, expires_s, uses, max_uses, used_s,"
    " granted_by, who, proof, revoked_s, revoked_by"
)
_LIVE = "revoked_s IS NULL AND created_s <= ? AND expires_s > ? AND (max_uses IS NULL OR uses < max_uses)"


class Grant(Struct, frozen=True, kw_only=True):
    """One grant.

    Attributes:
        id: ``grt_`` and 16 hex digits.
        approval_id: the approval by which it was given.
        scope: ``session`` or ``until``.
        request: what it covers, with every secret in it replaced.
        created_s: when it was given.
        expires_s: when it ends.
        uses: how often it was used.
        max_uses: how often it may be; None: any number.
        used_s: when it was used last.
        granted_by: over which channel it was given.
        who: by whom.
        revoked_s: when it was taken back; None: it was not.
        revoked_by: by whom, or by what.
        proof: that the approver's code was given for it.
        digest: what it covers, over the true text.
    """

    id: str
    approval_id: str
    scope: ScopeKind
    request: ApprovalRequest
    created_s: float
    expires_s: float
    uses: int = 0
    max_uses: int | None = None
    used_s: float | None = None
    granted_by: str = ""
    who: str = ""
    revoked_s: float | None = None
    revoked_by: str = ""
    proof: str = ""
    digest: str = ""
    is_whole: bool = True

    @property
    def canonical(self) -> str:
        """The command that it covers."""
        return self.request.canonical

    @property
    def requester(self) -> str:
        """Who may use it."""
        return self.request.requester

    @property
    def session(self) -> str:
        """The session that it belongs to, if its scope is one."""
        return self.request.session if self.scope is ScopeKind.SESSION else ""

    @property
    def target(self) -> str:
        """Where it holds."""
        return self.request.target

    @property
    def cwd(self) -> str:
        """The folder in which it holds."""
        return self.request.cwd

    def is_live(self, now_s: float) -> bool:
        """Whether it can be used at ``now_s``; a clock that stands before its beginning makes it void."""
        is_in_time = self.created_s - CLOCK_SLACK_S <= now_s < self.expires_s
        is_spent = self.max_uses is not None and self.uses >= self.max_uses
        return self.is_whole and self.revoked_s is None and is_in_time and not is_spent

    def to_json(self) -> dict[str, object]:
        """The grant as a JSON object."""
        return {
            "id": self.id,
            "approval_id": self.approval_id,
            "scope": self.scope.value,
            "requester": self.requester,
            "session": self.session,
            "target": self.target,
            "cwd": self.cwd,
            "canonical": self.canonical,
            "policy": self.request.policy.name,
            "digest": self.digest,
            "uses": self.uses,
            "max_uses": self.max_uses,
            "created_s": self.created_s,
            "expires_s": self.expires_s,
            "used_s": self.used_s,
            "granted_by": self.granted_by,
            "who": self.who,
            "revoked_s": self.revoked_s,
            "revoked_by": self.revoked_by,
        }


class GrantBook:
    """The grants in one database."""

    def __init__(self, database: Database, *, key: bytes, clock: Clock, entropy: Entropy) -> None:
        self._database = database
        self._key = key
        self._clock = clock
        self._entropy = entropy

    def give(self, transaction: Transaction, approval: Approval, scope: Scope, *, proof: str) -> str:
        """Write down the grant that ``approval`` gives, within its transaction; returns the grant's id."""
        assert approval.decided_s is not None
        grant_id = f"grt_{self._entropy.token_hex(8)}"
        request, _ = approval.request.split()
        key = approval.request.session_key if scope.kind is ScopeKind.SESSION else ""
        ends_s = scope.ends_s(approval.decided_s)
        seal = self._seal(grant_id, approval.digest, scope.kind.value, request, ends_s, scope.uses)
        transaction.change(
            f"INSERT INTO grants ({_COLUMNS}, requester)"  # noqa: S608 # constants
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, NULL, '', ?)",
            (
                grant_id,
                approval.id,
                approval.digest,
                scope.kind.value,
                key,
                request,
                seal,
                approval.decided_s,
                ends_s,
                0,
                scope.uses,
                approval.decided_by,
                approval.decided_who,
                proof,
                ascii(approval.request.requester),
            ),
        )
        return grant_id

    def use(
        self, request: ApprovalRequest, digest: str, *, accepts: Callable[[Grant], bool], is_allowed: bool = True
    ) -> Grant | None:
        """Count one use of a grant that covers ``request``, which is about to run; None if there is none.

        Args:
            request: the true request.
            digest: its digest.
            accepts: whether a grant that fits is good enough (the approver's code).
            is_allowed: False looks without counting.
        """
        now_s = self._clock.epoch_s()
        wanted = f"SELECT {_COLUMNS} FROM grants WHERE digest = ? AND {_LIVE} ORDER BY created_s"  # noqa: S608
        if not self._database.rows(wanted, (digest, now_s + CLOCK_SLACK_S, now_s)):
            return None  # the usual case takes no lock
        with self._database.transaction() as transaction:
            for row in transaction.rows(wanted, (digest, now_s + CLOCK_SLACK_S, now_s)):
                grant = self._load(row)
                is_here = grant.scope is not ScopeKind.SESSION or row[4] == request.session_key
                if not (grant.is_live(now_s) and is_here and accepts(grant)):
                    continue
                if is_allowed:
                    transaction.change("UPDATE grants SET uses = uses + 1, used_s = ? WHERE id = ?", (now_s, grant.id))
                return grant
        return None

    def count_first_use(self, transaction: Transaction, approval_id: str, now_s: float) -> None:
        """Count the run by which the approval itself was used as a use of the grant that came with it."""
        transaction.change(
            "UPDATE grants SET uses = uses + 1, used_s = ? WHERE approval_id = ? AND revoked_s IS NULL",
            (now_s, approval_id),
        )

    def listed(self, *, with_ended: bool = False) -> tuple[Grant, ...]:
        """Grants that hold, oldest first; all that are known with ``with_ended``."""
        now_s = self._clock.epoch_s()
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM grants ORDER BY created_s, id")  # noqa: S608 # constants
        found = map(self._load, rows)
        return tuple(grant for grant in found if with_ended or grant.is_live(now_s))

    def revoke(self, grant_id: str, *, by: str, who: str, record: Callable[[Grant], object] | None = None) -> Grant:
        """Take a grant back; ``record`` is called before that is final.

        Raises:
            ApprovalExpired: there is no such grant, or it has ended already.
        """
        now_s = self._clock.epoch_s()
        with self._database.transaction() as transaction:
            rows = (
                transaction.rows(f"SELECT {_COLUMNS} FROM grants WHERE id = ?", (grant_id,))  # noqa: S608 # constants
                if _ID.fullmatch(grant_id)
                else []
            )
            if not rows:
                raise ApprovalExpired(
                    f"There is no grant {ascii(grant_id)[1:-1][:40]}.",
                    hint="An id looks like grt_0123456789abcdef; `execkit-mcp grants list` lists what holds.",
                )
            grant = self._load(rows[0])
            if grant.revoked_s is not None:
                raise ApprovalExpired(f"Grant {grant.id} was revoked already.", hint="`execkit-mcp grants list` lists.")
            self._end(transaction, "id = ?", grant.id, f"{by} {who}".strip(), now_s)
            if record is not None:
                record(grant)
        return grant

    def revoke_of(self, transaction: Transaction, approval_id: str, *, by: str, now_s: float) -> None:
        """Take back what an approval gave that has been denied after all."""
        self._end(transaction, "approval_id = ?", approval_id, by, now_s)

    def session_closed(self, session_key: str) -> None:
        """End the grants of a session that is closed."""
        if self._database.rows("SELECT 1 FROM grants WHERE session_key = ? AND revoked_s IS NULL", (session_key,)):
            with self._database.transaction() as transaction:
                self._end(transaction, "session_key = ?", session_key, "its session was closed", self._clock.epoch_s())

    def adopt(self, *, requester: str, session: str, session_key: str, is_alive: Callable[[str], bool]) -> int:
        """Hand the grants of a session whose server is gone to the one that has its name now; returns how many."""
        now_s = self._clock.epoch_s()
        wanted = f"SELECT {_COLUMNS} FROM grants WHERE requester = ? AND scope = 'session' AND {_LIVE}"  # noqa: S608
        values = (ascii(requester), now_s + CLOCK_SLACK_S, now_s)
        if not self._database.rows(wanted, values):
            return 0
        adopted = 0
        with self._database.transaction() as transaction:
            for row in transaction.rows(wanted, values):
                grant = self._load(row)
                if grant.is_live(now_s) and grant.request.session == session and not is_alive(str(row[4])):
                    adopted += transaction.change(
                        "UPDATE grants SET session_key = ? WHERE id = ?", (session_key, grant.id)
                    )
        return adopted

    def _end(self, transaction: Transaction, where: str, value: str, by: str, now_s: float) -> None:
        transaction.change(
            f"UPDATE grants SET revoked_s = ?, revoked_by = ? WHERE {where} AND revoked_s IS NULL",  # noqa: S608
            (now_s, by, value),
        )

    def _seal(  # noqa: PLR0917 - what is sealed
        self, grant_id: str, digest: str, scope: str, request: str, expires_s: float, max_uses: int | None
    ) -> str:
        return keyed(self._key, grant_id, digest, scope, request, repr(float(expires_s)), repr(max_uses))

    def _load(self, row: Row) -> Grant:
        """The grant in ``row``; one that was not written by us is listed, and never live."""
        grant_id, approval_id, digest, scope, _, request, seal, created_s, expires_s, uses, max_uses = row[:11]
        used_s, by, who, proof, revoked_s, revoked_by = row[11:]
        most = None if max_uses is None else int(_number(max_uses))
        expected = self._seal(str(grant_id), str(digest), str(scope), str(request), _number(expires_s), most)
        is_whole = hmac.compare_digest(expected, str(seal))
        try:
            shown = ApprovalRequest.loads(str(request))
            kind = ScopeKind(str(scope))
        except ValueError:
            shown, kind, is_whole = _UNREADABLE, ScopeKind.UNTIL, False
        return Grant(
            id=str(grant_id),
            approval_id=str(approval_id),
            digest=str(digest),
            scope=kind,
            request=shown,
            created_s=_number(created_s),
            expires_s=_number(expires_s),
            uses=int(_number(uses)),
            max_uses=most,
            used_s=None if used_s is None else _number(used_s),
            granted_by=str(by),
            who=str(who),
            proof=str(proof),
            revoked_s=None if revoked_s is None else _number(revoked_s),
            revoked_by=str(revoked_by),
            is_whole=is_whole,
        )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


_UNREADABLE = ApprovalRequest(
    canonical="(damaged)",
    target="",
    cwd="",
    policy=PolicyRef(name="", digest=""),
    requester="",
    created_s=0.0,
    expires_s=0.0,
)
