"""The data path, read top to bottom: one call of ``shell_run`` from the agent's text to its ExecResult.

    judge → record → approve → start → wait → result

The order is a safety property. Nothing reaches the session before the decision is on the record and, where a person
must agree, the approval is used up. The shell gets ``decision.canonical`` and nothing else. Output is cleaned, then
redacted, then cut to its budget (``output/chain``, ``output/budget``) before this function ever sees it.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace

from execkit_mcp.errors import CommandInvalid
from execkit_mcp.fence.describe import fence_of
from execkit_mcp.model import AuditMark, Clock, Decision, ExecResult, JobNote, Status, Verdict
from execkit_mcp.protocol.dialects.bash_env import EnvDelta
from execkit_mcp.runtime.asking import Permit, Waiting
from execkit_mcp.runtime.durable import DurableJobs, DurablePlan
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.fencing import fence_for
from execkit_mcp.runtime.gate import Gate
from execkit_mcp.runtime.ledger import Ledger
from execkit_mcp.runtime.outside import NOTE, reason_to_leave, with_note
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.session import Session

_SHOWN_JOBS = 20
_SHOWN_CHARS = 200
_SHOWN_VALUE_CHARS = 2000


async def run_through(  # noqa: C901 - the data path, in order
    request: RunRequest, *, session: Session, gate: Gate, ledger: Ledger, clock: Clock, durable: DurableJobs
) -> ExecResult:
    """Run one command through every gate.

    Raises:
        SessionBusy, SessionClosed: the session cannot take a command now.
        ApprovalDenied, ApprovalExpired: the given approval does not let this command run.
        AuditWriteFailed, StorageUnavailable: the record cannot be written, so nothing ran.
    """
    await session.interrupted_end()
    await gate.ready()
    if request.idempotency_key is not None:
        first = ledger.repeated(request.idempotency_key, request.call, session.facts.owner)
        if first is not None:
            await first.wait(request.wait_s)
            await gate.acknowledge(first)
            return result_of(first, session=session, clock=clock, max_output=request.max_output)
    session.require_idle()
    session.require_capable(durable=request.durable, stdin=request.stdin)
    await session.ready(tty=request.tty)
    decision = await session.judged(
        lambda: gate.judge(request.command, session, is_durable=request.durable), is_to_run=True
    )
    leaving = _leaving(decision, session)
    decision = with_note(decision, leaving)
    if request.durable and session.facts.transport == "sandbox":
        raise CommandInvalid("A sandbox ends with its session; nothing in it is durable.", hint="Leave durable out.")
    if request.durable and decision.canonical is not None:
        durable.require_room(session.facts.owner, decision.canonical)
    if decision.verdict is Verdict.DENY:
        gate.record_refusal(decision, request, session)
        mark = gate.mark
        await gate.durable()
        return _not_run(Status.DENIED, decision, session, audit=mark)
    notes: tuple[str, ...] = ()
    permit = None
    if decision.verdict is Verdict.ASK:
        answer = gate.asking.ask(decision, request, session)
        if isinstance(answer, Waiting):
            mark = gate.mark
            await gate.durable()
            return _not_run(Status.APPROVAL_PENDING, decision, session, approval_id=answer.approval_id, audit=mark)
        permit = answer
        decision, notes = answer.decision, (answer.note,) if answer.note else ()
        leaving = _leaving(decision, session)
        request = replace(request, approval_id=answer.approval_id)

    exec_ = session.reserve(decision=decision, tty=request.tty)
    session.protect_assigned(request.command)
    if request.durable:
        exec_.is_outside = leaving is not None
        return _noted(await _start_durable(exec_, request, permit, session=session, gate=gate, durable=durable), notes)
    if request.idempotency_key is not None:
        exec_.key = (request.idempotency_key, request.call)
    await _record_start(exec_, request, permit, session=session, gate=gate)
    if leaving is not None:
        await session.leave_fence(exec_)
    session.start(
        exec_,
        stdin=request.stdin.encode("utf-8") if request.stdin is not None else None,
        timeout_s=_timeout_s(request, decision, session),
        tells_env=request.env_delta,
        on_end=_recorder(gate, session),
        on_job=_job_recorder(gate, session, ledger),
        meanwhile=partial(ledger.add, exec_),
        lingers=gate.is_alone,
    )
    try:
        if await exec_.wait(request.wait_s) and exec_.jobs:
            await session.hear_of_jobs(exec_)
    except asyncio.CancelledError:
        session.interrupt(exec_)
        raise
    await gate.acknowledge(exec_)
    return _noted(result_of(exec_, session=session, clock=clock, max_output=request.max_output), notes)


def _leaving(decision: Decision, session: Session) -> str | None:
    """Why it cannot run behind the session's fence; what runs in a sandbox stays there."""
    facts = session.facts
    if facts.transport == "sandbox":
        return None
    return reason_to_leave(decision, facts.policy, facts.plan, home=facts.home)


def _noted(result: ExecResult, notes: tuple[str, ...]) -> ExecResult:
    return replace(result, warnings=(*notes, *result.warnings)) if notes else result


