"""Links made in a text: this module notices that what the same text writes could go through them.

A path is judged before anything runs, so a link that the text itself makes is not there yet. A link to a place
that may be written is harmless; any other must be made in a text that writes nothing else, so that the next one
is judged with the link in its place.
"""

from collections.abc import Sequence

from execkit_mcp.model import EffectKind, ReasonCode, Verdict
from execkit_mcp.policy.effects import Placed
from execkit_mcp.policy.findings import Case, Finding, Site
from execkit_mcp.policy.knowledge.invocation import Invocation

_COPIES_LINKS = frozenset({"-a", "-d", "-P", "-R", "-r", "--archive", "--recursive", "--no-dereference"})
_MAKES_LINKS = frozenset({"-s", "--symbolic", "--symbolic-link"})
_NO_FILES = ("/dev/", "/proc/self/fd/")


def linked_outside(invocation: Invocation, placed: Sequence[Placed], site: Site) -> str:
    """What the invocation makes a symbolic link to, if that must not be written; empty if there is no such thing."""
    if invocation.program not in ("ln", "cp") or site.is_remote:
        return ""
    flags = {name for use in invocation.flags for name in use.names}
    makes, copies = bool(flags & _MAKES_LINKS), invocation.program == "cp" and bool(flags & _COPIES_LINKS)
    if not (makes or copies):
        return ""
    for each in placed:
        if each.effect.kind is not EffectKind.READ:
            continue
        if each.places is None:
            return each.text
        for place in each.places:
            if (makes or place.others) and not all(map(site.write.matches, place.spellings)):
                return place.lexical
    return ""


def written_through(case: Case) -> Finding | None:
    """The finding on a text that makes a link to a place that it must not write, and writes besides."""
    for number, target in case.links:
        acts = (act for index, act in enumerate(case.acts) if index != number)
        writes = any(effect.kind is EffectKind.WRITE for act in acts for effect in act.effects)
        if writes or any(not path.startswith(_NO_FILES) for path in case.writes):
            return Finding(
                verdict=max(case.policy.document.defaults.decision, Verdict.ASK),
                code=ReasonCode.PATH_WRITE,
                message=f"It makes a link to {target}, which is outside `paths.write`, and writes besides: "
                "that could go through the link.",
                hint="Make the link in a call of its own.",
            )
    return None
