"""How a command is made to end, from asking to replacing its shell; this module is that table.

Measured (notes/sessions.md): the first rung ends most commands within a millisecond; each later one costs
the grace of the one before. On the fifth the shell's EXIT trap still saves its state, on the last it does
not.
"""

import signal

from msgspec import Struct

__all__ = ["LADDER", "Rung"]


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
