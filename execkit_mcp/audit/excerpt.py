"""A piece of the record as a file: one segment, or what ``audit show --json`` printed; every entry is checked.

What ``verify`` proves of a whole folder cannot be proved of a piece: cut ends go unseen. That each entry is
as it was written, and that none is missing between the first and the last, can.
"""

import hmac
import json
from collections.abc import Iterable

from execkit_mcp.audit.chain import Broken, Entry, seal

__all__ = ["read_excerpt"]

_FIELDS = {"data", "hash", "kind", "prev", "seq", "time"}


def read_excerpt(lines: Iterable[bytes], key: bytes | None) -> list[Entry]:
    """The entries on ``lines``, in order; a torn last line is left out.

    Raises:
        Broken: ``line N: …`` for the first entry that is not what was written, or does not follow the one before.
    """
    entries: list[Entry] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if not line.endswith(b"\n") and not line.endswith(b"}"):
            break
        entry = _entry(line, key, number)
        if entries and (entry.seq != entries[-1].seq + 1 or entry.prev != entries[-1].hash):
            raise Broken(f"line {number}: entry {entry.seq} does not follow entry {entries[-1].seq}")
        entries.append(entry)
    return entries


def _entry(line: bytes, key: bytes | None, number: int) -> Entry:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or set(fields) != _FIELDS or not isinstance(fields["data"], dict):
        raise Broken(f"line {number}: this is not an audit entry")
    try:
        digest = str(fields.pop("hash"))
        _, due = seal(**fields, key=key)
        if not hmac.compare_digest(due.encode(), digest.encode("utf-8", "replace")):
            raise Broken(f"line {number}: the entry was edited, or was written with another key")
    except (ValueError, TypeError) as error:
        raise Broken(f"line {number}: this is not an audit entry") from error
    return Entry(hash=digest, **fields)
