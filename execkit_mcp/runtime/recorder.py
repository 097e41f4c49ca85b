"""What is seen in a session, put into its recording as it happens: commands, redacted output, screens, decisions.

Theory of operation. Everything here arrives cleaned and redacted: text comes from the output chains once it is
decided, screens from ``TtyView``. Events are kept with their time and written together a moment later
(``FLUSH_S``), so a command pays for a list's append, not for a write.

Text that is not decided yet, such as a progress line or a prompt, is shown as it looks now (redacted) after
``TICK_S`` and drawn anew when it changes. A terminal program that moves the cursor is recorded as its screen, the
rows that changed, at most once a tick: what it drew itself could hold a secret in pieces.
"""

import asyncio
from typing import Final

from execkit_mcp.audit.asciicast import event_line, marker
from execkit_mcp.audit.recording import RecordingWriter
from execkit_mcp.errors import AuditError
from execkit_mcp.model import Clock
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.runtime.exec import Exec

__all__ = ["Recorder"]

FLUSH_S: Final = 0.04
TICK_S: Final = 0.1
FLUSH_CHARS: Final = 1 << 18
SHOWN_CHARS: Final = 2000
EXEC_CHARS: Final = 16 << 20
_DRAWS: Final = lazy_regex(rb"\x1b\[[0-9;]*[ABHJLMSTdfr]|\x1b\[\?(?:47|1047|1049)h|\x1b[M78]")
_CLEAR: Final = "\r\x1b[K"


