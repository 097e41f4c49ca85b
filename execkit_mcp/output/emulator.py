r"""A terminal's screen in memory: pyte's model of it behind a reader of our own; this module is that reader.

pyte keeps the grid of cells and carries out cursor moves, erasing, margins and tabs. The reader here is ours because
pyte's takes one character at a time, prints the bodies of sequences that it does not know, and has no alternate
screen. Colours are not kept: the screen is read as text. Everything a program can make us do is bounded by the size
of the screen, never by a number that it names.
"""

import re
from typing import Final

from pyte import modes as mo

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.output.grid import Grid, moved_up
from execkit_mcp.output.row import Row

__all__ = ["Emulator"]

_MAX_SEQUENCE: Final = 4096
_BODY: Final = f"[^\x07\x18\x1a\x1b\x9c]{{0,{_MAX_SEQUENCE}}}"
_TOKEN: Final = lazy_regex(
    "(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    "|(?P<control>[\x07-\x0f])"
    "|(?:\x1b\\[|\x9b)(?P<params>[0-?]{0,64})(?P<inter>[ -/]{0,4})(?P<final>[@-~])"
    f"|\x1b[\\]PX^_]{_BODY}(?:\x07|\x1b\\\\|\x9c)"
    "|\x1b(?P<set>[()*+])(?P<charset>.)"
    "|\x1b#(?P<sharp>.)"
    "|\x1b[ -/]{1,4}[0-~]"
    "|\x1b(?P<esc>[0-~])"
    "|(?P<other>[\x00-\x06\x10-\x1f\x7f-\x9f])",
    re.DOTALL,
)
_ALTERNATE: Final = frozenset({47, 1047, 1049})
_MOVES: Final = {
    "A": "cursor_up", "B": "cursor_down", "C": "cursor_forward", "D": "cursor_back", "E": "cursor_down1",
    "F": "cursor_up1", "G": "cursor_to_column", "`": "cursor_to_column", "a": "cursor_forward",
    "d": "cursor_to_line", "e": "cursor_down", "L": "insert_lines", "M": "delete_lines",
    "@": "insert_characters", "P": "delete_characters", "X": "erase_characters",
}  # fmt: skip
_PLACES: Final = {"H": "cursor_position", "f": "cursor_position"}
_ERASERS: Final = {"J": "erase_in_display", "K": "erase_in_line"}
_ESCAPES: Final = {
    "D": "index", "E": "next_line", "M": "reverse_index", "7": "save_cursor", "8": "restore_cursor",
    "H": "set_tab_stop", "c": "full_reset",
}  # fmt: skip
_CONTROLS: Final = {
    "\b": "backspace", "\t": "tab", "\n": "linefeed", "\x0b": "linefeed", "\x0c": "linefeed", "\r": "carriage_return",
    "\x0e": "shift_out", "\x0f": "shift_in",
}  # fmt: skip
_BY_CHARACTER: Final = {"control": _CONTROLS, "esc": _ESCAPES, "sharp": {"8": "alignment_display"}}
_MAX_PARAMETER: Final = 9999
_SAVED_LINES_ERASED: Final = 3


