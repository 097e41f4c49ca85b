"""The keys that ``shell_send`` knows, and the bytes a terminal sends for each (xterm, ``ctlseqs``)."""

from typing import Final, Literal, get_args

KeyName = Literal[
    "enter", "tab", "escape", "backspace", "delete", "space",
    "up", "down", "left", "right", "home", "end", "page-up", "page-down",
    "ctrl-a", "ctrl-b", "ctrl-c", "ctrl-d", "ctrl-e", "ctrl-k", "ctrl-l", "ctrl-n", "ctrl-p", "ctrl-r",
    "ctrl-u", "ctrl-w", "ctrl-x", "ctrl-z", "ctrl-backslash",
    "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10",
]  # fmt: skip

KEYS: Final[dict[str, bytes]] = {
    "enter": b"\r",
    "tab": b"\t",
    "escape": b"\x1b",
    "backspace": b"\x7f",
    "delete": b"\x1b[3~",
    "space": b" ",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "page-up": b"\x1b[5~",
    "page-down": b"\x1b[6~",
    "ctrl-backslash": b"\x1c",
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
    **{f"ctrl-{letter}": bytes([ord(letter) - 96]) for letter in "abcdeklnpruwxz"},
}

KEY_NAMES: Final[tuple[str, ...]] = get_args(KeyName)
