"""One persistent shell on one target: starts a command, keeps what it says, knows where it stands.

Over 400 lines, because everything here is about one shell's state.
"""

import asyncio
import contextlib
import shlex
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from msgspec.structs import replace

from execkit_mcp.errors import CapabilityMissing, ExecKitError, SessionBusy, SessionClosed
from execkit_mcp.model import Clock, Decision, Entropy
from execkit_mcp.model.terminal import TerminalState
from execkit_mcp.output.chain import OutputChain
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.redaction import KnownValue, Redactor
from execkit_mcp.redaction.known import KIND as KNOWN
from execkit_mcp.runtime.bounds import SessionBounds
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.environment import assigned_values, may_assign
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.fence_watch import FenceWatch
from execkit_mcp.runtime.jobs import Jobs
from execkit_mcp.runtime.redactor_seed import RedactorSeed
from execkit_mcp.runtime.remote_driver import RemoteDriver
from execkit_mcp.runtime.session_facts import SessionFacts
from execkit_mcp.runtime.system import process_key
from execkit_mcp.runtime.tty import TtyView, may_answer
from execkit_mcp.storage.spill import SpillFolder
from execkit_mcp.transports.base import Typed

if TYPE_CHECKING:
    from execkit_mcp.fence.plan import FencePlan
    from execkit_mcp.runtime.egress import Egress
    from execkit_mcp.runtime.recorder import Recorder

T = TypeVar("T")
OpenOutside: TypeAlias = Callable[[Mapping[str, str], str], Awaitable[Driver]]
SCREEN_LIMIT_BYTES = 262_144
INTERRUPTED_WAIT_S = 5.0
JOB_TOLD_S = 0.1
RECENT = 6
_RECENT_CHARS = 200
_MIN_LEARNED_CHARS = 6
_MAX_LEARNED_CHARS = 1 << 16


