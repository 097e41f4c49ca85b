"""Views of a text in which secrets are looked for, each with a way back to the original's offsets.

The *view* is the text without ANSI escape sequences (a colour code can split a token). The *squeezed* view
is the view in lower case without blanks, line ends, quotes, backslashes and invisible characters: what
folding, spacing and quoting insert is gone from it.
"""

import re
from bisect import bisect_right

from msgspec import Struct, field

_ESCAPE = re.compile(
    "(?:\x1b\\[|[\x9b\udc9b])[0-?]{0,64}[ -/]{0,8}[@-~]"
    "|\x1b[\\]PX^_][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\\\)"
    "|\x1b[ -/]{1,8}[0-~]|\x1b[0-OQ-WYZ`-~]"
)
_INTRODUCER = re.compile("[\x1b\x9b\udc9b]")
_SURROGATE = re.compile("[\ud800-\udfff]")

SQUEEZED_OUT = " \x1b\t\r\n\"'`\\\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00a0"
_SQUEEZE = {ord(character): None for character in SQUEEZED_OUT}
_SQUEEZE_ASCII = {ord(character): None for character in SQUEEZED_OUT if character.isascii()}
_KEPT = re.compile(f"[^{re.escape(SQUEEZED_OUT)}]")
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class View(Struct, frozen=True):
    """``text`` is the original without escape sequences; ``low`` the same in lower case."""

    text: str
    low: str
    starts: list[int] = field(default_factory=list)  # where each kept stretch starts in ``text``
    shifts: list[int] = field(default_factory=list)  # what to add there to get to the original

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original from the first to the last character of ``text[start:end]``."""
        if not self.starts:
            return start, end
        first = self.shifts[bisect_right(self.starts, start) - 1]
        last = self.shifts[bisect_right(self.starts, end - 1) - 1]
        return start + first, end + last


def view_of(text: str) -> View:
    """The view of ``text``; no work is done where there is nothing to see through."""
    if text.isascii() and "\x1b" not in text:
        return View(text, text.lower())
    if _INTRODUCER.search(text) is None:
        return View(text, lower(text))
    pieces: list[str] = []
    starts: list[int] = []
    shifts: list[int] = []
    position = length = 0
    for escape in _ESCAPE.finditer(text):
        if escape.start() > position:
            starts.append(length)
            shifts.append(position - length)
            pieces.append(text[position : escape.start()])
            length += escape.start() - position
        position = escape.end()
    if position < len(text):
        starts.append(length)
        shifts.append(position - length)
        pieces.append(text[position:])
    shown = "".join(pieces)
    return View(shown, lower(shown), starts, shifts)


def lower(text: str) -> str:
    """``text`` in lower case with every character in its place, fit for the automata (no lone surrogates)."""
    low = text.lower()
    if low.isascii():
        return low
    if len(low) != len(text):
        low = text.translate(_ASCII_LOWER)
    return _SURROGATE.sub("\ufffd", low)


def squeeze(low: str) -> str:
    """``low`` without what folding, spacing and quoting insert."""
    return low.translate(_SQUEEZE_ASCII if low.isascii() else _SQUEEZE)


def kept_positions(low: str) -> list[int]:
    """For each character of ``squeeze(low)`` its position in ``low``."""
    return [found.start() for found in _KEPT.finditer(low)]


def position_from_end(low: str, count: int) -> int:
    """The position in ``low`` of the ``count``-th last character that squeezing keeps."""
    position = len(low)
    while count > 0 and position > 0:
        position -= 1
        if low[position] not in SQUEEZED_OUT:
            count -= 1
    return position
