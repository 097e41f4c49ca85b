"""What can happen to a shell session; this module is the input alphabet of its machine."""

from msgspec import Struct

__all__ = [
    "ChannelLost",
    "Event",
    "InterruptRequested",
    "JobsDied",
    "LinkLost",
    "OpenFailed",
    "Opened",
    "RunRequested",
    "ShellExited",
    "ShellProbed",
    "ShellStopped",
    "StatusBytes",
    "TimerFired",
]


class Opened(Struct, frozen=True, kw_only=True):
    """A channel to a fresh shell stands; ``env_names`` are the variables that it was started with."""

    env_names: frozenset[str] = frozenset()


class OpenFailed(Struct, frozen=True, kw_only=True):
    """A replacement for the shell could not be had."""

    reason: str


class RunRequested(Struct, frozen=True, kw_only=True):
    """A command is to run; ``stdin_path`` is its input, ``terminal`` its TERM, ``outputs`` a fresh pair of paths.

    ``prologue`` is a line of ours that comes before it; ``tells_env``: its end says what became of the environment.
    """

    command: str
    stdin_path: str | None = None
    is_tty: bool = False
    terminal: str | None = None
    outputs: tuple[str, str] | None = None
    prologue: bytes = b""
    tells_env: bool = False


class StatusBytes(Struct, frozen=True, kw_only=True):
    """Bytes came on the status descriptor."""

    data: bytes


class ShellStopped(Struct, frozen=True, kw_only=True):
    """The shell process itself was stopped by a signal."""


class ShellExited(Struct, frozen=True, kw_only=True):
    """The shell ended: exit status, or -n after signal n."""

    code: int


class ShellProbed(Struct, frozen=True, kw_only=True):
    """The answer to a Probe: whether the shell waits for more script, and whether it is inside a command."""

    is_waiting: bool
    is_inside: bool


class ChannelLost(Struct, frozen=True, kw_only=True):
    """The way to the shell is gone."""


class LinkLost(Struct, frozen=True, kw_only=True):
    """The host is out of reach, and with it the shell; another can be opened when it is back."""

    reason: str


class InterruptRequested(Struct, frozen=True, kw_only=True):
    """The running command must end; ``reason`` is ``timeout`` or ``cancelled``."""

    reason: str


class JobsDied(Struct, frozen=True, kw_only=True):
    """These background jobs have ended; how, only the shell knows."""

    pids: frozenset[int]


class TimerFired(Struct, frozen=True, kw_only=True):
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
    | LinkLost
    | InterruptRequested
    | TimerFired
    | JobsDied
)
