"""A decision in words: what would run, what each part does, which line decided, what would change it.

Control, bidirectional and zero-width characters never reach the terminal: they are shown escaped.
"""

import re

from execkit_mcp.model import Decision, Verdict
from execkit_mcp.policy.compile import CompiledPolicy
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER


def _shown(text: str) -> str:
    return HOSTILE_CHARACTER.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _source_of(rule: str | None, policy: CompiledPolicy) -> str:
    return next((each.source for each in policy.document.rules if each.id == rule and each.source), "")


def explain(decision: Decision, policy: CompiledPolicy) -> str:
    """The decision as lines of text: the verdict first, the way to change it last."""
    lines = [f"{decision.verdict.word}: {decision.message}"]
    if decision.canonical is not None:
        lines += ["", "would run:", *(f"    {line}" for line in decision.canonical.splitlines())]
    if decision.commands:
        lines += ["", "parts:"]
    for command in decision.commands:
        lines.append(f"  {command.verdict.word:5} {' '.join(command.argv)}")
        if command.effects:
            lines.append(f"        does: {', '.join(str(effect) for effect in command.effects)}")
        where = command.source or _source_of(command.rule, policy)
        if command.rule is not None:
            lines.append(f"        rule: {command.rule}{f' ({where})' if where else ''}")
        elif command.verdict is not Verdict.ALLOW:
            nearest = f" The nearest rule is at {where}." if where else ""
            lines.append(f"        {command.reason_code}: {command.message}{nearest}")
    if decision.hazards:
        lines += ["", "hazards:"]
        lines += [f"  {hit.severity:8} {hit.id}: {hit.message}" for hit in decision.hazards]
    if decision.warnings:
        lines += ["", *(f"warning: {warning}" for warning in decision.warnings)]
    if decision.hint:
        lines += ["", f"to change it: {decision.hint}"]
    reference = decision.policy
    lines += ["", f"policy {reference.name}" + (f" {reference.digest[:12]}" if reference.digest else "")]
    return "\n".join(re.sub(r"\t", "    ", _shown(line)) for line in lines)
