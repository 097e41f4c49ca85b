"""ExecKit: the one composition root. Opens storage, record, policies and transports, and offers what a caller can do.

Server, command line and SDK are thin faces over the methods here. A caller names itself (``requester``): sessions and
execs belong to the one who opened them, and nobody else can see, read or close them. Longer than most, because it is
where all parts meet.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from execkit_mcp.approvals import Scope, State
from execkit_mcp.approvals.retention import purge
from execkit_mcp.approvals.waiting import wait_for_answer
from execkit_mcp.audit.otlp import SpanExporter, endpoint_from
from execkit_mcp.audit.tail import newest_entries
from execkit_mcp.config.settings import Settings, TargetSettings
from execkit_mcp.errors import ApprovalExpired, CommandInvalid, ExecKitError
from execkit_mcp.model import Clock, Decision, Entropy, ExecResult
from execkit_mcp.model.version import VERSION
from execkit_mcp.output.budget import MARKER_START
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.policy.explain import explain
from execkit_mcp.runtime import reading, sending
from execkit_mcp.runtime.admission import Admission, Admissions
from execkit_mcp.runtime.asking import AskingTerms
from execkit_mcp.runtime.desk import ApprovalDesk
from execkit_mcp.runtime.durable import DurableJobs
from execkit_mcp.runtime.egress import egress_for
from execkit_mcp.runtime.environment import user_name
from execkit_mcp.runtime.facts import exec_rows
from execkit_mcp.runtime.fencing import watch_for
from execkit_mcp.runtime.gate import Gate
from execkit_mcp.runtime.ground import Ground, open_ground
from execkit_mcp.runtime.ledger import Ledger, LedgerLimits
from execkit_mcp.runtime.limit_watch import LimitWatch
from execkit_mcp.runtime.limits import Overrun
from execkit_mcp.runtime.opener import Opener
from execkit_mcp.runtime.pipeline import run_through
from execkit_mcp.runtime.programs import LocalPrograms
from execkit_mcp.runtime.quotas import Quotas
from execkit_mcp.runtime.recordings import Recordings
from execkit_mcp.runtime.remote import REMOTE, insecure_warnings
from execkit_mcp.runtime.request import DEFAULT_SESSION, MAX_REQUEST_BYTES, RunRequest
from execkit_mcp.runtime.sandboxes import Sandbox
from execkit_mcp.runtime.sandboxing import Sandboxing, SandboxRequest
from execkit_mcp.runtime.session import Session
from execkit_mcp.runtime.sessions import Sessions
from execkit_mcp.runtime.targets import describe_targets
from execkit_mcp.runtime.tracing import Tracing
from execkit_mcp.runtime.webhooks import open_webhook
from execkit_mcp.storage import Database
from execkit_mcp.storage.spill import SpillFolder
from execkit_mcp.storage.tokens import Tokens

_RECORD_ENTRIES = 50
_TURN_S = 0.01


def _tidy(database: Database, spill: SpillFolder, settings: Settings, clock: Clock) -> None:
    """Remove what servers before this one have left, and what is over and older than what is kept."""
    spill.clear_leftovers()
    purge(database, days=settings.audit_keep_days, now_s=clock.epoch_s())


class ExecKit:
    """Everything that a caller can do, over one set of sessions, one queue and one record."""

    def __init__(
        self,
        *,
        settings: Settings,
        policy: CompiledPolicy,
        gate: Gate,
        sessions: Sessions,
        ledger: Ledger,
        opener: Opener,
        clock: Clock,
        durable: DurableJobs,
        admissions: Admissions,
        quotas: Quotas,
        tokens: Tokens,
        recordings: Recordings | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._tracing = tracing
        self._recordings = recordings
        self.settings = settings
        self.tokens = tokens
        self._admissions = admissions
        self._quotas = quotas
        self._settings = settings
        self._policy = policy
        self._gate = gate
        self._sessions = sessions
        self._ledger = ledger
        self._opener = opener
        self._clock = clock
        self._durable = durable
        self._opening = asyncio.Lock()
        self._loop = asyncio.get_running_loop()
        self._turned_s = 0.0
        self._sandboxing = Sandboxing(opener.sandboxes, gate, self._open_fork)
        self._limits = LimitWatch(settings, sessions, clock, self._end_session, quotas)

    @property
    def policy_name(self) -> str:
        """The name of the default policy."""
        return self._policy.ref.name

    @property
    def toolsets(self) -> tuple[str, ...]:
        """The tools that are offered beside the core ones; where the default target is a sandbox, its own too."""
        is_sandbox = self._settings.targets[self._settings.default_target].transport == "sandbox"
        return tuple(dict.fromkeys((*self._settings.toolsets, *(("checkpoints",) if is_sandbox else ()))))

    def prewarm(self) -> None:
        """Start what the first session needs, in the background."""
        self._opener.prewarm()

    def admit(self, requester: str, admission: Admission) -> None:
        """Let a caller from outside in, as far as his credentials reach; before each of his calls."""
        self._admissions.admit(requester, admission)

    def _require_loop(self) -> None:
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError(
                "These sessions belong to another event loop than the one that runs now."
                " Open a session in each loop, or use execkit_mcp.create(), which brings a loop of its own."
            )

    # ── commands ─────────────────────────────────────────────────────────────────────────────────────────

    async def run(self, request: RunRequest, *, requester: str) -> ExecResult:
        """Run one command through every gate; see ``runtime/pipeline``.

        Raises:
            CommandInvalid, CommandTooLarge: the request itself is not acceptable.
            SessionNotFound, SessionBusy, SessionClosed: the session cannot take it.
        """
        self._require_loop()
        request = request.checked()
        self._quotas.require_time(requester, self._sessions.all())
        session = await self._session_for(request.session, requester)
        self._gate.calls += 1
        try:
            await self._let_others_turn()
            result = await run_through(
                request,
                session=session,
                gate=self._gate,
                ledger=self._ledger,
                clock=self._clock,
                durable=self._durable,
            )
        finally:
            self._gate.calls -= 1
        if session.notes or session.facts.warnings:
            result = replace(result, warnings=(*session.facts.warnings, *session.notes, *result.warnings))
            session.notes.clear()
        return redacted(result, session)

    async def _let_others_turn(self) -> None:
        """A command that ends at once may be waited for without a turn of the event loop: now and then others have one.

        Before the command, so that whoever is cancelled here has lost nothing.
        """
        now_s = self._clock.monotonic_s()
        if now_s - self._turned_s > _TURN_S:
            self._turned_s = now_s
            await asyncio.sleep(0)

    async def sandbox(self, request: SandboxRequest, *, requester: str) -> dict[str, object]:
        """Snapshot, restore, fork, diff or apply; see ``runtime/sandboxing``."""
        session = self._sessions.get(request.session, requester)
        return await self._sandboxing.call(request, session)

    async def _open_fork(self, forked: Sandbox, parent: Session, name: str | None) -> dict[str, object]:
        facts = parent.facts
        return await self.open_session(
            target=facts.target, name=name, cwd=parent.cwd, requester=facts.owner, sandbox=forked
        )

    async def read(self, request: reading.ReadRequest, *, requester: str) -> reading.Reading:
        """More of an exec's output; see ``runtime/reading``."""
        self._require_loop()
        if not self._ledger.knows(request.exec_id):
            found = await self._durable.read(request, requester)
            if found is not None:
                return found
        exec_ = self._ledger.get(request.exec_id, requester)
        session = self._sessions.find(exec_.session, requester)
        if session is not None:
            session.used()
        await self._gate.shown(exec_)
        found = await reading.read(request, exec_)
        if request.grep is not None:  # it may have aged out meanwhile
            self._ledger.get(request.exec_id, requester)
        return found

    async def send(self, request: sending.SendRequest, *, requester: str) -> reading.Reading:
        """Type into a running exec; see ``runtime/sending``."""
        self._require_loop()
        request = request.checked()
        if not self._ledger.knows(request.exec_id):
            found = await self._durable.send(request, requester)
            if found is not None:
                return found
        exec_ = self._ledger.get(request.exec_id, requester)
        session = self._sessions.get(exec_.session, requester)
        await self._gate.ready()
        await self._gate.shown(exec_)
        return await sending.send(request, exec_, session, self._gate, self._opener.secrets)

    async def follow(self, exec_id: str, *, requester: str) -> AsyncGenerator[tuple[str, str]]:
        """Yield ``(stream, text)`` as output comes, until the exec ends; leaving early interrupts it.

        A line tells of what fell out of the middle before it was read.
        """
        self._require_loop()
        exec_ = self._ledger.get(exec_id, requester)
        offsets = {"stdout": 0, "stderr": 0}
        try:
            await self._gate.shown(exec_)
            while True:
                is_last, version = not exec_.is_running, exec_.version
                for stream in ("stdout", "stderr"):
                    while (piece := exec_.chain(stream).retained.read(offsets[stream])).text:
                        offsets[stream] = piece.next_offset
                        if piece.skipped_bytes:
                            yield (
                                stream,
                                f"\n{MARKER_START}{piece.skipped_bytes} bytes fell out before they were read]\n",
                            )
                        yield stream, piece.text
                if is_last:
                    return
                await exec_.activity(version)
        finally:
            session = self._sessions.find(exec_.session, requester)
            if exec_.is_running and session is not None:
                session.interrupt(exec_)
                await exec_.wait(None)

    async def explain(self, command: str, *, session: str | None = None, requester: str) -> tuple[Decision, str]:
        """What would be decided on ``command``, without running it, and that in words."""
        checked = RunRequest(command=command).checked()
        found = self._sessions.find(session or DEFAULT_SESSION, requester)
        if found is None:
            if session not in (None, DEFAULT_SESSION):
                raise self._sessions.unknown(str(session), requester)
            if self._settings.targets[self._settings.default_target].transport in REMOTE:
                found = await self._session_for(session, requester)  # only there can it be told what is there
        if found is None:
            facts = self._opener.facts(name=DEFAULT_SESSION, target=self._settings.default_target, owner=requester)
            decision = self._gate.judge_in(checked.command, facts, cwd=facts.workspace)
        else:
            facts = found.facts
            await found.ready()
            decision = await found.judged(lambda: self._gate.judge(checked.command, found))
        by = next((each for each in facts.policies if each.ref == decision.policy), facts.policy)
        return decision, explain(decision, by)

    # ── approvals ────────────────────────────────────────────────────────────────────────────────────────

    def question(self, approval_id: str, *, channel: str) -> str | None:
        """What a person is to be shown over ``channel``; None if another channel must be used."""
        return self._gate.asking.question(approval_id, channel=channel)

    def answer(
        self,
        approval_id: str,
        *,
        approve: bool,
        channel: str,
        who: str,
        reason: str = "",
        scope: Scope | None = None,
        edited: str = "",
        requester: str | None = None,
    ) -> None:
        """Enter the answer of a person who was asked over ``channel``; never called by a tool.

        ``requester``: whose question it must have been; for others it does not exist.
        """
        found = self._gate.asking.queue.get(approval_id) if requester is not None else None
        if found is not None and found.request.requester != requester:
            raise ApprovalExpired("No approval of that id waits.", hint="Call again without approval_id.")
        self._gate.asking.answer(
            approval_id, approve=approve, channel=channel, who=who, reason=reason, scope=scope, edited=edited
        )

    def held(self, session: str, *, requester: str) -> dict[str, Decision]:
        """What waits for a person beneath the command that runs in the session, by the approval's id."""
        found = self._sessions.find(session, requester)
        current = found.current if found is not None else None
        return dict(current.held) if current is not None else {}

    async def answered(self, approval_id: str, *, timeout_s: float) -> bool:
        """Wait for a person's answer over any channel; False if none came within ``timeout_s``.

        An approval that runs out meanwhile is answered: with no.
        """
        found = await wait_for_answer(self._gate.asking.queue, approval_id, timeout_s=timeout_s)
        return found is not None and found.state is not State.PENDING

    def patience_s(self, *, requester: str) -> float:
        """Seconds that a call waits for a person unless it says; none while others of the caller wait already."""
        return self._gate.asking.patience_s(requester)

    # ── sessions ─────────────────────────────────────────────────────────────────────────────────────────

    async def open_session(
        self,
        *,
        requester: str,
        target: str = "local",
        cwd: str | None = None,
        name: str | None = None,
        cols: int = 120,
        rows: int = 40,
        sandbox: Sandbox | None = None,
    ) -> dict[str, object]:
        """Open a session on a declared target and describe it; ``sandbox``: on the layers of another one.

        Raises:
            TransportUnknown: no such target is declared.
            SessionLimit: too many are open.
            CommandInvalid: the name is taken or a secret, or the folder does not exist.
        """
        await self._gate.ready()
        async with self._opening:
            chosen = name or self._sessions.free_name(requester)
            if self.redact(chosen, requester=requester) != chosen:
                raise CommandInvalid("The name of the session is a secret.", hint="Give it another name, or none.")
            self._sessions.require_room(chosen, requester)
            self._quotas.require_room(requester, self._sessions.all())
            session = await self._opener.open(
                name=chosen, target=target, owner=requester, cwd=cwd, cols=cols, rows=rows, sandbox=sandbox
            )
            watch = watch_for(session, self._gate)
            if watch is not None:
                session.watch_with(watch)
            egress = egress_for(session, self._gate)
            if egress is not None:
                session.watch_network(egress)
            try:
                told = {} if self._recordings is None else {"recording": self._recordings.begin(session)}
                self._gate.record("session.opened", {**_session_facts(session), **told})
            except BaseException:
                await session.close()
                raise
            session.on_relinked = lambda: self._gate.record("session.relinked", _session_facts(session))
            self._sessions.add(session)
        self._gate.asking.session_opened(session)
        self._limits.opened(session)
        if self._tracing is not None:
            self._tracing.session_opened(session)
        return {
            **_session_facts(session),
            "transport": session.facts.transport,
            "shell": session.facts.shell,
            "fence": session.facts.fence.to_json(),
            "capabilities": list(session.capabilities),
        }

    async def close_session(self, name: str, *, requester: str) -> bool:
        """End a session and everything in it; False if none of that name was open."""
        await self._gate.ready()
        session = self._sessions.find(name, requester)
        if session is None:
            return False
        await self._end_session(session)
        return True

    async def _end_session(self, session: Session, why: Overrun | None = None, *, told: str = "") -> None:
        self._sessions.remove(session)
        facts = {"reason": told} if told else {}
        if why is not None:
            told, facts = f"{why.reason} ({why.limit})", {"limit": why.limit, "reason": why.reason}
        limit = "" if why is None else why.limit
        self._gate.calls += 1
        try:
            await session.close(f"The session was closed because {told}." if told else "", limit=limit)
            self._ledger.session_closed(session.name, session.facts.owner)
            if self._tracing is not None:
                self._tracing.session_closed(session)
            self._gate.asking.session_closed(session)
            await self._gate.recorded("session.closed", {**_session_facts(session), **facts})
        finally:
            self._gate.calls -= 1

    async def close_sessions(self, reason: str, *, requester: str | None = None) -> None:
        """Close every session, or those of ``requester``; whoever waits for a command in one is told why."""
        sessions = self._sessions.all() if requester is None else self._sessions.of(requester)
        await asyncio.gather(*(self._end_session(each, told=reason) for each in sessions))

    def counts(self) -> dict[str, int]:
        """How many sessions are open, and in how many of them a command runs."""
        sessions = self._sessions.all()
        return {"sessions": len(sessions), "running": sum(each.current is not None for each in sessions)}

    async def enforce_limits(self) -> None:
        """Close the sessions that are beyond a limit now; this happens by itself every second."""
        await self._limits.enforce()

    async def _session_for(self, name: str | None, requester: str) -> Session:
        chosen = name or DEFAULT_SESSION
        session = self._sessions.find(chosen, requester)
        if session is not None and session.is_open:
            return session
        if session is not None:
            await self.close_session(chosen, requester=requester)
        elif name not in (None, DEFAULT_SESSION):
            raise self._sessions.unknown(chosen, requester)
        try:
            await self.open_session(requester=requester, name=chosen, target=self._settings.default_target)
        except CommandInvalid:
            if self._sessions.find(chosen, requester) is None:  # not: opened by a call beside this one
                raise
        return self._sessions.get(chosen, requester)

    def redact(self, text: str, *, session: str | None = None, requester: str = "") -> str:
        """``text`` as it may be shown: ``session`` first, then what every session of the requester protects."""
        found = self._sessions.find(session or DEFAULT_SESSION, requester)
        text = found.redact(text) if found is not None else self._opener.redact(text)
        done = [] if found is None else [found.secrets]
        for other in self._sessions.of(requester):
            if other is not found and (other.secrets is None or other.secrets not in done):
                text = other.redact(text)
                done.append(other.secrets)
        return text

    # ── facts ────────────────────────────────────────────────────────────────────────────────────────────

    def info(self, *, requester: str) -> dict[str, object]:
        """Targets, the caller's sessions and running execs, the policy, the fence, limits."""
        document = self._policy.document
        reachable = self._opener.targets_for(requester)
        return {
            "version": VERSION,
            "targets": [dict(row) for row in describe_targets(self._settings) if row["name"] in reachable],
            "sessions": [
                {
                    **_session_facts(session),
                    "state": "running" if session.current else "idle",
                    **({"exec_id": session.current.exec_id} if session.current else {}),
                }
                for session in self._sessions.of(requester)
            ],
            "execs": exec_rows(self._ledger, self._sessions, self._durable, requester),
            "policy": {
                "name": self._policy.ref.name,
                "digest": self._policy.ref.digest,
                "unmatched": document.defaults.decision.word,
                "rules": [
                    {
                        "id": rule.id,
                        "verdict": rule.verdict.word,
                        "programs": sorted({element.program for element in rule.elements})[:40],
                    }
                    for rule in document.rules[:40]
                ],
            },
            "fence": self._opener.fence.to_json(),
            "limits": {
                "time_s": document.limits.time_s,
                "time_max_s": document.limits.time_max_s,
                "output_bytes": document.limits.output_bytes,
                "request_bytes": MAX_REQUEST_BYTES,
                "sessions": self._settings.max_sessions,
                "idle_s": self._settings.idle_s,
                "memory_mb": self._settings.memory_mb,
                "total_memory_mb": self._settings.total_memory_mb,
                "output_mb": self._settings.output_mb,
            },
        }

    def record_of(self, requester: str) -> list[dict[str, object]]:
        """The newest entries of the record that are about ``requester``, oldest first."""
        mine: list[dict[str, object]] = []
        execs: set[object] = set()
        for entry in newest_entries(Path(self._settings.audit_dir)):
            data = entry.get("data")
            if not isinstance(data, dict):
                continue
            if data.get("requester") == requester:
                execs.add(data.get("exec_id"))
            elif "requester" in data or data.get("exec_id") is None or data["exec_id"] not in execs:
                continue
            mine.append({name: entry[name] for name in ("seq", "time", "kind", "data") if name in entry})
        return mine[-_RECORD_ENTRIES:]

    async def aclose(self) -> None:
        """Close every session."""
        self._require_loop()
        await self._limits.aclose()
        sessions = self._sessions.all()
        await asyncio.gather(*(session.close() for session in sessions))
        with contextlib.suppress(ExecKitError):  # then the log is closed, and says so to whoever comes next
            for session in sessions:
                self._gate.record_seen("session.closed", {**_session_facts(session), "reason": "the server ends"})
            await self._gate.durable()
        if self._tracing is not None:
            for session in sessions:
                self._tracing.session_closed(session)
            await asyncio.get_running_loop().run_in_executor(None, self._tracing.close)
        await self._opener.aclose()


