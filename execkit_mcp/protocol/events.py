"""What can happen to a shell session; this module is the input alphabet of its machine."""

from dataclasses import dataclass

__all__ = [
    "ChannelLost",
    "Event",
    "InterruptRequested",
    "OpenFailed",
    "Opened",
    "RunRequested",
    "ShellExited",
    "ShellProbed",
    "ShellStopped",
    "StatusBytes",
    "TimerFired",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A channel to a fresh shell stands; ``env_names`` are the variables that it was started with."""

    env_names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFailed:
    """A replacement for the shell could not be had."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequested:
    """A command is to run; ``stdin_path`` is its input, ``outputs`` a fresh pair of paths."""

    command: str
    stdin_path: str | None = None
    is_tty: bool = False
    outputs: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusBytes:
    """Bytes came on the status descriptor."""

    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellStopped:
    """The shell process itself was stopped by a signal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellExited:
    """The shell ended: exit status, or -n after signal n."""

    code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellProbed:
    """The answer to a Probe: whether the shell waits for more script, and whether it is inside a command."""

    is_waiting: bool
    is_inside: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelLost:
    """The way to the shell is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptRequested:
    """The running command must end; ``reason`` is ``timeout`` or ``cancelled``."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerFired:
    """The timer that was armed last ran out."""


Event = (
    Opened
    | OpenFailed
    | RunRequested
    | StatusBytes
    | ShellStopped
    | ShellExited
    | ShellProbed
    | ChannelLost
    | InterruptRequested
    | TimerFired
)
