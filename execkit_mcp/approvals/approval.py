"""One approval on its way: pending, then approved or denied, then used; or expired before either.

    pending ── approve ──▸ approved ── redeem ──▸ redeemed
       │  └─── deny ─────▸ denied       │
       └── time runs out ─▸ expired ◂───┘

``expired`` is never stored: it is read off the clock, so no sweeper has to be alive for a no to be a no.
"""

from enum import StrEnum

from msgspec import Struct

from execkit_mcp.approvals.request import ApprovalRequest

__all__ = ["CLOCK_SLACK_S", "Approval", "Channel", "State"]

CLOCK_SLACK_S = 5.0


class State(StrEnum):
    """How an approval stands."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    REDEEMED = "redeemed"
    EXPIRED = "expired"


class Channel(StrEnum):
    """How a person's answer reached us. No tool of the server is one."""

    CLI = "cli"
    ELICIT = "elicit"
    CALLBACK = "callback"


class Approval(Struct, frozen=True, kw_only=True):
    """A request in the queue with what became of it.

    Attributes:
        id: ``apr_`` and 16 hex digits that nobody can guess.
        request: what was asked.
        state: how it stood when it was read.
        expires_s: when a pending one counts as denied; for an approved one, when its single use lapses.
        decided_s: when a person answered.
        decided_by: over which channel.
        decided_who: the person, as far as the channel knows.
        reason: the person's words; they reach the agent.
        redeemed_s: when it was used.
    """

    id: str
    request: ApprovalRequest
    state: State
    expires_s: float
    decided_s: float | None = None
    decided_by: str = ""
    decided_who: str = ""
    reason: str = ""
    redeemed_s: float | None = None

    def has_lapsed(self, now_s: float) -> bool:
        """Whether its time is over at ``now_s``; a clock that went back before the asking counts as over."""
        since = self.request.created_s if self.decided_s is None else self.decided_s
        return not since - CLOCK_SLACK_S <= now_s < self.expires_s

    def to_json(self) -> dict[str, object]:
        """The approval as a JSON object."""
        return {
            "id": self.id,
            "state": self.state.value,
            "digest": self.request.digest(),
            "expires_s": self.expires_s,
            "decided_s": self.decided_s,
            "decided_by": self.decided_by,
            "decided_who": self.decided_who,
            "reason": self.reason,
            "redeemed_s": self.redeemed_s,
            "request": self.request.to_json(),
        }
