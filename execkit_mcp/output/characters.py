"""Where UTF-8 text may be cut: this module finds the borders of characters in bytes."""

from collections.abc import Iterator
from typing import Final

__all__ = ["border_after", "border_before", "is_inside_character", "pieces_of", "whole_characters"]

_CONTINUATION: Final = 0x80
_CONTINUATION_MASK: Final = 0xC0


def pieces_of(data: bytes, start: int, size: int) -> Iterator[tuple[int, int]]:
    """Borders of pieces of about ``size`` bytes of ``data`` from ``start`` on, none inside a character."""
    while start < len(data):
        end = border_after(data, min(start + max(size, 1), len(data)))
        yield start, end
        start = end


def whole_characters(data: bytes) -> bytes:
    """``data`` without the beginning of a character at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & _CONTINUATION_MASK != _CONTINUATION:
            length = 1 if byte < _CONTINUATION else 2 + (byte >= 0xE0) + (byte >= 0xF0)  # noqa: PLR2004 - UTF-8 leads
            return data[:-back] if length > back else data
    return data


def is_inside_character(byte: int) -> bool:
    """Whether ``byte`` is not the first of its character."""
    return byte & _CONTINUATION_MASK == _CONTINUATION


def border_before(data: bytes, position: int) -> int:
    """The border at ``position`` or the last one before it."""
    while 0 < position < len(data) and is_inside_character(data[position]):
        position -= 1
    return max(0, position)


def border_after(data: bytes, position: int) -> int:
    """The border at ``position`` or the first one after it."""
    while position < len(data) and is_inside_character(data[position]):
        position += 1
    return position
