"""The one read loop: it joins a channel's bytes to a session's machine; this module is the driver.

    run() ─ RunRequested ─▸ machine ─ actions ─▸ channel ─ bytes, reports, timers ─▸ machine … Finish

Decisions are the machine's. Here is only what needs descriptors: reading, writing without blocking, one
timer, and who owns output. Standard output and error are read in chunks and passed on at once; when the
status record arrives everything that was written before it is in the pipes, and is drained. A command that
leaves processes behind keeps its pair of pipes (their later output goes to its sink), and the shell gets a
fresh pair for the next command.
Over 400 lines, because it is the only place that touches descriptors in a session's life.
"""

import asyncio
import contextlib
import logging
import os
import select
import signal
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, Self

from msgspec.structs import replace

from execkit_mcp.errors import (
    CommandInvalid,
    ExecKitError,
    SessionBusy,
    SessionClosed,
    TransportLost,
    TransportUnavailable,
)
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model.ports import Clock, Entropy
from execkit_mcp.model.terminal import TerminalState
from execkit_mcp.protocol import actions as act
from execkit_mcp.protocol import events as ev
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.protocol.machine import ShellMachine, State
from execkit_mcp.runtime.background import Background, JobListener, Sink
from execkit_mcp.transports.base import (
    Capability,
    Channel,
    GatedChannel,
    Role,
    RootedChannel,
    ShellPlan,
    ShellReport,
    Transport,
    Typed,
)

__all__ = ["Driver", "Sink"]

_LOG = logging.getLogger(__name__)

_CHUNK = 1 << 18
_DRAIN_BYTES = 1 << 18
_TTY_SETTLE_S = 0.003
_KEY_RETRY_S = 0.005
_SIGNAL_TRIES = 40
_TERMINAL = "xterm-256color"
_LINGER_MS = 1


def _discard(_stream: str, _data: bytes) -> None:
    """Output that nobody asked for."""


class _Outlet:
    """A pair of output descriptors and the sink that they belong to."""

    __slots__ = ("fds", "is_owned", "sink")

    def __init__(self, fds: dict[str, int], *, is_owned: bool) -> None:
        self.fds = fds
        self.is_owned = is_owned
        self.sink: Sink = _discard


