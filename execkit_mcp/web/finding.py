"""Finding things again: this module looks through recordings (commands and output) and the record (decisions).

The newest come first, and a search ends after ``BUDGET_S`` seconds or ``MAX_HITS`` hits; it says how far it came and
where to go on, so nothing is ever left out in silence.
"""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from execkit_mcp.audit.folder import segment_name, segment_numbers
from execkit_mcp.audit.recordings import Recording, read_events
from execkit_mcp.model import Clock
from execkit_mcp.web.transcript import Transcript, Turn

__all__ = ["BUDGET_S", "MAX_HITS", "Found", "Hit", "find_decisions", "find_turns"]

BUDGET_S = 3.0
MAX_HITS = 100
_SHOWN_LINES = 3
_MAX_LINE = 300
_PIECE_BYTES = 1 << 20
_MANY_TURNS = 100_000
_KINDS = frozenset({"decision", "exec.started", "approval.requested"})
_TAIL_BYTES = 8 << 20


class Hit(Struct, frozen=True, kw_only=True):
    """One command that was found: where it is, what was decided, and the lines of its output that fit."""

    at_s: float
    command: str
    verdict: str
    session: str
    target: str
    requester: str
    rule: str = ""
    audit: int | None = None
    recording: str = ""
    turn: int = 0
    lines: tuple[str, ...] = ()
    more: int = 0


class Found(Struct, frozen=True, kw_only=True):
    """The hits, newest first; ``next`` is the recording to go on with, empty when there is nothing more to look at."""

    hits: tuple[Hit, ...]
    next: str = ""
    looked_at: int = 0


def find_turns(
    recordings: tuple[Recording, ...], needle: str, *, clock: Clock, verdict: str = "", before: str = ""
) -> Found:
    """Every recorded command that holds ``needle`` in its text or its output, letter case aside."""
    end_s = clock.monotonic_s() + BUDGET_S
    wanted = needle.casefold()
    hits: list[Hit] = []
    looked_at = 0
    for recording in recordings:
        if before and recording.id > before:
            continue
        if looked_at and (len(hits) >= MAX_HITS or clock.monotonic_s() > end_s):
            return Found(hits=tuple(hits), next=recording.id, looked_at=looked_at)
        looked_at += 1
        in_this = [
            hit
            for turn in _turns(recording)
            if (not verdict or turn.verdict == verdict) and (hit := _hit(turn, recording, wanted)) is not None
        ]
        hits += reversed(in_this[-MAX_HITS:])
    return Found(hits=tuple(hits), looked_at=looked_at)


def find_decisions(folder: Path, needle: str, *, verdict: str = "", most: int = MAX_HITS) -> tuple[Hit, ...]:
    """The newest decisions on the record whose command holds ``needle``."""
    wanted = needle.casefold()
    found: list[Hit] = []
    for line in _newest_lines(folder):
        hit = _decision(line)
        if hit is None or (verdict and hit.verdict != verdict) or wanted not in hit.command.casefold():
            continue
        found.append(hit)
        if len(found) >= most:
            break
    return tuple(found)


def _turns(recording: Recording) -> Iterator[Turn]:
    """Every turn, with as much of its output as a turn keeps."""
    transcript = Transcript(most=_MANY_TURNS)
    for path in recording.paths:
        offset = 0
        try:
            while True:
                events, after = read_events(path, offset, most_bytes=_PIECE_BYTES)
                if after == offset:
                    break
                offset = after
                transcript.feed(events)
                while len(transcript.turns) > 1 and not transcript.turns[0].is_running:
                    yield transcript.turns.popleft()
        except OSError:
            break
    yield from transcript.turns


def _hit(turn: Turn, recording: Recording, wanted: str) -> Hit | None:
    text = turn.text
    is_in_output = wanted in text.casefold()
    if not is_in_output and wanted not in turn.command.casefold():
        return None
    lines = [line for line in text.split("\n") if wanted in line.casefold()] if is_in_output else []
    facts = recording.facts
    return Hit(
        at_s=recording.started_s + turn.at_s,
        command=turn.command,
        verdict=turn.verdict,
        session=recording.session,
        target=str(facts.get("target", "")),
        requester=str(facts.get("requester", "")),
        rule=turn.rule,
        audit=turn.audit,
        recording=recording.id,
        turn=turn.number,
        lines=tuple(_around(line, wanted) for line in lines[:_SHOWN_LINES]),
        more=max(0, len(lines) - _SHOWN_LINES),
    )


def _around(line: str, wanted: str) -> str:
    """The part of a long line that holds what was wanted."""
    at = max(0, line.casefold().find(wanted) - _MAX_LINE // 3)
    cut = line[at : at + _MAX_LINE]
    return ("…" if at else "") + cut + ("…" if at + _MAX_LINE < len(line) else "")


def _decision(line: bytes) -> Hit | None:
    try:
        entry = json.loads(line)
        data = entry["data"]
        if entry["kind"] not in _KINDS or not isinstance(data, dict):
            return None
        text: Callable[[str], str] = lambda name: str(data.get(name) or "")  # noqa: E731 - three words
        return Hit(
            at_s=datetime.fromisoformat(entry["time"]).timestamp(),
            command=text("canonical") or text("text"),
            verdict=text("verdict"),
            session=text("session"),
            target=text("target"),
            requester=text("requester"),
            rule=text("rule"),
            audit=int(entry["seq"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _newest_lines(folder: Path) -> Iterator[bytes]:
    """The record's lines, the newest first, as far back as ``_TAIL_BYTES``."""
    left = _TAIL_BYTES
    try:
        numbers = segment_numbers(folder)
    except OSError:
        return
    for number in reversed(numbers):
        try:
            with (folder / segment_name(number)).open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - left))
                lines = file.read(left).split(b"\n")
        except OSError:
            return
        yield from reversed(lines)
        left -= size
        if left <= 0:
            return
