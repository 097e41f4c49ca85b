"""The SQLite database in the state folder: one file, several processes, each commit on disk once it returns.

Theory of operation. WAL lets readers and one writer work side by side; a writer waits up to
``BUSY_TIMEOUT_S`` for another. ``synchronous=FULL`` is a safety property, not a preference: with less, a
power cut could bring back an approval that was used already. Every transaction takes the write lock at its
start (``BEGIN IMMEDIATE``), so what it read still holds when it writes. While the first opener turns WAL on, or
the last one folds it up, SQLite answers "locked" without waiting (sqlite.org/wal.html, section 9); an opening is
therefore begun again until ``BUSY_TIMEOUT_S`` is over. A file that was deleted or replaced
under us is noticed before each transaction, because SQLite would go on writing to the nameless one while
other processes see the new one.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

from execkit_mcp.errors import StorageUnavailable
from execkit_mcp.storage.database import Row, Transaction, Value
from execkit_mcp.storage.folder import check_private_file, create_private_file, open_private_folder
from execkit_mcp.storage.schema import MIGRATIONS

T = TypeVar("T")

__all__ = ["BUSY_TIMEOUT_S", "FILE_NAME", "SqliteDatabase"]

FILE_NAME = "execkit.db"
BUSY_TIMEOUT_S = 5.0
_OPENING_POLL_S = 0.01


class SqliteDatabase:
    """One connection to ``execkit.db``; may be used from any thread, one at a time."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._lock = threading.RLock()
        self._is_closed = False
        found = path.stat()
        self._identity = (found.st_dev, found.st_ino)

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open or make the database in ``folder`` and bring its tables up to date.

        Raises:
            StorageUnavailable: the folder or file cannot be used, is damaged, or was made by a newer version.
            ConfigPermissions: folder or file belong to others or are writable by them.
        """
        path = open_private_folder(folder) / FILE_NAME
        create_private_file(path)
        for suffix in ("-wal", "-shm"):
            # whoever closes the database last removes them
            check_private_file(path.with_name(path.name + suffix), may_be_missing=True)
        give_up_at = time.monotonic() + BUSY_TIMEOUT_S
        while True:
            try:
                return cls._opened(path)
            except StorageUnavailable as error:
                if not error.retryable or time.monotonic() > give_up_at:
                    raise
            time.sleep(_OPENING_POLL_S)

    @classmethod
    def _opened(cls, path: Path) -> Self:
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA trusted_schema=OFF")
            database = cls(connection, path)
            database._migrate()
        except (sqlite3.Error, OSError) as error:
            if connection is not None:
                connection.close()
            raise _unavailable(path, error) from error
        except StorageUnavailable:
            if connection is not None:
                connection.close()
            raise
        return database

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Every row that ``sql`` yields, outside any transaction."""
        with self._lock:
            self._refuse_closed()
            try:
                return self._connection.execute(sql, values).fetchall()
            except (sqlite3.Error, UnicodeError) as error:
                raise _unavailable(self._path, error) from error

    def read(self, sql: str, make: Callable[[Row], T | None], values: Sequence[Value] = ()) -> list[T]:
        """What ``make`` makes of each row, those apart of which it makes None."""
        with self._lock:
            self._refuse_closed()
            try:
                return [made for row in self._connection.execute(sql, values) if (made := make(row)) is not None]
            except (sqlite3.Error, UnicodeError) as error:
                raise _unavailable(self._path, error) from error

    def change(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Carry out ``sql``, inside a transaction, and say how many rows it touched."""
        with self._lock:
            if not self._connection.in_transaction:
                raise StorageUnavailable("A change was tried outside a transaction.")
            try:
                return self._connection.execute(sql, values).rowcount
            except (sqlite3.Error, UnicodeError) as error:
                raise _unavailable(self._path, error) from error

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Shut other writers out until the block ends: commit at its end, roll back when it raises."""
        with self._lock:
            self._refuse_closed()
            self._refuse_replaced()
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                raise _unavailable(self._path, error) from error
            try:
                yield self
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise _unavailable(self._path, error) from error
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def change_mark(self) -> tuple[int, int]:
        """A value that differs after any commit: by others (``data_version``) or through this connection."""
        [(version,)] = self.rows("PRAGMA data_version")
        return int(version or 0), self._connection.total_changes

    def close(self) -> None:
        """Let go of the file; closing twice does nothing."""
        with self._lock:
            self._is_closed = True
            self._connection.close()

    def _migrate(self) -> None:
        [(version,)] = self.rows("PRAGMA user_version")
        if version == len(MIGRATIONS):
            return
        with self.transaction() as transaction:
            [(version,)] = transaction.rows("PRAGMA user_version")
            start = int(version or 0)
            if start > len(MIGRATIONS):
                raise StorageUnavailable(
                    f"{self._path} was made by a newer execkit-mcp (tables {start}, not {len(MIGRATIONS)}).",
                    hint="Update execkit-mcp, or choose another state folder.",
                )
            for step in MIGRATIONS[start:]:
                for statement in step:
                    transaction.change(statement)
            transaction.change(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise StorageUnavailable(f"The database {self._path} is closed.")

    def _refuse_replaced(self) -> None:
        try:
            found = self._path.stat()
        except OSError as error:
            raise _unavailable(self._path, error) from error
        if (found.st_dev, found.st_ino) != self._identity:
            raise StorageUnavailable(
                f"The database {self._path} was replaced while it was in use.",
                hint="Start execkit-mcp again after you know who did that.",
            )


def _unavailable(path: Path, error: Exception) -> StorageUnavailable:
    is_busy = isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
    if is_busy:
        hint = "Another execkit-mcp process holds it; try again."
    elif isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        hint = f"The file is damaged: move {path} away to begin with an empty one (open approvals are lost)."
    else:
        hint = f"See that {path.parent} exists, is writable for uid {os.geteuid()}, and its disk has room."
    return StorageUnavailable(
        f"The database {path} cannot be used: {error}.",
        hint=hint,
        retryable=is_busy,
        details={"folder": str(path.parent)},
    )
