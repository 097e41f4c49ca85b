"""The keys of a terminal by name, and the bytes that xterm sends for each (ctlseqs, "PC-Style Function Keys").

``ctrl-X`` and ``alt-X`` are made from their letter; arrows, home and end change their form where the program switched
on application cursor keys (DECCKM). Names in other people's spellings (``C-c``, ``return``, ``pgup``) are taken too.
"""

import difflib
from typing import Final

from execkit_mcp.errors import CommandInvalid

__all__ = ["NAMED", "NAMES", "encode", "key_name"]

_ESC: Final = b"\x1b"
NAMED: Final[dict[str, bytes]] = {
    "enter": b"\r",
    "tab": b"\t",
    "shift-tab": b"\x1b[Z",
    "escape": b"\x1b",
    "backspace": b"\x7f",
    "delete": b"\x1b[3~",
    "insert": b"\x1b[2~",
    "space": b" ",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "page-up": b"\x1b[5~",
    "page-down": b"\x1b[6~",
    "ctrl-space": b"\0",
    "ctrl-backslash": b"\x1c",
    "ctrl-right-bracket": b"\x1d",
    "f1": b"\x1bOP",
    "f2": b"\x1bOQ",
    "f3": b"\x1bOR",
    "f4": b"\x1bOS",
    "f5": b"\x1b[15~",
    "f6": b"\x1b[17~",
    "f7": b"\x1b[18~",
    "f8": b"\x1b[19~",
    "f9": b"\x1b[20~",
    "f10": b"\x1b[21~",
    "f11": b"\x1b[23~",
    "f12": b"\x1b[24~",
    **{f"ctrl-{letter}": bytes([ord(letter) - 96]) for letter in "abcdefghijklmnopqrstuvwxyz"},
    **{f"alt-{letter}": _ESC + letter.encode() for letter in "abcdefghijklmnopqrstuvwxyz"},
}
NAMES: Final = tuple(NAMED)
_CURSOR: Final = frozenset({"up", "down", "right", "left", "home", "end"})
_SPELLINGS: Final[dict[str, str]] = {
    "return": "enter", "cr": "enter", "esc": "escape", "bs": "backspace", "del": "delete", "ins": "insert",
    "pgup": "page-up", "pageup": "page-up", "prior": "page-up", "ppage": "page-up",
    "pgdn": "page-down", "pgdown": "page-down", "pagedown": "page-down", "next": "page-down", "npage": "page-down",
    "backtab": "shift-tab", "btab": "shift-tab", "ctrl-\\": "ctrl-backslash", "ctrl-]": "ctrl-right-bracket",
    "ctrl-@": "ctrl-space", "ctrl-[": "escape",
}  # fmt: skip
_PREFIXES: Final = (("c-", "ctrl-"), ("control-", "ctrl-"), ("^", "ctrl-"), ("m-", "alt-"), ("meta-", "alt-"))
_SHORTEST: Final = 2


def key_name(asked: str) -> str:
    """The key's own name, however it was spelled.

    Raises:
        CommandInvalid: there is no such key; the hint names the nearest ones.
    """
    name = asked.strip().lower().replace("_", "-").replace("+", "-").strip("<>")
    arrow = name.removeprefix("arrow-").removesuffix("-arrow").removeprefix("arrow").removesuffix("arrow")
    for candidate in (name, _SPELLINGS.get(name, ""), arrow):
        if candidate in NAMED:
            return candidate
    for prefix, meant in _PREFIXES:
        if name.startswith(prefix):
            rest = meant + name[len(prefix) :]
            rest = _SPELLINGS.get(rest, rest)
            if rest in NAMED:
                return rest
    near = difflib.get_close_matches(name, NAMES, n=3, cutoff=0.5) if len(name) >= _SHORTEST else []
    what = f"Did you mean {' or '.join(near)}?" if near else "Printable characters are sent as text."
    raise CommandInvalid(
        f"There is no key {asked[:40]!r}.",
        hint=f"{what} Keys are enter, tab, escape, backspace, delete, arrows by name (up …), home, end, page-up,"
        " page-down, f1 to f12, ctrl-a to ctrl-z, alt-a to alt-z.",
        details={"nearest": near},
    )


def encode(name: str, *, is_application_cursor: bool = False) -> bytes:
    """The bytes of a key; ``is_application_cursor``: the program asked for the other form of the cursor keys."""
    data = NAMED[name]
    if is_application_cursor and name in _CURSOR:
        return b"\x1bO" + data[2:]
    return data
