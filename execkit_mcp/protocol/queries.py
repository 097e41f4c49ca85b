r"""What a terminal is asked by programs, and what this one answers; this module finds the questions in the output.

Full-screen programs ask who the terminal is and where its cursor stands, and some wait for the answer. Sources:
xterm's ctlseqs, DEC VT510 manual, kitty's keyboard protocol. An answer is made from the table and from numbers of our
own, never from text that the program sent (no title, no answerback, no clipboard), so that nobody can have the
terminal type for him. Whether an answer may be typed at all is decided by who owns the terminal.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex

__all__ = ["Modes", "Question", "answer", "questions", "unfinished"]

_ST: Final = "\x1b\\"
MAX_SEQUENCE: Final = 4096
_BODY: Final = f"[^\x07\x18\x1a\x1b\x9c]{{0,{MAX_SEQUENCE}}}"
_SEQUENCE: Final = lazy_regex(
    "\x1b(?:"
    "\\[(?P<mark>[?>=!]?)(?P<params>[0-9;:]{0,64})(?P<inter>[ $]?)(?P<final>[@-~])"
    f"|\\](?P<osc>{_BODY})(?P<end>\x07|\x1b\\\\)"
    f"|P(?P<dcs>{_BODY})\x1b\\\\"
    "|(?P<esc>[cZ])"
    ")"
)
_UNFINISHED: Final = lazy_regex(f"\x1b(?:\\[[0-?]{{0,64}}[ -/]{{0,4}}|[\\]PX^_]{_BODY}\x1b?|[ -/]{{0,4}})?\\Z")
_CAPABILITIES: Final = {"544E": "787465726D2D323536636F6C6F72", "436F": "323536", "636F6C6F7273": "323536"}
"""XTGETTCAP: TN, Co, colors, in hexadecimal."""
_SETTINGS: Final = {"m": "0m", " q": "1 q", '"p': '62;1"p', '"q': '0"q'}
_COLOURS: Final = {"10": "e5e5/e5e5/e5e5", "11": "0000/0000/0000", "12": "e5e5/e5e5/e5e5"}
_ALTERNATE: Final = frozenset({"47", "1047", "1049"})
_RESET_MODES: Final = frozenset(
    {"1", "3", "4", "5", "6", "9", "12", "20", "45", "47", "66", "67", "69", "1047", "1049", "2004", "2026"}
    | {str(number) for number in (*range(1000, 1007), 1015, 1016)}
)
_SET_MODES: Final = frozenset({"7", "25"})
_CELL_WIDTH, _CELL_HEIGHT = 8, 16


class Modes(Struct, kw_only=True):
    """What the program switched on; keys and pasted text depend on it."""

    is_application_cursor: bool = False
    is_bracketed_paste: bool = False
    is_alternate: bool = False


class Question(Struct, frozen=True, kw_only=True):
    """A question in the output: where it ends, what it is, and its number where it has one."""

    end: int
    kind: str
    value: str = ""


def unfinished(text: str) -> int:
    """Where an escape sequence begins that the end of ``text`` cuts; the length of ``text`` if there is none."""
    found = _UNFINISHED.search(text, max(0, len(text) - MAX_SEQUENCE - 4))
    return found.start() if found is not None else len(text)


def questions(text: str, modes: Modes) -> Iterator[Question]:
    """The questions in ``text``, in order; ``modes`` is kept up to date."""
    for found in _SEQUENCE.finditer(text):
        kind, value = "", ""
        if found["final"] is not None:
            kind, value = _of_csi(found, modes)
        elif found["osc"] is not None:
            number, _, asked = found["osc"].partition(";")
            if asked == "?" and number in _COLOURS:
                kind, value = "colour", number
        elif found["dcs"] is not None:
            if found["dcs"].startswith("+q"):
                kind, value = "capability", found["dcs"][2:]
            elif found["dcs"].startswith("$q"):
                kind, value = "setting", found["dcs"][2:]
        elif found["esc"] == "Z":
            kind = "device"
        else:
            _reset(modes)
        if kind:
            yield Question(end=found.end(), kind=kind, value=value)


def _reset(modes: Modes) -> None:
    modes.is_application_cursor = modes.is_bracketed_paste = modes.is_alternate = False


_CSI: Final = {
    ("", "", "c", ""): "device", ("", "0", "c", ""): "device", (">", "", "c", ""): "device2",
    (">", "0", "c", ""): "device2", ("=", "", "c", ""): "device3", ("=", "0", "c", ""): "device3",
    ("", "5", "n", ""): "status", ("", "6", "n", ""): "cursor", ("?", "6", "n", ""): "cursor?",
    (">", "", "q", ""): "version", (">", "0", "q", ""): "version", ("?", "", "u", ""): "keyboard",
    ("", "18", "t", ""): "size", ("", "19", "t", ""): "size9", ("", "14", "t", ""): "pixels",
    ("", "16", "t", ""): "cell", ("", "11", "t", ""): "window", ("", "13", "t", ""): "position",
    ("", "", "x", ""): "parameters", ("", "0", "x", ""): "parameters", ("", "1", "x", ""): "parameters1",
}  # fmt: skip


def _of_csi(found: re.Match[str], modes: Modes) -> tuple[str, str]:
    mark, params, inter, final = found["mark"], found["params"], found["inter"], found["final"]
    if mark == "?" and final in "hl" and not inter:
        for number in params.split(";"):
            if number == "1":
                modes.is_application_cursor = final == "h"
            elif number == "2004":
                modes.is_bracketed_paste = final == "h"
            elif number in _ALTERNATE:
                modes.is_alternate = final == "h"
        return "", ""
    if mark == "!" and final == "p":
        _reset(modes)
        return "", ""
    if inter == "$" and final == "p" and mark in {"", "?"}:
        return f"mode{mark}", params
    return _CSI.get((mark, params, final, inter), ""), ""


def answer(question: Question, *, cursor: tuple[int, int], size: tuple[int, int], modes: Modes) -> str:
    """What the terminal answers; ``cursor`` is (row, column) from 1, ``size`` (columns, rows)."""
    cols, rows = size
    row, column = cursor
    fixed = {
        "device": "\x1b[?62;22c",
        "device2": "\x1b[>1;10;0c",
        "device3": f"\x1bP!|00000000{_ST}",
        "status": "\x1b[0n",
        "cursor": f"\x1b[{row};{column}R",
        "cursor?": f"\x1b[?{row};{column}R",
        "version": f"\x1bP>|execkit{_ST}",
        "keyboard": "\x1b[?0u",
        "size": f"\x1b[8;{rows};{cols}t",
        "size9": f"\x1b[9;{rows};{cols}t",
        "pixels": f"\x1b[4;{rows * _CELL_HEIGHT};{cols * _CELL_WIDTH}t",
        "cell": f"\x1b[6;{_CELL_HEIGHT};{_CELL_WIDTH}t",
        "window": "\x1b[1t",
        "position": "\x1b[3;0;0t",
        "parameters": "\x1b[2;1;1;128;128;1;0x",
        "parameters1": "\x1b[3;1;1;128;128;1;0x",
    }
    if question.kind in fixed:
        return fixed[question.kind]
    match question.kind:
        case "colour":
            return f"\x1b]{question.value};rgb:{_COLOURS[question.value]}{_ST}"
        case "mode" | "mode?":
            return _mode(question, modes)
        case "setting":
            known = _SETTINGS.get(question.value) or (f"1;{rows}r" if question.value == "r" else None)
            return f"\x1bP1$r{known}{_ST}" if known is not None else f"\x1bP0$r{_ST}"
        case _:
            names = [name for name in question.value.upper().split(";")[:8] if name in _CAPABILITIES]
            found = "".join(f"\x1bP1+r{name}={_CAPABILITIES[name]}{_ST}" for name in names)
            return found or f"\x1bP0+r{_ST}"


def _mode(question: Question, modes: Modes) -> str:
    """DECRPM: 1 set, 2 reset, 0 unknown; only numbers of modes that we know are repeated."""
    number = question.value
    mark = question.kind.removeprefix("mode")
    states = {
        "1": modes.is_application_cursor,
        "2004": modes.is_bracketed_paste,
        **dict.fromkeys(_ALTERNATE, modes.is_alternate),
    }
    if mark and number in states:
        value = 1 if states[number] else 2
    elif mark and number in _SET_MODES:
        value = 1
    elif number in _RESET_MODES:
        value = 2
    else:
        number, value = (number if number.isdigit() and len(number) <= 5 else "0"), 0  # noqa: PLR2004
    return f"\x1b[{mark}{number};{value}$y"
