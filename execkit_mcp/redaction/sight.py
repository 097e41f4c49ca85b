"""Views of a text in which secrets are looked for, each with a way back to the original's offsets.

The *view* is the text without ANSI escape sequences (a colour code can split a token). The *squeezed* view
is the view in lower case without blanks, line ends, quotes, backslashes and invisible characters: what
folding, spacing and quoting insert is gone from it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct, field

from execkit_mcp.model.regex import lazy_regex

_ESCAPE = lazy_regex(
    "(?:\x1b\\[|[\x9b\udc9b])[0-?]{0,64}[ -/]{0,8}[@-~]"
    "|\x1b[\\]PX^_][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\\\)"
    "|\x1b[ -/]{1,8}[0-~]|\x1b[0-OQ-WYZ`-~]"
)
_OTHER_INTRODUCERS = "\x9b\udc9b"
_INTRODUCER = lazy_regex("[\x1b\x9b\udc9b]")
_SURROGATE = lazy_regex("[\ud800-\udfff]")

SQUEEZED_OUT = " \x1b\t\r\n\"'`\\\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00a0"
_SQUEEZE_ASCII = {ord(character): None for character in SQUEEZED_OUT if character.isascii()}
_SQUEEZE_BYTES = "".join(filter(str.isascii, SQUEEZED_OUT)).encode()
_SQUEEZE_MORE = tuple(character.encode() for character in SQUEEZED_OUT if not character.isascii())
_NOT_QUICK = "".join(character for character in SQUEEZED_OUT if not character.isascii())
_KEPT = lazy_regex(f"[^{re.escape(SQUEEZED_OUT)}]")
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


_LOWER_TO_ASCII = "\u0130\u212a"  # two characters whose small letters are ASCII: gates must see those


class View(Struct):
    """``text`` is the original without escape sequences; ``low`` the same in lower case, made when it is asked for."""

    text: str
    starts: list[int] = field(default_factory=list)  # where each kept stretch starts in ``text``
    shifts: list[int] = field(default_factory=list)  # what to add there to get to the original

    _low: str | None = None
    _data: bytes | None = None

    @property
    def data(self) -> bytes:
        """The text in lower case, a byte for a character and a question mark beyond ASCII: quick to search."""
        if self._data is None:
            text = self.text
            if not text.isascii() and (_LOWER_TO_ASCII[0] in text or _LOWER_TO_ASCII[1] in text):
                text = lower(text)
            self._data = text.encode("ascii", "replace").lower()
        return self._data

    @property
    def low(self) -> str:
        """The text in lower case, every character in its place."""
        if self._low is None:
            self._low = lower(self.text)
        return self._low

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original from the first to the last character of ``text[start:end]``."""
        if not self.starts:
            return start, end
        first = self.shifts[bisect_right(self.starts, start) - 1]
        last = self.shifts[bisect_right(self.starts, end - 1) - 1]
        return start + first, end + last


def _introducers(text: str) -> Iterator[int]:
    """Where an escape sequence may start."""
    if any(other in text for other in _OTHER_INTRODUCERS):
        yield from (found.start() for found in _INTRODUCER.finditer(text))
        return
    at = text.find("\x1b")  # one character is found many times faster than one of a class
    while at >= 0:
        yield at
        at = text.find("\x1b", at + 1)


def view_of(text: str) -> View:
    """The view of ``text``; no work is done where there is nothing to see through."""
    if "\x1b" not in text and (text.isascii() or not any(other in text for other in _OTHER_INTRODUCERS)):
        return View(text)
    pieces: list[str] = []
    starts: list[int] = []
    shifts: list[int] = []
    position = length = 0
    match = _ESCAPE.match
    for start in _introducers(text):
        if start < position or (escape := match(text, start)) is None:
            continue
        if start > position:
            starts.append(length)
            shifts.append(position - length)
            pieces.append(text[position:start])
            length += start - position
        position = escape.end()
    if position < len(text):
        starts.append(length)
        shifts.append(position - length)
        pieces.append(text[position:])
    return View("".join(pieces), starts, shifts)


def lower(text: str) -> str:
    """``text`` in lower case with every character in its place, fit for the automata (no lone surrogates)."""
    if text.isascii():
        return text.lower()
    low = text.lower()
    if len(low) != len(text):
        low = text.translate(_ASCII_LOWER)
    try:
        low.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", low)
    return low


def squeeze(low: str) -> str:
    """``low`` without the characters that the squeezed view leaves out."""
    if low.isascii():
        return low.translate(_SQUEEZE_ASCII)
    data = low.encode().translate(None, _SQUEEZE_BYTES)  # on text, it is many times slower beyond ASCII
    for sequence in _SQUEEZE_MORE:
        if sequence in data:
            data = data.replace(sequence, b"")
    return data.decode()


def squeezed_bytes(view: View) -> bytes | None:
    """The squeezed view as bytes, a question mark for what is beyond ASCII; None if that would not tell the truth."""
    if not view.text.isascii() and any(character in view.text for character in _NOT_QUICK):
        return None
    return view.data.translate(None, _SQUEEZE_BYTES)


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
