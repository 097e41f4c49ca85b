"""Durable jobs from the server's side: started as processes of their own, found again by whichever server comes later.

What a job says and how it stands is read from its folder (``storage/durable``); it is its owner's, whoever runs the
server. A job whose process is gone without having written an end is lost.
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from execkit_mcp.errors import CommandInvalid, ExecKitError, SessionLimit, TransportUnavailable
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model import Status
from execkit_mcp.output.retained import RetainedText
from execkit_mcp.output.retained_state import load
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.runtime.environment import SESSION_VARIABLE
from execkit_mcp.runtime.reading import Awaited, Reading, ReadRequest, check, grep, piece
from execkit_mcp.runtime.redactor_seed import RedactorSeed
from execkit_mcp.runtime.signalling import KEY_SIGNALS
from execkit_mcp.storage.durable import DurableFolder, job_folders, make_job_folder
from execkit_mcp.transports import keeper
from execkit_mcp.transports.local import SPARED, find_bash

if TYPE_CHECKING:
    from execkit_mcp.runtime.sending import SendRequest

MOST_RUNNING: Final = 16
_ROOT: Final = str(Path(__file__).resolve().parents[2])
_NEEDS: Final = str(Path(msgspec.__file__).resolve().parents[1])
_MOST_KEPT: Final = 100
_KEPT_S: Final = 7 * 86_400.0
_START_S: Final = 10.0
_POLL_S: Final = 0.05
_MAX_TEXT_BYTES: Final = 100_000
_TRIES: Final = 3
_RUNNER: Final = "import sys; sys.path.insert(0, {root!r}); sys.path.append({needs!r}); from execkit_mcp.runtime.durable_runner import main; main({folder!r}, {spec}, {ready})"  # noqa: E501


class DurablePlan(Struct, frozen=True, kw_only=True):
    """A job to start; ``shown`` is its text, redacted."""

    exec_id: str
    owner: str
    session: str
    target: str
    text: str
    shown: str
    cwd: str
    env: Mapping[str, str]
    timeout_s: float | None
    limit_bytes: int
    secrets: RedactorSeed
    fence: FencePlan | None = None


class DurableExec:
    """A durable job as it stood when it was looked at."""

    def __init__(self, folder: DurableFolder, job: Mapping[str, object]) -> None:
        self.folder = folder
        self.exec_id = folder.exec_id
        self.session = str(job.get("session", ""))
        self.owner = str(job.get("owner", ""))
        self.canonical = str(job.get("command", ""))
        started_s = job.get("started_s")
        self.started_epoch_s = float(started_s) if isinstance(started_s, int | float) else 0.0
        self.holder = folder.holder()
        self.state: Mapping[str, object] = folder.read("state") or {}
        if self.holder is None:  # its last word may have come in between
            self.state = folder.read("state") or {}

    @property
    def status(self) -> Status:
        """How it stands."""
        said = self.state.get("status")
        if said in {"completed", "timed_out"}:
            return Status(str(said))
        return Status.LOST if self.holder is None else Status.RUNNING

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.status is Status.RUNNING

    @property
    def completion(self) -> Completion | None:
        """Its end, if it has ended."""
        if self.is_running:
            return None
        code, name = self.state.get("exit_code"), self.state.get("signal")
        return Completion(
            exit_code=code if isinstance(code, int) else None, signal=name if isinstance(name, str) else None
        )

    @property
    def pid(self) -> int | None:
        """The main command's process, while it runs."""
        pid = self.state.get("pid")
        return pid if isinstance(pid, int) and self.is_running else None

    def output(self, stream: str) -> RetainedText:
        """What it has said so far; an empty text where that cannot be read."""
        streams, pending = self.state.get("streams"), self.state.get("pending")
        state = streams.get(stream) if isinstance(streams, dict) else None
        if not isinstance(state, dict):
            return RetainedText()
        try:
            text = load(state, self.folder.file(stream))
        except (ValueError, TypeError):
            return RetainedText()
        if text.total_bytes:
            text.verify()
        held = pending.get(stream) if isinstance(pending, dict) else None
        return text.with_pending(held) if isinstance(held, str) and held else text

    def redactions(self) -> dict[str, int]:
        """How many secrets of each kind were replaced."""
        counts = self.state.get("redactions")
        found = counts if isinstance(counts, dict) else {}
        return {str(kind): count for kind, count in found.items() if isinstance(count, int)}

    def fact(self) -> dict[str, object]:
        """One row of ``shell_info``."""
        end = self.completion
        return {
            "exec_id": self.exec_id,
            "session": self.session,
            "command": self.canonical[:200],
            "background": True,
            "durable": True,
            "status": self.status.value,
            **({"pid": self.pid} if self.pid is not None else {}),
            **({"exit_code": end.exit_code} if end is not None else {}),
        }


