"""What a line looks like apart from its numbers: this module tells lines that repeat from lines that are new.

Two lines have the same shape if they are equal but for numbers, times, hexadecimal ids and the length of a
progress bar. A streak is a run in which the same one to four shapes come again and again.
"""

import re
from collections.abc import Sequence
from operator import eq
from typing import Final

from execkit_mcp.model.regex import lazy_regex

_VARIABLE: Final = lazy_regex(rb"[a-fA-F]{0,12}[0-9][0-9a-fA-F]*|[#=>.\-*]{2,}>?|[ \t]{2,}")
_MAX_PERIOD: Final = 4
_MIN_ROUNDS: Final = 3
_MIN_LETTERS: Final = 8  # fewer, and the numbers are what the line says
_DIGITS_AND_PUNCTUATION: Final = bytes(each for each in range(128) if not chr(each).isalpha())


def shapes_of(data: bytes) -> list[bytes]:
    """The shape of each line of ``data``, the line after a last line end included."""
    return _VARIABLE.sub(b"0", data).split(b"\n")


def repeats(lines: Sequence[bytes], shapes: Sequence[bytes]) -> bytearray:
    """For each line 1 if it is inside a streak, neither in its first round nor in its last."""
    marks = bytearray(len(lines))
    for period in range(1, _MAX_PERIOD + 1):
        for kind in (shapes, lines):
            again = bytes(map(eq, kind[period:], kind))
            for streak in re.finditer(b"\x01{%d,}" % (_MIN_ROUNDS * period), again):
                first, end = streak.start() + period, streak.end()
                if kind is lines or all(map(_says_enough, kind[first : first + period])):
                    marks[first:end] = b"\x01" * (end - first)
            if marks.count(0) <= 2 * _MAX_PERIOD:
                return marks
            if kind is shapes and 1 not in again:
                break  # equal lines have equal shapes
    return marks


def _says_enough(shape: bytes) -> bool:
    return len(shape.translate(None, _DIGITS_AND_PUNCTUATION)) >= _MIN_LETTERS
