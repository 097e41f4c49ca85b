"""What a shell session's machine can ask for; this module is its output alphabet."""

import signal

from msgspec import Struct

from execkit_mcp.protocol.completion import Completion

__all__ = [
    "Action",
    "ArmTimer",
    "EndStrays",
    "Finish",
    "GiveUp",
    "JobEnded",
    "JobStarted",
    "MarkReady",
    "Probe",
    "Respawn",
    "SignalForeground",
    "SignalShell",
    "WriteScript",
]


class WriteScript(Struct, frozen=True, kw_only=True):
    """Send ``data`` to the shell."""

    data: bytes


class SignalForeground(Struct, frozen=True, kw_only=True):
    """Signal what runs in the foreground; ``spares_shell``: unless that is the shell itself.

    ``stops_list``: the shell is not to go on to what comes behind it, even if a polite program ends in peace.
    """

    number: signal.Signals
    spares_shell: bool = False
    stops_list: bool = False


class SignalShell(Struct, frozen=True, kw_only=True):
    """Signal the shell process."""

    number: signal.Signals


class ArmTimer(Struct, frozen=True, kw_only=True):
    """Send TimerFired in ``seconds``; replaces the timer that is armed. None disarms it."""

    seconds: float | None


class Probe(Struct, frozen=True, kw_only=True):
    """Find out what the shell is doing, and send ShellProbed."""


class EndStrays(Struct, frozen=True, kw_only=True):
    """Kill what the command left, but neither older processes nor the process groups ``spared``."""

    spared: frozenset[int]


class Respawn(Struct, frozen=True, kw_only=True):
    """Discard the channel and open another in ``cwd`` (None: where the session began)."""

    cwd: str | None


class MarkReady(Struct, frozen=True, kw_only=True):
    """The session can take commands."""


class GiveUp(Struct, frozen=True, kw_only=True):
    """No shell has answered, and none will be tried any more."""

    reason: str


class Finish(Struct, frozen=True, kw_only=True):
    """The command ended."""

    completion: Completion


class JobStarted(Struct, frozen=True, kw_only=True):
    """The running command's ``&`` of that number started the process ``pid``, or so it says."""

    number: int
    pid: int


class JobEnded(Struct, frozen=True, kw_only=True):
    """How a background job ended; None: the shell does not know."""

    pid: int
    code: int | None


Action = (
    WriteScript
    | SignalForeground
    | SignalShell
    | ArmTimer
    | Probe
    | EndStrays
    | Respawn
    | MarkReady
    | GiveUp
    | Finish
    | JobStarted
    | JobEnded
)
