"""A session's background jobs as execs: each has an id, output of its own, an end; this module is that list.

A job's output is kept twice: by itself under its own id, and by the command that started it, whose result shows what
came while it ran. The rounds of a loop share the outputs of their ``&``, so their execs show the same text.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from execkit_mcp.errors import CommandInvalid
from execkit_mcp.model import Clock
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.protocol.signal_names import NAMES_OF_CODES
from execkit_mcp.runtime.background import Sink
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.transports.keeper import processes_below

__all__ = ["SIGNALS", "Jobs"]

SIGNALS = ("INT", "TERM", "KILL", "HUP", "QUIT", "STOP", "CONT", "USR1", "USR2")
_KEPT_PER_EXEC = 200
_LATER = "Its exit code is known when the command that runs in the session has ended."


class Jobs:
    """The jobs of one session; told of them by its driver (``JobListener``)."""

    def __init__(self, *, make: Callable[[Exec, str], Exec], clock: Clock, cwd: Callable[[], str]) -> None:
        self._make = make
        self._clock = clock
        self._cwd = cwd
        self.why_gone = ""
        self._starter: Exec | None = None
        self._on_start: Callable[[Exec], None] = _ignore
        self._on_end: Callable[[Exec], None] = _ignore
        self._outlets: dict[int, Exec] = {}
        self._texts: dict[int, str] = {}
        self._running: dict[int, tuple[Exec, Callable[[Exec], None]]] = {}

    @property
    def running(self) -> tuple[Exec, ...]:
        """Jobs that have not ended."""
        return tuple(exec_ for exec_, _ in self._running.values())

    def begin(self, starter: Exec, *, on_start: Callable[[Exec], None], on_end: Callable[[Exec], None]) -> None:
        """What is told from now on is of this command."""
        self._starter, self._on_start, self._on_end = starter, on_start, on_end
        self._outlets.clear()
        self._texts.clear()

    # -- what the driver tells ---------------------------------------------------------------------

    def outlet(self, number: int, text: str, *, is_shared: bool) -> Sink:
        """A sink for one ``&`` of the command."""
        starter = self._starter
        assert starter is not None
        own = self._outlets[number] = self._make(starter, text)
        self._texts[number] = text
        if is_shared:  # a terminal is one stream, and a redirected job writes where the command says
            own.share(starter)

        def sink(stream: str, data: bytes) -> None:
            own.feed(stream, data)
            starter.feed(stream, data)

        return sink

    def started(self, number: int, pid: int) -> None:
        """One more process of that ``&``: the first takes the exec made for it, the others share its output."""
        starter, own = self._starter, self._outlets.get(number)
        if starter is None or own is None:
            return
        if own.pid is None:
            self._enter(own, pid)
            return
        other = self._make(starter, self._texts[number])
        other.share(own)
        self._enter(other, pid)

    def adopted(self, pid: int) -> None:
        """A process that the command left; its output is the command's."""
        starter = self._starter
        if starter is None:
            return
        other = self._make(starter, starter.canonical)
        other.share(starter)
        self._enter(other, pid)

    def _enter(self, exec_: Exec, pid: int) -> None:
        assert self._starter is not None
        exec_.pid = pid
        exec_.started_s = self._clock.monotonic_s()
        self._running[pid] = (exec_, self._on_end)
        if len(self._starter.jobs) < _KEPT_PER_EXEC:
            self._starter.jobs.append(exec_)
        self._on_start(exec_)

    def ended(self, pid: int, code: int | None) -> None:
        """A job ended."""
        name = NAMES_OF_CODES.get(code or 0)
        warnings = () if code is not None else ("Its exit code is not known: the shell does not count it as its job.",)
        self._end(pid, Completion(exit_code=code, signal=name, warnings=warnings))

    def died(self, pid: int) -> None:
        """It has ended, and how is not known yet."""
        exec_ = self._running[pid][0] if pid in self._running else None
        if exec_ is not None and exec_.is_running:
            self._finish(exec_, Completion(exit_code=None, warnings=(_LATER,)))

    def gone(self, pids: Iterable[int]) -> None:
        """Their shell has ended, and they with it."""
        for pid in pids:
            told = self.why_gone or "It was ended with its shell."
            self._end(pid, Completion(exit_code=None, is_cancelled=True, warnings=(told,)))

    def _end(self, pid: int, completion: Completion) -> None:
        exec_, on_end = self._running.pop(pid, (None, _ignore))
        if exec_ is None:
            return
        if exec_.completion is None:
            self._finish(exec_, completion)
        else:
            exec_.correct(replace(completion, cwd=self._cwd(), duration_ms=exec_.completion.duration_ms))
        on_end(exec_)

    def _finish(self, exec_: Exec, completion: Completion) -> None:
        elapsed_ms = (self._clock.monotonic_s() - exec_.started_s) * 1e3
        settles = not self._is_written_to(exec_)
        exec_.finish(replace(completion, cwd=self._cwd(), duration_ms=elapsed_ms), settles=settles)

    def _is_written_to(self, exec_: Exec) -> bool:
        """Whether more may come into its output: settling it then would cut what the redactor must see whole."""
        starter = self._starter
        if starter is not None and starter.is_running:
            chains = (starter.chains, *(own.chains for own in self._outlets.values()))
            if any(each is exec_.chains for each in chains):
                return True
        return any(other.is_running and other is not exec_ and other.chains is exec_.chains for other in self.running)

    def command_ended(self) -> None:
        """The command starts no more jobs: what only it kept open is settled."""
        for own in self._outlets.values():
            if not own.is_running and not self._is_written_to(own):
                own.settle()

    # -- what callers ask --------------------------------------------------------------------------

    def signal(self, exec_: Exec, name: str, *, shell_pid: int) -> None:
        """Send a signal to a job: to its process group and, if it is to end at once, to all that it started.

        Only processes below the session's own shell are ever signalled, whatever has become of a number.

        Raises:
            CommandInvalid: the job has ended.
        """
        pid = exec_.pid
        if pid is None or self._running.get(pid, (None,))[0] is not exec_:
            raise CommandInvalid(f"Job {exec_.exec_id!r} has ended; nothing was sent.", hint="Read it with shell_read.")
        number = signal.Signals["SIG" + name]
        below = processes_below(shell_pid)
        group = _group(pid)
        targets = {each for each in below if each == pid or (group not in (None, shell_pid) and _group(each) == group)}
        if number is signal.SIGKILL and pid in below:
            targets |= set(processes_below(pid))
        for each in sorted(targets):
            _send(each, number)
        if number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):  # a stopped one would not see it
            for each in targets:
                _send(each, signal.SIGCONT)


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _ignore(_exec: Exec) -> None:
    """Nobody wants to know."""
