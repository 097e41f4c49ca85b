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
    (
        # What is kept of a request is its redacted form, so the digest can no longer be taken from it: requests of
        # before are dropped, and asked anew.
        "DELETE FROM approvals",
        "ALTER TABLE approvals ADD COLUMN marks TEXT NOT NULL DEFAULT ''",  # keyed digest of each binding, JSON
        "ALTER TABLE approvals ADD COLUMN detail TEXT NOT NULL DEFAULT ''",  # what only the question itself shows
        "ALTER TABLE approvals ADD COLUMN seal TEXT NOT NULL DEFAULT ''",  # keyed digest of request and detail
        "ALTER TABLE approvals ADD COLUMN scope TEXT NOT NULL DEFAULT 'once'",
        "ALTER TABLE approvals ADD COLUMN edited TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE approvals ADD COLUMN proof TEXT NOT NULL DEFAULT ''",  # that the approver's code was given
        "CREATE INDEX approvals_by_requester ON approvals (requester, created_s)",
        """CREATE TABLE grants (
            id          TEXT PRIMARY KEY,
            approval_id TEXT NOT NULL,
            digest      TEXT NOT NULL,
            requester   TEXT NOT NULL,
            scope       TEXT NOT NULL,  -- session, until
            session_key TEXT NOT NULL,  -- of a session's grant: the very session
            request     TEXT NOT NULL,  -- JSON of the redacted ApprovalRequest
            seal        TEXT NOT NULL,
            created_s   DOUBLE PRECISION NOT NULL,
            expires_s   DOUBLE PRECISION NOT NULL,
            uses        INTEGER NOT NULL DEFAULT 0,
            max_uses    INTEGER,
            used_s      DOUBLE PRECISION,
            granted_by  TEXT NOT NULL,
            who         TEXT NOT NULL,
            proof       TEXT NOT NULL DEFAULT '',
            revoked_s   DOUBLE PRECISION,
            revoked_by  TEXT NOT NULL DEFAULT ''
        )""",
        "CREATE INDEX grants_by_digest ON grants (digest)",
        """CREATE TABLE approval_tokens (  -- one-time tokens of the webhook; the token itself is nowhere
            token_hash  TEXT PRIMARY KEY,
            approval_id TEXT NOT NULL,
            used_s      DOUBLE PRECISION
        )""",
        "CREATE TABLE approver_codes (name TEXT PRIMARY KEY, value DOUBLE PRECISION NOT NULL)",
        "CREATE TABLE keys (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
    (
        """CREATE TABLE tokens (
            id         TEXT PRIMARY KEY,
            name       TEXT NOT NULL,
            digest     TEXT NOT NULL,  -- SHA-256 of the secret half; the secret itself is kept nowhere
            scope      TEXT NOT NULL,  -- JSON of storage.tokens.TokenScope
            created_s  DOUBLE PRECISION NOT NULL,
            expires_s  DOUBLE PRECISION,
            revoked_s  DOUBLE PRECISION
        )""",
        """CREATE TABLE usage (
            subject  TEXT NOT NULL,
            day      INTEGER NOT NULL,  -- days since 1970, UTC
            seconds  DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (subject, day)
        )""",
    ),
)
