"""What a caller from outside is let do at most: on which targets, and under which policies besides theirs.

A local client (stdio, the command line, the SDK) is not admitted: it is the operator's own. A caller over HTTP is, with
each of its requests. What its credentials say only ever narrows: its policies must allow a command besides the
target's own. The requester's name carries the narrowing, so that two credentials of one subject that differ in what
they allow never share a session.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.errors import SessionNotFound
from execkit_mcp.model import Decision, ReasonCode, Verdict

__all__ = ["OUTSIDE", "Admission", "Admissions", "strictest"]

OUTSIDE: Final = "http:"
"""How the names of requesters begin that must be admitted."""
_REMEMBERED: Final = 10_000


class Admission(Struct, frozen=True, kw_only=True):
    """What a requester may do.

    Attributes:
        subject: who it is, whatever credentials are used; limits count by subject.
        targets: where sessions may be opened; None: everywhere.
        policies: names or files of policies that must allow a command too.
    """

    subject: str
    targets: tuple[str, ...] | None = None
    policies: tuple[str, ...] = ()


class Admissions:
    """What is known of requesters; the longest unseen are forgotten first."""

    def __init__(self) -> None:
        self._by_requester: OrderedDict[str, Admission] = OrderedDict()

    def admit(self, requester: str, admission: Admission) -> None:
        """Note what ``requester`` may do; a requester's admission never changes."""
        if requester in self._by_requester:
            self._by_requester.move_to_end(requester)
            return
        self._by_requester[requester] = admission
        while len(self._by_requester) > _REMEMBERED:
            self._by_requester.popitem(last=False)

    def of(self, requester: str) -> Admission | None:
        """What ``requester`` may do; None for a local caller, who may do what the policy allows.

        Raises:
            SessionNotFound: a caller from outside whose admission is not known (any more).
        """
        found = self._by_requester.get(requester)
        if found is None and requester.startswith(OUTSIDE):
            raise SessionNotFound("This caller is not admitted (any more).", hint="Send the call again.")
        return found

    def subject(self, requester: str) -> str | None:
        """Whom the requester's use counts for; None for a local caller."""
        found = self.of(requester)
        return None if found is None else found.subject


def strictest(decisions: Sequence[Decision]) -> Decision:
    """The decision that holds where several policies must agree: the first is the target's own.

    The highest verdict wins; of several that ask, one that asks out of band. What may run is the text that every one of
    them judged: where two render it differently, nothing does.
    """
    own = decisions[0]
    if len(decisions) == 1:
        return own
    told = max(decisions, key=lambda each: (each.verdict, each.approval.channel == "out_of_band"))
    if told.verdict is not Verdict.DENY and any(each.canonical != own.canonical for each in decisions):
        return replace(
            told,
            verdict=Verdict.DENY,
            canonical=None,
            rule=None,
            reason_code=ReasonCode.NO_RULE,
            message="The policies that must agree on this command give its programs different places.",
            hint="Let `programs:` of the policies agree.",
        )
    bounds = [each.limits.time_max_s for each in decisions if each.limits.time_max_s is not None]
    return replace(told, limits=replace(told.limits, time_max_s=min(bounds))) if bounds else told
