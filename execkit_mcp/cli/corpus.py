"""A corpus from a file: one command a line, or JSON Lines whose rows have a ``command``."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from execkit_mcp.errors import CommandInvalid
from execkit_mcp.policy.compare import Question

_TEXT_FIELDS = ("command", "cwd", "home", "id", "category")


def read_corpus(name: str) -> Iterator[Question]:
    """Every command of the file ``name`` (``-``: standard input); raises CommandInvalid with ``file:line``.

    The first line decides what the file is. Empty lines and lines that start with ``#`` are passed over where a
    line is a command.
    """
    shown = "standard input" if name == "-" else name
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        text = data.decode()
    except OSError as error:
        raise CommandInvalid(
            f"The corpus {shown} cannot be read: {error.strerror}.", hint="Name a file with a command on each line."
        ) from error
    except UnicodeDecodeError as error:
        raise CommandInvalid(f"The corpus {shown} is not UTF-8: {error}.", hint="Convert it to UTF-8.") from error
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    is_json = bool(lines) and _row(lines[0][1]) is not None
    for number, line in lines:
        if not is_json:
            if not line.lstrip().startswith("#"):
                yield Question(command=line.rstrip("\r"), label=str(number))
            continue
        row = _row(line)
        if row is None:
            raise CommandInvalid(
                f'{shown}:{number}: not a JSON object with a text under "command", as the lines before it are.',
                hint='Write {"command": "…"} on each line, or a plain command on each line.',
            )
        wrong = [key for key in _TEXT_FIELDS if not isinstance(row.get(key, ""), str)]
        if wrong:
            raise CommandInvalid(f'{shown}:{number}: "{wrong[0]}" is no text.', hint="Write it in quotes.")
        for key in ("cwd", "home"):
            if row.get(key) and not str(row[key]).startswith("/"):
                raise CommandInvalid(f'{shown}:{number}: "{key}" is not an absolute path.', hint='Write "/…".')
        yield Question(
            command=str(row["command"]),
            cwd=str(row.get("cwd", "")),
            home=str(row.get("home", "")),
            label=str(row.get("id", number)),
            category=str(row.get("category", "")),
        )


def _row(line: str) -> dict[str, object] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and isinstance(row.get("command"), str) else None
