"""The interface that every database stands behind: rows, a transaction, and a mark that tells of change.

Kept this small so that PostgreSQL can stand where SQLite stands now. SQL written against it uses ``?`` for a
value and nothing that only one of the two understands.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

__all__ = ["Database", "Row", "Transaction", "Value"]

Value = str | int | float | None
Row = tuple[Value, ...]
T = TypeVar("T")


class Transaction(Protocol):
    """A stretch of statements that happens whole or not at all, with no other writer in between."""

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Every row that ``sql`` yields."""
        ...

    def change(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Carry out ``sql`` and say how many rows it touched."""
        ...


class Database(Protocol):
    """A database. Every method raises StorageUnavailable when it cannot do its work."""

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Every row that ``sql`` yields, outside any transaction."""
        ...

    def read(self, sql: str, make: Callable[[Row], T | None], values: Sequence[Value] = ()) -> list[T]:
        """What ``make`` makes of each row as it comes, those apart of which it makes None: for thousands of rows.

        ``make`` may not use the database.
        """
        ...

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Shut other writers out until the block ends: commit at its end, roll back when it raises."""
        ...

    def change_mark(self) -> tuple[int, int]:
        """A value that differs after any commit, by this process or another; cheap enough to poll."""
        ...

    def close(self) -> None:
        """Let go of the database; closing twice does nothing."""
        ...
