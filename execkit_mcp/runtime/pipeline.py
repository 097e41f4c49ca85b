"""The data path, read top to bottom: one call of ``shell_run`` from the agent's text to its ExecResult.

    judge → record → approve → start → wait → result

The order is a safety property. Nothing reaches the session before the decision is on the record and, where a person
must agree, the approval is used up. The shell gets ``decision.canonical`` and nothing else. Output is cleaned, then
redacted, then cut to its budget (``output/chain``, ``output/budget``) before this function ever sees it.
"""

import asyncio
from collections.abc import Callable

from execkit_mcp.model import Clock, Decision, ExecResult, Status, Verdict
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.gate import Gate
from execkit_mcp.runtime.ledger import Ledger
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.session import Session


async def run_through(request: RunRequest, *, session: Session, gate: Gate, ledger: Ledger, clock: Clock) -> ExecResult:
    """Run one command through every gate.

    Raises:
        SessionBusy, SessionClosed: the session cannot take a command now.
        ApprovalDenied, ApprovalExpired: the given approval does not let this command run.
        AuditWriteFailed, StorageUnavailable: the record cannot be written, so nothing ran.
    """
    await session.interrupted_end()
    if request.idempotency_key is not None:
        first = ledger.repeated(request.idempotency_key, request.call, session.facts.owner)
        if first is not None:
            await first.wait(request.wait_s)
            return result_of(first, session=session, clock=clock, max_output=request.max_output)
    session.require_idle()
    decision = gate.judge(request.command, session)
    if decision.verdict is Verdict.DENY:
        gate.record_refusal(decision, request, session)
        return _not_run(Status.DENIED, decision, session)
    if decision.verdict is Verdict.ASK and not gate.redeem(decision, request, session):
        approval_id = gate.submit(decision, request, session)
        return _not_run(Status.APPROVAL_PENDING, decision, session, approval_id=approval_id)

    exec_ = session.reserve(decision=decision, tty=request.tty)
    if request.idempotency_key is not None:
        exec_.key = (request.idempotency_key, request.call)
    gate.record_start(exec_, request, session)
    session.start(
        exec_,
        stdin=request.stdin.encode("utf-8") if request.stdin is not None else None,
        timeout_s=_timeout_s(request, decision, session),
        on_end=_recorder(gate, session),
    )
    ledger.add(exec_)  # the shell is at work meanwhile
    try:
        await exec_.wait(request.wait_s)
    except asyncio.CancelledError:
        session.interrupt(exec_)
        raise
    return result_of(exec_, session=session, clock=clock, max_output=request.max_output)


def result_of(exec_: Exec, *, session: Session, clock: Clock, max_output: int) -> ExecResult:
    """The result of ``exec_`` as it stands, with every field redacted."""
    return exec_.result(
        max_output=max_output,
        now_s=clock.monotonic_s(),
        cwd=session.redact(session.cwd if exec_.completion is None else exec_.completion.cwd),
        fence=session.facts.fence,
    )


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


def _not_run(status: Status, decision: Decision, session: Session, approval_id: str | None = None) -> ExecResult:
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
    )
