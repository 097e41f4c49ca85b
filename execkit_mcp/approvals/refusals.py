"""Why an answer or its use is refused: each case in words, with what to do."""

from typing import Final, Never

from execkit_mcp.approvals.approval import Approval, Channel, Scope, ScopeKind, State
from execkit_mcp.errors import ApprovalDenied, ApprovalExpired, ApprovalRequired, CommandInvalid

__all__ = ["ASK_ANEW", "refuse_channel", "refuse_decided", "refuse_edited", "refuse_unapproved"]

ASK_ANEW: Final = "Call again without approval_id: a person must see what would run now."
_MAX_EDITED: Final = 65_536


def refuse_channel(found: Approval, by: Channel) -> None:
    """The client's dialogue may not say yes to what the policy keeps from it."""
    if by is Channel.ELICIT and found.request.is_out_of_band_only:
        raise ApprovalDenied(
            f"Approval {found.id} cannot be given in the client's dialogue.",
            hint=f"An operator must run: execkit-mcp approve {found.id}",
            details={"approval_id": found.id},
        )


def refuse_edited(found: Approval, edited: str, scope: Scope) -> None:
    """An edited text must be one, of a command of its own, whole, for one run."""
    if not edited:
        return
    complaint = ""
    if not edited.strip() or len(edited) > _MAX_EDITED or not _is_unicode(edited):
        complaint = "The edited text is empty, too long or not valid Unicode."
    elif found.request.typed_into:
        complaint = "What is typed into a running program cannot be edited."
    elif "[REDACTED:" in edited:
        complaint = "The edited text holds [REDACTED:…], where a secret was replaced; it would run as it stands."
    elif scope.kind is not ScopeKind.ONCE:
        complaint = "An edited command can be allowed for one run only."
    if complaint:
        raise CommandInvalid(complaint, hint="Deny it with a reason that says what to do instead.")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse_decided(found: Approval) -> Never:
    """Nothing can be decided any more: say how it stands."""
    answers = {
        State.APPROVED: f"was approved already over {found.decided_by}",
        State.DENIED: f"was denied already over {found.decided_by}",
        State.REDEEMED: f"was approved already over {found.decided_by} and used: what it allowed has started",
        State.EXPIRED: "ran out: its time is over, which counts as no",
    }
    raise ApprovalExpired(
        f"Approval {found.id} {answers.get(found.state, 'was decided by somebody else just now')}.",
        hint="The first answer counts; a new call of the agent asks anew.",
        details={"approval_id": found.id, "state": found.state.value},
    )


def refuse_unapproved(found: Approval) -> Never:
    """It cannot be used: say why."""
    details = {"approval_id": found.id, "state": found.state.value}
    if found.state is State.PENDING:
        raise ApprovalRequired(
            f"Nobody has answered approval {found.id} yet.",
            approval_id=found.id,
            hint=f"A person must run `execkit-mcp approve {found.id}`; then call again with this id.",
        )
    if found.state is State.DENIED:
        raise ApprovalDenied(
            f"A person denied approval {found.id}" + (f": {_ended(found.reason)}" if found.reason else "."),
            hint="Do not ask for the same again; do it another way, or explain why it is needed.",
            details=details | {"reason": found.reason},
        )
    if found.state is State.EXPIRED:
        was = "it was approved but not used in time" if found.decided_s else "nobody answered in time"
        raise ApprovalExpired(
            f"Approval {found.id} ran out: {was}, which counts as no.", hint=ASK_ANEW, details=details
        )
    raise ApprovalExpired(
        f"Approval {found.id} was used already; each is good for one run.", hint=ASK_ANEW, details=details
    )


def _ended(words: str) -> str:
    """A person's words as a sentence, as another one follows."""
    return words if words.rstrip().endswith((".", "!", "?", "…")) else words.rstrip() + "."
