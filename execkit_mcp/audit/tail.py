"""The newest entries of the record as they stand in the file: for looking, not for verifying."""

import json
from pathlib import Path
from typing import Any, Final

from execkit_mcp.audit.folder import segment_name, segment_numbers

_TAIL_BYTES: Final = 1 << 18


def newest_entries(folder: Path) -> list[dict[str, Any]]:
    """The whole entries within the last 256 KiB of the newest segment, oldest first."""
    numbers = segment_numbers(folder)
    if not numbers:
        return []
    with (folder / segment_name(numbers[-1])).open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL_BYTES))
        lines = file.read().split(b"\n")
    whole = lines[1:-1] if size > _TAIL_BYTES else lines[:-1]  # the first may be half, after the last is nothing yet
    found = []
    for line in whole:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            found.append(entry)
    return found
