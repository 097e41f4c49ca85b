"""The command ``audit show``: entries of the record, those that are asked for, also as they come."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from execkit_mcp.cli.state import audit_folder, audit_key

if TYPE_CHECKING:
    from execkit_mcp.audit import Entry

__all__ = ["Filter", "add_options", "shown", "since"]

_POLL_S = 0.2
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_JOINS = ("exec_id", "approval_id")


def add_options(command: argparse.ArgumentParser) -> None:
    """What to show."""
    command.add_argument("--last", type=_count, metavar="N", help="only the newest N entries that fit")
    command.add_argument("--session", metavar="NAME", help="only this session's")
    command.add_argument("--target", metavar="NAME", help="only of sessions on this target")
    command.add_argument("--verdict", choices=("allow", "ask", "deny"), help="only what was so decided, and its end")
    command.add_argument("--kind", metavar="KIND", help="only of this kind, such as exec.started or approval.")
    command.add_argument("--since", type=since, metavar="TIME", help="2h, 3d, or 2026-01-31T12:00 (UTC)")
    command.add_argument("--grep", type=_pattern, metavar="REGEX", help="only where this is found in the entry's text")
    command.add_argument("--follow", "-f", action="store_true", help="go on with entries as they come, until ctrl-c")


class Filter(Struct, kw_only=True):
    """Which entries to show.

    The end of a command does not repeat where it ran and what was decided: it fits if its beginning did.
    """

    session: str | None = None
    target: str | None = None
    verdict: str | None = None
    kind: str | None = None
    since: str = ""
    grep: re.Pattern[str] | None = None
    joined: set[str] = field(default_factory=set)

    def fits(self, entry: "Entry") -> bool:
        """Whether to show it."""
        ids = {str(entry.data[name]) for name in _JOINS if entry.data.get(name)}
        for name in ("session", "target", "verdict"):
            wanted, found = getattr(self, name), entry.data.get(name)
            if wanted is not None and (found != wanted if found is not None else not ids & self.joined):
                return False
        self.joined |= ids
        if entry.time < self.since:
            return False
        if (
            self.kind is not None
            and entry.kind != self.kind
            and not (self.kind.endswith(".") and entry.kind.startswith(self.kind))
        ):
            return False
        return self.grep is None or self.grep.search(_text(entry)) is not None


def shown(args: argparse.Namespace) -> Iterator[str]:
    """The lines to print; with ``--follow`` they never end."""
    import json  # noqa: PLC0415 # heavy imports belong to the run
    from collections import deque  # noqa: PLC0415

    from execkit_mcp.approvals import visible  # noqa: PLC0415
    from execkit_mcp.audit import read_segments  # noqa: PLC0415

    wanted = Filter(
        session=args.session, target=args.target, verdict=args.verdict, kind=args.kind,
        since=args.since or "", grep=args.grep,
    )  # fmt: skip
    folder, key = audit_folder(args), audit_key(args)
    place = [0, 0]
    read_segments(folder)  # raises if there is no log

    def lines(entries: "Iterable[Entry]") -> Iterator[str]:
        for entry in entries:
            if args.json:
                yield json.dumps(entry.to_json())
            else:
                yield f"{entry.seq} {visible(entry.time)} {visible(entry.kind)} {visible(_text(entry))}"

    found = (entry for entry in _read(folder, key, place) if wanted.fits(entry))
    yield from lines(deque(found, maxlen=args.last) if args.last else found)
    if args.follow:
        yield from lines(entry for entry in _follow(folder, key, place) if wanted.fits(entry))


def since(text: str) -> str:
    """The time from which on, as entries write it; ArgumentTypeError if it is none."""
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415 # heavy imports belong to the run

    try:
        if text[-1:] in _UNITS and text[:-1].isdecimal():
            moment = datetime.now(UTC) - timedelta(seconds=int(text[:-1]) * _UNITS[text[-1]])
        else:
            moment = datetime.fromisoformat(text)
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError("write 90s, 30m, 2h, 3d, or a time such as 2026-01-31T12:00") from error
    return moment.isoformat(timespec="microseconds")


def _text(entry: "Entry") -> str:
    import json  # noqa: PLC0415 # heavy imports belong to the run

    return json.dumps(entry.data, ensure_ascii=False)


def _read(folder: Path, key: bytes | None, place: list[int]) -> "Iterator[Entry]":
    """Every entry behind ``place`` (segment, byte), which moves on; a bad line is told and left out."""
    from execkit_mcp.audit.chain import Broken, parse_line  # noqa: PLC0415 # heavy imports belong to the run
    from execkit_mcp.audit.folder import segment_name, segment_numbers  # noqa: PLC0415

    for number in segment_numbers(folder):
        if number < place[0]:
            continue
        if number > place[0]:
            place[:] = [number, 0]
        with (folder / segment_name(number)).open("rb") as file:
            file.seek(place[1])
            while (line := file.readline()).endswith(b"\n"):
                place[1] += len(line)
                try:
                    yield parse_line(line, key)
                except Broken as broken:
                    print(f"(bad line: {broken})", file=sys.stderr)


def _follow(folder: Path, key: bytes | None, place: list[int]) -> "Iterator[Entry]":
    import time  # noqa: PLC0415 # heavy imports belong to the run

    while True:
        sys.stdout.flush()
        time.sleep(_POLL_S)
        yield from _read(folder, key, place)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return int(text)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{error}; write a regular expression") from error
