r"""The terminal of one ``tty`` exec, from its output: its screen, its modes, and answers to what it is asked.

An answer is typed only while a program of this exec that takes single keys is in front: one that reads whole lines
could not read it, and would leave it to whoever comes next; a shell would find it on its line.
"""

import codecs
from typing import Final

from execkit_mcp.model import Clock
from execkit_mcp.model.terminal import TerminalState
from execkit_mcp.output.row import Row
from execkit_mcp.output.screen import Screen
from execkit_mcp.output.screen_text import shown
from execkit_mcp.policy.readers import Kind, reader_of
from execkit_mcp.protocol.queries import Modes, answer, questions, unfinished
from execkit_mcp.redaction import Redactor

__all__ = ["TtyView", "may_answer"]

_MAX_ANSWERS: Final = 32


class TtyView:
    """What is known of one exec's terminal.

    Attributes:
        modes: what the program switched on.
    """

    __slots__ = ("_clock", "_decoder", "_final", "_held", "_redactor", "_screen", "modes")

    def __init__(self, *, cols: int, rows: int, redactor: Redactor, clock: Clock) -> None:
        self._screen = Screen(cols, rows)
        self._redactor = redactor
        self._clock = clock
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._final: tuple[list[Row], list[Row], tuple[int, int], bool] | None = None
        self.modes = Modes()

    def push(self, data: bytes) -> bytes:
        """Take output; what the terminal would answer."""
        if self._final is not None:
            return b""
        text = self._held + self._decoder.decode(data)
        cut = unfinished(text) if "\x1b" in text else len(text)
        text, self._held = text[:cut], text[cut:]
        answers: list[str] = []
        at = 0
        now_s = self._clock.monotonic_s()
        if "\x1b" in text:
            for question in questions(text, self.modes):
                if len(answers) >= _MAX_ANSWERS:
                    continue
                cursor = (1, 1)
                if question.kind in {"cursor", "cursor?"}:
                    self._screen.push(text[at : question.end], now_s)
                    at = question.end
                    cursor = self._screen.cursor()
                answers.append(answer(question, cursor=cursor, size=self._screen.size, modes=self.modes))
        self._screen.push(text[at:], now_s)
        return "".join(answers).encode()

    def resize(self, cols: int, rows: int) -> None:
        """The terminal has another size."""
        self._screen.resize(cols, rows)

    def finish(self) -> None:
        """The exec has ended: keep the text of the screen, let go of the rest."""
        if self._final is None and self._screen.is_drawn:
            self._final = self._rows()
            self._screen = Screen(*self._screen.size)

    def _rows(self) -> tuple[list[Row], list[Row], tuple[int, int], bool]:
        if self._final is not None:
            return self._final
        rows = self._screen.rows()
        return self._screen.scrollback(), rows, self._screen.cursor(), self._screen.is_partial

    def text(self) -> tuple[str, str, dict[str, int]]:
        """The lines above the screen, the screen, and how many secrets of each kind were covered."""
        above, rows, _, _ = self._rows()
        text, counts = shown([*above, *rows], self._redactor)
        lines = text.splitlines(keepends=True)
        return "".join(lines[: len(above)]), "".join(lines[len(above) :]), counts

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column of the cursor, from 1."""
        return self._rows()[2]

    def left_of_cursor(self) -> str:
        """What stands before the cursor in its line, as the program wrote it: not redacted, for no one to see."""
        _, rows, (row, column), _ = self._rows()
        line = rows[row - 1].text[: column - 1]
        for above in reversed(rows[: row - 1]):
            if not above.is_wrapped:
                break
            line = above.text + line
        return line

    @property
    def is_partial(self) -> bool:
        """Whether the screen may be incomplete: output came faster than it could be drawn."""
        return self._rows()[3]


def may_answer(state: TerminalState) -> bool:
    """Whether an answer would be read by the program that asked, as far as can be told."""
    if state.is_line_mode or state.is_shell_in_front or not state.front:
        return False
    return all(reader_of(process).kind is not Kind.SHELL for process in state.front)
