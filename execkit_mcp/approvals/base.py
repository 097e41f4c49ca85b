"""The interface of everything that can bring a person's answer."""

from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from execkit_mcp.approvals.approval import Approval

__all__ = ["Answer", "AnswerKind", "Approver"]


class AnswerKind(StrEnum):
    """What came back: a yes, a no, or nothing because no person was there to ask."""

    APPROVED = "approved"
    DENIED = "denied"
    NOBODY_THERE = "nobody_there"


class Answer(Struct, frozen=True, kw_only=True):
    """An answer, with the person's reason for a no."""

    kind: AnswerKind
    reason: str = ""


class Approver(Protocol):
    """One channel to a person: MCP elicitation (in ``server/``), or the queue that the CLI answers."""

    async def ask(self, approval: Approval) -> Answer:
        """Show ``approval`` to a person and bring the answer; ends by itself when the approval expires."""
        ...
