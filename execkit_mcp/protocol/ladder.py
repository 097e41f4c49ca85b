"""How a command is made to end, from asking to replacing its shell; this module is that table.

Measured (notes/sessions.md): the first rung ends most commands within a millisecond; each later one costs
the grace of the one before. On the fifth the shell's EXIT trap still saves its state, on the last it does
not.
"""

import re
import signal

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex

__all__ = ["LADDER", "Rung", "is_list", "may_end_shell"]


_QUOTED = lazy_regex(r'''\\.|'[^']*'|"(?:[^"\\]|\\.)*"''', re.DOTALL)
_MORE = lazy_regex(r";|\n(?=.)|&&|\|\|")
_ENDS = lazy_regex(
    r"\b(?:builtin|enable|eval|exec|exit|kill|killall|logout|pkill|return|set|shopt|source|suspend|trap|ulimit|unset)\b"
)


class Rung(Struct, frozen=True, kw_only=True):
    """Send ``number`` (to the shell itself if ``is_for_shell``), then wait ``grace_s``."""

    number: signal.Signals
    grace_s: float
    example: str
    is_for_shell: bool = False
    is_asked_again: bool = False


LADDER: tuple[Rung, ...] = (
    Rung(number=signal.SIGINT, grace_s=0.5, example="sleep 60"),
    Rung(number=signal.SIGTERM, grace_s=0.5, example="python3 with SIGINT ignored", is_asked_again=True),
    Rung(number=signal.SIGKILL, grace_s=0.5, example="sh -c \"trap '' INT TERM; …\"", is_asked_again=True),
    Rung(
        number=signal.SIGHUP,
        grace_s=0.5,
        example="trap '' INT; while :; do :; done",
        is_for_shell=True,
    ),
    Rung(number=signal.SIGKILL, grace_s=2.0, example="trap '' INT HUP; while :; do :; done", is_for_shell=True),
)


def is_list(command: str) -> bool:
    """Whether something may come behind a first command: ``a; b``, ``a && b``, a loop; not ``a | b``, not ``a 'b; c'``.

    A shell whose child ends in peace when it is interrupted goes on with that, unless it is interrupted too. It then
    forgets how the child ended, which is all that a command without a second has to say.
    """
    return _MORE.search(_QUOTED.sub("x", command)) is not None


def may_end_shell(command: str) -> bool:
    """Whether a command looks as if its shell could end without being able to say what state it was in.

    A guess at the words: ``kill -9 $$``, ``exec cat``, ``set -e`` and then an interrupt. What is guessed wrong costs a
    millisecond, or the state that the commands of the last moment made.
    """
    return _ENDS.search(command) is not None
