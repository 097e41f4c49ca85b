"""The read loop of a shell that is reached over three streams: it joins a stream channel to a session's machine.

    run() ─ RunRequested ─▸ machine ─ actions ─▸ channel ─ bytes, reports, timers ─▸ machine … Finish

Decisions are the machine's. Status records come between the output's own bytes and are taken out (``in_band``); an end
counts when both streams have shown it, so that no error text of a command comes after its end. Signals and looks go
through the channel's own side way, and may take a round trip.

When the way to the host is lost, what ran is lost; ``link`` opens another shell and gives it the state that is known.
Nothing is run again. Over 400 lines, like ``driver``: one place joins bytes, timers and decisions.
"""

import asyncio
import contextlib
import signal
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Self

from msgspec.structs import replace

from execkit_mcp.errors import (
    CapabilityMissing,
    CommandInvalid,
    ExecKitError,
    SessionBusy,
    SessionClosed,
    TransportError,
    TransportLost,
    TransportUnavailable,
)
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model.ports import Clock, Entropy
from execkit_mcp.model.terminal import TerminalState
from execkit_mcp.policy.shell.background import has_background
from execkit_mcp.protocol import actions as act
from execkit_mcp.protocol import events as ev
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.protocol.dialects.bash_streams import BashStreams, stdin_words
from execkit_mcp.protocol.dialects.posix_streams import PosixStreams
from execkit_mcp.protocol.framing import NONCE_BYTES
from execkit_mcp.protocol.in_band import InBand
from execkit_mcp.protocol.machine import ShellMachine, State
from execkit_mcp.protocol.shell_noise import ShellNoise, without_noise
from execkit_mcp.runtime.background import JobListener, Sink
from execkit_mcp.transports.base import (
    Capability,
    ShellLook,
    ShellPlan,
    ShellReport,
    StreamChannel,
    StreamTerminal,
    StreamTransport,
    Typed,
)

__all__ = ["RemoteDriver"]

_READY_S = 20.0
_MARK_S = 2.0
_PATIENCE = 2.0
"""A signal goes through another shell, past whatever floods the way."""
_GIVE_UP_S = 15.0
_MAX_PATH_BYTES = 1 << 14
_INSIST_S = 2.0
"""An answer takes a round trip; after this long it does not come."""
_SETTLE_S = 5.0
_KEY_RETRY_S = 0.02
_TERMINAL = "xterm-256color"
_LESS_RESTORED = "Of its variables only the exported ones were restored."
_KIND_AT = 1 + 2 * NONCE_BYTES


def _discard(_stream: str, _data: bytes) -> None:
    """Output that nobody asked for."""