class DurableJobs:
    """The durable jobs of one state folder."""

    def __init__(self, state_dir: str, *, on_end: Callable[[DurableExec], None] = lambda _: None) -> None:
        self._state_dir = state_dir
        self._on_end = on_end
        self._pids: set[int] = set()

    def of(self, owner: str) -> list[DurableExec]:
        """The jobs of ``owner``, the newest first."""
        found = []
        for folder in job_folders(self._state_dir):
            job = folder.read("job")
            if job is not None and job.get("owner") == owner:
                found.append(self._noted(DurableExec(folder, job)))
        self._reap()
        return sorted(found, key=lambda each: each.started_epoch_s, reverse=True)

    def find(self, exec_id: str, owner: str) -> DurableExec | None:
        """The job of that id, if it is ``owner``'s."""
        for folder in job_folders(self._state_dir):
            if folder.exec_id == exec_id:
                job = folder.read("job")
                self._reap()
                return self._noted(DurableExec(folder, job)) if job is not None and job.get("owner") == owner else None
        return None

    def require_room(self, owner: str, text: str) -> None:
        """Raise unless another job can be started.

        Raises:
            SessionLimit: too many run.
            CommandInvalid: the text is too long to be handed over.
        """
        if sum(each.is_running for each in self.of(owner)) >= MOST_RUNNING:
            raise SessionLimit(f"{MOST_RUNNING} durable jobs run, which is the limit.", hint="End one with shell_send.")
        if len(text.encode()) > _MAX_TEXT_BYTES:
            raise CommandInvalid("The text is too long for a durable job.", hint="Put it into a script file.")

    async def start(self, plan: DurablePlan) -> None:
        """Start it; when this returns it runs, whatever becomes of the server.

        Raises:
            StorageUnavailable: its folder cannot be made.
            TransportUnavailable: it cannot be started.
        """
        folder = make_job_folder(self._state_dir, plan.exec_id)
        try:
            folder.write(
                "job",
                {
                    "owner": plan.owner,
                    "session": plan.session,
                    "target": plan.target,
                    "command": plan.shown,
                    "started_s": time.time(),
                },
            )
            answer = await self._spawn(folder, plan)
        except (OSError, ExecKitError) as error:
            folder.remove()
            raise TransportUnavailable(f"The durable job could not be started: {error}.") from error
        if answer != b"ok":
            folder.remove()
            reason = answer.decode("utf-8", "replace") or "its process ended"
            raise TransportUnavailable(
                f"The durable job could not be started: {reason}.", hint="See that its folder exists."
            )

    async def _spawn(self, folder: DurableFolder, plan: DurablePlan) -> bytes:
        """Its process's first word: ``ok``, or what went wrong."""
        spec = {
            "bash": find_bash(),
            "text": plan.text,
            "cwd": plan.cwd,
            "env": dict(plan.env),
            "umask": _umask(),
            "timeout_s": plan.timeout_s,
            "limit_bytes": plan.limit_bytes,
            "secrets": plan.secrets.to_json(),
            "fence": plan.fence.to_spec() if plan.fence is not None else None,
        }
        spec_fd = os.memfd_create("spec", os.MFD_CLOEXEC)
        ready_r, ready_w = os.pipe2(os.O_CLOEXEC)
        try:
            os.write(spec_fd, json.dumps(spec).encode())
            os.lseek(spec_fd, 0, os.SEEK_SET)
            code = _RUNNER.format(root=_ROOT, needs=_NEEDS, folder=str(folder.path), spec=spec_fd, ready=ready_w)
            process = subprocess.Popen(  # noqa: ASYNC220, S603 - our own module; it is not waited for
                [sys.executable, "-I", "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(spec_fd, ready_w),
                start_new_session=True,
                cwd="/",
                # Its orphans come to it, and whoever is below a session's process may not approve (cli/ancestry).
                env={"LANG": "C.UTF-8", SESSION_VARIABLE: plan.session},
            )
            process.returncode = 0  # it is not waited for: it may well outlive us
            SPARED.add(process.pid)
            self._pids.add(process.pid)
            os.close(ready_w)
            ready_w = -1
            return await _first_word(ready_r)
        finally:
            os.close(spec_fd)
            os.close(ready_r)
            if ready_w >= 0:
                os.close(ready_w)

    def _reap(self) -> None:
        for pid in tuple(self._pids):
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    continue
            SPARED.discard(pid)
            self._pids.discard(pid)

    def _noted(self, each: DurableExec) -> DurableExec:
        """``each``; whoever sees first that it has ended says so."""
        if not each.is_running and each.folder.note("recorded"):
            try:
                self._on_end(each)
            except ExecKitError:  # the record cannot be written: the next one who looks tries again
                each.folder.forget("recorded")
        return each

    def clean(self) -> None:
        """Say what has ended meanwhile; remove what ended long ago, and the oldest of too many."""
        ended = []
        for folder in job_folders(self._state_dir):
            each = DurableExec(folder, folder.read("job") or {})
            if not each.is_running:
                ended.append(self._noted(each))
        ended.sort(key=lambda each: each.started_epoch_s, reverse=True)
        for number, each in enumerate(ended):
            if number >= _MOST_KEPT or time.time() - _ended_s(each.folder) > _KEPT_S:
                each.folder.remove()

    # -- what callers ask --------------------------------------------------------------------------

    async def read(self, request: ReadRequest, owner: str) -> Reading | None:
        """Wait if asked to, then read a piece; None if ``owner`` has no such job."""
        check(request)
        awaited = Awaited(request.wait_for, after=request.offset or 0) if request.wait_for is not None else None
        end_s = time.monotonic() + request.wait_s
        while True:
            each = self.find(request.exec_id, owner)
            if each is None:
                return None
            is_over = not each.is_running or time.monotonic() >= end_s
            if not is_over and awaited is not None:
                is_over = awaited.is_in(each.output(request.stream))
            if is_over:
                break
            await asyncio.sleep(_POLL_S)
        for _ in range(_TRIES):  # what is read while more is written may be of two ages
            shown = each.output(request.stream)
            found = await grep(shown, request.grep, request.max_output) if request.grep is not None else None
            reading = piece(request, each, shown, found=found)
            again = self.find(request.exec_id, owner)
            if again is None or again.state.get("streams") == each.state.get("streams"):
                break
            each = again
        return reading

    async def send(self, request: "SendRequest", owner: str) -> Reading | None:
        """Signal it; None if ``owner`` has no such job.

        Raises:
            CommandInvalid: it has ended, or it was not a signal that was sent.
        """
        each = self.find(request.exec_id, owner)
        if each is None:
            return None
        name = request.signal or KEY_SIGNALS.get(request.key or "")
        if name is None or request.text is not None:
            raise CommandInvalid(
                f"Exec {each.exec_id!r} is a durable job: it has no terminal to type on.",
                hint="Send signal, e.g. TERM.",
            )
        if each.holder is None or each.pid is None:
            raise CommandInvalid(f"Durable job {each.exec_id!r} has ended; nothing was sent.", hint="Read its output.")
        before = each.output("stdout").total_bytes
        _signal(each.holder, each.pid, signal.Signals["SIG" + name])
        return await self.read(
            ReadRequest(exec_id=each.exec_id, offset=before, wait_s=request.wait_s, wait_for=request.wait_for), owner
        )


def _signal(holder: int, main: int, number: signal.Signals) -> None:
    """To the main command's process group; to end at once, to everything: only ever to what is below the job's own."""
    below = keeper.processes_below(holder)
    targets = set(below) if number is signal.SIGKILL else {pid for pid in below if pid == main or _group(pid) == main}
    for pid in sorted(targets):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
            if number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                os.kill(pid, signal.SIGCONT)


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _ended_s(folder: DurableFolder) -> float:
    try:
        return (folder.path / "state.json").lstat().st_mtime
    except OSError:
        return 0.0


async def _first_word(fd: int) -> bytes:
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[None] = loop.create_future()

    def came() -> None:
        if not arrived.done():
            arrived.set_result(None)

    loop.add_reader(fd, came)
    try:
        async with asyncio.timeout(_START_S):
            await arrived
        return os.read(fd, 4096)
    except TimeoutError:
        return b"it did not answer"
    finally:
        loop.remove_reader(fd)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
