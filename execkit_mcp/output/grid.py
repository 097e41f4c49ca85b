"""The cells of a terminal's screen: pyte's grid, mended where it differs from what xterm shows."""

import unicodedata
from collections import deque
from typing import Any, Final

import pyte
from pyte import modes as mo
from pyte.screens import Char
from wcwidth import wcwidth

from execkit_mcp.output.row import SCROLLBACK_LINES, Row

__all__ = ["Grid", "moved_up"]

_DEC_GRAPHICS: Final = str.maketrans("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
_CELLS: Final = {chr(code): Char(chr(code)) for code in range(0x20, 0x7F)}
_BLANK: Final = Char(" ")
_STUB: Final = Char("")
"""The second half of a wide character."""
_MAX_MARKS: Final = 8


def _mend(line: Any, start: int, end: int) -> None:
    """Who writes over one half of a wide character takes the other with it."""
    if start and line.get(start) is _STUB:
        line[start - 1] = _BLANK
    if line.get(end) is _STUB:
        line[end] = _BLANK


def moved_up(lines: Any, count: int, rows: int) -> dict[int, Any]:
    """What stands on a screen of so many rows once ``count`` have left it at the top."""
    return {at - count: line for at, line in lines.items() if 0 <= at - count < rows}


class Grid(pyte.Screen):
    """pyte's screen with scrollback, an alternate screen and what runs of plain text need."""

    def __init__(self, columns: int, lines: int) -> None:
        self.scrollback: deque[Row] = deque(maxlen=SCROLLBACK_LINES)
        self.main: tuple[Any, Any] | None = None
        self.graphics = [False, False]
        self.shift = 0
        self.saved: tuple[int, int, bool, tuple[bool, ...], int] | None = None
        self.last = ""
        super().__init__(columns, lines)

    def full_reset(self) -> None:
        """RIS."""
        self.main = self.saved = None
        self.graphics, self.shift = [False, False], 0
        self.reset()

    def next_line(self) -> None:
        """NEL."""
        self.carriage_return()
        self.index()

    def shift_in(self) -> None:
        """SI: the first character set."""
        self.shift = 0

    def shift_out(self) -> None:
        """SO: the second one."""
        self.shift = 1

    def index(self) -> None:
        """Move down; at the bottom, scroll, and keep the line that leaves the main screen at the top."""
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y != bottom:
            self.cursor_down()
            return
        if top == 0 and self.main is None:
            self.scrollback.append(self.row(0))
        buffer = self.buffer
        for at in range(top, bottom):
            line = buffer.pop(at + 1, None)
            if line is None:
                buffer.pop(at, None)
            else:
                buffer[at] = line

    def delete_lines(self, count: int | None = None) -> None:
        """DL: pyte's leaves a line standing where one that nothing was ever drawn on takes its place."""
        top, bottom = self.margins or (0, self.lines - 1)
        if not top <= self.cursor.y <= bottom:
            return
        for at in range(self.cursor.y, bottom + 1):
            line = self.buffer.pop(at + (count or 1), None) if at + (count or 1) <= bottom else None
            if line is None:
                self.buffer.pop(at, None)
            else:
                self.buffer[at] = line
        self.carriage_return()

    def row(self, at: int) -> Row:
        """The row as text."""
        line = self.buffer.get(at)
        if not line:
            return Row("", False)
        width = self.columns
        cells = [" "] * width
        for x, cell in line.items():
            if x < width:
                cells[x] = cell.data
        is_full = not cells[-1].isspace()
        text = "".join(cells)
        if not is_full:
            text = text.rstrip()
            if text and at == self.cursor.y:  # the blank behind a prompt belongs to it
                drawn = max((x for x in line if x < self.cursor.x), default=-1) + 1
                text = max(text, "".join(cells[:drawn]), key=len)
        return Row(text, is_full)

    def draw(self, data: str) -> None:
        """Draw text; runs of ASCII without insert mode take a short way."""
        if self.graphics[self.shift]:
            data = data.translate(_DEC_GRAPHICS)
        self.last = data[-1:]
        if not data.isascii() or mo.IRM in self.mode:
            self._draw_each(data)
            return
        at, size = 0, len(data)
        while at < size:
            if self.cursor.x >= self.columns:
                self._at_margin(1)
                if mo.DECAWM not in self.mode:
                    at = max(at, size - 1)
            x = self.cursor.x
            run = data[at : at + self.columns - x]
            line = self.buffer[self.cursor.y]
            _mend(line, x, x + len(run))
            line.update(zip(range(x, x + len(run)), map(_CELLS.__getitem__, run), strict=True))
            self.cursor.x = x + len(run)
            at += len(run)

    def _at_margin(self, width: int) -> None:
        """What comes next is too wide for the rest of the line: go to the next one, or stay at its end."""
        if mo.DECAWM in self.mode:
            self.carriage_return()
            self.linefeed()
        else:
            self.cursor.x = max(self.columns - width, 0)

    def _draw_each(self, data: str) -> None:
        """Draw character by character.

        pyte's own ends at the first character without a width (U+FE0F behind an emoji), and cuts a wide one in two at
        the right margin.
        """
        for char in data:
            width = wcwidth(char)
            if width <= 0:
                self._join(char)
                continue
            if self.cursor.x + width > self.columns:
                self._at_margin(width)
            if mo.IRM in self.mode:
                self.insert_characters(width)
            x, line = self.cursor.x, self.buffer[self.cursor.y]
            _mend(line, x, x + width)
            line[x] = _CELLS.get(char) or Char(char)
            if width > 1 and x + 1 < self.columns:
                line[x + 1] = _STUB
            self.cursor.x = min(x + width, self.columns)

    def _join(self, char: str) -> None:
        """A mark belongs to the character before it; what else has no width cannot be seen."""
        line, x = self.buffer[self.cursor.y], self.cursor.x - 1
        if x in line and line[x] is _STUB:
            x -= 1
        if x in line and len(line[x].data) < _MAX_MARKS and unicodedata.category(char).startswith("M"):
            line[x] = Char(unicodedata.normalize("NFC", line[x].data + char))

    def insert_characters(self, count: int | None = None) -> None:
        """ICH: what is pushed over the right margin is gone; pyte's lets one character come back."""
        line = self.buffer[self.cursor.y]
        for x in range(self.columns - 1, self.cursor.x - 1, -1):
            cell = line.pop(x, None)
            if cell is not None and x + (count or 1) < self.columns:
                line[x + (count or 1)] = cell

    def save_cursor(self) -> None:
        """DECSC: one place is kept, and restored as often as is asked; pyte keeps a stack of them."""
        self.saved = (self.cursor.x, self.cursor.y, mo.DECOM in self.mode, tuple(self.graphics), self.shift)

    def restore_cursor(self) -> None:
        """DECRC."""
        x, y, has_origin, graphics, self.shift = self.saved or (0, 0, False, (False, False), 0)
        (self.set_mode if has_origin else self.reset_mode)(mo.DECOM)
        self.graphics = list(graphics)
        self.cursor.x, self.cursor.y = min(x, self.columns - 1), min(y, self.lines - 1)

    def cursor_up(self, count: int | None = None) -> None:
        """CUU: a margin holds only who stands within it; pyte's takes others there."""
        top, _ = self.margins or (0, 0)
        self.cursor.y = max(self.cursor.y - (count or 1), top if self.cursor.y >= top else 0)

    def cursor_down(self, count: int | None = None) -> None:
        """CUD; see ``cursor_up``."""
        last = self.lines - 1
        _, bottom = self.margins or (0, last)
        self.cursor.y = min(self.cursor.y + (count or 1), bottom if self.cursor.y <= bottom else last)

    def cursor_to_line(self, line: int | None = None) -> None:
        """VPA: where lines are counted from the margin and there is none, pyte's fails."""
        top, bottom = self.margins if self.margins is not None and mo.DECOM in self.mode else (0, self.lines - 1)
        self.cursor.y = min(top + (line or 1) - 1, bottom)

    def alignment_display(self) -> None:
        """DECALN: pyte's takes some hundred times as long for each cell."""
        for at in range(self.lines):
            self.buffer[at].update(dict.fromkeys(range(self.columns), _CELLS["E"]))

    def linefeed(self) -> None:
        """LF: pyte's goes to the first column in newline mode; nobody sets that."""
        self.index()

    def swap(self, *, is_alternate: bool) -> None:
        """Go to the alternate screen, or back."""
        if is_alternate and self.main is None:
            self.main = (dict(self.buffer), (self.cursor.x, self.cursor.y))
            self.buffer.clear()
        elif not is_alternate and self.main is not None:
            rows, (x, y) = self.main
            self.main = None
            self.buffer.clear()
            self.buffer.update(rows)
            self.cursor.x, self.cursor.y = min(x, self.columns), min(y, self.lines - 1)

    def tabulate(self, count: int) -> None:
        """Go so many tab stops forward, or back."""
        for _ in range(count):
            self.tab()
        if count < 0:
            stops = sorted(stop for stop in self.tabstops if stop < self.cursor.x)
            self.cursor.x = stops[count] if len(stops) >= -count else 0

    def scroll(self, count: int) -> None:
        """SU (positive) and SD."""
        x, y = self.cursor.x, self.cursor.y
        top, bottom = self.margins or (0, self.lines - 1)
        for _ in range(min(abs(count), bottom - top + 1)):
            if count > 0:
                self.cursor.y = bottom
                self.index()
            else:
                self.cursor.y = top
                self.reverse_index()
        self.cursor.x, self.cursor.y = x, y
