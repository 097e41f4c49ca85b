"""One persistent shell on one target: starts a command, keeps what it says, knows where it stands."""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from execkit_mcp.errors import ExecKitError, SessionBusy, SessionClosed
from execkit_mcp.model import Clock, Decision, Entropy, Fence
from execkit_mcp.output.chain import OutputChain
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.redaction import Redactor
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.storage.spill import SpillFolder

SCREEN_LIMIT_BYTES = 262_144
INTERRUPTED_WAIT_S = 5.0


class SessionFacts(Struct, frozen=True, kw_only=True):
    """What does not change while a session is open.

    Attributes:
        name: the session's name, unique for its owner.
        target: the declared target it runs on.
        transport: how bytes reach the shell.
        owner: who opened it; nobody else may use it.
        policy: what judges its commands.
        home: the home folder on the target.
        workspace: what ``${workspace}`` means.
        fence: what holds beneath the shell.
        cols: the terminal's width when the session was opened.
        rows: its height.
    """

    name: str
    target: str
    transport: str
    owner: str
    policy: CompiledPolicy
    home: str
    workspace: str
    fence: Fence
    cols: int = 120
    rows: int = 40


class Session:
    """A session: one command at a time; ``cd``, variables and jobs stay."""

    def __init__(
        self,
        *,
        facts: SessionFacts,
        driver: Driver,
        redactor: Redactor,
        clock: Clock,
        entropy: Entropy,
        spill: SpillFolder | None = None,
    ) -> None:
        self.facts = facts
        self.redactor = redactor
        self.opened_s = clock.epoch_s()
        self.used_s = clock.monotonic_s()
        self._driver = driver
        self._clock = clock
        self._entropy = entropy
        self._spill = spill
        self._current: Exec | None = None
        self._interrupted: Exec | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._size = (facts.cols, facts.rows)

    @property
    def name(self) -> str:
        """The session's name."""
        return self.facts.name

    @property
    def cwd(self) -> str:
        """The folder that the next command starts in."""
        return self._driver.cwd

    @property
    def current(self) -> Exec | None:
        """The running exec, if there is one."""
        return self._current if self._current is not None and self._current.is_running else None

    @property
    def is_open(self) -> bool:
        """Whether commands can be run."""
        return not self._closed and self._driver.is_open

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
        if self.current is not None:
            raise SessionBusy(
                f"Session {self.name!r} still runs exec {self.current.exec_id!r}.",
                hint="Poll it with shell_read, interrupt it with shell_send key ctrl-c, or open another session.",
                details={"exec_id": self.current.exec_id, "session": self.name},
            )

    def reserve(self, *, decision: Decision, tty: bool) -> Exec:
        """Make the exec that ``start`` will run; nothing has run yet."""
        exec_id = "x_" + self._entropy.token_hex(6)

        def make_chain(stream: str) -> OutputChain:
            limit = self.facts.policy.document.limits.output_bytes
            return OutputChain(
                redactor=self.redactor,
                limit_bytes=SCREEN_LIMIT_BYTES if stream == "screen" else limit,
                store=self._spill.store(f"{exec_id}.{stream}") if self._spill is not None else None,
            )

        return Exec(
            exec_id=exec_id,
            session=self.name,
            owner=self.facts.owner,
            decision=decision,
            is_tty=tty,
            make_chain=make_chain,
            started_s=self._clock.monotonic_s(),
        )

    def start(
        self,
        exec_: Exec,
        *,
        stdin: bytes | None,
        timeout_s: float | None,
        on_end: Callable[[Exec], None],
    ) -> None:
        """Hand the exec's canonical text to the shell; ``on_end`` is called once, when it has ended."""
        self.require_idle()
        self._current = exec_
        self.used_s = self._clock.monotonic_s()
        try:
            out = self._driver.begin(exec_.canonical, sink=exec_.feed, stdin=stdin, tty=exec_.is_tty)
        except ExecKitError as error:
            self._finish(exec_, self._lost(exec_, error), on_end)
            return
        exec_.prepare()
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
        exec_.finish(completion)
        on_end(exec_)

    def interrupt(self, exec_: Exec) -> None:
        """Interrupt the exec if it is the one that runs."""
        if self.current is exec_:
            self._interrupted = exec_
            self._driver.interrupt()

    async def interrupted_end(self) -> None:
        """Wait until an exec that was interrupted has ended: whoever cancels a call wants the session back."""
        if self._interrupted is not None and self._interrupted is self.current:
            await self._interrupted.wait(INTERRUPTED_WAIT_S)

    def send(self, exec_: Exec, data: bytes) -> bool:
        """Type bytes on the session's terminal; False if the exec has ended (then nothing is sent)."""
        if self.current is not exec_:
            return False
        self._driver.send(data)
        return True

    def resize(self, cols: int | None, rows: int | None) -> None:
        """Change the terminal's size; None keeps what it is."""
        self._size = (cols or self._size[0], rows or self._size[1])
        self._driver.resize(*self._size)

    def is_reading_password(self) -> bool:
        """Whether the terminal takes a line without showing it."""
        return self._driver.is_reading_password()

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What this session's transport can do."""
        return tuple(self._driver.capabilities)

    async def close(self) -> None:
        """End the shell and everything below it."""
        if self._closed:
            return
        self._closed = True
        await self._driver.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2)
