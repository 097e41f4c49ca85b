"""What a person is shown before answering: plain text in which nothing can hide or pose as something else.

Invariants: the text holds no control character but the line feeds that stand between its own lines, no
character that is invisible, reorders or overlays others; a look-alike is followed by its code point; every
line of a value that came from outside stands behind its field's name or a bar, so no value can pose as
another field. The brackets that mark a character are themselves marked when they occur in a value, so the
marks cannot be forged either.
"""

import re
import time

from execkit_mcp.approvals.approval import Approval, State
from execkit_mcp.approvals.confusables import is_hidden, is_lookalike
from execkit_mcp.approvals.request import ApprovalRequest

__all__ = ["describe", "describe_request", "summary", "visible"]

_NAME_WIDTH = 10
_MAX_REASON = 500
_MAX_EFFECTS = 40
_LONG_GAP = re.compile(r" {12,}")
_PRINTABLE_ASCII = re.compile(r"[ -~]*")
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
        standing += f", good for one run within {_span(approval.expires_s - now_s)}"
    if approval.decided_by:
        who = f" ({visible(approval.decided_who)})" if approval.decided_who else ""
        standing += f", answered over {visible(approval.decided_by)}{who}"
    lines = [f"{approval.id}: {standing}", describe_request(approval.request)]
    if approval.reason:
        lines.append(_field("answer", approval.reason))
    return "\n".join(lines)


def describe_request(request: ApprovalRequest) -> str:
    """The question itself, without its id."""
    lines = [
        _field("command", request.canonical),
        _field("target", request.target + (f", as {request.run_as}" if request.run_as else "")),
        _field("folder", request.cwd),
    ]
    if request.stdin is not None:
        size = f"{request.stdin.size_bytes} bytes, sha256 {request.stdin.sha256[:16]}"
        more = "" if request.stdin.is_whole else "; ONLY ITS BEGINNING IS SHOWN"
        lines += [_field("input", f"{size}{more}"), _field("", request.stdin.head)]
    if request.is_tty:
        lines.append(_field("terminal", "yes: the agent can type into it while it runs"))
    lines += [
        _field("hazard", f"{hazard.id} ({hazard.severity.value}): {hazard.message}") for hazard in request.hazards
    ]
    effects = [_field("does", effect) for effect in request.effects[:_MAX_EFFECTS]]
    if len(request.effects) > _MAX_EFFECTS:
        effects.append(_field("does", f"and {len(request.effects) - _MAX_EFFECTS} things more"))
    lines += effects
    rule = f"{request.rule}: {request.message}" if request.rule else request.message
    lines += [
        _field("asked by", request.requester),
        _field("because", rule or "the policy asks"),
        _field("policy", f"{request.policy.name} {request.policy.digest[:24]}"),
    ]
    if request.agent_reason:
        cut = request.agent_reason[:_MAX_REASON] + ("…" if len(request.agent_reason) > _MAX_REASON else "")
        lines.append(_field("", "The agent says, and nobody has checked it:"))
        lines.append(_field("", f'"{cut}"'))
    if any(is_hidden(c) or is_lookalike(c) for c in request.canonical if c != "\n"):
        lines.append("WARNING: the command holds characters that do not show or look like others; see the ⟨marks⟩.")
    return "\n".join(lines)


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


def _field(name: str, value: str) -> str:
    first, *rest = value.split("\n")
    bar = " " * _NAME_WIDTH + " | "
    head = f"{name:<{_NAME_WIDTH}} : " if name else bar
    return "\n".join([head + visible(first), *(bar + visible(line) for line in rest)])


def _span(seconds: float) -> str:
    if seconds <= 0:
        return "0 s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes >= 60:  # noqa: PLR2004 # minutes in an hour
        return time.strftime("%H h %M min", time.gmtime(seconds)) if minutes < 24 * 60 else f"{minutes // 1440} days"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
