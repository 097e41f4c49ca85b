"""A human in the loop: what is asked, where it waits, who may answer, and the one use of a yes.

``approvals.waiting`` is not re-exported: it needs asyncio, which the command line starts faster without.
"""

from execkit_mcp.approvals.approval import Approval, Channel, State
from execkit_mcp.approvals.base import Answer, AnswerKind, Approver
from execkit_mcp.approvals.display import describe, visible
from execkit_mcp.approvals.queue import ApprovalQueue
from execkit_mcp.approvals.request import ApprovalRequest, Stdin

__all__ = [
    "Answer",
    "AnswerKind",
    "Approval",
    "ApprovalQueue",
    "ApprovalRequest",
    "Approver",
    "Channel",
    "State",
    "Stdin",
    "describe",
    "visible",
]
