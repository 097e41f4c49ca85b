"""What must outlive a process: the private state folder and the database in it."""

from pathlib import Path

from execkit_mcp.storage.database import Database, Row, Transaction, Value
from execkit_mcp.storage.folder import open_private_folder
from execkit_mcp.storage.sqlite import SqliteDatabase

__all__ = [
    "Database",
    "Row",
    "SqliteDatabase",
    "Transaction",
    "Value",
    "open_database",
    "open_private_folder",
]


def open_database(folder: str | Path) -> Database:
    """The database in the state folder ``folder``; see ``SqliteDatabase.open`` for what it raises."""
    return SqliteDatabase.open(folder)
