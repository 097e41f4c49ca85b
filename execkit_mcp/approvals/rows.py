"""How an approval stands in the database: its columns, its seal, and reading a row back without believing it.

A row holds the redacted request in two texts (what a list needs, and the bulk that only the question shows), the digest
of the true request, and a seal over all that never changes. A row whose seal does not fit was not written by us.
"""

import hmac
import json
from collections.abc import Mapping

from execkit_mcp.approvals.approval import CLOCK_SLACK_S, Approval, ScopeKind, State
from execkit_mcp.approvals.request import ApprovalRequest, keyed
from execkit_mcp.errors import StorageUnavailable
from execkit_mcp.storage import Row

__all__ = ["COLUMNS", "WHOLE", "altered", "load", "load_or_none", "marks_of", "seal_of"]

COLUMNS = (
    "id, digest, state, request, seal, expires_s, decided_s, decided_by, decided_who, reason, redeemed_s, scope, edited"
)
WHOLE = f"{COLUMNS}, marks, detail, proof"
_STATES = {state.value: state for state in State}
_SCOPES = {scope.value: scope for scope in ScopeKind}
_SETTLED = frozenset({State.DENIED, State.REDEEMED})
_SLIM_COUNT = COLUMNS.count(",") + 1


def seal_of(key: bytes, approval_id: str, digest: str, request: str, *, marks: str, detail: str) -> str:
    """The seal of a row: one half for lists, one for the rest."""
    return f"{keyed(key, approval_id, digest, request)[:32]}{keyed(key, approval_id, marks, detail)[:32]}"


def load(row: Row, key: bytes, now_s: float) -> Approval:
    """The approval in ``row`` (columns ``COLUMNS`` or ``WHOLE``), as it stands at ``now_s``.

    The seal of what can still be answered or used is checked; in a list, what is settled is taken as it stands.

    Raises:
        StorageUnavailable: the row is not what was written.
    """
    approval_id, digest, state, request, seal, expires_s, decided_s, by, who, reason, redeemed_s, scope, edited = row[
        :_SLIM_COUNT
    ]
    is_list = len(row) == _SLIM_COUNT
    try:
        found = ApprovalRequest.loads(request)  # type: ignore[arg-type]  # what is no text is a TypeError
        standing = _STATES[state]  # type: ignore[index]
        is_whole = (is_list and standing in _SETTLED) or hmac.compare_digest(
            keyed(key, str(approval_id), str(digest), str(request))[:32], str(seal)[:32]
        )
        if not is_list:
            marks, detail, _ = map(str, row[_SLIM_COUNT:])
            found = found.with_detail(detail)
            rest = keyed(key, str(approval_id), marks, detail)[:32]
            is_whole = is_whole and hmac.compare_digest(rest, str(seal)[32:])
        is_open = standing not in _SETTLED
        since = found.created_s if decided_s is None else float(decided_s)
        if is_open and not since - CLOCK_SLACK_S <= now_s < float(expires_s or 0):
            standing = State.EXPIRED
        approval = Approval(
            id=str(approval_id),
            request=found,
            state=standing,
            expires_s=float(expires_s or 0),
            decided_s=None if decided_s is None else float(decided_s),
            decided_by=str(by),
            decided_who=str(who),
            reason=str(reason),
            redeemed_s=None if redeemed_s is None else float(redeemed_s),
            scope=_SCOPES[scope],  # type: ignore[index]
            edited=str(edited),
            digest=str(digest),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise altered(approval_id) from error
    if not is_whole:
        raise altered(approval_id)
    return approval


def load_or_none(row: Row, key: bytes, now_s: float) -> Approval | None:
    """The same for a list: None for a row that is not what was written."""
    try:
        return load(row, key, now_s)
    except StorageUnavailable:
        return None


def marks_of(row: Row) -> Mapping[str, str]:
    """The keyed digests of the bindings in a row of ``WHOLE`` that ``load`` has accepted."""
    value = json.loads(str(row[_SLIM_COUNT]))
    return {str(name): str(mark) for name, mark in value.items()}


def altered(approval_id: object) -> StorageUnavailable:
    """The error about a row that was not written by us."""
    return StorageUnavailable(
        f"Approval {str(approval_id)[:40]!a} in the database is not what was written there.",
        hint="Nothing runs on it. Find out who changed it; then move execkit.db away to begin with an empty one.",
    )
