"""What a decision becomes in a session, whose shell runs the canonical text; this module is that last word.

The text was judged as bash's. What another shell would read otherwise is refused by its name, whatever a rule says:
else another argv would run than the one that was judged. A text that did not parse holds nothing that a person could be
shown and a shell be given: ``unparsed: ask`` is for a client's own dialogue (the hook); in a session it is a refusal.
"""

from msgspec.structs import replace

from execkit_mcp.model import Decision, ReasonCode, Verdict
from execkit_mcp.policy.shell.parser import parse
from execkit_mcp.policy.shell.portable import refusal
from execkit_mcp.policy.shell.unparsed import Unparsed

__all__ = ["for_shell"]


def for_shell(decision: Decision, shell: str) -> Decision:
    """``decision`` where ``shell`` (``bash``, ``dash``, ``ash``, ``zsh``) runs its canonical text."""
    if decision.canonical is None:
        return replace(decision, verdict=Verdict.DENY)
    if shell == "bash" or decision.verdict is Verdict.DENY:
        return decision
    try:
        foreign = refusal(parse(decision.canonical))
    except Unparsed as error:
        foreign = str(error)
    if foreign is None:
        return decision
    return replace(
        decision,
        verdict=Verdict.DENY,
        rule=None,
        reason_code=ReasonCode.UNPARSED,
        message=f"This session's shell is {shell}, which does not read this as bash does: {foreign}.",
        hint="Write it without that, in several calls if need be, or have bash installed on the host.",
    )
