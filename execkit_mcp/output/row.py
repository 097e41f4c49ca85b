"""A line of a terminal's screen, as text."""

from typing import Final

from msgspec import Struct

__all__ = ["SCROLLBACK_LINES", "Row"]

SCROLLBACK_LINES: Final = 500
"""Lines that are kept when they leave the screen at the top."""


class Row(Struct, frozen=True):
    """Its text, and whether the next line goes on with it (it ran over the right edge)."""

    text: str
    is_wrapped: bool