class Driver:
    """One persistent shell session. Use on one event loop; one command at a time."""

    def __init__(self, transport: Transport, plan: ShellPlan, clock: Clock, entropy: Entropy) -> None:
        self._transport = transport
        self._plan = plan
        self._clock = clock
        self._entropy = entropy
        self._loop = asyncio.get_running_loop()
        self._machine = ShellMachine(entropy)
        self._spelled_cwd = ""
        self._channel: Channel | None = None
        self._gated: GatedChannel | None = None
        self._outlet = _Outlet({}, is_owned=False)
        self._old_outlets: set[_Outlet] = set()
        self._fresh_paths: tuple[str, str] | None = None
        self._are_paths_given = False
        self._background = Background(ask=self._job_died, catch_up=self._read_status_if_any)
        self._sites: list[_Outlet] = []
        self._tty_sink: Sink = _discard
        self._timer: asyncio.TimerHandle | None = None
        self._due_s = inf
        self._status_poll: select.poll | None = None
        self._unsent = bytearray()
        self._held_keys = bytearray()
        self._unsent_keys = bytearray()
        self._is_typed_on = False
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._done: asyncio.Future[Completion] | None = None
        self._follower: Callable[[Completion], None] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._left: frozenset[int] = frozenset()
        self._inside_pids: dict[int, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._on_gate: Callable[[Mapping[str, Any]], None] | None = None
        self._on_channel: list[Callable[[Channel], None]] = []
        self._actions: dict[type, Callable[..., None]] = {
            act.WriteScript: self._write,
            act.ArmTimer: self._arm,
            act.Finish: self._finish,
            act.MarkReady: self._mark_ready,
            act.GiveUp: self._give_up,
            act.Probe: self._probe,
            act.SignalForeground: lambda action: self._must().signal_foreground(
                action.number, spares_shell=action.spares_shell, stops_list=action.stops_list
            ),
            act.SignalShell: lambda action: self._must().signal_shell(action.number),
            act.EndStrays: self._end_strays,
            act.JobStarted: lambda action: self._background.started(
                action.number, self._outside_pid(action.pid), self.pid
            ),
            act.JobEnded: self._job_ended,
            act.Respawn: self._respawn,
        }

    @classmethod
    async def open(
        cls,
        transport: Transport,
        *,
        env: Mapping[str, str],
        cwd: str,
        clock: Clock,
        entropy: Entropy,
        cols: int = 120,
        rows: int = 40,
        fence: FencePlan | None = None,
    ) -> Self:
        """A session whose shell has answered. ``env`` is the whole environment. Raises TransportError."""
        plan = ShellPlan(env=dict(env), cwd=cwd, cols=cols, rows=rows, fence=fence)
        driver = cls(transport, plan, clock, entropy)
        try:
            driver._attach(await transport.open(plan))
            await driver._ready
        except BaseException:
            await driver.close()
            raise
        return driver

    def listen_to_jobs(self, listener: JobListener) -> None:
        """Give background jobs outputs of their own, and tell ``listener`` of them."""
        self._background.listener = listener

    def listen_to_gate(self, callback: Callable[[Mapping[str, Any]], None]) -> None:
        """Have ``callback`` called with what the exec gate of this shell, and of one that replaces it, says."""
        self._on_gate = callback
        if self.gate is not None:
            self.gate.listen_to_gate(callback)

    @property
    def gate(self) -> GatedChannel | None:
        """The way to the exec gate of the shell that is there now."""
        return self._gated if self._channel is not None else None

    def listen_to_channels(self, callback: Callable[[Channel], None]) -> None:
        """Have ``callback`` called with the channel of this shell, and of each one that replaces it."""
        self._on_channel.append(callback)
        if self._channel is not None:
            callback(self._channel)

    async def remount(self, mounts: Sequence[Mapping[str, object]], plan: FencePlan) -> None:
        """Change the shell's own file tree; ``plan`` is the fence of shells that replace it from now on."""
        channel = self._must()
        if not isinstance(channel, RootedChannel):
            raise TransportUnavailable("This transport has no file tree of its own.")
        await channel.remount(mounts)
        self._plan = replace(self._plan, fence=plan)

    def processes(self) -> frozenset[int]:
        """What runs directly below the shell."""
        return self._channel.children() if self._channel is not None else frozenset()

    def has_ended(self, pid: int) -> bool:
        """Whether the process of a job has ended and the shell has not said how."""
        return self._background.has_ended(pid)

    # -- what callers see --------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The shell's process id; 0 when there is none."""
        return 0 if self._channel is None else self._channel.pid

    @property
    def cwd(self) -> str:
        """The shell's folder."""
        return self._machine.cwd

    @property
    def spelled_cwd(self) -> str:
        """The same folder as the shell spells it in ``$PWD``, from which its ``cd ..`` starts; ``""`` if unknown."""
        return self._spelled_cwd

    @property
    def is_open(self) -> bool:
        """Whether commands can be run."""
        return not self._is_closed and self._machine.state not in {State.LOST, State.CLOSED}

    @property
    def is_busy(self) -> bool:
        """Whether a command is running."""
        return self._done is not None

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the channel can do."""
        return frozenset() if self._channel is None else self._channel.capabilities

    async def run(
        self,
        command: str,
        *,
        sink: Sink,
        stdin: bytes | None = None,
        tty: bool = False,
        timeout_s: float | None = None,
    ) -> Completion:
        """Run ``command``; ``sink(stream, data)`` gets its output as it comes, at most 256 KiB a call.

        The sink of a command that leaves background processes is called after the return as well.
        Cancelling the call interrupts the command and waits until it has ended.

        Raises:
            CommandInvalid: the text holds NUL or cannot be encoded; nothing was sent.
            SessionBusy: another command is running.
            SessionClosed: the session was closed or lost.
        """
        done = self.begin(command, sink=sink, stdin=stdin, tty=tty)
        return await self.until_end(done, tty=tty, timeout_s=timeout_s)

    def begin(
        self, command: str, *, sink: Sink, stdin: bytes | None = None, tty: bool = False, tells_env: bool = False
    ) -> asyncio.Future[Completion]:
        """The first half of ``run``: when it returns the command is out and can be interrupted."""
        if "\0" in command:
            raise CommandInvalid("The command contains a NUL character.", hint="No shell can take one; remove it.")
        if not self.is_open:
            raise SessionClosed("The session is closed.", hint="Open a new session.")
        if self._done is not None:
            raise SessionBusy("Another command is running in this session.")
        done: asyncio.Future[Completion] = self._loop.create_future()
        self._done = done
        if self._machine.state is State.IDLE:
            self._drain(self._outlet)
        self._tty_sink = sink
        if tty and self._channel is not None:
            self._channel.restore_modes()
        if self._is_typed_on and self._channel is not None:  # what nobody read is not for this command
            self._is_typed_on = False
            self._channel.discard_input()
        try:
            path = self._must().put_stdin(stdin) if stdin is not None else None
            text, prologue = self._with_jobs(command, sink, is_tty=tty)
            request = ev.RunRequested(
                command=text,
                stdin_path=path,
                is_tty=tty,
                terminal=_TERMINAL if tty and self._plan.env.get("TERM") == "dumb" else None,
                outputs=self._fresh_paths,
                prologue=prologue,
                tells_env=tells_env,
            )
            self._are_paths_given, self._fresh_paths = self._fresh_paths is not None or bool(self._sites), None
            self._receive(request)
        except BaseException:
            self._done = None
            raise
        return done

    def _with_jobs(self, command: str, sink: Sink, *, is_tty: bool) -> tuple[str, bytes]:
        """The command with its background jobs in our words, and the line that must come before it."""
        background = self._background
        prepared = background.prepare(command, self._must(), self._machine.job_nonce, is_tty=is_tty)
        self._outlet.sink = (
            sink
            if prepared is None and not background.running
            else background.filtered(sink, awaits_start=prepared is not None)
        )
        if prepared is None:
            return command, b""
        for fresh, own_sink in prepared.outputs:
            outlet = _Outlet({"stdout": fresh.stdout_fd, "stderr": fresh.stderr_fd}, is_owned=True)
            outlet.sink = own_sink
            self._old_outlets.add(outlet)
            self._sites.append(outlet)
            self._watch(outlet)
        return prepared.text, prepared.prologue

    def _job_died(self, pid: int) -> None:
        if self._channel is not None:
            self._receive(ev.JobsDied(pids=frozenset([self._inside_pids.get(pid, pid)])))

    def _outside_pid(self, pid: int) -> int:
        """Our number for a process that the shell, which may have a process table of its own, calls ``pid``."""
        if self.gate is None:
            return pid
        found = self.gate.outside_pid(pid)
        self._inside_pids[found] = pid
        return found

    def _job_ended(self, action: act.JobEnded) -> None:
        for outlet in tuple(self._old_outlets):
            self._drain(outlet)
        self._background.ended(self._outside_of(action.pid), action.code)

    def _outside_of(self, pid: int) -> int:
        """The same for one that was told before; it may be gone."""
        return next((outside for outside, inside in self._inside_pids.items() if inside == pid), pid)

    async def until_end(
        self, done: asyncio.Future[Completion], *, tty: bool = False, timeout_s: float | None = None
    ) -> Completion:
        """The second half of ``run``: wait for what ``begin`` gave."""
        alarm = None
        if timeout_s is not None:
            alarm = self._loop.call_later(max(timeout_s, 0), self.interrupt, "timeout")
        try:
            completion = await self._await_end(done)
        finally:
            if alarm is not None:
                alarm.cancel()
            self._done = None
            self._held_keys.clear()
            self._unsent_keys.clear()
        if tty:
            await self._settle_tty()
        return completion

    def follow(
        self,
        done: asyncio.Future[Completion],
        then: Callable[[Completion], None],
        *,
        timeout_s: float | None = None,
        lingers: bool = False,
    ) -> None:
        """As ``until_end`` for a command without ``tty``: ``then`` is called with how it ended, in the same moment.

        ``lingers``: nobody else needs the event loop now, so a command that ends at once is waited for right here; a
        turn of the loop would cost more than such a command.
        """
        if done.done():
            self._loop.call_soon(self._followed, then, done.result())
            return
        self._follower = then
        if lingers and self._linger(done):
            return
        if timeout_s is not None:
            self._alarm = self._loop.call_later(max(timeout_s, 0), self.interrupt, "timeout")

    def _linger(self, done: asyncio.Future[Completion]) -> bool:
        """Wait at most ``_LINGER_MS`` for the end of the command; whether it has ended."""
        poll = self._status_poll
        if poll is not None and poll.poll(_LINGER_MS):
            self._read_status()
        return done.done()

    def _followed(self, then: Callable[[Completion], None], completion: Completion) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._done = None
        self._held_keys.clear()
        self._unsent_keys.clear()
        then(completion)

    async def _await_end(self, done: asyncio.Future[Completion]) -> Completion:
        try:
            return await done
        except asyncio.CancelledError:
            if done.cancelled() and self._machine.is_busy:  # the caller went away, the command is still there
                ended: asyncio.Future[Completion] = self._loop.create_future()
                self._done = ended
                self.interrupt("cancelled")
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.shield(ended)
            raise

    def interrupt(self, reason: str = "cancelled") -> None:
        """Make the running command end (``timeout`` or ``cancelled``); ``run`` returns then."""
        if self._done is not None and not self._done.done():
            self._receive(ev.InterruptRequested(reason=reason))

    def send(self, data: bytes) -> None:
        """Type ``data`` on the controlling terminal; held back until the shell has read the command."""
        if not self.is_open:
            raise SessionClosed("The session is closed.", hint="Open a new session.")
        self._held_keys += data
        self._type_keys()

    def _type_keys(self) -> None:
        """Pass the keys on once the command has begun: before, Ctrl-C would hit our own lines."""
        if not self._held_keys or self._channel is None:
            return
        if self._done is not None and not self._channel.is_inside_command():
            self._loop.call_later(_KEY_RETRY_S, self._type_keys)
            return
        self._is_typed_on = True
        self._unsent_keys += self._held_keys
        self._held_keys.clear()
        self._flush(Role.TTY, self._unsent_keys)

    def signal_foreground(self, number: signal.Signals, *, tries: int = _SIGNAL_TRIES) -> None:
        """Signal what the running command has in the foreground, as soon as there is something.

        If all of it is the shell's own work, that is interrupted.
        """
        channel = self._channel
        if channel is None or self._done is None:
            return
        if not channel.is_inside_command() or (tries and channel.is_shell_in_foreground()):
            self._loop.call_later(_KEY_RETRY_S, lambda: self.signal_foreground(number, tries=max(tries - 1, 0)))
            return
        channel.signal_foreground(number, spares_shell=not channel.is_shell_in_foreground())

    def terminal(self) -> TerminalState | None:
        """Who is at the terminal; None while no command has begun, or what was typed before is still on its way."""
        channel = self._channel
        if channel is None or self._done is None or self._held_keys or self._unsent_keys:
            return None
        return channel.terminal() if channel.is_inside_command() else None

    async def have_terminal(self) -> None:
        """A shell of this machine has one from the start."""

    async def look(self) -> TerminalState | None:
        """``terminal``."""
        return self.terminal()

    async def type(self, data: bytes, judged: TerminalState | None) -> Typed:
        """Type ``data`` if the terminal still stands as ``judged`` (None: however it does); in the same moment."""
        now = self.terminal()
        if judged is not None and (now is None or now.identity != judged.identity):
            return Typed(is_typed=False, state=now)
        self.send(data)
        return Typed(is_typed=True, state=now)

    def resize(self, cols: int, rows: int) -> None:
        """Set the terminal's size, also for a shell that replaces this one."""
        self._plan = replace(self._plan, cols=cols, rows=rows)
        if self._channel is not None:
            self._channel.resize(cols, rows)

    def adopt(self, *, env: Mapping[str, str], cwd: str) -> None:
        """Give a shell that replaces this one these variables besides, and this folder."""
        self._plan = replace(self._plan, env={**self._plan.env, **env}, cwd=cwd)

    async def close(self) -> None:
        """End the shell and everything that was started in it; a running command is lost."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._channel is not None or self._machine.is_busy:
            self._receive(ev.ChannelLost())
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if not self._ready.done():
            self._ready.cancel()
        await self._release()
        for outlet in tuple(self._old_outlets):
            self._close_outlet(outlet)

    # -- events ------------------------------------------------------------------------------------

    def _receive(self, event: ev.Event) -> None:
        try:
            actions = self._machine.receive(event, self._clock.monotonic_s())
        except Exception:
            if isinstance(event, ev.ChannelLost):
                raise
            _LOG.exception("The session protocol failed; the session is given up.")
            actions = self._machine.receive(ev.ChannelLost(), self._clock.monotonic_s())  # a hung one helps nobody
        for action in actions:
            self._actions[type(action)](action)

    def _must(self) -> Channel:
        if self._channel is None:
            raise TransportLost("The session has no shell.")
        return self._channel

    def _attach(self, channel: Channel) -> None:
        self._channel = channel
        self._gated = channel if isinstance(channel, GatedChannel) else None  # asking a protocol is slow
        for callback in self._on_channel:  # before it is given anything to do
            callback(channel)
        fds = channel.fds
        self._outlet.fds = {"stdout": fds[Role.STDOUT], "stderr": fds[Role.STDERR]}
        self._loop.add_reader(fds[Role.STATUS], self._read_status)
        self._status_poll = select.poll()
        self._status_poll.register(fds[Role.STATUS], select.POLLIN)
        self._loop.add_reader(fds[Role.TTY], self._read_tty)
        self._watch(self._outlet)
        self._receive(ev.Opened(env_names=frozenset(self._plan.env)))
        channel.listen(self._on_report)
        if self._on_gate is not None and self.gate is not None:
            self.gate.listen_to_gate(self._on_gate)

    def _watch(self, outlet: _Outlet) -> None:
        for stream, fd in outlet.fds.items():
            self._loop.add_reader(fd, self._read_output, outlet, stream, fd)

    def _on_report(self, report: ShellReport) -> None:
        if report.kind == "stopped":
            if self._channel is not None:  # of one that was let go it does not matter any more
                self._receive(ev.ShellStopped())
            return
        if self._channel is not None:  # what the shell said and wrote last comes first
            self._read_status()
            self._drain(self._outlet)
        if report.kind == "exited" and report.code is not None:
            self._receive(ev.ShellExited(code=report.code))
        else:
            self._receive(ev.ChannelLost())

    def _read_status_if_any(self) -> None:
        if self._channel is not None:
            self._read_status()

    def _read_status(self) -> None:
        fd = self._must().fds[Role.STATUS]
        while True:
            try:
                data = os.read(fd, _CHUNK)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:  # exec replaced the shell, or it closed the descriptor: its end is reported apart
                self._loop.remove_reader(fd)
                return
            self._receive(ev.StatusBytes(data=data))
            if len(data) < _CHUNK:
                return

    def _read_output(self, outlet: _Outlet, stream: str, fd: int) -> None:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            if self._sites and outlet is self._outlet:  # what a job wrote before the command that waited for it
                self._drain_sites()
            outlet.sink(stream, data)
            return
        self._loop.remove_reader(fd)
        if outlet.is_owned and outlet in self._old_outlets:
            os.close(outlet.fds.pop(stream))
            if not outlet.fds:
                self._old_outlets.discard(outlet)

    def _drain_sites(self) -> None:
        for site in self._sites:
            self._drain(site)

    def _drain(self, outlet: _Outlet) -> None:
        for stream, fd in outlet.fds.items():
            left = _DRAIN_BYTES
            while left > 0:
                try:
                    data = os.read(fd, left)
                except OSError:
                    break
                if not data:
                    break
                outlet.sink(stream, data)
                left -= len(data)

    def _read_tty(self) -> None:
        fd = self._must().fds[Role.TTY]
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:  # the slave side is closed
            self._loop.remove_reader(fd)
            return
        if data:
            self._tty_sink("tty", data)
        else:
            self._loop.remove_reader(fd)

    async def _settle_tty(self) -> None:
        """The kernel moves a terminal's output in the background: let the last of it arrive."""
        await asyncio.sleep(_TTY_SETTLE_S)
        if self._channel is not None:
            self._read_tty()

    # -- actions -----------------------------------------------------------------------------------

    def _write(self, action: act.WriteScript) -> None:
        self._unsent += action.data
        self._flush(Role.SCRIPT, self._unsent)

    def _flush(self, role: Role, pending: bytearray) -> None:
        if self._channel is None:
            pending.clear()
            return
        fd = self._channel.fds[role]
        while pending:
            try:
                count = os.write(fd, pending)
            except BlockingIOError:
                self._loop.add_writer(fd, self._flush, role, pending)
                return
            except OSError:  # the shell is gone, which is reported apart
                pending.clear()
                break
            del pending[:count]
        self._loop.remove_writer(fd)

    def _arm(self, action: act.ArmTimer) -> None:
        if action.seconds is None:
            self._due_s = inf
            return
        self._due_s = due_s = self._loop.time() + action.seconds
        if self._timer is not None and self._timer.when() > due_s:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(due_s, self._fire)

    def _fire(self) -> None:
        """The timer that stood was for an earlier moment than the one that counts now, or for this."""
        self._timer = None
        if self._loop.time() < self._due_s:
            if self._due_s < inf:
                self._timer = self._loop.call_at(self._due_s, self._fire)
            return
        self._due_s = inf
        self._receive(ev.TimerFired())

    def _mark_ready(self, _action: act.MarkReady) -> None:
        self._spelled_cwd = ""
        folder = self._must().cwd()
        if folder is not None:
            self._machine.cwd = folder
        if not self._ready.done():
            self._ready.set_result(None)

    def _give_up(self, action: act.GiveUp) -> None:
        if not self._ready.done():
            self._ready.set_exception(
                TransportUnavailable(
                    f"The shell did not start: {action.reason}.",
                    hint="Try `bash --norc --noprofile -i` in the same folder and environment;"
                    " `ulimit -a` shows what it may use.",
                )
            )

    def _probe(self, _action: act.Probe) -> None:
        channel = self._must()
        is_waiting, is_inside = channel.is_shell_waiting(), channel.is_inside_command()
        self._read_status()
        self._receive(ev.ShellProbed(is_waiting=is_waiting, is_inside=is_inside))

    def _end_strays(self, action: act.EndStrays) -> None:
        self._must().end_strays(spared=action.spared | self._left)

    def _finish(self, action: act.Finish) -> None:
        completion = action.completion
        self._drain_sites()
        self._drain(self._outlet)
        self._sites.clear()
        self._background.finished()
        channel = self._channel
        if channel is not None and not completion.is_lost:
            folder = channel.cwd()
            children = channel.children()
            new = children - self._left
            self._left = children
            self._spelled_cwd = completion.cwd
            if folder is not None:
                self._machine.cwd = folder
            if self._are_paths_given:
                self._are_paths_given = False
                channel.drop_paths()
            if new:
                self._background.left(new, channel.pid)
                self._renew(channel)
            if new or folder is not None:
                completion = _with(completion, folder, new)
        if self._done is not None and not self._done.done():
            self._done.set_result(completion)
            if self._follower is not None:
                then, self._follower = self._follower, None
                self._followed(then, completion)

    def _renew(self, channel: Channel) -> None:
        fresh = channel.renew_outputs()
        if fresh is None:
            return
        old = self._outlet
        self._old_outlets.add(old)
        self._outlet = _Outlet({"stdout": fresh.stdout_fd, "stderr": fresh.stderr_fd}, is_owned=True)
        self._fresh_paths = (fresh.stdout_path, fresh.stderr_path)
        self._watch(self._outlet)

    def _respawn(self, action: act.Respawn) -> None:
        task = self._loop.create_task(self._replace(action.cwd))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _replace(self, cwd: str | None) -> None:
        await self._release()
        plan = self._plan
        if cwd is not None:
            plan = replace(plan, cwd=cwd)  # and the same fence
        try:
            try:
                channel = await self._transport.open(plan)
            except ExecKitError:
                if plan is self._plan:
                    raise
                channel = await self._transport.open(self._plan)  # the folder may be gone
        except ExecKitError as error:
            self._receive(ev.OpenFailed(reason=error.message))
            return
        self._attach(channel)

    async def _release(self) -> None:
        """Let go of the channel; what its pipes still hold goes to the sinks first."""
        self._sites.clear()
        self._inside_pids.clear()
        self._background.shell_gone()
        self._arm(act.ArmTimer(seconds=None))
        if self._timer is not None:  # it would keep us until its moment
            self._timer.cancel()
            self._timer = None
        channel, self._channel = self._channel, None
        self._status_poll = None
        if channel is None:
            return
        for role in (Role.STATUS, Role.TTY, Role.SCRIPT):
            self._loop.remove_reader(channel.fds[role])
            self._loop.remove_writer(channel.fds[role])
        outlets = {self._outlet, *self._old_outlets}
        for outlet in outlets:
            self._drain(outlet)
            self._close_outlet(outlet)
        self._outlet = _Outlet({}, is_owned=False)
        self._outlet.sink = self._tty_sink
        self._fresh_paths = None
        self._left = frozenset()
        self._unsent.clear()
        self._unsent_keys.clear()
        await channel.close()

    def _close_outlet(self, outlet: _Outlet) -> None:
        for fd in outlet.fds.values():
            self._loop.remove_reader(fd)
            if outlet.is_owned:
                os.close(fd)
        outlet.fds = {}
        self._old_outlets.discard(outlet)


def _with(completion: Completion, folder: str | None, new: frozenset[int]) -> Completion:
    values = {name: getattr(completion, name) for name in Completion.__struct_fields__}
    values["cwd"] = folder or completion.cwd
    values["background_pids"] = tuple(sorted(new))
    return Completion(**values)
