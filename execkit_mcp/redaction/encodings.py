"""The published table of encodings in which a known value is recognized.

Folding, spacing out, quoting and case changes need no rows: the squeezed view undoes them, whichever
encoding they were applied to.
"""

import base64
import binascii
import json
import shlex
from collections.abc import Callable
from urllib.parse import quote, quote_plus

from msgspec import Struct

_MIN_CORE = 6  # characters of a base64 core below which it means nothing


class Encoding(Struct, frozen=True):
    """One row: its name, how a value looks in it, and the recipe that a person would use to get it."""

    name: str
    encode: Callable[[str], tuple[str, ...]]
    recipe: str


def _bytes(value: str) -> bytes:
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that no byte stands for, from JSON
        return value.encode("utf-8", "surrogatepass")


def _base64_phases(value: str) -> tuple[str, ...]:
    """The characters that are the same wherever in a longer text the value stands.

    At each of three offsets.
    """
    data = _bytes(value)
    cores: list[str] = []
    for phase, skip in ((0, 0), (1, 2), (2, 3)):
        padded = b"\0" * phase + data
        text = base64.b64encode(padded).decode().rstrip("=")
        used = len(text) - (1 if len(padded) % 3 else 0)  # the last character also depends on what follows
        core = text[skip:used]
        if len(core) >= _MIN_CORE:
            cores.append(core)
    return tuple(cores)


def _base64url(value: str) -> tuple[str, ...]:
    return tuple(core.translate({43: 45, 47: 95}) for core in _base64_phases(value))


def _c_short(value: str) -> str:
    short = {
        "\\": "\\\\",
        '"': '\\"',
        "\n": "\\n",
        "\t": "\\t",
        "\r": "\\r",
        "\a": "\\a",
        "\b": "\\b",
        "\x1b": "\\e",
    }
    return "".join(short.get(character, character) for character in value)


TABLE: tuple[Encoding, ...] = (
    Encoding("raw", lambda v: (v,), "printf %s VALUE"),
    Encoding("base64", _base64_phases, "printf %s VALUE | base64"),
    Encoding("base64url", _base64url, "printf %s VALUE | basenc --base64url"),
    Encoding("hex", lambda v: (binascii.hexlify(_bytes(v)).decode(),), "printf %s VALUE | xxd -p"),
    Encoding("url", lambda v: (quote(_bytes(v), safe=""), quote(_bytes(v)), quote_plus(_bytes(v))), "jq -sRr @uri"),
    Encoding("url-full", lambda v: ("".join(f"%{b:02x}" for b in _bytes(v)),), "xxd -p | sed 's/../%&/g'"),
    Encoding("json", lambda v: (json.dumps(v)[1:-1], json.dumps(v, ensure_ascii=False)[1:-1]), "jq -R ."),
    Encoding("json-full", lambda v: ("".join(f"\\u{ord(c):04x}" for c in v),), "every character as \\uXXXX"),
    Encoding("c", lambda v: (_c_short(v), "".join(f"\\x{b:02x}" for b in _bytes(v))), "C string literal"),
    Encoding("c-octal", lambda v: ("".join(f"\\{b:03o}" for b in _bytes(v)),), "octal escapes"),
    Encoding("shell", lambda v: (shlex.quote(v), "".join(f"\\{c}" for c in v)), "printf %q VALUE"),
    Encoding("reversed", lambda v: (v[::-1],), "printf %s VALUE | rev"),
)


def encodings_of(value: str) -> dict[str, str]:
    """Every encoding of ``value`` with the name of its row; the first row wins where two agree."""
    out: dict[str, str] = {}
    for row in TABLE:
        for text in row.encode(value):
            out.setdefault(text, row.name)
    return out
