"""The background jobs of one shell, as far as descriptors go: their pipes, their processes, bash's notices of them.

Each ``&`` of a command gets a pair of pipes before the command starts (all rounds of a loop share their ``&``'s). While
the command is on, a writing end of each is held here, so that the first job's end is not the pipe's. A job's process is
watched by a pidfd, opened when the shell has told its number and only if it is the shell's child; when it has ended the
shell is asked how.
"""

import asyncio
import contextlib
import os
import select
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from execkit_mcp.policy.shell.background import has_background, has_wait, instrument
from execkit_mcp.policy.shell.unparsed import Unparsed
from execkit_mcp.protocol.dialects import bash_jobs
from execkit_mcp.protocol.job_notices import JobNotices, Stream
from execkit_mcp.transports.base import Channel, FreshOutputs

__all__ = ["Background", "JobListener", "Prepared", "Sink"]

Sink = Callable[[str, bytes], None]

_NOTICE_S = 0.05
_LOOK_S = 1.0
_BUSY_S = 0.5
_MOST_DESCRIPTORS = 128
_START_TIME = 19
"""Where proc(5) has it in ``stat``, counted from the state on."""


class JobListener(Protocol):
    """Who is told of jobs."""

    def outlet(self, number: int, text: str, *, is_shared: bool) -> Sink:
        """Where the output of the running command's ``&`` of that number goes; ``is_shared``: it is the command's."""
        ...

    def started(self, number: int, pid: int) -> None:
        """A process of that ``&`` was started."""
        ...

    def adopted(self, pid: int) -> None:
        """The command that has just ended left this process, which no ``&`` of its own accounts for."""
        ...

    def ended(self, pid: int, code: int | None) -> None:
        """A job ended; ``code`` is 128+n after signal n, None if nobody knows."""
        ...

    def died(self, pid: int) -> None:
        """A job has ended; ``ended`` follows when the shell can be asked how."""
        ...

    def gone(self, pids: Iterable[int]) -> None:
        """Jobs were ended with their shell."""
        ...


