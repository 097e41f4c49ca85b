"""Who a caller is: what a believed token says, whichever kind of token it was."""

from typing import Any, Final

from msgspec import Struct

from execkit_mcp.runtime.admission import OUTSIDE, Admission

READ_ONLY: Final = "read-only"
IDENTITY: Final = "execkit.identity"
"""Where a request's scope holds its caller."""


class Identity(Struct, frozen=True, kw_only=True):
    """A caller who was recognised.

    Attributes:
        subject: who it is; limits count by it.
        targets: where it may open sessions; None: everywhere.
        policies: policies that must allow its commands too.
        metrics_only: it may read ``/metrics`` and nothing else.
        token_id: the bearer token of ours that it showed; empty for another's.
        expires_s: when another's token runs out, in seconds since 1970.
    """

    subject: str
    targets: tuple[str, ...] | None = None
    policies: tuple[str, ...] = ()
    metrics_only: bool = False
    token_id: str = ""
    expires_s: float | None = None

    @property
    def requester(self) -> str:
        """Whose sessions and approvals these are: the subject, and what its credentials leave out."""
        parts = [f"targets={','.join(self.targets)}"] if self.targets is not None else []
        parts += [f"policies={','.join(self.policies)}"] if self.policies else []
        label = f" [{'; '.join(parts)}]" if parts else ""
        return f"{OUTSIDE}{printable(self.subject)}{label}"

    @property
    def admission(self) -> Admission:
        """The same for the kit."""
        return Admission(subject=self.subject, targets=self.targets, policies=self.policies)


class Refused(Exception):
    """A caller who was not recognised, and what he is told.

    Attributes:
        status: 401 (no or a wrong token), 403 (a good one that does not reach), 503 (cannot be told now).
        error: the word of RFC 6750: ``invalid_request``, ``invalid_token``, ``insufficient_scope``, or empty.
        reason: a short word for the metrics.
        scope: what is missing, for ``insufficient_scope``.
    """

    def __init__(self, description: str, *, reason: str, status: int = 401, error: str = "invalid_token") -> None:
        super().__init__(description)
        self.description = description
        self.status = status
        self.error = error
        self.reason = reason
        self.scope = ""


def caller_of(request: Any) -> Identity | None:
    """The caller of a request that came through the guard; None for what did not come over HTTP."""
    scope = getattr(request, "scope", None)
    found = None if scope is None else scope.get(IDENTITY)
    return found if isinstance(found, Identity) else None


def printable(text: str) -> str:
    """``text`` with everything that is not printable as an escape, so that no two names look the same."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
