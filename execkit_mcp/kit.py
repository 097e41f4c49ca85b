"""ExecKit: the one composition root. Opens storage, record, policies and transports, and offers what a caller can do.

Server, command line and SDK are thin faces over the methods here. A caller names itself (``requester``): sessions and
execs belong to the one who opened them, and nobody else can see, read or close them.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from execkit_mcp.approvals.queue import ApprovalQueue
from execkit_mcp.audit.writer import AuditLog
from execkit_mcp.config.settings import Settings, load_settings
from execkit_mcp.errors import CommandInvalid
from execkit_mcp.model import Clock, Decision, Entropy, ExecResult, Fence
from execkit_mcp.model.version import VERSION
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.policy.explain import explain
from execkit_mcp.runtime import reading
from execkit_mcp.runtime.environment import user_name
from execkit_mcp.runtime.gate import Gate
from execkit_mcp.runtime.ledger import Ledger
from execkit_mcp.runtime.opener import Opener
from execkit_mcp.runtime.pipeline import run_through
from execkit_mcp.runtime.policies import load_policy
from execkit_mcp.runtime.programs import LocalPrograms
from execkit_mcp.runtime.request import DEFAULT_SESSION, MAX_REQUEST_BYTES, RunRequest
from execkit_mcp.runtime.session import Session
from execkit_mcp.runtime.sessions import Sessions
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.runtime.targets import describe_targets
from execkit_mcp.storage import open_database
from execkit_mcp.storage.spill import SpillFolder


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
    ) -> None:
        self._settings = settings
        self._policy = policy
        self._gate = gate
        self._sessions = sessions
        self._ledger = ledger
        self._opener = opener
        self._clock = clock
        self._opening = asyncio.Lock()

    @property
    def policy_name(self) -> str:
        """The name of the default policy."""
        return self._policy.ref.name

    def prewarm(self) -> None:
        """Start what the first session needs, in the background."""
        self._opener.prewarm()

    # ── commands ─────────────────────────────────────────────────────────────────────────────────────────

    async def run(self, request: RunRequest, *, requester: str) -> ExecResult:
        """Run one command through every gate; see ``runtime/pipeline``.

        Raises:
            CommandInvalid, CommandTooLarge: the request itself is not acceptable.
            SessionNotFound, SessionBusy, SessionClosed: the session cannot take it.
        """
        request = request.checked()
        session = await self._session_for(request.session, requester)
        result = await run_through(request, session=session, gate=self._gate, ledger=self._ledger, clock=self._clock)
        return redacted(result, session)

    async def read(self, request: reading.ReadRequest, *, requester: str) -> reading.Reading:
        """More of an exec's output; see ``runtime/reading``."""
        return await reading.read(request, self._ledger.get(request.exec_id, requester))

    async def send(self, request: reading.SendRequest, *, requester: str) -> reading.Reading:
        """Type into a running exec; see ``runtime/reading``."""
        exec_ = self._ledger.get(request.exec_id, requester)
        session = self._sessions.get(exec_.session, requester)
        return await reading.send(request, exec_, session)

    async def follow(self, exec_id: str, *, requester: str) -> AsyncGenerator[tuple[str, str]]:
        """Yield ``(stream, text)`` as output comes, until the exec ends; leaving early interrupts it."""
        exec_ = self._ledger.get(exec_id, requester)
        offsets = {"stdout": 0, "stderr": 0}
        try:
            while True:
                is_last, version = not exec_.is_running, exec_.version
                for stream in ("stdout", "stderr"):
                    while piece := exec_.chain(stream).retained.read(offsets[stream]).text:
                        offsets[stream] += len(piece.encode())
                        yield stream, piece
                if is_last:
                    return
                await exec_.activity(version)
        finally:
            session = self._sessions.find(exec_.session, requester)
            if exec_.is_running and session is not None:
                session.interrupt(exec_)
                await exec_.wait(None)

    def explain(self, command: str, *, session: str | None = None, requester: str) -> tuple[Decision, str]:
        """What would be decided on ``command``, without running it, and that in words."""
        checked = RunRequest(command=command).checked()
        found = self._sessions.find(session or DEFAULT_SESSION, requester)
        if found is None:
            if session not in (None, DEFAULT_SESSION):
                raise self._sessions.unknown(str(session), requester)
            facts = self._opener.facts(name=DEFAULT_SESSION, target=self._settings.default_target, owner=requester)
            decision = self._gate.judge_in(checked.command, facts, cwd=facts.workspace)
        else:
            decision = self._gate.judge(checked.command, found)
        return decision, explain(decision, self._policy)

    # ── approvals ────────────────────────────────────────────────────────────────────────────────────────

    def question(self, approval_id: str, *, channel: str) -> str | None:
        """What a person is to be shown over ``channel``; None if another channel must be used."""
        return self._gate.question(approval_id, channel=channel)

    def answer(self, approval_id: str, *, approve: bool, channel: str, who: str, reason: str = "") -> None:
        """Enter the answer of a person who was asked over ``channel``; never called by a tool."""
        self._gate.answer(approval_id, approve=approve, channel=channel, who=who, reason=reason)

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
    ) -> dict[str, object]:
        """Open a session on a declared target and describe it.

        Raises:
            TransportUnknown: no such target is declared.
            SessionLimit: too many are open.
            CommandInvalid: the name is taken, or the folder does not exist.
        """
        async with self._opening:
            chosen = name or self._sessions.free_name(requester)
            self._sessions.require_room(chosen, requester)
            session = await self._opener.open(
                name=chosen, target=target, owner=requester, cwd=cwd, cols=cols, rows=rows
            )
            try:
                self._gate.record("session.opened", _session_facts(session))
            except BaseException:
                await session.close()
                raise
            self._sessions.add(session)
        return {
            **_session_facts(session),
            "transport": session.facts.transport,
            "shell": "bash",
            "fence": session.facts.fence.to_json(),
            "capabilities": list(session.capabilities),
        }

    async def close_session(self, name: str, *, requester: str) -> bool:
        """End a session and everything in it; False if none of that name was open."""
        session = self._sessions.find(name, requester)
        if session is None:
            return False
        self._sessions.remove(session)
        await session.close()
        self._ledger.session_closed(name, requester)
        self._gate.record("session.closed", _session_facts(session))
        return True

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

    # ── facts ────────────────────────────────────────────────────────────────────────────────────────────

    def info(self, *, requester: str) -> dict[str, object]:
        """Targets, the caller's sessions and running execs, the policy, the fence, limits."""
        document = self._policy.document
        return {
            "version": VERSION,
            "targets": [dict(row) for row in describe_targets(self._settings)],
            "sessions": [
                {
                    **_session_facts(session),
                    "state": "running" if session.current else "idle",
                    **({"exec_id": session.current.exec_id} if session.current else {}),
                }
                for session in self._sessions.of(requester)
            ],
            "execs": [
                {"exec_id": each.exec_id, "session": each.session, "command": each.canonical[:200]}
                for each in self._ledger.running(requester)
            ],
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
            "fence": Fence().to_json(),
            "limits": {
                "time_s": document.limits.time_s,
                "time_max_s": document.limits.time_max_s,
                "output_bytes": document.limits.output_bytes,
                "request_bytes": MAX_REQUEST_BYTES,
                "sessions": self._settings.max_sessions,
            },
        }

    async def aclose(self) -> None:
        """Close every session."""
        await asyncio.gather(*(session.close() for session in self._sessions.all()))
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
    environ: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    entropy: Entropy | None = None,
    owns_process: bool = False,
) -> AsyncIterator[ExecKit]:
    """Put an ExecKit together and take it apart again.

    ``owns_process`` says that this process starts no children of its own; see ``LocalTransport``.

    Raises:
        ConfigError, PolicyError: configuration or policy is wrong; nothing was started.
        StorageUnavailable: the state folder cannot be used.
        AuditWriteFailed: the record cannot be written.
    """
    environ = os.environ if environ is None else environ
    clock = clock or SystemClock()
    entropy = entropy or SystemEntropy()
    settings = load_settings(
        config=config,
        policy=policy if isinstance(policy, str) else None,
        workspace=workspace,
        state_dir=state_dir,
        environ=environ,
    )
    compiled = policy if isinstance(policy, CompiledPolicy) else load_policy(settings.policy)
    database = open_database(Path(settings.state_dir))
    spill = SpillFolder(settings.state_dir)
    try:
        spill.clear_leftovers()
        audit = AuditLog.open(Path(settings.audit_dir), clock=clock, entropy=entropy)
        try:
            gate = Gate(
                queue=ApprovalQueue(database, clock=clock, entropy=entropy),
                audit=audit,
                clock=clock,
                locator=LocalPrograms(compiled.document.program_folders, compiled.document.programs),
                run_as=user_name(),
            )
            opener = Opener(
                settings=settings,
                policy=compiled,
                clock=clock,
                entropy=entropy,
                environ=environ,
                owns_process=owns_process,
                spill=spill,
            )
            kit = ExecKit(
                settings=settings,
                policy=compiled,
                gate=gate,
                sessions=Sessions(settings.max_sessions),
                ledger=Ledger(clock),
                opener=opener,
                clock=clock,
            )
            gate.record(
                "server.started",
                {"version": VERSION, "policy": {"name": compiled.ref.name, "digest": compiled.ref.digest}},
            )
            try:
                yield kit
            finally:
                await kit.aclose()
                gate.record("server.stopped", {})
        finally:
            audit.close()
    finally:
        spill.close()
        database.close()