class Prepared:
    """What one command needs: its text in our words, the line before it, the read ends of its jobs' pipes."""

    __slots__ = ("outputs", "prologue", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.prologue = b""
        self.outputs: list[tuple[FreshOutputs, Sink]] = []


class Background:
    """What a driver knows of its shell's jobs."""

    def __init__(self, *, ask: Callable[[int], None], catch_up: Callable[[], None]) -> None:
        self.listener: JobListener | None = None
        self._ask = ask
        self._catch_up = catch_up
        self._loop = asyncio.get_running_loop()
        self._notices = JobNotices(self._is_child)
        self._shell_pid = 0
        self._texts: list[str] = []
        self._held: list[int] = []
        self._watched: dict[int, int | None] = {}
        self._streams: list[_Filter] = []
        self._is_on = False
        self._count = 0

    @property
    def running(self) -> tuple[int, ...]:
        """The processes of jobs that have not been told of as ended."""
        return tuple(self._watched)

    # -- a command ---------------------------------------------------------------------------------

    def prepare(self, command: str, channel: Channel, nonce: str, *, is_tty: bool) -> Prepared | None:
        """``command`` in our words; None if it starts no job and waits for none."""
        listener = self.listener
        if listener is None or not (has_background(command) or (self._watched and has_wait(command))):
            return None
        self._shell_pid = channel.pid
        prepared = Prepared(command)
        self._texts = []

        def job(text: str, number: int, has_outputs: bool) -> str:  # noqa: FBT001 - the port says so
            fresh = self._pipes(channel) if has_outputs and not is_tty else None
            self._texts.append(text)
            sink = listener.outlet(number, text, is_shared=fresh is None)
            if fresh is None:
                return bash_jobs.job(text, number, nonce=nonce, outputs=None)
            prepared.outputs.append((fresh, self.filtered(sink, awaits_start=True)))
            return bash_jobs.job(text, number, nonce=nonce, outputs=(fresh.stdout_path, fresh.stderr_path))

        try:
            prepared.text = instrument(command, job=job, wait=bash_jobs.wait_for_all(nonce))
        except Unparsed:
            return None
        prepared.prologue = bash_jobs.told_before(self._watched)
        return prepared

    def _pipes(self, channel: Channel) -> FreshOutputs | None:
        """A pair of pipes whose writing ends are held here as well; None if they cannot be had."""
        fresh = channel.renew_outputs()
        if fresh is None:
            return None
        held: list[int] = []
        try:
            for path in (fresh.stdout_path, fresh.stderr_path):
                held.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))  # noqa: PERF401 - for the except
        except OSError:
            for fd in (*held, fresh.stdout_fd, fresh.stderr_fd):
                os.close(fd)
            return None
        self._held += held
        return fresh

    def filtered(self, sink: Sink, *, awaits_start: bool = False) -> Sink:
        """``sink`` without what bash says of jobs while a command is on."""
        each = _Filter(self, sink, awaits_start=awaits_start)
        self._streams.append(each)
        self._is_on = True
        return each.take

    def finished(self) -> None:
        """The command has ended and everything that it had written has been read."""
        if not self._is_on:
            return
        self._is_on = False
        for each in self._streams:
            each.flush()
        self._streams.clear()
        self._texts = []
        self._let_go()

    def _let_go(self) -> None:
        for fd in self._held:
            os.close(fd)
        self._held.clear()

    # -- jobs --------------------------------------------------------------------------------------

    def started(self, number: int, pid: int, shell_pid: int) -> None:
        """The shell, or something in it, says that a job was started."""
        if pid in self._watched or self.listener is None or not 0 <= number < len(self._texts):
            return
        if not self.watch(pid, shell_pid):
            return
        self._notices.started(pid, self._texts[number])
        self.listener.started(number, pid)
        for each in self._streams:
            each.again()

    def left(self, pids: Iterable[int], shell_pid: int) -> None:
        """The command that ends left these children of the shell; of each process group one stands for all."""
        if self.listener is None:
            return
        groups = {_group(pid) for pid in self._watched}
        for pid in sorted(pids):
            group = _group(pid)
            if group is not None and group not in groups and self.watch(pid, shell_pid):
                groups.add(group)
                self.listener.adopted(pid)

    def watch(self, pid: int, shell_pid: int) -> bool:
        """Be told when the process ends; False if it lives and is no child of the shell."""
        if pid in self._watched:
            return True
        fd = None
        if self._count < _MOST_DESCRIPTORS:
            with contextlib.suppress(OSError):  # it has ended already, or there are no descriptors left
                fd = os.pidfd_open(pid)
                self._count += 1
        found = _stat(pid)  # after the descriptor: what is found is the process that it stands for
        if found is not None and found[1] != str(shell_pid):
            self._close(fd)
            return False
        self._watched[pid] = fd
        if fd is not None:
            self._loop.add_reader(fd, self._died, pid)
        else:
            self._loop.call_soon(self._look, pid, found[_START_TIME] if found else None)
        return True

    def _died(self, pid: int) -> None:
        self._unwatch(pid)
        self._watched[pid] = None
        self._ask_about(pid)

    def _ask_about(self, pid: int) -> None:
        self._ask(pid)
        self._loop.call_later(_BUSY_S, self._not_told, pid)

    def _not_told(self, pid: int) -> None:
        """The shell is busy with a command, and says how the job ended when that has ended too."""
        if pid in self._watched and self.listener is not None:
            self.listener.died(pid)

    def _look(self, pid: int, start_time: str | None) -> None:
        """Whether a process that has no descriptor has ended; its number may be another's by now."""
        found = _stat(pid)
        if pid not in self._watched:
            return
        if found is None or found[0] in "ZX" or found[_START_TIME] != start_time:
            self._ask_about(pid)
        else:
            self._loop.call_later(_LOOK_S, self._look, pid, start_time)

    def _unwatch(self, pid: int) -> None:
        fd = self._watched.get(pid)
        if fd is not None:
            self._loop.remove_reader(fd)
            self._close(fd)

    def _close(self, fd: int | None) -> None:
        if fd is not None:
            os.close(fd)
            self._count -= 1

    def ended(self, pid: int, code: int | None) -> None:
        """The shell says how a job ended; while it lives that is only that it was stopped."""
        if pid not in self._watched or self.listener is None:
            return
        if not _has_ended(self._watched[pid]):
            return
        self._unwatch(pid)
        del self._watched[pid]
        self._notices.ended(pid)
        self.listener.ended(pid, code)

    def has_ended(self, pid: int) -> bool:
        """Whether a job's process has ended and the shell has not said how."""
        if pid not in self._watched:
            return False
        fd = self._watched[pid]
        if fd is not None:
            return _has_ended(fd)
        found = _stat(pid)
        return found is None or found[0] in "ZX"

    def _is_child(self, pid: int) -> bool:
        found = _stat(pid)
        return found is not None and found[1] == str(self._shell_pid)

    def shell_gone(self) -> None:
        """The shell has ended, and its jobs with it."""
        self._is_on = False
        for each in self._streams:
            each.flush()
        for pid in self._watched:
            self._unwatch(pid)
        pids = tuple(self._watched)
        self._watched.clear()
        self._notices.clear()
        self._let_go()
        if self.listener is not None and pids:
            self.listener.gone(pids)


class _Filter:
    """One command's sink, or one ``&``'s."""

    __slots__ = ("_awaits_start", "_owner", "_sink", "_stream", "_timer")

    def __init__(self, owner: Background, sink: Sink, *, awaits_start: bool) -> None:
        self._owner = owner
        self._sink = sink
        self._awaits_start = awaits_start
        self._stream = Stream(owner._notices)  # noqa: SLF001 - of this module
        self._timer: asyncio.TimerHandle | None = None

    def take(self, stream: str, data: bytes) -> None:
        """Pass it on; while the command is on, without notices."""
        if stream != "stderr" or not self._owner._is_on:  # noqa: SLF001 - of this module
            self._sink(stream, data)
            return
        self._pass(self._stream.push(data, awaits_start=self._awaits_start))
        if self._timer is None:
            self._arm()

    def _arm(self) -> None:
        held = self._stream.held
        if held:
            self._timer = self._owner._loop.call_later(_NOTICE_S, self._late, held)  # noqa: SLF001 - of this module

    def again(self) -> None:
        """A job was told of: what is held may be its notice."""
        if self._stream.held:
            self._pass(self._stream.push(b"", awaits_start=self._awaits_start))

    def flush(self) -> None:
        """Wait no longer for what may become a notice."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._pass(self._stream.flush())

    def _late(self, held: bytes) -> None:
        """What has been held for this long is no notice; what came since may be."""
        self._timer = None
        self._owner._catch_up()  # noqa: SLF001 - of this module
        if self._stream.held.startswith(held):
            self.flush()
        else:
            self._arm()

    def _pass(self, data: bytes) -> None:
        if data:
            self._sink("stderr", data)


def _has_ended(fd: int | None) -> bool:
    if fd is None:
        return True
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _stat(pid: int) -> list[str] | None:
    """State, parent and the rest; None if there is no such process any more (one that is being reaped has no group)."""
    try:
        found = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].decode().split()
    except OSError:
        return None
    return None if found[2] == "-1" else found