class RemoteDriver:
    """One persistent shell session on another machine. Use on one event loop; one command at a time."""

    def __init__(
        self, transport: StreamTransport, plan: ShellPlan, clock: Clock, entropy: Entropy, shell: str = "bash"
    ) -> None:
        self._transport = transport
        self._plan = plan
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._entropy = entropy
        self._shell = shell
        self._dialect = BashStreams() if shell == "bash" else PosixStreams()
        self._machine = ShellMachine(entropy, self._dialect, insist_s=_INSIST_S, patience=_PATIENCE)
        self._channel: StreamChannel | None = None
        self._terminal: StreamTerminal | None = None
        self._is_typed_on = False
        self._attached = asyncio.Event()
        self._streams: dict[str, InBand] = {}
        self._ends: deque[bytes] = deque()
        self._marks = 0
        self._mark_timer: asyncio.TimerHandle | None = None
        self._where = ""
        self._spelled_cwd = ""
        self._sink: Sink = _discard
        self._has_jobs = self._is_signalled = False
        self._noise = ShellNoise()
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._linking = asyncio.Lock()
        self._done: asyncio.Future[Completion] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._why_lost = ""
        self._actions: dict[type, Callable[..., None]] = {
            act.WriteScript: lambda action: self._must().write(action.data) if action.data else None,
            act.ArmTimer: self._arm,
            act.Finish: self._finish,
            act.MarkReady: self._mark_ready,
            act.GiveUp: self._not_started,
            act.Probe: lambda _: self._spawn(self._probe()),
            act.SignalForeground: lambda action: self._signal(action.number, spares_shell=action.spares_shell),
            act.SignalShell: lambda action: self._must().signal_shell(action.number),
            act.EndStrays: self._end_strays,
            act.JobStarted: lambda _: None,
            act.JobEnded: lambda _: None,
            act.Respawn: lambda action: self._spawn(self._replace(action.cwd)),
        }

    @classmethod
    async def open(
        cls,
        transport: StreamTransport,
        *,
        env: Mapping[str, str],
        cwd: str,
        clock: Clock,
        entropy: Entropy,
        cols: int = 120,
        rows: int = 40,
        shell: str = "bash",
        fence: FencePlan | None = None,
    ) -> Self:
        """A session whose shell has answered. ``env`` is the whole environment. Raises TransportError."""
        plan = ShellPlan(env=dict(env), cwd=cwd, cols=cols, rows=rows, fence=fence)
        driver = cls(transport, plan, clock, entropy, shell)
        try:
            await driver._start(driver._plan)
        except BaseException:
            await driver.close()
            raise
        return driver

    async def _start(self, plan: ShellPlan) -> None:
        """Open a channel and wait until its shell has answered."""
        channel = await self._transport.open(plan)
        if self._ready.done():
            self._ready = self._loop.create_future()
        self._attach(channel)
        try:
            async with asyncio.timeout(_READY_S):
                await asyncio.shield(self._ready)
        except TimeoutError:
            self._receive(ev.LinkLost(reason="The shell did not answer."))
            await self._release()
            raise TransportUnavailable(
                f"The shell on the host did not answer within {_READY_S:.0f} s.",
                hint="Look at what its start-up files do, and at its load.",
                retryable=True,
            ) from None

    # -- what callers see --------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """0: none of the processes here is its shell."""
        return 0

    @property
    def cwd(self) -> str:
        """The shell's folder."""
        return self._machine.cwd

    @property
    def spelled_cwd(self) -> str:
        """The same folder as the shell spells it in ``$PWD``."""
        return self._spelled_cwd

    @property
    def is_open(self) -> bool:
        """Whether commands can be run, if need be after the link has been made anew."""
        return not self._is_closed and self._machine.state not in {State.LOST, State.CLOSED}

    @property
    def is_linked(self) -> bool:
        """Whether the shell can be reached now."""
        return self._machine.state is not State.UNLINKED

    @property
    def is_busy(self) -> bool:
        """Whether a command is running."""
        return self._done is not None

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the channel can do."""
        return frozenset() if self._channel is None else self._channel.capabilities

    async def link(self) -> str:
        """Make a lost link anew; a sentence for the caller, or ``""`` if nothing had to be done. Raises TransportError.

        The host's key is verified like the first time. The new shell gets the folder and variables that are known.
        """
        async with self._linking:
            if self.is_linked or not self.is_open:
                return ""
            why, is_known = self._why_lost, self._machine.is_state_known
            plan = replace(self._plan, cwd=self.cwd or self._plan.cwd)
            try:
                await self._start(plan)
            except TransportUnavailable:
                if plan.cwd == self._plan.cwd:
                    raise
                await self._start(self._plan)  # the folder may be gone
            told = "were restored" if is_known else "were restored as they were before the last commands"
            return (
                f"{why} The connection was made anew, the host's key checked again: this is a fresh shell in"
                f" {self.cwd}; folder and exported variables {told}. Nothing was run again."
            )

    async def run(
        self,
        command: str,
        *,
        sink: Sink,
        stdin: bytes | None = None,
        tty: bool = False,
        timeout_s: float | None = None,
    ) -> Completion:
        """Run ``command``; ``sink(stream, data)`` gets its output as it comes. See ``Driver.run``."""
        if tty:
            await self.have_terminal()
        done = self.begin(command, sink=sink, stdin=stdin, tty=tty)
        return await self.until_end(done, tty=tty, timeout_s=timeout_s)

    async def have_terminal(self) -> None:
        """Be able to run a command on a terminal: the shell takes one that is made on the host, and keeps it.

        Raises:
            CapabilityMissing: it can have none there.
            TransportError: the host does not answer.
        """
        async with self._linking:
            if self._done is not None or not self.is_open or not self.is_linked:
                return  # which ``begin`` tells
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_READY_S):
                    await self._attached.wait()
            if self._terminal is None or not self._terminal.is_open:
                self._terminal = await self._taken_terminal(self._must())
            is_in_front = await self._terminal.prepare(discards=self._is_typed_on)
            self._is_typed_on = False
            if not is_in_front:
                await self._come_to_front(self._terminal)

    async def _taken_terminal(self, channel: StreamChannel) -> StreamTerminal:
        terminal = await channel.open_terminal(
            self._plan.cols, self._plan.rows, partial(self._told_data, channel, "tty")
        )
        is_taken = False
        try:
            channel.write(self._dialect.take_terminal(terminal.path))
            is_taken = await terminal.join(channel.pid)
        finally:
            if not is_taken:
                terminal.close()
        if not is_taken:
            raise CapabilityMissing(
                "The session's shell cannot take a terminal on the host: something stands between it and the SSH server"
                " (a forced command, a start-up file), or it has hidden its own builtins.",
                hint="Leave tty out and give input as stdin, or open a new session.",
            )
        return terminal

    async def _come_to_front(self, terminal: StreamTerminal) -> None:
        """A program that was killed has left another group in front; whoever reads there would be stopped."""
        if self._channel is not None:
            self._channel.write(terminal.front_words.encode() + b"\n")
        if not await terminal.front():
            terminal.close()
            raise TransportLost(
                "The terminal on the host is held by a program that was killed.", hint="Open a new session."
            )

    def begin(
        self, command: str, *, sink: Sink, stdin: bytes | None = None, tty: bool = False, tells_env: bool = False
    ) -> asyncio.Future[Completion]:
        """The first half of ``run``: when it returns the command is out and can be interrupted."""
        if "\0" in command:
            raise CommandInvalid("The command contains a NUL character.", hint="No shell can take one; remove it.")
        if tells_env and self._shell != "bash":
            raise CapabilityMissing(
                f"A session of {self._shell} cannot tell what became of its environment.", hint="Leave env_delta out."
            )
        stdin_path = None if stdin is None else self._stdin_words(stdin)
        if not self.is_open:
            raise SessionClosed("The session is closed.", hint="Open a new session.")
        if not self.is_linked:
            raise TransportLost(self._why_lost, hint="Send the call again.", retryable=True)
        if self._done is not None:
            raise SessionBusy("Another command is running in this session.")
        if tty and (self._terminal is None or not self._terminal.is_open):
            raise TransportLost("The session's terminal is gone.", hint="Send the call again.", retryable=True)
        done: asyncio.Future[Completion] = self._loop.create_future()
        self._done = done
        self._sink = sink
        self._is_signalled, self._has_jobs = False, has_background(command)
        self._noise = ShellNoise(has_jobs=self._has_jobs)
        try:
            self._receive(
                ev.RunRequested(
                    command=command,
                    stdin_path=stdin_path,
                    is_tty=tty,
                    terminal=_TERMINAL if tty and self._plan.env.get("TERM") == "dumb" else None,
                    tells_env=tells_env,
                )
            )
        except BaseException:
            self._done = None
            raise
        return done

    def _stdin_words(self, data: bytes) -> str:
        if self._shell == "bash":
            return stdin_words(data)
        return PosixStreams.stdin_words(data, f"EK{self._entropy.token_hex(NONCE_BYTES)}")

    async def until_end(
        self, done: asyncio.Future[Completion], *, tty: bool = False, timeout_s: float | None = None
    ) -> Completion:
        """The second half of ``run``: wait for what ``begin`` gave."""
        alarm = None
        if timeout_s is not None:
            alarm = self._loop.call_later(max(timeout_s, 0), self.interrupt, "timeout")
        try:
            completion = await self._await_end(done)
            if tty and not completion.is_lost:
                await self._settle_terminal()
            return completion
        finally:
            if alarm is not None:
                alarm.cancel()
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None
            self._done = None

    async def _settle_terminal(self) -> None:
        """Have the last of the output come, and the shell in front."""
        terminal = self._terminal
        if terminal is None or not terminal.is_open:
            return
        with contextlib.suppress(TransportError, TimeoutError):  # told when it is needed next
            async with asyncio.timeout(_SETTLE_S):
                if not await terminal.settle() and self._machine.state is State.IDLE:
                    await self._come_to_front(terminal)

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
            if self._deadline is None:
                self._deadline = self._loop.call_later(_GIVE_UP_S, self._give_up)
            self._receive(ev.InterruptRequested(reason=reason))

    def _give_up(self) -> None:
        """Nothing that could be done there has ended the command: let the shell go, its host's side kills it."""
        self._deadline = None
        if self._done is not None and not self._done.done():
            self._on_end(ShellReport(kind="lost", reason="The command could not be ended; its shell was given up."))

    async def type(self, data: bytes, judged: TerminalState | None) -> Typed:
        """Type ``data`` if the terminal still stands as ``judged``; None: however it does, once a command has begun."""
        while self._done is not None and self._terminal is not None:
            told = await self._terminal.type(data, judged)
            if told.is_typed or judged is not None:
                self._is_typed_on = self._is_typed_on or told.is_typed
                return told
            await asyncio.sleep(_KEY_RETRY_S)
        return Typed(is_typed=False)

    def signal_foreground(self, number: signal.Signals) -> None:
        """Signal what the running command has started."""
        if self._channel is not None and self._done is not None:
            self._signal(number, spares_shell=False)

    async def look(self) -> TerminalState | None:
        """Who is at the terminal; None while no command has begun, or what was typed before is still on its way."""
        return None if self._terminal is None else await self._terminal.look()

    def resize(self, cols: int, rows: int) -> None:
        """Set the terminal's size, also for one that is made later."""
        self._plan = replace(self._plan, cols=cols, rows=rows)
        if self._terminal is not None:
            self._terminal.resize(cols, rows)

    def listen_to_jobs(self, listener: JobListener) -> None:
        """Background jobs have no outputs of their own here: what they write comes with the session's."""

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

    # -- events ------------------------------------------------------------------------------------

    def _receive(self, event: ev.Event) -> None:
        done = self._machine.receive(event, self._clock.monotonic_s())
        for stream in self._streams.values():
            stream.announce(self._machine.nonces)
        for action in done:
            self._actions[type(action)](action)

    def _must(self) -> StreamChannel:
        if self._channel is None:
            raise TransportLost("The session has no shell.", hint="Open a new session.")
        return self._channel

    def _attach(self, channel: StreamChannel) -> None:
        self._channel = channel
        self._streams = {"stdout": InBand(), "stderr": InBand()}
        self._ends.clear()
        self._marks = 0
        self._receive(ev.Opened(env_names=frozenset(self._plan.env)))
        channel.listen(partial(self._told_data, channel), partial(self._told_end, channel))

    def _told_data(self, channel: StreamChannel, stream: str, data: bytes) -> None:
        """Bytes, unless of a channel that was let go."""
        if channel is self._channel:
            self._on_data(stream, data)

    def _told_end(self, channel: StreamChannel, report: ShellReport) -> None:
        if channel is self._channel:
            self._on_end(report)

    def _on_data(self, stream: str, data: bytes) -> None:
        if stream == "tty":
            self._sink("tty", without_noise(data))
            return
        output, records = self._streams[stream].push(data)
        if output:
            self._emit(stream, output)
        for record in records:
            if stream == "stderr":
                self._marked(record)
            elif record[_KIND_AT : _KIND_AT + 1] == b"R":
                self._ends.append(record)
                if self._mark_timer is None:
                    self._mark_timer = self._loop.call_later(_MARK_S, self._mark_missed)
            else:
                self._receive(ev.StatusBytes(data=record))
        if stream == "stderr" or self._mark_timer is not None:
            self._ends_reached()

    def _marked(self, record: bytes) -> None:
        """Standard error has shown the end, too."""
        held = self._noise.flush()
        if held:
            self._sink("stderr", held)
        where = record[_KIND_AT + 2 :].partition(b"\0")[0]
        self._where = where.decode("utf-8", "surrogateescape") if len(where) <= _MAX_PATH_BYTES else ""
        self._marks += 1

    def _ends_reached(self) -> None:
        while self._ends and self._marks:
            self._marks -= 1
            self._end_reached(self._ends.popleft())
        if not self._ends and self._mark_timer is not None:
            self._mark_timer.cancel()
            self._mark_timer = None

    def _mark_missed(self) -> None:
        """Something has closed the shell's way to standard error: the status record has to do."""
        self._mark_timer = None
        self._where = ""
        while self._ends:
            self._end_reached(self._ends.popleft())
        self._marks = 0

    def _end_reached(self, record: bytes) -> None:
        self._receive(ev.StatusBytes(data=record))

    def _emit(self, stream: str, data: bytes) -> None:
        if self._machine.state is State.STARTING:
            return
        if stream == "stderr":
            data = self._noise.push(data)
        if data:
            self._sink(stream, data)

    def _on_end(self, report: ShellReport) -> None:
        for stream, splitter in self._streams.items():
            held = splitter.flush()
            if held:
                self._emit(stream, held)
        if held := self._noise.flush():
            self._sink("stderr", held)
        if self._mark_timer is not None:
            self._mark_timer.cancel()
        self._mark_missed()
        if self._channel is None or self._is_closed:
            return
        if report.kind == "exited" and report.code is not None:
            self._receive(ev.ShellExited(code=report.code))
            return
        self._why_lost = report.reason or "The connection to the host was lost."
        self._receive(ev.LinkLost(reason=f"{self._why_lost} What the command has done until then stays done."))
        if not self._ready.done():
            self._ready.set_exception(TransportLost(self._why_lost, hint="Send the call again.", retryable=True))
        self._spawn(self._release())

    # -- actions -----------------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _arm(self, action: act.ArmTimer) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if action.seconds is not None:
            self._timer = self._loop.call_later(action.seconds, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._receive(ev.TimerFired())

    def _settle_folder(self) -> None:
        """The folder as the host's kernel knows it, where the shell could say."""
        self._spelled_cwd = self._machine.cwd
        if self._where:
            self._machine.cwd = self._where

    def _mark_ready(self, _action: act.MarkReady) -> None:
        self._settle_folder()
        self._attached.set()
        if not self._ready.done():
            self._ready.set_result(None)

    def _not_started(self, action: act.GiveUp) -> None:
        if not self._ready.done():
            told = f"The shell did not start: {action.reason}."
            self._ready.set_exception(TransportLost(told, hint="Look at the host."))

    def _signal(self, number: signal.Signals, *, spares_shell: bool) -> None:
        self._is_signalled = True
        self._must().signal_foreground(number, spares_shell=spares_shell, has_jobs=self._has_jobs)

    def _end_strays(self, action: act.EndStrays) -> None:
        self._is_signalled = True
        self._must().end_strays(spared=action.spared)

    async def _probe(self) -> None:
        channel = self._channel
        if channel is None:
            return
        try:
            seen = await channel.look()
        except TransportError:  # whoever cannot look goes on as if all were well; a dead link is reported apart
            seen = ShellLook()
        if channel is self._channel:
            if seen.is_stopped:
                self._receive(ev.ShellStopped())
            self._receive(ev.ShellProbed(is_waiting=seen.is_waiting, is_inside=seen.is_inside))

    def _finish(self, action: act.Finish) -> None:
        completion = action.completion
        if not completion.is_lost:
            self._settle_folder()
            completion = replace(completion, cwd=self._machine.cwd)
        if completion.is_state_restored and self._shell != "bash":
            completion = replace(completion, warnings=(*completion.warnings, _LESS_RESTORED))
        done = self._done
        if done is None or done.done():
            return
        if completion.is_lost or not (self._is_signalled or self._has_jobs) or self._channel is None:
            done.set_result(completion)
        else:
            self._spawn(self._settle(self._channel, done, completion))

    async def _settle(self, channel: StreamChannel, done: asyncio.Future[Completion], completion: Completion) -> None:
        """A signal that is on its way must not meet the next command."""
        try:
            with contextlib.suppress(TransportError):
                await channel.settle(notes_jobs=self._has_jobs)
        finally:
            if not done.done():
                done.set_result(completion)

    async def _replace(self, cwd: str | None) -> None:
        self._attached.clear()
        await self._settle_terminal()
        await self._release()
        plan = self._plan if cwd is None else replace(self._plan, cwd=cwd)
        try:
            try:
                channel = await self._transport.open(plan)
            except TransportUnavailable:
                if plan is self._plan:
                    raise
                channel = await self._transport.open(self._plan)  # the folder may be gone
        except ExecKitError as error:
            self._why_lost = error.message
            self._receive(ev.OpenFailed(reason=error.message))
            if not self._ready.done():
                self._ready.set_exception(error)
            return
        self._attach(channel)

    async def _release(self) -> None:
        self._arm(act.ArmTimer(seconds=None))
        self._attached.clear()
        terminal, self._terminal = self._terminal, None
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()
        if terminal is not None:
            terminal.close()
