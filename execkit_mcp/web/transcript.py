"""A recording as a person reads it: this module turns its events into turns, one a command, each with its output.

A marker opens a turn and another ends it (``audit/asciicast``); what is put out in between is the turn's, what comes
after it is a job's that the turn left behind. The prompt that the recorder writes for terminals is taken out again:
the page shows the command itself. Everything is bounded: old turns and the heads of long output are let go of, and
the turn says so.
"""

import re
from collections import deque
from collections.abc import Iterable

from msgspec import Struct

from execkit_mcp.audit.asciicast import Event, Marker, parse_marker
from execkit_mcp.model.regex import lazy_regex

__all__ = ["MAX_TURNS", "MAX_TURN_CHARS", "Transcript", "Turn", "plain"]

MAX_TURNS = 500
MAX_TURN_CHARS = 64 * 1024
_REDRAWN = "\r\x1b[K"
_SEQUENCE = lazy_regex(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])")
_DRAWS = lazy_regex(r"\x1b\[[0-9;]*[HJ]")
_PROMPT = lazy_regex(r"\x1b\[2m(?P<cwd>.*)\$\x1b\[0m ", re.DOTALL)


def plain(text: str) -> str:
    """Recorded output as lines, as they ended up: without what the recorder adds for a terminal."""
    lines = (line.removesuffix("\r").rpartition(_REDRAWN)[2] for line in text.split("\n"))
    return "\n".join(_SEQUENCE.sub("", line) for line in lines)


class Turn(Struct, kw_only=True, eq=False):
    """One command and what became of it.

    Attributes:
        number: its place in the recording, from 1.
        at_s: seconds after the start; ended_s: the same for its end.
        command: the canonical text; cwd: where.
        verdict, rule, reason: what was decided and why; approval_id: who was asked.
        exec_id: empty for what did not run.
        audit: its number in the record.
        status, exit_code, signal, ms: how it ended; ``status`` is empty while it runs.
        raw: what it put out, as recorded; is_cut: whether the beginning was let go of.
        is_drawn: whether it drew on the screen.
    """

    number: int
    at_s: float
    command: str
    cwd: str = ""
    verdict: str = ""
    rule: str = ""
    reason: str = ""
    approval_id: str = ""
    exec_id: str = ""
    audit: int | None = None
    status: str = ""
    exit_code: int | None = None
    signal: str = ""
    ms: str = ""
    ended_s: float | None = None
    raw: str = ""
    is_cut: bool = False
    is_drawn: bool = False

    @property
    def is_running(self) -> bool:
        """Whether it ran and its end was not seen."""
        return bool(self.exec_id) and not self.status

    @property
    def text(self) -> str:
        """What it put out, as lines."""
        return plain(self.raw).strip("\n")

    def add(self, text: str) -> None:
        """More output."""
        self.raw += text
        if _DRAWS.search(text):
            self.is_drawn = True
        if len(self.raw) > 2 * MAX_TURN_CHARS:
            cut = self.raw.find("\n", len(self.raw) - MAX_TURN_CHARS) + 1
            self.raw = self.raw[cut or len(self.raw) - MAX_TURN_CHARS :]
            self.is_cut = True


class Transcript:
    """The turns so far."""

    def __init__(self, *, most: int = MAX_TURNS) -> None:
        self.turns: deque[Turn] = deque(maxlen=most)
        self.count = 0
        self.is_closed = False
        self._current: Turn | None = None
        self._is_prompt_due = False

    def feed(self, events: Iterable[Event]) -> None:
        """Take the next events."""
        for event in events:
            if event.code == "m":
                self._mark(event.time_s, parse_marker(event.text))
            elif event.code == "o":
                self._output(event.text)

    def _mark(self, at_s: float, mark: Marker) -> None:
        words = mark.words
        if words.get("event") == "closed":
            self.is_closed = True
            self._current = None
        elif mark.verdict:
            self.count += 1
            turn = Turn(
                number=self.count,
                at_s=at_s,
                command=mark.command,
                verdict=mark.verdict,
                rule=mark.rule,
                reason=words.get("reason", ""),
                approval_id=mark.approval_id,
                exec_id=mark.exec_id,
                audit=mark.audit,
            )
            self.turns.append(turn)
            self._is_prompt_due = True
            self._current = turn if turn.exec_id or self._current is None else self._current
        elif mark.status:
            ended = next((turn for turn in reversed(self.turns) if turn.exec_id == mark.exec_id), None)
            if ended is not None:
                ended.status, ended.exit_code, ended.ended_s = mark.status, mark.exit_code, at_s
                ended.signal, ended.ms = words.get("signal", ""), words.get("ms", "")

    def _output(self, text: str) -> None:
        turn = self._current
        if turn is None:
            return
        if self._is_prompt_due:
            self._is_prompt_due = False
            prompt = _PROMPT.match(text)
            if prompt is not None and text[prompt.end() :] == turn.command.replace("\n", "\r\n") + "\r\n":
                turn.cwd = prompt["cwd"]
                return
        if turn.exec_id:
            turn.add(text)