def redacted(result: ExecResult, session: Session) -> ExecResult:
    """``result`` with the fields redacted that did not come through an output chain."""
    decision = result.decision
    if decision is not None:
        decision = replace(decision, message=session.redact(decision.message), hint=session.redact(decision.hint))
    if not result.warnings and decision is None:
        return result
    return replace(result, decision=decision, warnings=tuple(map(session.redact, result.warnings)))


def _session_facts(session: Session) -> dict[str, object]:
    return {"session": session.name, "target": session.facts.target, "cwd": session.redact(session.cwd)}


@asynccontextmanager
async def open_kit(
    *,
    policy: str | CompiledPolicy | None = None,
    config: str | None = None,
    workspace: str | None = None,
    state_dir: str | None = None,
    targets: Mapping[str, TargetSettings] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    entropy: Entropy | None = None,
    owns_process: bool = False,
    read_only: bool = False,
) -> AsyncIterator[ExecKit]:
    """Put an ExecKit together and take it apart again.

    ``targets`` are declared besides those of the configuration. ``read_only`` and ``owns_process`` are what ``kit_on``
    says.

    Raises:
        ConfigError, PolicyError: configuration or policy is wrong; nothing was started.
        StorageUnavailable: the state folder cannot be used.
        AuditWriteFailed: the record cannot be written.
    """
    with open_ground(
        policy=policy,
        config=config,
        workspace=workspace,
        state_dir=state_dir,
        targets=targets,
        environ=environ,
        clock=clock,
        entropy=entropy,
    ) as ground:
        async with kit_on(ground, owns_process=owns_process, read_only=read_only) as kit:
            yield kit


