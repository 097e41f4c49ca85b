"""How many questions one agent may put to a person: this module refuses the flood, with the reason and the wait.

A person who is asked a thousand times says yes to everything. What waits is bounded, and so is how fast new questions
come, for each requester and for all together (a client chooses its own name).
"""

from typing import Final

from execkit_mcp.errors import ApprovalDenied
from execkit_mcp.storage import Transaction

__all__ = ["MAX_NEW", "MAX_NEW_EACH", "MAX_PENDING", "MAX_PENDING_EACH", "WINDOW_S", "refuse_flood"]

MAX_PENDING_EACH: Final = 50
MAX_PENDING: Final = 1000
WINDOW_S: Final = 60.0
MAX_NEW_EACH: Final = 60
MAX_NEW: Final = 1200


def refuse_flood(transaction: Transaction, requester: str, now_s: float) -> None:
    """Return if ``requester`` may put one question more at ``now_s``.

    Raises:
        ApprovalDenied: too many wait, or too many came within the last minute.
    """
    waiting = "SELECT count(*) FROM approvals WHERE state = 'pending' AND expires_s > ?"
    [(total,)] = transaction.rows(waiting, (now_s,))
    [(mine,)] = transaction.rows(f"{waiting} AND requester = ?", (now_s, requester))
    if int(total or 0) >= MAX_PENDING or int(mine or 0) >= MAX_PENDING_EACH:
        raise ApprovalDenied(
            f"Too many approvals wait already: {mine} of this requester, {total} in all"
            f" (limits {MAX_PENDING_EACH} and {MAX_PENDING}).",
            hint="Nothing ran. Wait until a person has answered some of them.",
            details={"pending": int(mine or 0), "limit": MAX_PENDING_EACH},
        )
    recent = "SELECT count(*), min(created_s) FROM approvals WHERE created_s > ? AND created_s <= ?"
    [(all_new, first)] = transaction.rows(recent, (now_s - WINDOW_S, now_s))
    [(new, my_first)] = transaction.rows(f"{recent} AND requester = ?", (now_s - WINDOW_S, now_s, requester))
    if int(all_new or 0) >= MAX_NEW or int(new or 0) >= MAX_NEW_EACH:
        oldest = my_first if int(new or 0) >= MAX_NEW_EACH else first
        wait_s = max(1.0, float(oldest or now_s) + WINDOW_S - now_s)
        raise ApprovalDenied(
            f"Too many approvals were asked for: {new} of this requester within {WINDOW_S:.0f} s"
            f" (limit {MAX_NEW_EACH}).",
            hint=f"Nothing ran. Wait {wait_s:.0f} s; ask for less, or do it in a way that the policy allows.",
            details={"limit": MAX_NEW_EACH, "retry_after_s": round(wait_s)},
        )
