"""What every command has in common at which a person answers: who it is, the desk, times as people write them."""

import argparse
import sys
from typing import TYPE_CHECKING

from execkit_mcp.cli.state import audit_folder, audit_key, state_folder

if TYPE_CHECKING:
    from execkit_mcp.runtime.desk import ApprovalDesk

__all__ = ["ask", "moment", "open_desk", "refuse_inside_a_session", "show", "span", "user", "whole_time"]

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def open_desk(args: argparse.Namespace) -> "ApprovalDesk":
    """The desk of the state folder that the options name."""
    from execkit_mcp.runtime.desk import ApprovalDesk  # noqa: PLC0415 # heavy imports belong to the run

    return ApprovalDesk.open(state_dir=state_folder(args), audit_dir=audit_folder(args), audit_key=audit_key(args))


def ask(question: str) -> str:
    """What the person at the terminal types; nothing where he ends the input (ctrl-d), which is never a yes."""
    try:
        return input(question).strip()
    except EOFError:
        print()
        return ""


def refuse_inside_a_session() -> None:
    """Raise ApprovalDenied where this process descends from an agent's session."""
    from execkit_mcp.cli.ancestry import is_inside_a_session  # noqa: PLC0415 # heavy imports belong to the run
    from execkit_mcp.errors import ApprovalDenied  # noqa: PLC0415

    if is_inside_a_session():
        raise ApprovalDenied(
            "Nobody can answer approvals from inside an execkit session.",
            hint="Run this in a terminal of your own.",
        )


def user() -> str:
    """Who runs this, as far as the kernel knows."""
    import os  # noqa: PLC0415
    import pwd  # noqa: PLC0415

    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = ""
    return f"{name or 'uid'} ({os.getuid()})"


def show(text: str) -> None:
    """Print on whatever the terminal can show; what it cannot is written as an escape."""
    encoding = sys.stdout.encoding or "ascii"
    print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def span(text: str) -> float:
    """Seconds in ``45s``, ``30m``, ``2h`` or ``1d``; raises CommandInvalid."""
    from execkit_mcp.errors import CommandInvalid  # noqa: PLC0415

    number, unit = text[:-1], text[-1:]
    if unit in _UNITS and number.isascii() and number.isdecimal() and int(number[:9]) > 0:
        return int(number[:9]) * _UNITS[unit]
    raise CommandInvalid(f"{text!a} is not a span of time.", hint="Write a number and a unit: 45s, 30m, 2h, 1d.")


def moment(text: str, now_s: float) -> float:
    """The epoch seconds of ``18:00`` (the next one) or an ISO date and time, local unless it says; CommandInvalid."""
    from datetime import datetime, timedelta  # noqa: PLC0415

    from execkit_mcp.errors import CommandInvalid  # noqa: PLC0415

    now = datetime.fromtimestamp(now_s).astimezone()
    try:
        if "T" in text or "-" in text:
            return datetime.fromisoformat(text).astimezone().timestamp()
        hour, minute = (int(part) for part in text.split(":"))
        at = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
        return (at if at > now else at + timedelta(days=1)).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise CommandInvalid(
            f"{text!a} is not a time.", hint="Write 18:00, or a date and time: 2030-01-31T18:00."
        ) from error


def whole_time(epoch_s: float) -> str:
    """A time as a person reads it, local."""
    from datetime import datetime  # noqa: PLC0415

    return datetime.fromtimestamp(epoch_s).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
