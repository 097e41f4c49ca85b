import sqlite3
import stat
import threading

import pytest

from execkit_mcp.errors import ConfigPermissions, StorageUnavailable
from execkit_mcp.storage import SqliteDatabase, open_database
from execkit_mcp.storage.schema import MIGRATIONS
from execkit_mcp.storage.sqlite import FILE_NAME

INSERT = (
    "INSERT INTO approvals (id, digest, requester, state, request, created_s, expires_s)"
    " VALUES (?, 'd', 'r', 'pending', '{}', 1, 2)"
)


@pytest.fixture
def database(tmp_path):
    opened = SqliteDatabase.open(tmp_path)
    yield opened
    opened.close()


def ids(database):
    return [row[0] for row in database.rows("SELECT id FROM approvals ORDER BY id")]


def test_the_database_and_what_lies_beside_it_are_private(database, tmp_path):
    with database.transaction() as transaction:
        transaction.change(INSERT, ("a",))
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_transaction_that_raises_leaves_nothing(database):
    with pytest.raises(RuntimeError), database.transaction() as transaction:  # noqa: PT012 # the point
        transaction.change(INSERT, ("a",))
        raise RuntimeError
    assert ids(database) == []


def test_what_was_committed_is_there_for_another_connection(database, tmp_path):
    with database.transaction() as transaction:
        transaction.change(INSERT, ("a",))
    other = open_database(tmp_path)
    assert ids(other) == ["a"]
    other.close()


def test_the_change_mark_moves_with_every_commit_ours_or_another_s(database, tmp_path):
    other = open_database(tmp_path)
    first = database.change_mark()
    assert database.change_mark() == first
    with other.transaction() as transaction:
        transaction.change(INSERT, ("a",))
    second = database.change_mark()
    assert second != first
    with database.transaction() as transaction:
        transaction.change(INSERT, ("b",))
    assert database.change_mark() != second
    other.close()


def test_a_change_outside_a_transaction_is_refused(database):
    with pytest.raises(StorageUnavailable, match="outside a transaction"):
        database.change("DELETE FROM approvals")


def test_every_commit_reaches_the_disk(database):
    assert database.rows("PRAGMA synchronous") == [(2,)]
    assert database.rows("PRAGMA journal_mode") == [("wal",)]


def test_a_database_from_the_future_is_refused(tmp_path):
    SqliteDatabase.open(tmp_path).close()
    raw = sqlite3.connect(tmp_path / FILE_NAME)
    raw.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    raw.close()
    with pytest.raises(StorageUnavailable, match="newer execkit-mcp"):
        SqliteDatabase.open(tmp_path)


def test_a_damaged_database_is_refused_with_a_remedy(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_bytes(b"this is not a database " * 100)
    path.chmod(0o600)
    with pytest.raises(StorageUnavailable, match="not a database") as caught:
        SqliteDatabase.open(tmp_path)
    assert "move" in caught.value.hint


def test_a_database_file_that_others_can_write_is_refused(tmp_path):
    SqliteDatabase.open(tmp_path).close()
    (tmp_path / FILE_NAME).chmod(0o666)
    with pytest.raises(ConfigPermissions):
        SqliteDatabase.open(tmp_path)


def test_a_database_that_was_deleted_or_replaced_under_us_takes_nothing_more(database, tmp_path):
    (tmp_path / FILE_NAME).unlink()
    with pytest.raises(StorageUnavailable), database.transaction():
        pass
    (tmp_path / FILE_NAME).write_bytes(b"")
    with pytest.raises(StorageUnavailable, match="replaced"), database.transaction():
        pass


def test_a_closed_database_says_so(tmp_path):
    database = SqliteDatabase.open(tmp_path)
    database.close()
    database.close()
    with pytest.raises(StorageUnavailable, match="closed"):
        database.rows("SELECT 1")
    with pytest.raises(StorageUnavailable, match="closed"), database.transaction():
        pass


def test_a_statement_that_fails_is_an_error_of_ours(database):
    with pytest.raises(StorageUnavailable):
        database.rows("SELECT nothing FROM nowhere")
    with pytest.raises(StorageUnavailable), database.transaction() as transaction:
        transaction.change("DELETE FROM nowhere")


def test_a_busy_database_is_retryable(database, tmp_path, monkeypatch):
    monkeypatch.setattr("execkit_mcp.storage.sqlite.BUSY_TIMEOUT_S", 0.01)
    other = SqliteDatabase.open(tmp_path)
    with database.transaction():
        with pytest.raises(StorageUnavailable) as caught, other.transaction():
            pass
        assert caught.value.retryable
    other.close()


def test_threads_take_turns(database):
    def add(name):
        with database.transaction() as transaction:
            [(count,)] = transaction.rows("SELECT count(*) FROM approvals")
            transaction.change(INSERT, (f"{name}-{count}",))

    threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(int(i.split("-")[1]) for i in ids(database)) == list(range(8))


def test_openers_of_a_new_database_and_closers_of_the_last_one_do_not_fail_each_other(tmp_path):
    failures = []

    def open_it(folder):
        try:
            for _ in range(2):
                SqliteDatabase.open(folder).close()
        except Exception as error:  # noqa: BLE001 # shown below
            failures.append(error)

    for number in range(40):  # without a second try, one opening in 160 is told "locked"
        threads = [threading.Thread(target=open_it, args=(tmp_path / str(number),)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert failures == []


def test_what_is_made_of_rows_as_they_come_leaves_out_what_is_none(database):
    with database.transaction() as transaction:
        for name in "abc":
            transaction.change(INSERT, (name,))
    made = database.read("SELECT id FROM approvals WHERE id > ? ORDER BY id", lambda row: {"b": 1}.get(row[0]), ("a",))
    assert made == [1]
    database.close()
    with pytest.raises(StorageUnavailable):
        database.read("SELECT id FROM approvals", lambda row: row)