async def _record_start(
    exec_: Exec, request: RunRequest, permit: Permit | None, *, session: Session, gate: Gate
) -> None:
    """Have it on the record that this will run, and on the disk unless it only reads.

    What only reads leaves nothing to be accounted for until it is seen, and ``acknowledge`` waits for the disk; until
    others have it there the session takes nothing else.
    """
    gate.record_start(exec_, request, session, permit)
    if exec_.decision.only_reads and not (exec_.is_tty or request.durable or permit is not None):
        gate.settle_soon()
        return
    try:
        with session.starting(exec_):
            await gate.durable()
        session.require_idle()
    except BaseException as error:
        gate.record_not_started(exec_, session, type(error).__name__)
        raise


async def _start_durable(
    exec_: Exec, request: RunRequest, permit: Permit | None, *, session: Session, gate: Gate, durable: DurableJobs
) -> ExecResult:
    """Start it in a shell of its own, with the session's folder and environment; it is not waited for."""
    assert session.secrets is not None
    await _record_start(exec_, request, permit, session=session, gate=gate)
    longest = session.facts.policy.document.limits.time_max_s
    plan = None if exec_.is_outside or session.facts.plan is None else session.facts.plan.without_gate()
    await durable.start(
        DurablePlan(
            exec_id=exec_.exec_id,
            owner=session.facts.owner,
            session=session.name,
            target=session.facts.target,
            text=exec_.canonical,
            shown=session.redact(exec_.canonical),
            cwd=session.cwd,
            env=await session.environment(),
            timeout_s=None if request.timeout_s is None else min(request.timeout_s, longest),
            limit_bytes=session.facts.policy.document.limits.output_bytes,
            secrets=session.secrets,
            fence=plan,
        )
    )
    return ExecResult(
        status=Status.RUNNING,
        exit_code=None,
        stdout="",
        stderr="",
        duration_ms=0.0,
        cwd=session.redact(session.cwd),
        session=session.name,
        exec_id=exec_.exec_id,
        fence=fence_for(plan, transport=session.facts.transport),
        warnings=("It goes on when the session and the server end; end it with shell_send signal TERM.",),
        audit=exec_.audit,
    )


def result_of(exec_: Exec, *, session: Session, clock: Clock, max_output: int) -> ExecResult:
    """The result of ``exec_`` as it stands, with every field redacted."""
    return exec_.result(
        max_output=max_output,
        now_s=clock.monotonic_s(),
        cwd=session.redact(session.cwd if exec_.completion is None else exec_.completion.cwd),
        fence=fence_of(None) if exec_.is_outside else session.facts.fence,
        warnings=(*((NOTE,) if exec_.is_outside else ()), *_more_jobs(exec_)),
        jobs=job_notes(exec_, session) if exec_.jobs else (),
        env_delta=None if exec_.completion is None else _shown_delta(exec_.completion.env_delta, session),
    )


def _shown_delta(delta: EnvDelta | None, session: Session) -> dict[str, object] | None:
    """Values redacted as what they are, the value of that name, and cut."""

    def shown(values: Mapping[str, str]) -> dict[str, str]:
        return {name: _redacted_value(name, value, session) for name, value in values.items()}

    if delta is None:
        return None
    return replace(delta, added=shown(delta.added), changed=shown(delta.changed)).to_json()


def _redacted_value(name: str, value: str, session: Session) -> str:
    shown = session.redact(f"{name}={value}")
    shown = shown.removeprefix(f"{name}=")
    return shown if len(shown) <= _SHOWN_VALUE_CHARS else shown[:_SHOWN_VALUE_CHARS] + "…"


def job_notes(exec_: Exec, session: Session) -> tuple[JobNote, ...]:
    """The background jobs that ``exec_`` has started, at most 20 of them: the rest is in ``shell_info``."""
    return tuple(
        JobNote(
            exec_id=job.exec_id,
            pid=job.pid or 0,
            command=session.redact(job.canonical)[:_SHOWN_CHARS],
            status=job.status,
            exit_code=job.completion.exit_code if job.completion is not None else None,
        )
        for job in exec_.jobs[:_SHOWN_JOBS]
    )


def _more_jobs(exec_: Exec) -> tuple[str, ...]:
    more = len(exec_.jobs) - _SHOWN_JOBS
    return (f"{more} more jobs were started; shell_info lists those that run",) if more > 0 else ()


def _job_recorder(gate: Gate, session: Session, ledger: Ledger) -> Callable[[Exec], None]:
    def on_job(exec_: Exec) -> None:
        ledger.add(exec_)
        gate.record_job(exec_, session)

    return on_job


def _recorder(gate: Gate, session: Session) -> Callable[[Exec], None]:
    def on_end(exec_: Exec) -> None:
        gate.record_end(exec_, session)

    return on_end


def _timeout_s(request: RunRequest, decision: Decision, session: Session) -> float:
    """What the caller asked for, within what the policy and the deciding rules allow."""
    limits = session.facts.policy.document.limits
    longest = limits.time_max_s if decision.limits.time_max_s is None else decision.limits.time_max_s
    usual = limits.time_s if decision.limits.time_s is None else decision.limits.time_s
    return min(usual if request.timeout_s is None else request.timeout_s, longest)


def _not_run(
    status: Status,
    decision: Decision,
    session: Session,
    approval_id: str | None = None,
    audit: AuditMark | None = None,
) -> ExecResult:
    return ExecResult(
        status=status,
        exit_code=None,
        stdout="",
        stderr="",
        duration_ms=0.0,
        cwd=session.redact(session.cwd),
        session=session.name,
        exec_id="",
        decision=decision,
        approval_id=approval_id,
        warnings=decision.warnings,
        audit=audit,
    )
