"""How long approvals are kept: as long as the audit log, which tells of each of them."""

from execkit_mcp.storage import Database

__all__ = ["purge"]

_DAY_S = 86_400.0


def purge(database: Database, *, days: float | None, now_s: float) -> int:
    """Remove approvals and grants that are older than ``days`` and good for nothing any more; how many approvals.

    What can still be answered or used stays, however old it is; so does an approval whose grant does.
    """
    if days is None:
        return 0
    before_s = now_s - days * _DAY_S
    with database.transaction() as transaction:
        transaction.change("DELETE FROM grants WHERE created_s < ? AND expires_s < ?", (before_s, before_s))
        return transaction.change(
            "DELETE FROM approvals WHERE created_s < ? AND expires_s < ?"
            " AND id NOT IN (SELECT approval_id FROM grants)",
            (before_s, before_s),
        )