class Session:
    """A session: one command at a time; ``cd``, variables and jobs stay.

    Attributes:
        key: this very session, by its server's process and a random part: names are used again.
        recent: the commands before, with what became of them; redacted.
        typing: held from judging what is typed until it is typed.
    """

    def __init__(
        self,
        *,
        facts: SessionFacts,
        driver: Driver | RemoteDriver,
        redactor: Redactor,
        clock: Clock,
        entropy: Entropy,
        spill: SpillFolder | None = None,
        secrets: RedactorSeed | None = None,
        open_outside: OpenOutside | None = None,
        bounds: SessionBounds | None = None,
    ) -> None:
        self.facts = facts
        self.notes: list[str] = []
        self.on_close: Callable[[], None] | None = None
        self.egress: Egress | None = None
        self._why_closed = ""
        self._limit = ""
        self._is_asking = self._is_judging = False
        self.on_relinked: Callable[[], None] = lambda: None
        self.redactor = redactor
        self.secrets = secrets
        self.bounds = bounds
        self.recorder: Recorder | None = None
        self.key = f"{process_key()}/{entropy.token_hex(8)}"
        self.recent: deque[str] = deque(maxlen=RECENT)
        self._open_outside = open_outside
        self._inside: Driver | RemoteDriver | None = None
        self.opened_s = clock.epoch_s()
        self.used_s = clock.monotonic_s()
        self._driver = driver
        self._clock = clock
        self._entropy = entropy
        self._spill = spill
        self._current: Exec | None = None
        self._starting: Exec | None = None
        self._interrupted: Exec | None = None
        self._is_env_asked = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._replying = asyncio.Lock()
        self.typing = asyncio.Lock()
        self._size = (facts.cols, facts.rows)
        self.watch: FenceWatch | None = None
        self.jobs = Jobs(make=self._job, clock=clock, cwd=lambda: driver.cwd)
        driver.listen_to_jobs(self.jobs)
        if bounds is not None and isinstance(driver, Driver):
            driver.listen_to_channels(lambda channel: bounds.attach(channel.pid))

    def watch_with(self, watch: FenceWatch) -> None:
        """Join ``watch`` to this session's exec gate."""
        self.watch = watch
        driver = self._driver
        assert isinstance(driver, Driver), "only shells of this machine have an exec gate"

        def tell(
            exec_id: str,
            entries: Sequence[Mapping[str, object]],
            keeps: bool,  # noqa: FBT001 - a callback
        ) -> None:
            if driver.gate is not None:
                driver.gate.judged(entries, keeps=keeps, exec_id=exec_id)

        def answer(number: int, allow: bool, is_trusted: bool) -> None:  # noqa: FBT001 - a callback
            if driver.gate is not None:
                driver.gate.answer(number, allow=allow, is_trusted=is_trusted)

        def drain() -> None:
            if driver.gate is not None:
                driver.gate.drain()

        watch.connect(tell=tell, answer=answer, drain=drain)
        driver.listen_to_gate(watch.heard)

    @property
    def name(self) -> str:
        """The session's name."""
        return self.facts.name

    @property
    def cwd(self) -> str:
        """The folder that the next command starts in."""
        return self._driver.cwd

    @property
    def spelled_cwd(self) -> str:
        """The same folder as the shell spells it, through whatever links it was entered."""
        return self._driver.spelled_cwd

    @property
    def current(self) -> Exec | None:
        """The running exec, if there is one."""
        return self._current if self._current is not None and self._current.is_running else None

    @property
    def is_open(self) -> bool:
        """Whether commands can be run."""
        return not self._closed and self._driver.is_open

    async def ready(self, *, tty: bool = False) -> None:
        """Be able to run a command: a link that was lost is made anew, and the caller told. Raises TransportError.

        ``tty``: it is to run on a terminal; raises CapabilityMissing where the host can give none.
        """
        if isinstance(self._driver, RemoteDriver) and not self._closed:
            told = await self._driver.link()
            if told:
                self.notes.append(told)
                self.on_relinked()
            if tty:
                await self._driver.have_terminal()

    async def judged(self, judge: Callable[[], T], *, is_to_run: bool = False) -> T:
        """What ``judge`` decides once all is known that it asks of the session's machine. Raises TransportError.

        ``is_to_run``: nobody else may start a command meanwhile.
        """
        locator = self.facts.locator
        if locator is None:
            return judge()
        if not is_to_run:
            return await locator.settled(judge, known=(self.cwd,))
        self.require_idle()
        self._is_judging = True
        try:
            return await locator.settled(judge, known=(self.cwd,))
        finally:
            self._is_judging = False

    def require_capable(self, *, durable: bool, stdin: str | None = None) -> None:
        """Raise CapabilityMissing for what this session's target cannot do."""
        if self.facts.locator is None:
            return
        if stdin and self.facts.shell != "bash" and ("\0" in stdin or not stdin.endswith("\n")):
            raise CapabilityMissing(
                f"A session of {self.facts.shell} takes stdin without NUL and with a line break at its end.",
                hint="End stdin with a line break, or put it into a file there.",
            )
        if durable:
            raise CapabilityMissing(
                f"Target {self.facts.target} keeps no durable jobs.",
                hint="Leave durable out; a unit of systemd-run stays there, if the policy allows one.",
            )

    def protect(self, name: str, value: str) -> None:
        """Hide ``value`` from now on, in what is still to come of every exec and in durable jobs."""
        self.redactor.add_known(name, value)
        if self.secrets is not None:
            self.secrets = replace(self.secrets, known=(*self.secrets.known, KnownValue(name=name, value=value)))

    def protect_assigned(self, command: str) -> None:
        """Hide from now on what ``command`` gives to a variable whose name says that it is secret."""
        for name, value in assigned_values(command):
            if self.redactor.text(f"{name}={value}")[1]:
                self.protect(name, value)

    def _protect_told(self, variables: Mapping[str, str]) -> None:
        """Hide from now on what the shell's variables hold under names that say so."""
        for name, value in variables.items():
            if len(value) <= _MAX_LEARNED_CHARS:
                for span in self.redactor.spans(f"{name}={value}"):
                    if span.kind != KNOWN and len(span.value) >= _MIN_LEARNED_CHARS:
                        self.protect(name, span.value)

    def redact(self, text: str) -> str:
        """``text`` with this session's secrets replaced; bytes of file names that are not UTF-8 become U+FFFD."""
        shown, _ = self.redactor.text(text)
        return shown if shown.isascii() else shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def require_idle(self) -> None:
        """Raise unless a command can start now.

        Raises:
            SessionBusy: another command runs.
            SessionClosed: the session is closed.
        """
        if not self.is_open:
            raise SessionClosed(
                f"Session {self.name!r} is closed.", hint="Open another with shell_open, or leave session out."
            )
        if self._is_judging:
            raise SessionBusy(f"Session {self.name!r} looks at another command.", hint="Send the call again.")
        if self._starting is not None:
            raise SessionBusy(
                f"Session {self.name!r} starts exec {self._starting.exec_id!r}.",
                hint="Send the call again.",
                details={"exec_id": self._starting.exec_id, "session": self.name},
                retryable=True,
            )
        if self._is_asking:
            raise SessionBusy(f"Session {self.name!r} starts a durable job.", hint="Send the call again.")
        if self.current is not None:
            raise SessionBusy(
                f"Session {self.name!r} still runs exec {self.current.exec_id!r}.",
                hint="Poll it with shell_read, interrupt it with shell_send key ctrl-c, or open another session.",
                details={"exec_id": self.current.exec_id, "session": self.name},
            )

    def reserve(self, *, decision: Decision, tty: bool, is_job: bool = False) -> Exec:
        """Make the exec that ``start`` will run; nothing has run yet.

        ``is_job``: it is a background job's, whose output its command shows, and the recording with it.
        """
        exec_id = "x_" + self._entropy.token_hex(6)
        recorder = None if is_job else self.recorder
        exec_ = Exec(
            exec_id=exec_id,
            session=self.name,
            owner=self.facts.owner,
            decision=decision,
            view=TtyView(cols=self._size[0], rows=self._size[1], redactor=self.redactor, clock=self._clock)
            if tty
            else None,
            make_chain=partial(self._make_chain, exec_id, recorder),
            started_s=self._clock.monotonic_s(),
        )
        if recorder is not None:
            exec_.on_feed = recorder.fed
        return exec_

    def _make_chain(self, exec_id: str, recorder: "Recorder | None", stream: str) -> OutputChain:
        limit = self.facts.policy.document.limits.output_bytes
        return OutputChain(
            redactor=self.redactor,
            limit_bytes=SCREEN_LIMIT_BYTES if stream == "screen" else limit,
            store=self._spill.store(f"{exec_id}.{stream}") if self._spill is not None else None,
            on_text=partial(recorder.output, stream) if recorder is not None else None,
        )

    @contextmanager
    def starting(self, exec_: Exec) -> Iterator[None]:
        """While this lasts, no other command can start."""
        self._starting = exec_
        try:
            yield
        finally:
            self._starting = None

    @contextlib.contextmanager
    def reserved(self) -> Iterator[None]:
        """Have no command start meanwhile; raises SessionBusy, SessionClosed."""
        self.require_idle()
        self._is_asking = True
        try:
            yield
        finally:
            self._is_asking = False

    def watch_network(self, egress: "Egress") -> None:
        """Serve the listeners of this session's own network, for this shell and each one that replaces it."""
        self.egress = egress
        self._here().listen_to_channels(lambda channel: egress.attach(getattr(channel, "listeners", ())))

    def network_opened(self) -> None:
        """Something was let through to the network: it is none no longer."""
        if self.facts.fence.network == "none":
            self.facts = replace(self.facts, fence=replace(self.facts.fence, network="filtered"))

    def processes(self) -> frozenset[int]:
        """What still runs directly below the shell, jobs and what escaped them."""
        return self._here().processes()

    def _here(self) -> Driver:
        """The driver of a shell of this machine."""
        if not isinstance(self._driver, Driver):
            raise CapabilityMissing("That needs a shell of this machine.")
        return self._driver

    async def change_tree(self, mounts: Sequence[Mapping[str, object]], plan: "FencePlan") -> None:
        """Carry out mount operations inside, and have the shell step into what stands in its folder's place now.

        ``plan`` is the fence of a shell that replaces this one. A shell whose folder is gone goes to the workspace.
        """
        await self._here().remount(mounts, plan)
        self.facts = replace(self.facts, plan=plan)
        place = shlex.quote(self.facts.workspace)
        text = (
            '\\builtin eval "{ \\builtin cd -L -- \\"\\$PWD\\" || \\builtin cd -P -- ' + place + "; } 2>/dev/null;"
            ' OLDPWD=${OLDPWD@Q}"'
        )
        await self._here().run(text, sink=lambda _stream, _data: None)

    async def environment(self) -> dict[str, str]:
        """The exported variables as the shell has them; it must be idle."""
        self.require_idle()
        self._is_asking = True
        try:
            out = self._driver.begin(":", sink=lambda _stream, _data: None, tells_env=True)
            completion = await self._driver.until_end(out)
        finally:
            self._is_asking = False
        if completion.env is None:
            raise SessionClosed("The session's shell did not tell its environment.", hint="Open a new session.")
        return dict(completion.env)

    async def leave_fence(self, exec_: Exec) -> None:
        """Have the next command run in a shell of its own without a fence, in this one's folder and environment."""
        if self._open_outside is None or self.facts.plan is None:
            return
        env = await self.environment()
        self._is_asking = True
        try:
            outside = await self._open_outside(env, self.cwd)
        finally:
            self._is_asking = False
        exec_.is_outside = True
        self._inside, self._driver = self._driver, outside

    def _come_back(self) -> None:
        """The command outside has ended: its shell, and all that it left, ends as well."""
        if self._inside is None:
            return
        outside, self._driver, self._inside = self._driver, self._inside, None
        task = asyncio.get_running_loop().create_task(outside.close())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _job(self, starter: Exec, text: str) -> Exec:
        """The exec of a background job of ``starter``."""
        return self.reserve(decision=replace(starter.decision, canonical=text), tty=False, is_job=True)

    def start(
        self,
        exec_: Exec,
        *,
        stdin: bytes | None,
        timeout_s: float | None,
        tells_env: bool = False,
        on_end: Callable[[Exec], None],
        on_job: Callable[[Exec], None] = lambda _: None,
        meanwhile: Callable[[], None] = lambda: None,
        lingers: bool = False,
    ) -> None:
        """Hand the exec's canonical text to the shell; ``on_end`` is called once, when it has ended.

        ``on_job`` is called for each background job that it starts, ``on_end`` for those as well. ``meanwhile`` is
        called once, as soon as the shell is at work. ``lingers``: see ``Driver.follow``.
        """
        self.require_idle()
        self._current = exec_
        self._is_env_asked = tells_env
        tells_env = tells_env or (self.facts.shell == "bash" and may_assign(exec_.canonical))
        self.jobs.begin(exec_, on_start=on_job, on_end=on_end)
        exec_.reply = partial(self._reply, exec_)
        if self.watch is not None and not exec_.is_outside:
            self.watch.begins(exec_, keeps=bool(self.jobs.running), cwd=self.cwd)
        self.used_s = self._clock.monotonic_s()
        if self.bounds is not None:
            self.bounds.begins()
        try:
            out = self._driver.begin(
                exec_.canonical, sink=exec_.feed, stdin=stdin, tty=exec_.is_tty, tells_env=tells_env
            )
        except ExecKitError as error:
            meanwhile()
            self._finish(exec_, self._lost(exec_, error), on_end)
            return
        meanwhile()
        if not exec_.is_tty and isinstance(self._driver, Driver):  # no task of its own: its end is told at once
            then = partial(self._finish, exec_, on_end=on_end)
            self._driver.follow(out, then, timeout_s=timeout_s, lingers=lingers)
            return
        task = asyncio.get_running_loop().create_task(self._follow(exec_, out, timeout_s, on_end))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(
        self,
        exec_: Exec,
        out: asyncio.Future[Completion],
        timeout_s: float | None,
        on_end: Callable[[Exec], None],
    ) -> None:
        try:
            completion = await self._driver.until_end(out, tty=exec_.is_tty, timeout_s=timeout_s)
        except ExecKitError as error:
            completion = self._lost(exec_, error)
        self._finish(exec_, completion, on_end)

    def _lost(self, exec_: Exec, error: ExecKitError) -> Completion:
        return Completion(
            exit_code=None,
            cwd=self.cwd,
            is_lost=True,
            duration_ms=(self._clock.monotonic_s() - exec_.started_s) * 1e3,
            warnings=(str(error),),
        )

    def _finish(self, exec_: Exec, completion: Completion, on_end: Callable[[Exec], None]) -> None:
        self.used_s = self._clock.monotonic_s()
        if completion.variables is not None:
            self._protect_told(completion.variables)
            if not self._is_env_asked:
                completion = replace(completion, env_delta=None, env=None)
            completion = replace(completion, variables=None)
        if completion.is_lost and self._why_closed:
            completion = replace(completion, warnings=(self._why_closed,), limit=self._limit)
        if self.watch is not None:
            self.watch.ended()
        self._come_back()
        if self.bounds is not None:
            completion = self.bounds.judged(completion)
        exec_.finish(completion)
        self.jobs.command_ended()
        code = completion.exit_code
        self.past(exec_.canonical, exec_.status.value if code is None else f"exit {code}")
        on_end(exec_)

    async def hear_of_jobs(self, exec_: Exec) -> None:
        """Wait a moment until the shell has said how those of its jobs ended that ended before the command did."""
        driver = self._driver
        if isinstance(driver, Driver):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(JOB_TOLD_S):
                    for job in exec_.jobs:
                        while job.pid is not None and driver.has_ended(job.pid):
                            await job.activity(job.version)

    def past(self, text: str, how: str) -> None:
        """Remember a command and what became of it, for the person who is asked about a later one."""
        line = " ".join(self.redact(text).split("\n"))  # before it is cut: half a secret would not be known as one
        self.recent.append(f"{line[:_RECENT_CHARS]}{'…' if len(line) > _RECENT_CHARS else ''}  [{how}]")

    def interrupt(self, exec_: Exec) -> None:
        """Interrupt the exec if it is the one that runs."""
        if self.current is exec_:
            self._interrupted = exec_
            self.withdraw(exec_)
            self._driver.interrupt()

    def withdraw(self, exec_: Exec) -> None:
        """Nobody waits any more for what is held beneath the exec: it fails, so that the interrupt can reach it."""
        if self.watch is not None:
            self.watch.withdraw(exec_)

    async def interrupted_end(self) -> None:
        """Wait until an exec that was interrupted has ended: whoever cancels a call wants the session back."""
        if self._interrupted is not None and self._interrupted is self.current:
            await self._interrupted.wait(INTERRUPTED_WAIT_S)

    async def type(self, exec_: Exec, data: bytes, judged: TerminalState | None) -> Typed | None:
        """Type bytes on the session's terminal, if it still stands as ``judged`` (None: however it does).

        None if the exec has ended; then nothing is typed.
        """
        return await self._driver.type(data, judged) if self.current is exec_ else None

    def signal(self, exec_: Exec, name: str) -> bool:
        """Signal what the running exec has in the foreground; False if it has ended."""
        if self.current is not exec_:
            return False
        self._driver.signal_foreground(signal.Signals["SIG" + name])
        return True

    def signal_job(self, exec_: Exec, name: str) -> None:
        """Signal a background job; raises CommandInvalid if it has ended."""
        self.jobs.signal(exec_, name, shell_pid=self._driver.pid)

    def _reply(self, exec_: Exec, data: bytes) -> None:
        """Type what the terminal answers, if the program that asked is there to read it."""
        if isinstance(self._driver, RemoteDriver):
            task = asyncio.get_running_loop().create_task(self._reply_there(self._driver, exec_, data))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return
        state = self._driver.terminal() if self.current is exec_ else None
        if state is not None and may_answer(state):
            self._driver.send(data)

    async def _reply_there(self, driver: RemoteDriver, exec_: Exec, data: bytes) -> None:
        """The same where a look takes a round trip: typed only if nothing has changed since."""
        with contextlib.suppress(ExecKitError):
            async with self._replying:
                state = await driver.look() if self.current is exec_ else None
                if state is not None and may_answer(state):
                    await driver.type(data, state)

    def resize(self, cols: int | None, rows: int | None) -> None:
        """Change the terminal's size; None keeps what it is."""
        self._size = (cols or self._size[0], rows or self._size[1])
        self._driver.resize(*self._size)
        if self.recorder is not None:
            self.recorder.resized(*self._size)
        if self.current is not None and self.current.view is not None:
            self.current.view.resize(*self._size)

    async def terminal(self, exec_: Exec) -> TerminalState | None:
        """Who is at the terminal of the running exec; None while it cannot be told."""
        return await self._driver.look() if self.current is exec_ else None

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What this session's transport can do."""
        return tuple(self._driver.capabilities)

    @property
    def pid(self) -> int:
        """The shell's process id; 0 when there is none here."""
        return self._driver.pid

    @property
    def is_busy(self) -> bool:
        """Whether a command or a background job runs."""
        return self.current is not None or bool(self.jobs.running)

    def used(self) -> None:
        """Somebody uses it."""
        self.used_s = self._clock.monotonic_s()

    async def close(self, why: str = "", *, limit: str = "") -> None:
        """End the shell and everything below it; ``why`` is told to those whose command or job that ends.

        ``limit`` is the one for which it is closed, by its name.
        """
        if self._closed:
            return
        self._closed = True
        self._why_closed = self.jobs.why_gone = why
        self._limit = limit
        if self.watch is not None:
            self.watch.close()
        await self._driver.close()
        if self._inside is not None:
            await self._inside.close()
        if self.bounds is not None:
            self.bounds.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2)
        if self.egress is not None:
            await self.egress.close()
        if self.on_close is not None:
            await asyncio.to_thread(self.on_close)
        if self.recorder is not None:
            self.recorder.close(**({"why": why} if why else {}))