class Emulator:
    """Takes complete pieces of output and shows the screen that they leave."""

    def __init__(self, cols: int, rows: int) -> None:
        self._grid = Grid(cols, rows)

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column, from 1."""
        return self._grid.cursor.y + 1, min(self._grid.cursor.x, self._grid.columns - 1) + 1

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return self._grid.columns, self._grid.lines

    @property
    def is_alternate(self) -> bool:
        """Whether a full-screen program has the alternate screen."""
        return self._grid.main is not None

    @property
    def has_margins(self) -> bool:
        """Whether only a part of the screen scrolls."""
        return self._grid.margins is not None

    def resize(self, cols: int, rows: int) -> None:
        """Take another size; the program draws anew. Lines leave at the top only as far as the cursor needs room.

        pyte would drop as many lines at the top as the screen becomes shorter, be they all that stands on it.
        """
        grid = self._grid
        gone = max(grid.cursor.y - rows + 1, 0)
        if grid.main is None:
            grid.scrollback.extend(grid.row(at) for at in range(gone))
        else:
            kept, (x, y) = grid.main
            above = max(y - rows + 1, 0)
            grid.main = (moved_up(kept, above, rows), (x, y - above))
        lines = moved_up(grid.buffer, gone, rows)
        for line in lines.values():
            for x in range(cols, grid.columns):
                line.pop(x, None)
        grid.buffer.clear()
        grid.buffer.update(lines)
        grid.tabstops.update(range((grid.columns // 8 + 1) * 8, cols, 8))
        grid.lines, grid.columns = rows, cols
        grid.set_margins()
        grid.cursor.x = min(grid.cursor.x, cols - 1)
        grid.cursor.y -= gone

    def rows(self) -> list[Row]:
        """The screen, row by row."""
        return [self._grid.row(at) for at in range(self._grid.lines)]

    def scrollback(self) -> list[Row]:
        """What left the main screen at the top, oldest first."""
        return list(self._grid.scrollback)

    def feed(self, text: str) -> None:
        """Carry out a piece of output; it must not end inside an escape sequence."""
        grid = self._grid
        draw, match, position, size = grid.draw, _TOKEN.match, 0, len(text)
        while position < size:
            token = match(text, position)
            if token is None:  # an introducer that nothing follows
                position += 1
                continue
            position = token.end()
            kind = token.lastgroup
            if kind == "text":
                draw(token.group())
            elif kind == "final":
                self._csi(token["final"], token["params"], token["inter"])
            elif kind == "charset" and token["set"] in "()":
                grid.graphics["()".index(token["set"])] = token["charset"] == "0"
            elif kind in _BY_CHARACTER:
                name = _BY_CHARACTER[kind].get(token[kind])
                if name is not None:
                    getattr(grid, name)()

    def _csi(self, final: str, params: str, inter: str) -> None:
        if inter or params[:1] in {">", "<", "="}:
            if inter == "!" and final == "p":
                self._grid.set_margins()
                self._grid.graphics, self._grid.shift = [False, False], 0
            return
        is_private = params.startswith("?")
        numbers = [
            min(int(each[:5]), _MAX_PARAMETER) if each.isdecimal() else 0
            for each in params.lstrip("?").replace(":", ";").split(";")
        ][:16]
        first = numbers[0]
        if final in _ERASERS:
            self._erase(final, first)
        elif is_private:
            self._private(final, numbers)
        elif final in _MOVES:
            getattr(self._grid, _MOVES[final])(first or None)
        elif final in _PLACES:
            self._grid.cursor_position(*numbers[:2])
        else:
            self._rest(final, first, numbers)

    def _erase(self, final: str, how: int) -> None:
        if final == "J" and how == _SAVED_LINES_ERASED:
            self._grid.scrollback.clear()
        elif how < _SAVED_LINES_ERASED:
            getattr(self._grid, _ERASERS[final])(how)

    def _private(self, final: str, numbers: list[int]) -> None:
        grid = self._grid
        if final not in "hl":
            return
        for number in numbers:
            if number in _ALTERNATE:
                grid.swap(is_alternate=final == "h")
            elif number == 1048:  # noqa: PLR2004 - the number of the mode that saves the cursor
                (grid.save_cursor if final == "h" else grid.restore_cursor)()
            elif number in {6, 7}:
                if number == 7 and final == "h" and mo.DECAWM not in grid.mode:  # noqa: PLR2004
                    grid.cursor.x = min(grid.cursor.x, grid.columns - 1)
                (grid.set_mode if final == "h" else grid.reset_mode)(number, private=True)

    def _rest(self, final: str, first: int, numbers: list[int]) -> None:
        grid = self._grid
        count = min(first or 1, grid.columns)
        match final:
            case "r":
                bottom = numbers[1] if len(numbers) > 1 else 0
                grid.set_margins(first or None, bottom or None)
                if not first and not bottom:  # pyte goes home only for margins that are smaller than the screen
                    grid.cursor_position()
            case "b" if grid.last:
                grid.draw(grid.last * count)
            case "S" | "T":
                grid.scroll(count if final == "S" else -count)
            case "I" | "Z":
                grid.tabulate(count if final == "I" else -count)
            case "s" | "u":
                (grid.save_cursor if final == "s" else grid.restore_cursor)()
            case "g" if first in {0, 3}:
                grid.clear_tab_stop(first)
            case "h" | "l" if first == mo.IRM:
                (grid.set_mode if final == "h" else grid.reset_mode)(mo.IRM)
            case _:
                pass
