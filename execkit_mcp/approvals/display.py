"""What a person is shown before answering: plain text in which nothing can hide or pose as something else.

Invariants: the text holds no control character but the line feeds that stand between its own lines, no
character that is invisible, reorders or overlays others; a look-alike is followed by its code point; every
line of a value that came from outside stands behind its field's name or a bar, so no value can pose as
another field. The brackets that mark a character are themselves marked when they occur in a value, so the
marks cannot be forged either.
"""

import time
from collections.abc import Iterator

from msgspec import Struct

from execkit_mcp.approvals.approval import Approval, ScopeKind, State
from execkit_mcp.approvals.confusables import is_hidden, is_lookalike
from execkit_mcp.approvals.request import ApprovalRequest
from execkit_mcp.model.regex import lazy_regex

__all__ = ["Fact", "describe", "describe_request", "facts_of", "summary", "visible"]

_NAME_WIDTH = 10
_MAX_REASON = 500
_MAX_EFFECTS = 40
_LONG_GAP = lazy_regex(r" {12,}")
_PRINTABLE_ASCII = lazy_regex(r"[ -~]*")
_NAMES = {"\t": "TAB", "\r": "CR", "\n": "LF", "\x1b": "ESC", "\x00": "NUL", "\u00a0": "NBSP"}


def visible(text: str) -> str:
    """One line that shows every character: ``⟨U+202E⟩`` where one hides, its code beside a look-alike."""
    if not _PRINTABLE_ASCII.fullmatch(text):
        text = "".join(_visible_character(character) for character in text)
    return _LONG_GAP.sub(lambda gap: f" ⟨{len(gap.group())} spaces⟩ ", text)


def describe(approval: Approval, *, now_s: float) -> str:
    """Everything that a person needs for an answer, in lines."""
    standing = approval.state.value
    if approval.state is State.PENDING:
        standing += f", counts as denied in {_span(approval.expires_s - now_s)}"
    elif approval.state is State.APPROVED:
        more = "" if approval.scope is ScopeKind.ONCE else f" and a grant ({approval.scope.value})"
        standing += f", good for one run within {_span(approval.expires_s - now_s)}{more}"
    if approval.decided_by:
        who = f" ({visible(approval.decided_who)})" if approval.decided_who else ""
        standing += f", answered over {visible(approval.decided_by)}{who}"
    lines = [f"{approval.id}: {standing}", describe_request(approval.request)]
    if approval.reason:
        lines.append(_shown(Fact("answer", visible(approval.reason), "where")))
    if approval.edited:
        shown = "\n".join(map(visible, approval.edited.split("\n")))
        lines.append(_shown(Fact("runs as", shown, "command")))
    return "\n".join(lines)


class Fact(Struct, frozen=True):
    """One row of the question: ``value`` may have several lines, each of them with every character visible.

    ``kind`` is one of command, where, input, hazard, effect, rule, recent, diff, agent, warning.
    """

    name: str
    value: str
    kind: str


def facts_of(request: ApprovalRequest) -> tuple[Fact, ...]:
    """The question itself, as rows in the order in which a person reads them."""
    return tuple(
        Fact(name, value if kind == "warning" else "\n".join(map(visible, value.split("\n"))), kind)
        for name, value, kind in _rows(request)  # a warning is our own words
    )


def describe_request(request: ApprovalRequest) -> str:
    """The question itself, without its id."""
    return "\n".join(_shown(fact) for fact in facts_of(request))


def _rows(request: ApprovalRequest) -> Iterator[tuple[str, str, str]]:
    yield "command", request.canonical, "command"
    yield from _where(request)
    for hazard in request.hazards:
        yield "hazard", f"{hazard.id} ({hazard.severity.value}): {hazard.message}", "hazard"
    for effect in request.effects[:_MAX_EFFECTS]:
        yield "does", effect, "effect"
    if len(request.effects) > _MAX_EFFECTS:
        yield "does", f"and {len(request.effects) - _MAX_EFFECTS} things more", "effect"
    if request.diff:
        yield "overwrites", request.diff, "diff"
    yield from _why(request)
    if request.is_hiding:
        yield "WARNING", "a part that looks like a secret is not shown; deny it if you expect none there.", "warning"
    if any(is_hidden(c) or is_lookalike(c) for c in request.canonical if c != "\n"):
        marks = "the command holds characters that do not show or look like others; see the ⟨marks⟩."
        yield "WARNING", marks, "warning"


def _where(request: ApprovalRequest) -> Iterator[tuple[str, str, str]]:
    yield "target", request.target + (f", as {request.run_as}" if request.run_as else ""), "where"
    yield "folder", request.cwd, "where"
    if request.session:
        yield "session", request.session, "where"
    if request.stdin is not None:
        more = "" if request.stdin.is_whole else "; ONLY ITS BEGINNING IS SHOWN"
        yield "input", f"{request.stdin.size_bytes} bytes{more}\n{request.stdin.head}", "input"
    if request.typed_into:
        yield "typed into", f"{request.typed_into}; what would be typed stands under input", "where"
    elif request.is_tty:
        yield "terminal", "yes: the agent can type into it while it runs; what it types is judged", "where"
    if request.is_durable:
        yield "durable", "yes: it goes on when the server ends", "where"


def _why(request: ApprovalRequest) -> Iterator[tuple[str, str, str]]:
    yield "asked by", request.requester, "where"
    rule = f"{request.rule}: {request.message}" if request.rule else request.message
    yield "because", rule or "the policy asks", "rule"
    yield "policy", f"{request.policy.name} {request.policy.digest[:24]}", "rule"
    if request.recent:
        yield "ran before", "\n".join(request.recent), "recent"
    if request.agent_reason:
        cut = request.agent_reason[:_MAX_REASON] + ("…" if len(request.agent_reason) > _MAX_REASON else "")
        yield "", f'The agent says, and nobody has checked it:\n"{cut}"', "agent"


def _shown(fact: Fact) -> str:
    """One row in lines; what is not the first line stands behind a bar, so that it cannot pose as another row."""
    first, *rest = fact.value.split("\n")
    if fact.kind == "warning":
        return f"{fact.name}: {first}"
    bar = " " * _NAME_WIDTH + " | "
    head = f"{fact.name:<{_NAME_WIDTH}} : " if fact.name else bar
    return "\n".join([head + first, *(bar + line for line in rest)])


def summary(approval: Approval, *, now_s: float) -> str:
    """One line for a list."""
    left = f" {_span(approval.expires_s - now_s)} left" if approval.state is State.PENDING else ""
    hazards = ",".join(visible(hazard.id) for hazard in approval.request.hazards)
    mark = f" !{hazards}" if hazards else ""
    target = visible(approval.request.target)
    return f"{approval.id} {approval.state.value}{left} {target}{mark}: {visible(approval.request.canonical)}"


def _visible_character(character: str) -> str:
    if " " <= character <= "~":
        return character
    if is_hidden(character):
        return f"⟨{_NAMES.get(character, f'U+{ord(character):04X}')}⟩"
    if is_lookalike(character):
        return f"{character}⟨U+{ord(character):04X}⟩"
    return character


def _span(seconds: float) -> str:
    if seconds <= 0:
        return "0 s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes >= 60:  # noqa: PLR2004 # minutes in an hour
        return time.strftime("%H h %M min", time.gmtime(seconds)) if minutes < 24 * 60 else f"{minutes // 1440} days"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
