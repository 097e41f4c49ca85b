"""What a shell session's machine can ask for; this module is its output alphabet."""

import signal
from dataclasses import dataclass

from execkit_mcp.protocol.completion import Completion

__all__ = [
    "Action",
    "ArmTimer",
    "EndStrays",
    "Finish",
    "MarkReady",
    "Probe",
    "Respawn",
    "SignalForeground",
    "SignalShell",
    "WriteScript",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteScript:
    """Send ``data`` to the shell."""

    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalForeground:
    """Signal what runs in the foreground."""

    number: signal.Signals


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalShell:
    """Signal the shell process."""

    number: signal.Signals


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTimer:
    """Send TimerFired in ``seconds``; replaces the timer that is armed. None disarms it."""

    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Find out what the shell is doing, and send ShellProbed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndStrays:
    """Kill what the command left, but neither older processes nor the process groups ``spared``."""

    spared: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Respawn:
    """Discard the channel and open another in ``cwd`` (None: where the session began)."""

    cwd: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkReady:
    """The session can take commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The command ended."""

    completion: Completion


Action = WriteScript | SignalForeground | SignalShell | ArmTimer | Probe | EndStrays | Respawn | MarkReady | Finish
