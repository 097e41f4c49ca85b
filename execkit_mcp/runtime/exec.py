"""One command in one session: its output as it grows, and how it ended."""

import asyncio
from collections.abc import Callable, Mapping
from math import inf
from typing import Final

from execkit_mcp.model import AuditMark, Decision, ExecResult, Fence, JobNote, Refusal, Status, StreamCount
from execkit_mcp.output.budget import view
from execkit_mcp.output.chain import OutputChain
from execkit_mcp.output.exits import explain_exit
from execkit_mcp.policy.typed import Line
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.runtime.tty import TtyView

_NEVER_WRITTEN: Final = OutputChain(redactor=None)


class _Chains(dict[str, OutputChain]):
    """By stream; each is made when something is written to it."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str], OutputChain]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, stream: str) -> OutputChain:
        chain = self[stream] = self._make(stream)
        return chain


class Exec:
    """A command that runs or ran; its redacted output stays readable.

    Attributes:
        exec_id: names it for ``shell_read`` and ``shell_send``.
        session: the session's name.
        owner: who asked for it; nobody else may read it.
        canonical: the text that the shell was given.
        is_tty: whether it runs on the terminal.
        completion: how it ended; None while it runs.
        version: grows with each piece of output and at the end.
        view: the terminal, for a ``tty`` command.
        reply: types what the terminal answers to the program's questions.
        typed: what was typed into it and is not decided yet.
        key: the idempotency key that it was asked for with, and the call.
        chains: cleaned, redacted output by stream; for a ``tty`` command ``stdout`` is the terminal.
        jobs: background jobs that it has started.
        pid: the process, if it is a background job itself.
        is_shared: whether another exec has the same output.
        audit: its newest entry in the audit log.
        started_seq: the entry that says that it starts.
        on_feed: told of each piece of output as it came, for the recording.
    """

    __slots__ = (
        "_activity", "_done", "audit", "canonical", "chains", "completion", "decision", "exec_id", "held", "is_outside",
        "is_shared", "is_tty", "jobs", "key", "notes", "on_feed", "owner", "pid", "refused", "reply", "session",
        "started_s", "started_seq", "typed", "version", "view",
    )  # fmt: skip

    def __init__(
        self,
        *,
        exec_id: str,
        session: str,
        owner: str,
        decision: Decision,
        make_chain: Callable[[str], OutputChain],
        started_s: float,
        view: TtyView | None = None,
    ) -> None:
        self.exec_id = exec_id
        self.session = session
        self.owner = owner
        self.decision = decision
        self.canonical = decision.canonical or ""
        self.is_tty = view is not None
        self.view = view
        self.reply: Callable[[bytes], None] | None = None
        self.chains = _Chains(make_chain)
        self.started_s = started_s
        self.key: tuple[str, tuple[object, ...]] | None = None
        self.completion: Completion | None = None
        self.jobs: list[Exec] = []
        self.refused: list[Refusal] = []
        self.held: dict[str, Decision] = {}
        self.is_outside = False
        self.notes: list[str] = []
        self.pid: int | None = None
        self.typed = Line()
        self.is_shared = False
        self.audit: AuditMark | None = None
        self.started_seq = 0
        self.on_feed: Callable[[Exec, str, bytes], None] | None = None
        self.version = 0
        self._done: asyncio.Event | None = None
        self._activity: asyncio.Event | None = None

    @property
    def status(self) -> Status:
        """How it stands."""
        end = self.completion
        if end is None:
            return Status.RUNNING
        if end.is_lost:
            return Status.LOST
        if end.is_timed_out:
            return Status.TIMED_OUT
        return Status.CANCELLED if end.is_cancelled else Status.COMPLETED

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self.completion is None

    def feed(self, stream: str, data: bytes) -> None:
        """Take bytes of ``stdout``, ``stderr`` or ``tty`` as they come; also from background jobs, later on."""
        name = "screen" if stream == "tty" else stream
        self.chains["stdout" if self.is_tty and name == "screen" else name].push(data)
        if self.view is not None and stream == "tty":
            answers = self.view.push(data)
            if answers and self.reply is not None and self.is_running:
                self.reply(answers)
        if self.on_feed is not None:
            self.on_feed(self, stream, data)
        self._tick()

    def finish(self, completion: Completion, *, settles: bool = True) -> None:
        """Record how it ended; wakes everyone who waits. ``settles``: nobody else writes to its output."""
        if settles:
            self.settle()
        if self.view is not None:
            self.view.finish()
        self.completion = completion
        self.reply = None  # it knows this exec: two that know each other stay until the collector comes
        if self._done is not None:
            self._done.set()
        self._tick()

    def correct(self, completion: Completion) -> None:
        """Record what has become known of how it ended."""
        self.completion = completion
        self._tick()

    def settle(self) -> None:
        """Decide everything that is held of its output."""
        for chain in self.chains.values():
            chain.settle()

    def share(self, other: "Exec") -> None:
        """Have the same output as ``other``."""
        self.chains = other.chains
        self.is_shared = other.is_shared = True

    async def wait(self, timeout_s: float | None) -> bool:
        """Wait until it ends or ``timeout_s`` seconds pass; True if it has ended."""
        if not self.is_running:
            return True
        if self._done is None:
            self._done = asyncio.Event()
        if timeout_s is None:
            await self._done.wait()
            return True
        try:
            async with asyncio.timeout(timeout_s):
                await self._done.wait()
        except TimeoutError:
            return not self.is_running
        return True

    async def activity(self, since: int) -> None:
        """Wait until ``version`` is no longer ``since``: for more output, or the end."""
        while self.version == since:
            if self._activity is None:
                self._activity = asyncio.Event()
            await self._activity.wait()

    def _tick(self) -> None:
        self.version += 1
        if self._activity is not None:
            self._activity.set()
            self._activity = None

    def flush(self) -> None:
        """Decide what is held of every stream, so that what comes later can be told apart."""
        for chain in self.chains.values():
            chain.flush()

    def chain(self, stream: str) -> OutputChain:
        """The output of ``stdout``, ``stderr`` or ``screen``, to be read now: nothing is there before it is written."""
        return self.chains.get("stdout" if self.is_tty and stream == "screen" else stream, _NEVER_WRITTEN)

    @property
    def ended_s(self) -> float:
        """When it ended, on the clock of ``started_s``; infinitely late while it runs."""
        return inf if self.completion is None else self.started_s + self.completion.duration_ms / 1e3

    @property
    def kept_bytes(self) -> int:
        """How many bytes of its output can be read."""
        return sum(chain.retained.kept_bytes for chain in self.chains.values())

    @property
    def is_spilled(self) -> bool:
        """Whether some of its output lies on disk."""
        return any(chain.retained.is_spilled for chain in self.chains.values())

    def rest(self) -> None:
        """Close what reading opened, once the command has ended."""
        if self.completion is not None:
            for chain in self.chains.values():
                chain.retained.rest()

    def discard(self) -> None:
        """Remove its output from where it is kept; nothing may be read any more."""
        for chain in self.chains.values():
            chain.retained.discard()

    def redactions(self) -> dict[str, int]:
        """How many secrets of each kind were replaced so far."""
        total: dict[str, int] = {}
        for chain in self.chains.values():
            for kind, count in chain.redactions.items():
                total[kind] = total.get(kind, 0) + count
        return total

    def result(
        self,
        *,
        max_output: int,
        now_s: float,
        cwd: str,
        fence: Fence,
        warnings: tuple[str, ...] = (),
        jobs: tuple[JobNote, ...] = (),
        env_delta: Mapping[str, object] | None = None,
    ) -> ExecResult:
        """The ExecResult as it stands now."""
        end = self.completion
        texts: dict[str, str] = {}
        truncated: dict[str, StreamCount] = {}
        for name in ("stdout", "stderr"):
            text, count = view(self.chain(name).snapshot(), max_output, exec_id=self.exec_id, stream=name)
            texts[name] = text
            if count is not None:
                truncated[name] = count
        notes = [*warnings, *map(str, self.refused), *self.notes]
        if end is not None:
            notes.extend(end.warnings)
            if self.status is Status.COMPLETED and end.stopped_job is None:
                told = explain_exit(
                    end.exit_code,
                    signal=end.signal,
                    programs=[each.program for each in self.decision.commands],
                    pipe_status=end.pipe_status if len(end.pipe_status) > 1 else (),
                    stderr=texts["stdout" if self.is_tty else "stderr"],
                )
                if told is not None:
                    notes.append(told)
        terminal = self.chains["screen"].snapshot() if "screen" in self.chains else None
        if not self.is_tty and terminal is not None and terminal.total_bytes:
            notes.append(
                f"{terminal.total_bytes} bytes were written to the terminal itself;"
                f" read them with shell_read(exec_id={self.exec_id!r}, stream='screen')"
            )
        invalid = sum(chain.invalid_bytes for name, chain in self.chains.items() if name != "screen")
        if invalid:
            notes.append(f"{invalid} bytes were not valid UTF-8 text and stand as U+FFFD")
        notes.extend(
            f"{name}: only its ends are kept; counts are exact. {chain.retained.trouble}"
            for name, chain in self.chains.items()
            if chain.retained.trouble
        )
        self.rest()
        return ExecResult(
            status=self.status,
            exit_code=end.exit_code if end is not None else None,
            stdout=texts["stdout"],
            stderr=texts["stderr"],
            duration_ms=end.duration_ms if end is not None else (now_s - self.started_s) * 1e3,
            cwd=cwd,
            session=self.session,
            exec_id=self.exec_id,
            signal=end.signal if end is not None else None,
            truncated=truncated,
            redactions=self.redactions(),
            fence=fence,
            warnings=tuple(notes),
            pipe_status=end.pipe_status if end is not None and len(end.pipe_status) > 1 else (),
            jobs=jobs,
            env_delta=env_delta,
            limit=end.limit if end is not None else "",
            audit=self.audit,
            refused=tuple(self.refused),
            approval_id=next(iter(self.held), None),
        )