@asynccontextmanager
async def kit_on(ground: Ground, *, owns_process: bool = False, read_only: bool = False) -> AsyncIterator[ExecKit]:
    """An ExecKit on ``ground``, which outlives it.

    ``read_only`` makes the policy ``read-only`` one that must allow every command on every target. ``owns_process``
    says that this process starts no children of its own; see ``LocalTransport``.
    """
    settings, clock, entropy = ground.settings, ground.clock, ground.entropy
    database, policy = ground.database, ground.policy
    _tidy(database, ground.spill, settings, clock)
    desk = ApprovalDesk(
        database,
        state_dir=settings.state_dir,
        audit_dir=settings.audit_dir,
        clock=clock,
        entropy=entropy,
    )
    webhook = open_webhook(settings, desk, ground.environ)
    admissions = Admissions()
    quotas = Quotas(
        database,
        admissions,
        clock=clock,
        sessions=settings.http.limits.sessions,
        minutes_per_day=settings.http.limits.minutes_per_day,
    )
    endpoint = endpoint_from(ground.environ, settings.otlp_endpoint)
    tracing = None
    if endpoint is not None:
        tracing = Tracing(SpanExporter(endpoint), clock=clock, entropy=entropy)
    gate = Gate(
        tracing=tracing,
        on_end=quotas.ended,
        queue=desk.queue,
        audit=ground.audit,
        clock=clock,
        locator=LocalPrograms(policy.document.program_folders, policy.document.programs),
        run_as=user_name(),
        terms=AskingTerms(
            channels=settings.approval_channels,
            ttl_s=settings.approval_ttl_s,
            wait_s=settings.approval_wait_s,
        ),
        on_request=webhook.send if webhook is not None else None,
    )
    opener = Opener(
        settings=settings,
        policy=policy,
        clock=clock,
        entropy=entropy,
        environ=ground.environ,
        owns_process=owns_process,
        spill=ground.spill,
        admissions=admissions,
        narrowed_by=("read-only",) if read_only else (),
    )
    recordings = None
    if settings.recordings:
        recordings = Recordings(
            settings, clock=clock, entropy=entropy, record=gate.record, record_seen=gate.record_seen
        )
    opener.remote.record = gate.record
    kit = ExecKit(
        settings=settings,
        policy=policy,
        gate=gate,
        sessions=Sessions(settings.max_sessions),
        ledger=Ledger(clock, LedgerLimits(session_bytes=settings.output_mb << 20)),
        opener=opener,
        clock=clock,
        durable=DurableJobs(settings.state_dir, on_end=gate.record_durable_end),
        recordings=recordings,
        admissions=admissions,
        quotas=quotas,
        tokens=Tokens(database, clock=clock, entropy=entropy),
        tracing=tracing,
    )
    gate.record(
        "server.started",
        {"version": VERSION, "policy": {"name": policy.ref.name, "digest": policy.ref.digest}},
    )
    for warning in (each for target in settings.targets.values() for each in insecure_warnings(target)):
        gate.record("server.warned", {"message": warning})
        print(f"execkit-mcp: warning: {warning}", file=sys.stderr)  # noqa: T201 - for the operator
    DurableJobs(settings.state_dir, on_end=gate.record_durable_end).clean()
    try:
        yield kit
    finally:
        await kit.aclose()
        if webhook is not None:
            webhook.close()
        gate.record("server.stopped", {})
        gate.close()
