"""The gate in front of every session: judges, asks, and puts each step on the record before the next is taken.

Over 400 lines: each entry that a command leaves is made here, and when it is on the disk is decided beside it.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from execkit_mcp.approvals.approval import Approval
from execkit_mcp.approvals.queue import ApprovalQueue
from execkit_mcp.audit.writer import AuditLog
from execkit_mcp.errors import AuditBusy, AuditError, ExecKitError
from execkit_mcp.model import AuditMark, Clock, Decision, Fence, ProgramLocator
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.dialect import for_shell
from execkit_mcp.runtime.admission import strictest
from execkit_mcp.runtime.asking import Asking, AskingTerms, Permit
from execkit_mcp.runtime.client import Client, current_client
from execkit_mcp.runtime.commit import Commit
from execkit_mcp.runtime.decision_cache import DecisionCache
from execkit_mcp.runtime.durable import DurableExec
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.session import Session
from execkit_mcp.runtime.session_facts import SessionFacts
from execkit_mcp.runtime.tracing import Tracing
from execkit_mcp.runtime.turns import is_somebody_ready

SYNC_AFTER_S: Final = 0.01
RETRY_S: Final = 0.02
ORIGINAL_CHARS: Final = 65_536
TEXT_CHARS: Final = 2000
TRIES: Final = 3
ID_CHARS: Final = 100


class Gate:
    """What stands between a call and a session.

    Attributes:
        mark: the newest entry that went on the record through here.
        asking: where the policy says ``ask``.
        calls: how many calls are at work, as their callers say.
    """

    def __init__(
        self,
        *,
        queue: ApprovalQueue,
        audit: AuditLog,
        clock: Clock,
        locator: ProgramLocator,
        run_as: str,
        terms: AskingTerms | None = None,
        on_request: Callable[[Approval], None] | None = None,
        on_end: Callable[[Exec], None] = lambda _: None,
        tracing: Tracing | None = None,
    ) -> None:
        self._tracing = tracing
        self._on_end = on_end
        self._audit = audit
        self._locator = locator
        self._run_as = run_as
        self.asking = Asking(
            queue,
            clock=clock,
            run_as=run_as,
            record=self._record_asked,
            judge=self.judge,
            terms=terms or AskingTerms(),
            on_request=on_request,
            show=self._show_refusal,
            refuse=self._record_not_permitted,
        )
        self.calls = 0
        self._must_reopen = False
        self._commit = Commit(audit)
        self._decisions = DecisionCache(judge)
        self._late: list[tuple[str, Mapping[str, object], Callable[[AuditMark], None]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.mark: AuditMark | None = None

    # ── judging ──────────────────────────────────────────────────────────────────────────────────────────

    def judge(self, text: str, session: Session, *, is_durable: bool = False) -> Decision:
        """What the session's policy says of ``text`` where the session stands now."""
        facts = session.facts
        context = self.context(facts, cwd=session.cwd, spelled_cwd=session.spelled_cwd, is_durable=is_durable)
        # on another machine asking again costs more than judging
        decide = judge if facts.locator is not None else self._decisions.judge
        return for_shell(strictest([decide(text, policy, context) for policy in facts.policies]), facts.shell)

    def context(self, facts: SessionFacts, *, cwd: str, spelled_cwd: str = "", is_durable: bool = False) -> Context:
        """Where a text of such a session would run."""
        return Context(
            cwd=cwd,
            spelled_cwd=spelled_cwd,
            home=facts.home,
            workspace=facts.workspace,
            locator=facts.locator or self._locator,
            fence=facts.fence,
            is_durable=is_durable,
        )

    def judge_in(self, text: str, facts: SessionFacts, *, cwd: str) -> Decision:
        """What a session with these facts would say of ``text`` in the folder ``cwd``."""
        context = self.context(facts, cwd=cwd)
        return for_shell(strictest([judge(text, policy, context) for policy in facts.policies]), facts.shell)

    def _record_asked(self, kind: str, data: Mapping[str, object]) -> AuditMark:
        """Record a step of asking. An answer is on the disk at once, the others before anything runs on them."""
        client = current_client()
        told = data if client is None else {"client": client.to_json(), **data}
        if kind == "approval.decided":
            return self._append(kind, told)
        mark = self._append(kind, told, is_synced=False)
        self.settle_soon()
        return mark

    # ── the record ───────────────────────────────────────────────────────────────────────────────────────

    def record_refusal(self, decision: Decision, request: RunRequest, session: Session) -> None:
        """Put a refusal on the record; a text that did not parse stands there as it came, cut and redacted."""
        facts = self._facts(decision, session, request.command)
        if decision.canonical is None:
            facts["text"] = str(facts["original"])[:TEXT_CHARS]
        self._append("decision", facts, is_synced=False)
        session.past(decision.canonical or request.command[:2000], "denied by the policy")
        self._show_refusal(decision, request, session)

    def _record_not_permitted(
        self, decision: Decision, request: RunRequest, session: Session, error: ExecKitError
    ) -> None:
        """Put on the record what no approval lets run, and why."""
        approval_id = None if request.approval_id is None else session.redact(request.approval_id)[:ID_CHARS]
        facts = {
            **self._facts(decision, session, request.command),
            "approval_id": approval_id,
            "refused": {"code": error.code, "message": session.redact(error.message)},
        }
        self._append("decision", facts, is_synced=False)
        self.settle_soon()
        self._show_refusal(decision, request, session, approval_id)

    def _show_refusal(
        self, decision: Decision, request: RunRequest, session: Session, approval_id: str | None = None
    ) -> None:
        """Put into the recording, and the trace, what did not run."""
        if self._tracing is not None:
            self._tracing.not_run(decision, session, self.mark)
        if session.recorder is not None and self.mark is not None:
            command = decision.canonical if decision.canonical is not None else request.command
            session.recorder.not_run(
                seq=self.mark.seq,
                cwd=session.redact(session.cwd),
                command=session.redact(command)[:TEXT_CHARS],
                verdict=decision.verdict.word,
                rule=decision.rule,
                reason=decision.reason_code.value,
                approval=approval_id,
            )

    def record_start(self, exec_: Exec, request: RunRequest, session: Session, permit: Permit | None = None) -> None:
        """Put the decision to run on the record; raises AuditWriteFailed, and then nothing runs.

        It is on the disk once ``durable`` has returned. What changes something runs then; what only reads may run
        before, and is ``shown`` to nobody until then.
        """
        if session.recorder is not None:
            session.recorder.require()
        facts = self._facts(exec_.decision, session, request.command)
        approval_id = session.redact(request.approval_id) if request.approval_id is not None else None
        exec_.audit = self._append(
            "exec.started",
            {
                **facts,
                "exec_id": exec_.exec_id,
                "tty": exec_.is_tty,
                "durable": request.durable,
                "stdin_bytes": len(request.stdin.encode()) if request.stdin is not None else None,
                "approval_id": approval_id,
                "approval": self._approved_by(permit, session),
            },
            is_synced=False,
        )
        exec_.started_seq = exec_.audit.seq
        if session.recorder is not None:
            session.recorder.started(
                exec_,
                seq=exec_.audit.seq,
                cwd=str(facts["cwd"]),
                command=str(facts["canonical"]),
                approval_id=approval_id,
                is_durable=request.durable,
            )

    def _approved_by(self, permit: Permit | None, session: Session) -> dict[str, object] | None:
        """Which approval lets it run, and who gave it over which channel; None where none was needed."""
        if permit is None:
            return None
        told: dict[str, object] = {"id": permit.approval_id, "by": permit.by, "who": session.redact(permit.who)}
        return {**told, "grant": permit.grant_id} if permit.grant_id else told

    def record_end(self, exec_: Exec, session: Session) -> None:
        """Put the end on the record; if that fails the result says so, and nothing runs after it."""
        end = exec_.completion
        assert end is not None
        stdout, stderr = exec_.chain("stdout"), exec_.chain("stderr")
        facts = {
            "exec_id": exec_.exec_id,
            "session": session.name,
            "status": exec_.status.value,
            "exit_code": end.exit_code,
            "signal": end.signal,
            "duration_ms": round(end.duration_ms, 3),
            "cwd": session.redact(end.cwd),
            "stdout_bytes": stdout.snapshot().total_bytes,
            "stderr_bytes": stderr.snapshot().total_bytes,
            "stdout_sha256": stdout.sha256,
            "stderr_sha256": stderr.sha256,
            "redactions": exec_.redactions(),
            "fence": (Fence() if exec_.is_outside else session.facts.fence).brief(),
            "refused": len(exec_.refused),
        }

        def entered(mark: AuditMark) -> None:
            exec_.audit = mark
            if session.recorder is not None:
                session.recorder.ended(exec_, seq=mark.seq)
            if self._tracing is not None:
                self._tracing.ended(exec_, session, mark)

        try:
            self._append_late("exec.finished", facts, entered)
            self._on_end(exec_)
        except ExecKitError as error:
            exec_.completion = replace(end, warnings=(*end.warnings, str(error)))
            if session.recorder is not None:
                session.recorder.ended(exec_, seq=None)

    def record_not_started(self, exec_: Exec, session: Session, why: str) -> None:
        """Put on the record that what was about to run did not."""
        facts = {"exec_id": exec_.exec_id, "session": session.name, "status": "not_started", "message": why}

        def entered(mark: AuditMark) -> None:
            if session.recorder is not None:
                session.recorder.ended(exec_, seq=mark.seq, status="not_started")

        with contextlib.suppress(ExecKitError):
            self._append_late("exec.finished", facts, entered)

    def record_job(self, exec_: Exec, session: Session) -> None:
        """Put a background job on the record; the command that started it stands there already."""
        facts = {
            "exec_id": exec_.exec_id,
            "session": session.name,
            "pid": exec_.pid,
            "canonical": session.redact(exec_.canonical),
        }

        def entered(mark: AuditMark) -> None:
            exec_.audit = mark

        with contextlib.suppress(ExecKitError):  # then nothing runs any more until the log has been read anew
            self._append_late("job.started", facts, entered)

    def record_typed(self, decision: Decision | None, session: Session, **facts: object) -> None:
        """Put on the record what is about to be typed, or was not; raises AuditWriteFailed, and then nothing is."""
        judged = {} if decision is None else self._facts(decision, session)
        self._append("exec.typed", {"session": session.name, "requester": session.facts.owner, **judged, **facts})

    def record_durable_end(self, job: DurableExec) -> None:
        """Put the end of a durable job on the record, as soon as some server sees it; raises AuditWriteFailed."""
        end = job.completion
        self._append(
            "durable.finished",
            {
                "exec_id": job.exec_id,
                "session": job.session,
                "requester": job.owner,
                "status": job.status.value,
                "exit_code": end.exit_code if end is not None else None,
                "signal": end.signal if end is not None else None,
            },
        )

    def record(self, kind: str, data: Mapping[str, object]) -> None:
        """Put anything else on the record."""
        self._append(kind, data)

    async def recorded(self, kind: str, data: Mapping[str, object]) -> None:
        """As ``record``; entries that come at once share what puts them on the disk."""
        self._append(kind, data, is_synced=False)
        await self.durable()

    def record_seen(self, kind: str, data: Mapping[str, object]) -> None:
        """Put on the record what has happened already: it is on the disk in a moment, and nobody waits for that."""
        self._append_late(kind, data)

    async def ready(self) -> None:
        """Wait until the record can be written, if another process holds it: the event loop never waits for that.

        Raises:
            AuditBusy: it was held for seconds.
        """
        await self._commit.free()

    @property
    def is_alone(self) -> bool:
        """Whether one call is at work and nobody is about to make another."""
        return self.calls == 1 and not is_somebody_ready()

    async def durable(self) -> None:
        """Wait until everything that was recorded so far is on the disk.

        Raises:
            AuditWriteFailed: it cannot be put there; nothing runs until it can.
        """
        while self._late:
            await self.ready()
            self._catch_up()
        if self.mark is not None and not self._is_on_disk:
            try:
                await self._commit.wait(self.mark.seq, is_alone=self.calls == 1)
            except AuditBusy:
                raise
            except AuditError:
                self._must_reopen = True
                raise

    async def shown(self, exec_: Exec) -> None:
        """Wait until it is on the disk that ``exec_`` started; until then nobody sees what it wrote.

        Raises:
            AuditWriteFailed: it cannot be put there.
        """
        if self._audit.synced_seq < exec_.started_seq:
            await self.durable()

    async def acknowledge(self, exec_: Exec) -> None:
        """Wait until the end of ``exec_`` is on the disk; if that fails, its result says so.

        Raises:
            AuditWriteFailed: not even its start can be put there.
        """
        try:
            await self.durable()
        except AuditError as error:
            if self._audit.synced_seq < exec_.started_seq:
                raise
            exec_.audit = None
            if exec_.completion is not None:
                end = exec_.completion
                exec_.completion = replace(end, warnings=(*end.warnings, f"Its end is not on the record: {error}"))

    def close(self) -> None:
        """Put what waits on the disk and let go of the thread; the log itself is closed by who opened it."""
        with contextlib.suppress(ExecKitError):
            self._catch_up()
        for task in self._tasks:
            task.cancel()
        self._commit.close()

    def _append_late(
        self, kind: str, data: Mapping[str, object], entered: Callable[[AuditMark], None] = lambda _: None
    ) -> None:
        """Record what has happened already; while another process holds the log it is kept for a moment later."""
        try:
            entered(self._append(kind, data, is_synced=False))
        except AuditBusy:
            self._late.append((kind, data, entered))
        self.settle_soon()

    def settle_soon(self) -> None:
        """Have what was recorded on the disk in a moment, whoever waits for it or not."""
        if all(each.done() for each in self._tasks):
            task = asyncio.get_running_loop().create_task(self._settle())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _settle(self) -> None:
        """Put late entries on the disk once it is quiet; the next command's own record does so as well."""
        failed = 0
        while failed < TRIES and not self._is_on_disk:  # more may have come while the last were put there
            await asyncio.sleep(RETRY_S if failed else SYNC_AFTER_S)
            try:
                await self.durable()
            except AuditError:
                failed += 1

    @property
    def _is_on_disk(self) -> bool:
        return not self._late and (self.mark is None or self._audit.synced_seq >= self.mark.seq)

    def _catch_up(self) -> None:
        """Enter what had to wait, in its order."""
        while self._late:
            kind, data, entered = self._late[0]
            mark = self._enter(kind, data, is_synced=False)
            del self._late[0]
            entered(mark)

    def _append(self, kind: str, data: Mapping[str, object], *, is_synced: bool = True) -> AuditMark:
        """Write one entry; after a failure the log is read anew first, and nothing runs until that succeeds."""
        if self._late:
            self._catch_up()
        return self._enter(kind, data, is_synced=is_synced)

    def _enter(self, kind: str, data: Mapping[str, object], *, is_synced: bool) -> AuditMark:
        if self._must_reopen:
            self._audit.reopen()
            self._must_reopen = False
        try:
            head = self._audit.enter(kind, data, is_synced=is_synced)
        except AuditBusy:
            raise
        except AuditError:
            self._must_reopen = True
            raise
        self.mark = AuditMark(seq=head.seq, head=head.hash)
        return self.mark

    def _client(self, session: Session) -> dict[str, object]:
        """Who asks."""
        client = current_client() or Client(name=session.facts.owner)
        told = replace(client, subject=client.subject or self._run_as).to_json()
        return {name: session.redact(str(value)) for name, value in told.items()}

    def _facts(self, decision: Decision, session: Session, original: str | None = None) -> dict[str, object]:
        facts = session.facts
        canonical = session.redact(decision.canonical) if decision.canonical is not None else None
        told: dict[str, object] = {}
        if original is not None:
            is_same = original == decision.canonical and canonical is not None
            told["original"] = canonical if is_same else session.redact(original)[:ORIGINAL_CHARS]
        return {
            "client": self._client(session),
            **told,
            "session": session.name,
            "target": facts.target,
            "requester": facts.owner,
            "cwd": session.redact(session.cwd),
            "verdict": decision.verdict.word,
            "reason_code": decision.reason_code.value,
            "rule": decision.rule,
            "message": session.redact(decision.message),
            "canonical": canonical,
            "hazards": [hit.id for hit in decision.hazards],
            "policy": {"name": decision.policy.name, "digest": decision.policy.digest},
        }
