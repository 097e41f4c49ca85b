"""A human in the loop: what is asked, where it waits, who may answer, and the one use of a yes.

``approvals.waiting`` is not re-exported: it needs asyncio, which the command line starts faster without.
"""

from execkit_mcp.approvals.approval import Approval, Channel, Scope, ScopeKind, State
from execkit_mcp.approvals.approver import Approver as ApproverSecret
from execkit_mcp.approvals.base import Answer, AnswerKind, Approver
from execkit_mcp.approvals.display import Fact, describe, facts_of, summary, visible
from execkit_mcp.approvals.grants import Grant, GrantBook
from execkit_mcp.approvals.queue import ApprovalQueue
from execkit_mcp.approvals.request import ApprovalRequest, Stdin

__all__ = [
    "Answer",
    "AnswerKind",
    "Approval",
    "ApprovalQueue",
    "ApprovalRequest",
    "Approver",
    "ApproverSecret",
    "Channel",
    "Fact",
    "Grant",
    "GrantBook",
    "Scope",
    "ScopeKind",
    "State",
    "Stdin",
    "describe",
    "facts_of",
    "summary",
    "visible",
]
