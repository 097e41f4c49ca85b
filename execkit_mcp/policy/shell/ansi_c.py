"""``$'…'`` strings: this module is the decoding of their backslash escapes (bash(1), QUOTING)."""

import re

from execkit_mcp.model.regex import lazy_regex

ESCAPE_FAULT = "escape in a $' quote that is not plain text"

_SIMPLE = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
_ESCAPE = lazy_regex(
    r"\\(?:x(?P<byte>[0-9A-Fa-f]{1,2})|(?P<octal>[0-7]{1,3})|u(?P<short>[0-9A-Fa-f]{1,4})"
    r"|U(?P<long>[0-9A-Fa-f]{1,8})|c(?P<control>[A-Za-z?])|(?P<other>.))",
    re.DOTALL,
)


def decode_ansi_c(inside: str) -> str | None:
    """The characters that bash makes of it; None if they hold NUL or are no valid text."""
    if "\\" not in inside:
        return inside
    data = bytearray()
    position = 0
    for found in _ESCAPE.finditer(inside):
        data += inside[position : found.start()].encode()
        position = found.end()
        piece = _decoded(found)
        if piece is None or piece == b"\0":
            return None
        data += piece
    data += inside[position:].encode()
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _decoded(found: re.Match[str]) -> bytes | None:
    if found["byte"]:
        return bytes((int(found["byte"], 16),))
    if found["octal"]:
        return bytes((int(found["octal"], 8) & 0xFF,))
    if found["control"]:
        return bytes((0x7F if found["control"] == "?" else ord(found["control"]) & 0x1F,))
    if found["other"]:
        plain = _SIMPLE.get(found["other"])
        return plain.encode() if plain is not None else None
    code = int(found["short"] or found["long"], 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - the limits of Unicode
        return None
    return chr(code).encode()
