"""What a transport must do: carry bytes and signals, and know nothing else; this module is that contract."""

import signal
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

__all__ = ["Capability", "Channel", "FreshOutputs", "Role", "ShellPlan", "ShellReport", "Transport"]


class Role(StrEnum):
    """What the bytes of one descriptor are."""

    SCRIPT = "script"
    STATUS = "status"
    STDOUT = "stdout"
    STDERR = "stderr"
    TTY = "tty"


class Capability(StrEnum):
    """What a channel can do beyond its bytes."""

    SIGNALS = "signals"
    TTY = "tty"
    STDIN = "stdin"
    BACKGROUND_OUTPUT = "background_output"
    PROCESS_TREE = "process_tree"


class ShellPlan(Struct, frozen=True, kw_only=True):
    """The shell to start: a whole environment (nothing is added), the folder, the size of the terminal."""

    env: Mapping[str, str]
    cwd: str
    cols: int = 120
    rows: int = 40


class ShellReport(Struct, frozen=True, kw_only=True):
    """What became of the shell: ``stopped``, ``exited`` (``code``; -n after signal n) or ``lost``."""

    kind: str
    code: int | None = None


class FreshOutputs(Struct, frozen=True, kw_only=True):
    """A second pair of output pipes: our read ends, and the paths where the shell opens the write ends."""

    stdout_fd: int
    stderr_fd: int
    stdout_path: str
    stderr_path: str


class Channel(Protocol):
    """One shell at the far end; every descriptor is non-blocking and belongs to the channel."""

    @property
    def pid(self) -> int:
        """The shell's process id on its machine."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this channel can do."""
        ...

    @property
    def fds(self) -> Mapping[Role, int]:
        """The descriptors to write the script to and to read the rest from."""
        ...

    def listen(self, callback: Callable[[ShellReport], None]) -> None:
        """Have ``callback`` called on the loop for each report."""
        ...

    def signal_foreground(self, number: signal.Signals, *, spares_shell: bool = False) -> None:
        """Signal what runs in the foreground: its process group, or (unless spared) the shell and its own work."""
        ...

    def signal_shell(self, number: signal.Signals) -> None:
        """Signal the shell process itself."""
        ...

    def is_shell_waiting(self) -> bool:
        """Whether the shell has read everything that was sent and waits for more at its top level."""
        ...

    def is_inside_command(self) -> bool:
        """Whether the shell has read a whole command and is carrying it out."""
        ...

    def cwd(self) -> str | None:
        """The shell's folder as the kernel knows it, or None."""
        ...

    def children(self) -> frozenset[int]:
        """The processes directly below the shell, daemonised ones included."""
        ...

    def end_strays(self, *, spared: Collection[int]) -> int:
        """Kill what is below the shell, except processes and groups ``spared`` with their trees; how many."""
        ...

    def put_stdin(self, data: bytes) -> str:
        """Keep ``data`` where the shell can open it; its path there."""
        ...

    def renew_outputs(self) -> FreshOutputs | None:
        """A fresh pair of output pipes, or None where that cannot be."""
        ...

    def drop_paths(self) -> None:
        """Remove the paths of fresh outputs: the shell has opened them."""
        ...

    def is_reading_password(self) -> bool:
        """Whether the terminal takes whole lines without showing them."""
        ...

    def resize(self, cols: int, rows: int) -> None:
        """Set the size of the terminal."""
        ...

    async def close(self) -> None:
        """End the shell and everything below it, and release the descriptors."""
        ...


class Transport(Protocol):
    """Opens channels."""

    @property
    def name(self) -> str:
        """The word used in configuration."""
        ...

    def check(self) -> frozenset[Capability]:
        """What channels can do; raises TransportUnavailable (naming what is missing) if it cannot work."""
        ...

    async def open(self, plan: ShellPlan) -> Channel:
        """Start a shell; raises TransportError."""
        ...
