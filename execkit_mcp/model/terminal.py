"""What stands at a session's terminal at one moment: its processes, its modes, what was typed and not yet read."""

from msgspec import Struct


class TerminalProcess(Struct, frozen=True, kw_only=True):
    """A process that can read what is typed, now or once it comes to the foreground.

    Attributes:
        pid: its process id.
        started: when it started, in kernel ticks; with ``pid`` it names one process for ever.
        parent: its parent's process id.
        path: the file that it executes; empty where the kernel does not say (another user's process).
        argv: its words, as it shows them; they prove nothing.
        cwd: its folder; empty where the kernel does not say.
        is_foreground: whether it belongs to the terminal's foreground group, or reads it without belonging to it.
        is_confined: whether it sees other files, processes or hosts than we do (namespace, chroot).
        is_root: whether the superuser owns it.
        is_reading: whether it sleeps in a read of the terminal.
        naps: how often it has gone to sleep of its own accord, so that a read that returned can be told.
    """

    pid: int
    started: int
    parent: int
    path: str
    argv: tuple[str, ...]
    cwd: str
    is_foreground: bool
    is_confined: bool = False
    is_root: bool = False
    is_reading: bool = False
    naps: int = 0


class TerminalState(Struct, frozen=True, kw_only=True):
    """The terminal and who is at it.

    Attributes:
        processes: everything at the terminal but the session's own shell.
        is_shell_in_front: whether the session's own shell is in the foreground (a builtin such as ``read``).
        is_line_mode: whether the kernel collects whole lines (ICANON).
        has_echo: whether what is typed is shown.
        unread_bytes: typed, and not yet read by anybody.
        is_plain: whether every printable character arrives as itself: no printable editing character (``stty kill
            k``), no translation, and Ctrl-U kills the line.
    """

    processes: tuple[TerminalProcess, ...]
    is_shell_in_front: bool
    is_line_mode: bool
    has_echo: bool
    unread_bytes: int = 0
    is_plain: bool = True

    @property
    def is_reading_password(self) -> bool:
        """Whole lines without echo: what getpass, sudo and ssh do to the terminal (termios(3))."""
        return self.is_line_mode and not self.has_echo

    @property
    def front(self) -> tuple[TerminalProcess, ...]:
        """Who reads what is typed now."""
        return tuple(each for each in self.processes if each.is_foreground)

    @property
    def behind(self) -> tuple[TerminalProcess, ...]:
        """Who may read what those in front leave unread."""
        return tuple(each for each in self.processes if not each.is_foreground)

    @property
    def identity(self) -> tuple[object, ...]:
        """What must be the same when bytes are written as when they were judged."""
        programs = tuple((each.pid, each.started, each.path, each.argv, each.cwd, each.is_foreground)
                         for each in self.processes)  # fmt: skip
        return (programs, self.is_shell_in_front, self.is_line_mode, self.has_echo, self.is_plain)
