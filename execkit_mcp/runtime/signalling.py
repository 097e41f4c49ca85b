"""Sending a signal to an exec: a background job has no terminal, so its keys are signals too."""

from typing import Final

from execkit_mcp.errors import CapabilityMissing, CommandInvalid
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.session import Session

KEY_SIGNALS: Final = {"ctrl-c": "INT", "ctrl-backslash": "QUIT", "ctrl-z": "STOP"}


def name_of_signal(
    signal: str | None, key: str | None, text: str | None, exec_: Exec, *, has_terminal: bool = True
) -> str | None:
    """The signal that a call of ``shell_send`` means; None if it means keys for the terminal.

    Raises:
        CommandInvalid: the job has nothing that could read text or keys.
        CapabilityMissing: nor has the command, on a target where a terminal is made only when it is asked for.
    """
    if signal is not None:
        return signal
    if exec_.pid is None and has_terminal:
        return None
    if text is None and key in KEY_SIGNALS:
        return KEY_SIGNALS[key]
    if not has_terminal:
        raise CapabilityMissing(
            "This command has no terminal to type on.",
            hint="Start it with tty=true, or give it its input as stdin; key ctrl-c and signal interrupt it.",
        )
    raise CommandInvalid(
        f"Exec {exec_.exec_id!r} is a background job: it has no terminal to type on.",
        hint="Send signal, e.g. TERM, or bring it to the foreground with fg in a command with tty=true.",
    )


def send_signal(name: str, exec_: Exec, session: Session) -> None:
    """Send it; raises CommandInvalid if the exec has ended."""
    if exec_.pid is not None:
        session.signal_job(exec_, name)
    elif not session.signal(exec_, name):
        raise CommandInvalid(
            f"Exec {exec_.exec_id!r} has ended; nothing was sent.", hint="Read its output with shell_read."
        )
