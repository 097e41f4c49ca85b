"""Approvals go when the audit log that tells of them would, and never while they are good for something."""

import pytest

from execkit_mcp.approvals.retention import purge
from execkit_mcp.storage import open_database

DAY_S = 86_400
NOW_S = 100.0 * DAY_S


@pytest.fixture
def database(tmp_path):
    opened = open_database(tmp_path)
    rows = {"new": (99, 99.1), "old": (10, 10.1), "old-but-waiting": (10, 101), "old-with-grant": (10, 10.1)}
    with opened.transaction() as transaction:
        for name, (asked, ends) in rows.items():
            transaction.change(
                "INSERT INTO approvals (id, digest, requester, state, request, created_s, expires_s)"
                " VALUES (?, 'd', 'r', 'pending', '{}', ?, ?)",
                (name, asked * DAY_S, ends * DAY_S),
            )
        for name, ends in (("old-with-grant", 101), ("old", 11)):
            transaction.change(
                "INSERT INTO grants (id, approval_id, digest, requester, scope, session_key, request, seal, created_s,"
                " expires_s, granted_by, who) VALUES (?, ?, 'd', 'r', 'until', '', '{}', '', ?, ?, 'cli', 'me')",
                (f"g-{name}", name, 10 * DAY_S, ends * DAY_S),
            )
    yield opened
    opened.close()


def kept(database):
    return {row[0] for row in database.rows("SELECT id FROM approvals")}


def test_what_is_old_and_over_goes_with_its_grants(database):
    assert purge(database, days=30, now_s=NOW_S) == 1
    assert kept(database) == {"new", "old-but-waiting", "old-with-grant"}
    assert database.rows("SELECT id FROM grants") == [("g-old-with-grant",)]


def test_without_a_limit_everything_stays(database):
    assert purge(database, days=None, now_s=NOW_S) == 0
    assert len(kept(database)) == 4
