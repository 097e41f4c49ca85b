"""Colour for people: only on a terminal, and not where NO_COLOR is set (no-color.org) or the terminal is dumb."""

import os
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

_CODES: Final = {"allow": "32", "ask": "33", "deny": "31;1", "title": "1"}


def painter(stream: TextIO) -> "Callable[[str, str], str]":
    """What puts the colour of a style (a verdict's word, ``title``) on a text bound for ``stream``."""
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb" or not stream.isatty()

    def paint(style: str, text: str) -> str:
        code = _CODES.get(style)
        return text if is_plain or code is None else f"\x1b[{code}m{text}\x1b[0m"

    return paint
