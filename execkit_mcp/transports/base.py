"""What a transport must do: carry bytes and signals, and know nothing else; this module is that contract."""

import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model.terminal import TerminalState

__all__ = [
    "Capability",
    "Channel",
    "FreshOutputs",
    "GatedChannel",
    "Role",
    "RootedChannel",
    "ShellLook",
    "ShellPlan",
    "ShellReport",
    "StreamChannel",
    "StreamTerminal",
    "StreamTransport",
    "Transport",
    "Typed",
]


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
    """The shell to start: a whole environment (nothing is added), the folder, the size of the terminal, its fence."""

    env: Mapping[str, str]
    cwd: str
    cols: int = 120
    rows: int = 40
    fence: FencePlan | None = None


class ShellReport(Struct, frozen=True, kw_only=True):
    """What became of the shell: ``stopped``, ``exited`` (``code``; -n after signal n) or ``lost`` (``reason``)."""

    kind: str
    code: int | None = None
    reason: str = ""


class ShellLook(Struct, frozen=True, kw_only=True):
    """Whether a shell waits for more script, is inside a command, was stopped by a signal."""

    is_waiting: bool = False
    is_inside: bool = True
    is_stopped: bool = False


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

    def signal_foreground(
        self, number: signal.Signals, *, spares_shell: bool = False, stops_list: bool = False
    ) -> None:
        """Signal what runs in the foreground: its process group, or (unless spared) the shell and its own work.

        With SIGINT a shell that waits for such a group hears nothing, unless ``stops_list``: then it does not go on to
        what comes behind. Other signals always stop it there.
        """
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

    def is_shell_in_foreground(self) -> bool:
        """Whether no process group but the shell's own has the terminal."""
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

    def terminal(self) -> TerminalState:
        """Who is at the terminal, and how it is set up."""
        ...

    def discard_input(self) -> None:
        """Throw away what was typed on the terminal and nobody read."""
        ...

    def restore_modes(self) -> None:
        """Set the terminal up as it was when it was opened."""
        ...

    def resize(self, cols: int, rows: int) -> None:
        """Set the size of the terminal."""
        ...

    async def close(self) -> None:
        """End the shell and everything below it, and release the descriptors."""
        ...


@runtime_checkable
class GatedChannel(Protocol):
    """A channel whose shell may stand behind an exec gate."""

    def listen_to_gate(self, callback: Callable[[Mapping[str, Any]], None]) -> None:
        """Have ``callback`` called with what the exec gate says: ``judge``, ``refused``, ``ran``, ``flushed``."""
        ...

    def judged(self, entries: Sequence[Mapping[str, object]], *, keeps: bool, exec_id: str = "") -> None:
        """What the next command was judged for; ``keeps``: jobs of earlier ones still run.

        What ran is told with ``exec_id``: by then another command may have begun.
        """
        ...

    def answer(self, number: int, *, allow: bool, is_trusted: bool = False) -> None:
        """What becomes of an exec that the gate holds."""
        ...

    def outside_pid(self, pid: int) -> int:
        """Our number for the shell's child that calls itself ``pid``."""
        ...

    def drain(self) -> None:
        """Take at once what the gate has said until now."""
        ...


@runtime_checkable
class RootedChannel(Protocol):
    """A channel whose shell may have a file tree of its own."""

    async def remount(self, mounts: Sequence[Mapping[str, object]]) -> None:
        """Carry out operations on that tree while the shell runs; raises TransportError."""
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


class Typed(Struct, frozen=True, kw_only=True):
    """Whether something was typed, and how the terminal stood right before."""

    is_typed: bool
    state: TerminalState | None = None


class StreamTerminal(Protocol):
    """A terminal on the machine of a ``StreamChannel``, made for its shell. Each method raises TransportLost."""

    @property
    def path(self) -> str:
        """Where the shell opens it."""
        ...

    @property
    def front_words(self) -> str:
        """What the shell runs to bring its own group to the front of it."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether it is still there."""
        ...

    async def join(self, shell: int) -> bool:
        """Whether it has become the controlling terminal of the process ``shell``, which was told to open it."""
        ...

    async def prepare(self, *, discards: bool) -> bool:
        """Set it up as at first, throw old keys away if it ``discards``; whether the shell's group is in front."""
        ...

    async def front(self) -> bool:
        """Whether the shell's group has come to the front, after a moment at most."""
        ...

    async def settle(self) -> bool:
        """Have the last of a command's output come; whether the shell's group is in front."""
        ...

    async def look(self) -> TerminalState | None:
        """Who is there; None while no command has begun, or what was typed before is on its way."""
        ...

    async def type(self, data: bytes, judged: TerminalState | None) -> Typed:
        """Type ``data``, if the terminal stands as ``judged`` (None: however it stands, once a command has begun)."""
        ...

    def resize(self, cols: int, rows: int) -> None:
        """Another size."""
        ...

    def close(self) -> None:
        """Hang it up."""
        ...


class StreamChannel(Protocol):
    """One shell that is reached over three streams: its input, its output, its errors."""

    @property
    def pid(self) -> int:
        """The shell's process id on its machine."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this channel can do."""
        ...

    def listen(self, on_data: Callable[[str, bytes], None], on_end: Callable[[ShellReport], None]) -> None:
        """Have ``on_data`` called on the loop with ``stdout`` or ``stderr`` and bytes, ``on_end`` once, at the end."""
        ...

    def write(self, data: bytes) -> None:
        """Send ``data`` to the shell's input; never blocks."""
        ...

    def signal_foreground(self, number: signal.Signals, *, spares_shell: bool = False, has_jobs: bool = False) -> None:
        """Signal what the running command has started, and with SIGINT (unless spared) the shell's own work.

        ``has_jobs``: the command may have started jobs of its own (``&``), which are left alone.
        """
        ...

    def signal_shell(self, number: signal.Signals) -> None:
        """Signal the shell process itself."""
        ...

    async def settle(self, *, notes_jobs: bool = False) -> None:
        """Wait until every signal has been sent; ``notes_jobs``: what is below the shell now belongs to the past."""
        ...

    def end_strays(self, *, spared: Collection[int]) -> None:
        """Kill what is below the shell, except the processes ``spared`` with their trees."""
        ...

    async def look(self) -> ShellLook:
        """What the shell does now."""
        ...

    async def open_terminal(self, cols: int, rows: int, on_data: Callable[[bytes], None]) -> StreamTerminal:
        """A terminal for this shell, which has to open it. Raises CapabilityMissing, saying what is missing there."""
        ...

    async def close(self) -> None:
        """End the shell and everything that was started in it."""
        ...


class StreamTransport(Protocol):
    """Opens channels of three streams to one machine."""

    @property
    def name(self) -> str:
        """The word used in configuration."""
        ...

    async def open(self, plan: ShellPlan) -> StreamChannel:
        """Start a shell; raises TransportError."""
        ...