class Recorder:
    """One session's recording."""

    def __init__(self, writer: RecordingWriter, *, clock: Clock, started_s: float) -> None:
        self._writer = writer
        self._clock = clock
        self._offset_s = started_s - clock.monotonic_s()
        self._started_s = started_s
        self._events: list[tuple[float, str, str]] = []
        self._waiting = 0
        self._flush_timer: asyncio.TimerHandle | None = None
        self._tick_timer: asyncio.TimerHandle | None = None
        self._last_s = 0.0
        self._exec: Exec | None = None
        self._left = EXEC_CHARS
        self._shown = ""  # the undecided text that stands on the last line
        self._shown_stream = ""
        self._is_line_open = False
        self._frame: list[str] | None = None

    @property
    def name(self) -> str:
        """The recording's id."""
        return self._writer.name

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────────

    def started(
        self, exec_: Exec, *, seq: int, cwd: str, command: str, approval_id: str | None, is_durable: bool = False
    ) -> None:
        """A command is about to run; what a durable job writes is not seen here."""
        if not is_durable:
            self._exec = exec_
            self._left = EXEC_CHARS
        decision = exec_.decision
        self._mark(
            command,
            audit=seq,
            exec=exec_.exec_id,
            verdict=decision.verdict.word,
            rule=decision.rule,
            approval=approval_id,
        )
        self._prompt(cwd, command)
        if is_durable:
            self._add("o", f"\x1b[2m[durable job {exec_.exec_id}]\x1b[0m\r\n")

    def not_run(self, *, seq: int, cwd: str, command: str, **words: object) -> None:
        """A command was refused, or waits for a person."""
        self._mark(command, audit=seq, **words)
        if self._exec is None:
            self._prompt(cwd, command)
            why = f"{words.get('verdict')}: {words.get('reason') or words.get('approval') or ''}".rstrip(": ")
            self._add("o", f"\x1b[2m[{why}]\x1b[0m\r\n")

    def ended(self, exec_: Exec, *, seq: int | None, status: str | None = None) -> None:
        """A command, or a job that it left, has ended; ``seq`` is None where that is not on the record."""
        end = exec_.completion
        if exec_ is self._exec:
            self._leave_screen()
            self._close_line()
            self._exec = None
        self._mark(
            None,
            audit=seq,
            exec=exec_.exec_id,
            status=status or exec_.status.value,
            exit=end.exit_code if end is not None else None,
            signal=end.signal if end is not None else None,
            ms=round(end.duration_ms) if end is not None else None,
        )

    def output(self, stream: str, text: str) -> None:
        """Decided text of the command that runs, or of a job that it left behind."""
        if not text or self._frame is not None:
            return
        self._left -= len(text)
        if self._left < 0:
            if self._left + len(text) >= 0:
                self._add(
                    "o", f"{_CLEAR}\x1b[2m[more than {EXEC_CHARS >> 20} MiB; the rest is not recorded]\x1b[0m\r\n"
                )
            return
        if self._shown and self._shown_stream == stream and text.startswith(self._shown):
            written = text[len(self._shown) :]
        else:
            written = (_CLEAR if self._shown else "") + text
        self._shown = ""
        self._is_line_open = not text.endswith("\n")
        if written:
            self._add("o", written.replace("\n", "\r\n"))

    def fed(self, exec_: Exec, stream: str, data: bytes) -> None:
        """Bytes came that may not be decided yet."""
        if exec_ is not self._exec:
            return
        if (
            exec_.view is not None
            and stream == "tty"
            and self._frame is None
            and b"\x1b" in data
            and _DRAWS.search(data)
        ):
            self._show("", "")
            self._frame = []
            self._add("o", "\x1b[?7l\x1b[H\x1b[2J")
        if self._tick_timer is None:
            self._tick_timer = asyncio.get_running_loop().call_later(TICK_S, self._tick)

    def resized(self, cols: int, rows: int) -> None:
        """The terminal has another size."""
        self._writer.resized(cols, rows)
        self._add("r", f"{cols}x{rows}")

    def note(self, **words: object) -> None:
        """A marker about something else."""
        self._mark(None, **words)

    # ── the file ─────────────────────────────────────────────────────────────────────────────────────────

    def flush(self) -> None:
        """Write what waits.

        Raises:
            AuditWriteFailed: it cannot be written; it is kept for the next try.
        """
        if self._flush_timer is not None:
            self._flush_timer.cancel()
            self._flush_timer = None
        if self._events:
            self._writer.write(b"".join(event_line(*each) for each in self._events))
            self._events.clear()
            self._waiting = 0

    def require(self) -> None:
        """Raise AuditWriteFailed if what was to be recorded could not be: nothing more may run then."""
        if self._is_behind:
            self.flush()

    def close(self, **words: object) -> None:
        """The session is over; what cannot be written any more is lost, and the audit log says how much stands."""
        for timer in (self._tick_timer, self._flush_timer):
            if timer is not None:
                timer.cancel()
        self._tick_timer = self._flush_timer = None
        self._mark(None, event="closed", **words)
        try:
            self.flush()
        except AuditError:
            self._events.clear()
        self._writer.close()

    @property
    def _is_behind(self) -> bool:
        return bool(self._events) and self._flush_timer is None

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────

    def _mark(self, command: str | None, **words: object) -> None:
        self._add("m", marker(command, **words))

    def _prompt(self, cwd: str, command: str) -> None:
        self._add("o", f"\x1b[2m{cwd}$\x1b[0m " + command.replace("\n", "\r\n") + "\r\n")

    def _add(self, code: str, text: str) -> None:
        # Time never goes back in a recording, and it is the time that passed, whatever is done to the clock.
        self._last_s = now_s = max(self._last_s, self._clock.monotonic_s() + self._offset_s - self._started_s)
        self._events.append((now_s, code, text))
        self._waiting += len(text)
        if self._waiting > FLUSH_CHARS:
            self._flush_quietly()
        elif self._flush_timer is None and len(self._events) == 1:
            self._flush_timer = asyncio.get_running_loop().call_later(FLUSH_S, self._flush_quietly)

    def _flush_quietly(self) -> None:
        try:
            self.flush()
        except AuditError:  # the next command asks again, and does not run if it still cannot be written
            if self._waiting > 8 * FLUSH_CHARS:
                self._events = [each for each in self._events if each[1] != "o"]
                self._waiting = 0

    def _tick(self) -> None:
        self._tick_timer = None
        exec_ = self._exec
        if exec_ is None or not exec_.is_running:
            return
        if self._frame is not None:
            self._draw(exec_)
            return
        for stream in ("stdout", "stderr"):
            pending = exec_.chains[stream].pending() if stream in exec_.chains else ""
            if pending:
                self._show(stream, pending)
                return
        self._show("", "")

    def _show(self, stream: str, text: str) -> None:
        """Have undecided text stand on the last line, instead of what stood there."""
        if text == self._shown and stream == self._shown_stream:
            return
        if self._left < len(text) or "\n" in text or len(text) > SHOWN_CHARS:
            return
        if text and self._shown_stream == stream and self._shown and text.startswith(self._shown):
            added = text[len(self._shown) :]
        elif text and self._is_line_open and not self._shown:
            return  # the beginning of this line is decided and stands there
        else:
            added = (_CLEAR if self._shown else "") + text
        self._shown, self._shown_stream = text, stream
        if added:
            self._add("o", added)

    def _close_line(self) -> None:
        if self._shown or self._is_line_open:
            self._add("o", "\r\n")
        self._shown = ""
        self._is_line_open = False

    def _draw(self, exec_: Exec) -> None:
        """The rows of the screen that have changed."""
        view = exec_.view
        frame = self._frame
        if view is None or frame is None:
            return
        rows = view.text()[1].splitlines()
        changed = [
            f"\x1b[{number + 1};1H\x1b[K{row}"
            for number, row in enumerate(rows + [""] * (len(frame) - len(rows)))
            if number >= len(frame) or frame[number] != row
        ]
        self._frame = rows
        if changed:
            line, column = view.cursor
            drawn = "".join(changed) + f"\x1b[{line};{column}H"
            self._left -= len(drawn)
            if self._left >= 0:
                self._add("o", drawn)

    def _leave_screen(self) -> None:
        if self._frame is not None and self._exec is not None:
            self._draw(self._exec)
            self._frame = None
            self._add("o", "\x1b[?7h\x1b[999;1H\r\n")
            self._is_line_open = False
