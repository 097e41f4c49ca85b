"""One approval on its way: pending, then approved or denied, then used; or expired before either.

    pending ── approve ──▸ approved ── redeem ──▸ redeemed
       │  └─── deny ─────▸ denied ◂─┐    │
       └── time runs out ─▸ expired ◂────┘  (└ deny within the same second, while it is unused)

``expired`` is never stored: it is read off the clock, so no sweeper has to be alive for a no to be a no.
"""

from enum import StrEnum
from typing import Self

from msgspec import Struct

from execkit_mcp.approvals.request import ApprovalRequest
from execkit_mcp.errors import CommandInvalid

__all__ = ["CLOCK_SLACK_S", "SESSION_GRANT_S", "Approval", "Channel", "Scope", "ScopeKind", "State"]

CLOCK_SLACK_S = 5.0
SESSION_GRANT_S = 12 * 3600.0
MAX_GRANT_S = 7 * 86_400.0


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
    WEB = "web"
    WATCH = "watch"
    WEBHOOK = "webhook"


class ScopeKind(StrEnum):
    """How far a yes reaches."""

    ONCE = "once"
    SESSION = "session"
    UNTIL = "until"


class Scope(Struct, frozen=True, kw_only=True):
    """How far a yes reaches: one run, the same command for as long as the session is open, or until a time.

    Attributes:
        kind: which.
        until_s: when ``until`` ends, in seconds since the epoch.
        uses: how many runs at most; None: any number.
    """

    kind: ScopeKind = ScopeKind.ONCE
    until_s: float | None = None
    uses: int | None = None

    @classmethod
    def once(cls) -> Self:
        """One run."""
        return cls()

    @classmethod
    def session(cls, *, uses: int | None = None) -> Self:
        """The same command, while the session is open."""
        return cls(kind=ScopeKind.SESSION, uses=uses)

    @classmethod
    def until(cls, epoch_s: float, *, uses: int | None = None) -> Self:
        """The same command until ``epoch_s``."""
        return cls(kind=ScopeKind.UNTIL, until_s=epoch_s, uses=uses)

    def checked(self, now_s: float) -> Self:
        """This scope, or CommandInvalid when it makes no sense at ``now_s``."""
        if self.uses is not None and not 1 <= self.uses <= 1_000_000:  # noqa: PLR2004
            raise CommandInvalid("A grant is good for 1 to 1000000 uses.", hint="Leave uses out for any number.")
        if self.kind is not ScopeKind.UNTIL:
            return self
        if self.until_s is None or not now_s < self.until_s <= now_s + MAX_GRANT_S:
            raise CommandInvalid(
                "The time until which it is allowed lies in the past or more than 7 days ahead.",
                hint="Give a time from now on, at most 7 days away; for longer, write a rule into the policy.",
            )
        return self

    def ends_s(self, now_s: float) -> float:
        """When a grant of this scope that is given at ``now_s`` ends at the latest."""
        return now_s + SESSION_GRANT_S if self.until_s is None else self.until_s


class Approval(Struct, frozen=True, kw_only=True, gc=False):
    """A request in the queue with what became of it.

    Attributes:
        id: ``apr_`` and 16 hex digits that nobody can guess.
        request: what was asked, with every secret in it replaced.
        state: how it stood when it was read.
        expires_s: when a pending one counts as denied; for an approved one, when its single use lapses.
        decided_s: when a person answered.
        decided_by: over which channel.
        decided_who: the person, as far as the channel knows.
        reason: the person's words; they reach the agent.
        redeemed_s: when it was used.
        scope: how far the yes reaches.
        edited: the text that the person put in the command's place; empty if it was not changed.
        digest: what the request is known by; covers the true text, not the shown one.
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
    scope: ScopeKind = ScopeKind.ONCE
    edited: str = ""
    digest: str = ""

    def has_lapsed(self, now_s: float) -> bool:
        """Whether its time is over at ``now_s``; a clock that went back before the asking counts as over."""
        since = self.request.created_s if self.decided_s is None else self.decided_s
        return not since - CLOCK_SLACK_S <= now_s < self.expires_s

    def to_json(self) -> dict[str, object]:
        """The approval as a JSON object."""
        return {
            "id": self.id,
            "state": self.state.value,
            "digest": self.digest,
            "expires_s": self.expires_s,
            "decided_s": self.decided_s,
            "decided_by": self.decided_by,
            "decided_who": self.decided_who,
            "reason": self.reason,
            "scope": self.scope.value,
            "edited": self.edited,
            "redeemed_s": self.redeemed_s,
            "request": self.request.to_json(),
        }
