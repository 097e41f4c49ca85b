"""Waiting for an answer that another process writes, without burning the processor.

Each look asks the database for a change mark (a few microseconds) and reads the approval only when something
changed, so a click reaches the waiting call within ``poll_s``.
"""

import asyncio

from execkit_mcp.approvals.approval import Approval, State
from execkit_mcp.approvals.base import Answer, AnswerKind
from execkit_mcp.approvals.queue import ApprovalQueue

__all__ = ["POLL_S", "OutOfBand", "wait_for_answer"]

POLL_S = 0.01


async def wait_for_answer(
    queue: ApprovalQueue, approval_id: str, *, timeout_s: float, poll_s: float = POLL_S
) -> Approval | None:
    """The approval once it is no longer pending, or as it stands after ``timeout_s``; None if unknown."""
    loop = asyncio.get_running_loop()
    deadline_s = loop.time() + timeout_s
    mark = queue.change_mark()
    approval = queue.get(approval_id)
    while approval is not None and approval.state is State.PENDING and loop.time() < deadline_s:
        await asyncio.sleep(min(poll_s, max(0.0, deadline_s - loop.time())))
        if (now := queue.change_mark()) != mark or approval.has_lapsed(queue.now_s()):
            mark = now
            approval = queue.get(approval_id)
    return approval


class OutOfBand:
    """The Approver that waits up to ``wait_s`` for the command line's answer."""

    def __init__(self, queue: ApprovalQueue, *, wait_s: float) -> None:
        self._queue = queue
        self._wait_s = wait_s

    async def ask(self, approval: Approval) -> Answer:
        """The answer, or ``nobody_there`` if none came in time: the approval goes on waiting."""
        found = await wait_for_answer(self._queue, approval.id, timeout_s=self._wait_s)
        if found is None or found.state is State.PENDING:
            return Answer(kind=AnswerKind.NOBODY_THERE)
        if found.state in {State.APPROVED, State.REDEEMED}:
            return Answer(kind=AnswerKind.APPROVED, reason=found.reason)
        if found.state is State.EXPIRED:
            return Answer(kind=AnswerKind.DENIED, reason="nobody answered in time")
        return Answer(kind=AnswerKind.DENIED, reason=found.reason)
