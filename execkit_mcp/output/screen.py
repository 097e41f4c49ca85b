r"""What a terminal shows, brought up to date only when somebody looks; this module keeps what is still to be drawn.

Drawing costs about a microsecond a character, far more than a flood leaves time for. So output is kept, and drawn
when the screen is read or its cursor is asked for. What waits is bounded: of plain lines that scroll by only the last
ones matter; anything else is drawn when too much has gathered, as far as ``ALLOWANCE`` (microseconds of work a second)
goes. Beyond that the oldest output is left out, and the screen says that it may be incomplete.
"""

from typing import TYPE_CHECKING, Final

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.output.row import SCROLLBACK_LINES, Row

if TYPE_CHECKING:
    from execkit_mcp.output.emulator import Emulator

__all__ = ["ALLOWANCE", "MAX_WAITING", "Screen"]

MAX_WAITING: Final = 1 << 16
ALLOWANCE: Final = 100_000
_LOOK_COST: Final = 120_000
_HARD: Final = lazy_regex("\x1b(?!\\[[0-9;:]{0,64}[mK]|[()][0B])|[\x08\x0b\x0c\x0e\x0f]")
_MODE: Final = lazy_regex("\x1b\\[\\?[0-9;]{1,64}[hl]|\x1b[()].|\x1b\\[[0-9;]{0,16}r|\x1bc")
_DEAR: Final = lazy_regex("\x1b\\[[0-9;:]{0,64}[LMST@PXbIZJ]|\x1b(?:[MDEc]|#8)|\x1b\\[\\?(?:10)?4[79][hl]")
_SWITCH: Final = lazy_regex("\x1b\\[\\?(?:47|1047|1049)h")
_BEFORE_SWITCH: Final = 4096
_ESCAPE_COST, _LINE_COST, _WIDE_COST = 14, 16, 8
_KEPT_MODES, _WORTH_SKIPPING = 64, 1 << 14


class Screen:
    """One terminal's screen.

    Attributes:
        size: columns and rows.
        is_partial: whether some output was too much to draw.
    """

    __slots__ = ("_left", "_made", "_parts", "_refilled_s", "_waiting", "is_partial", "size")

    def __init__(self, cols: int, rows: int) -> None:
        self.size = (cols, rows)
        self._made: Emulator | None = None
        self._parts: list[str] = []
        self._waiting = 0
        self._left = float(ALLOWANCE)
        self._refilled_s = 0.0
        self.is_partial = False

    def push(self, text: str, now_s: float) -> None:
        """Take the next output; it must not end inside an escape sequence."""
        self._parts.append(text)
        self._waiting += len(text)
        if self._waiting > MAX_WAITING:
            self._make_room(now_s)

    def resize(self, cols: int, rows: int) -> None:
        """Draw what came before the change, then change."""
        if self._made is not None or self._parts:
            self._draw(_LOOK_COST)
            self._emulator.resize(cols, rows)
        self.size = (cols, rows)

    @property
    def is_drawn(self) -> bool:
        """Whether anybody has looked yet."""
        return self._made is not None

    @property
    def _emulator(self) -> "Emulator":
        if self._made is None:
            from execkit_mcp.output.emulator import Emulator  # noqa: PLC0415 - pyte is slow to import

            self._made = Emulator(*self.size)
        return self._made

    def cursor(self) -> tuple[int, int]:
        """Row and column of the cursor, from 1, after all that came."""
        self._draw(_LOOK_COST)
        return self._emulator.cursor

    def rows(self) -> list[Row]:
        """The screen as it stands."""
        self._draw(_LOOK_COST)
        return self._emulator.rows()

    def scrollback(self) -> list[Row]:
        """The last lines that left it at the top."""
        return self._emulator.scrollback()

    def _make_room(self, now_s: float) -> None:
        text = self._skip_plain("".join(self._parts))
        self._parts, self._waiting = [text], len(text)
        if self._waiting > MAX_WAITING:
            self._left = min(float(ALLOWANCE), self._left + (now_s - self._refilled_s) * ALLOWANCE)
            self._refilled_s = now_s
            self._left -= self._draw(self._left)

    def _draw(self, budget: float) -> float:
        """Draw what waits, or as much of its end as the budget (in microseconds) pays for; the cost."""
        if not self._parts:
            return 0.0
        text = self._skip_plain("".join(self._parts))
        self._parts, self._waiting = [], 0
        cost = self._cost(text)
        if cost > budget:
            self.is_partial = True
            cut = len(text) - max(0, int(len(text) * budget / cost))
            border = min((at for at in (text.find("\x1b", cut), text.find("\n", cut)) if at >= 0), default=cut)
            left_out = text[:border]
            switch = _SWITCH.search(left_out)
            if switch is not None:  # what stands on the main screen comes back when the program ends
                self._emulator.feed(left_out[max(0, switch.start() - _BEFORE_SWITCH) : switch.end()])
                left_out = left_out[switch.end() :]
            self._emulator.feed("".join(_MODE.findall(left_out)[-_KEPT_MODES:]))
            text, cost = text[border:], budget
        self._emulator.feed(text)
        return cost

    def _skip_plain(self, text: str) -> str:
        """Without the lines that plain output has scrolled out of the screen and its scrollback.

        Nothing that is left out can be seen: behind the last cursor move stand more lines than the screen has.
        """
        drawn = self._made
        if len(text) < _WORTH_SKIPPING or (drawn is not None and (drawn.is_alternate or drawn.has_margins)):
            return text
        if _MODE.search(text) is not None:
            return text
        last = None
        for last in _HARD.finditer(text):  # noqa: B007 - the last one
            pass
        after = 0 if last is None else text.find("\n", last.end()) + 1
        if last is not None and after == 0:
            return text
        rows = self.size[1] + 1
        for lines in (rows + SCROLLBACK_LINES, rows):
            if text.count("\n", after) <= lines:
                continue
            at = len(text)
            for _ in range(lines + 1):
                at = text.rfind("\n", after, at)
            if len(text) - at <= MAX_WAITING // 2 or lines == rows:
                return text[:after] + text[at + 1 :]
        return text

    def _cost(self, text: str) -> float:
        cols, rows = self.size
        dear = len(_DEAR.findall(text)) * rows * (cols // 8) if "\x1b" in text else 0
        lines = text.count("\n") + text.count("\x0b") + text.count("\x0c")
        wide = 0 if text.isascii() else _WIDE_COST * (len(text.encode("utf-8", "replace")) - len(text))
        return len(text) + _ESCAPE_COST * text.count("\x1b") + _LINE_COST * lines + dear + wide
