"""The tables, as a ladder of migrations: step n brings a database from version n to n + 1.

A step that was released is never edited; a change is a new step.
"""

__all__ = ["MIGRATIONS"]

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE approvals (
            id          TEXT PRIMARY KEY,
            digest      TEXT NOT NULL,
            requester   TEXT NOT NULL,
            state       TEXT NOT NULL,  -- pending, approved, denied, redeemed; expiry is read off the clock
            request     TEXT NOT NULL,  -- JSON of ApprovalRequest
            created_s   DOUBLE PRECISION NOT NULL,
            expires_s   DOUBLE PRECISION NOT NULL,  -- unanswered until then, or approved and unused: a denial
            decided_s   DOUBLE PRECISION,
            decided_by  TEXT NOT NULL DEFAULT '',   -- the channel
            decided_who TEXT NOT NULL DEFAULT '',   -- the person, as far as the channel knows
            reason      TEXT NOT NULL DEFAULT '',
            redeemed_s  DOUBLE PRECISION
        )""",
        "CREATE INDEX approvals_by_state ON approvals (state, expires_s)",
        "CREATE INDEX approvals_by_time ON approvals (created_s)",
    ),
)
