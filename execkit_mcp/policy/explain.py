"""A decision in words: what would run, what each part does, which line decided, what would change it.

Control, bidirectional and zero-width characters never reach the terminal: they are shown escaped.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from execkit_mcp.model import Decision, JudgedCommand, Verdict
from execkit_mcp.policy.compile import CompiledPolicy
from execkit_mcp.policy.engine import judge
from execkit_mcp.policy.findings import Context
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER

if TYPE_CHECKING:
    from execkit_mcp.policy.nearest import Nearest

Paint = Callable[[str, str], str]
_MAX_ALTERNATIVES = 3


def shown(text: str) -> str:
    """The text with characters that a terminal would obey, or that hide, written as their codes."""
    return HOSTILE_CHARACTER.sub(lambda match: f"\\u{ord(match.group()):04x}", text).replace("\t", "    ")


def plain(style: str, text: str) -> str:
    """No colour; a style is the word of a verdict, or ``title``."""
    del style
    return text


def _source_of(rule: str | None, policy: CompiledPolicy) -> str:
    return next((each.source for each in policy.document.rules if each.id == rule and each.source), "")


def _nearest(command: JudgedCommand, policy: CompiledPolicy, context: Context) -> "Nearest | None":
    from execkit_mcp.policy.nearest import nearest  # noqa: PLC0415 - `policy check` starts without it

    return nearest(command, policy, cwd=context.cwd, home=context.home, workspace=context.workspace)


def safer(command: JudgedCommand, policy: CompiledPolicy, context: Context) -> Iterator[dict[str, str]]:
    """Safer ways to what a refused command wants, as far as this policy does not deny them as well."""
    from execkit_mcp.policy.alternatives import alternatives  # noqa: PLC0415 - `policy check` starts without it
    from execkit_mcp.policy.nearest import bare_name  # noqa: PLC0415

    name = bare_name(command.argv, policy)
    if name is None or not command.program:
        return
    count = 0
    for offer in alternatives((name, *command.argv[1:])):
        told = judge(offer.command, policy, context)
        if told.verdict is Verdict.DENY or told.verdict > max(command.verdict, Verdict.ASK):
            continue
        yield {"command": offer.command, "why": offer.why, "verdict": told.verdict.word}
        count += 1
        if count == _MAX_ALTERNATIVES:
            return


def explain_json(decision: Decision, policy: CompiledPolicy, context: Context) -> dict[str, object]:
    """The decision as the JSON object of the policy format, with what ``explain`` says besides."""
    answer = decision.to_json()
    is_refused = decision.verdict is not Verdict.ALLOW
    parts: list[dict[str, object]] = []
    for command, part in zip(decision.commands, answer["commands"], strict=True):  # type: ignore[call-overload]
        near = _nearest(command, policy, context)
        parts.append(
            {
                **part,
                "reason_code": command.reason_code.value,
                "message": command.message,
                "nearest": near.to_json() if near is not None else None,
                "alternatives": list(safer(command, policy, context)) if is_refused else [],
            }
        )
    source = next((each.source for each in decision.commands if each.rule == decision.rule and each.source), "")
    answer["commands"] = parts
    answer["source"] = (source or _source_of(decision.rule, policy)) if decision.rule is not None else ""
    answer["warnings"] = list(decision.warnings)
    return answer


def explain(decision: Decision, policy: CompiledPolicy, context: Context | None = None, *, paint: Paint = plain) -> str:
    """The decision as lines of text: the verdict first, the way to change it last.

    Args:
        decision: what was decided.
        policy: by which policy.
        context: where the text would run; without it nothing is said of folders and safer ways are judged strictly.
        paint: puts colour on a text by its style.
    """
    return "\n".join(_lines(decision, policy, context or Context(), paint))


def _warnings(decision: Decision) -> tuple[str, ...]:
    if decision.canonical is not None or decision.verdict is not Verdict.ASK:
        return decision.warnings
    told = "A session refuses it, for nothing could be shown to a person; a client's hook asks about it."
    return (*decision.warnings, told)


def _lines(decision: Decision, policy: CompiledPolicy, context: Context, paint: Paint) -> Iterator[str]:
    word = decision.verdict.word
    yield f"{paint(word, word)}: {shown(decision.message)}"
    if decision.canonical is not None:
        yield from ("", paint("title", "would run:"))
        yield from (f"    {shown(line)}" for line in decision.canonical.splitlines())
    if decision.commands:
        yield from ("", paint("title", "parts:"))
    is_refused = decision.verdict is not Verdict.ALLOW
    offers: dict[str, dict[str, str]] = {}
    for command in decision.commands:
        yield from _part(command, policy, context, paint)
        if is_refused:
            offers.update({each["command"]: each for each in safer(command, policy, context)})
    if decision.hazards:
        yield from ("", paint("title", "hazards:"))
        yield from (f"  {hit.severity:8} {hit.id}: {shown(hit.message)}" for hit in decision.hazards)
    if warnings := _warnings(decision):
        yield ""
        yield from (f"warning: {shown(warning)}" for warning in warnings)
    if offers:
        yield from ("", paint("title", "safer:"))
        for offer in offers.values():
            verdict = offer["verdict"]
            yield f"  {paint(verdict, f'{verdict:5}')} {shown(offer['command'])}  ({offer['why']})"
    if decision.hint and is_refused:
        yield from ("", f"{paint('title', 'to change it:')} {shown(decision.hint)}")
    reference = decision.policy
    yield from ("", f"policy {reference.name}" + (f" {reference.digest[:12]}" if reference.digest else ""))


def _part(command: JudgedCommand, policy: CompiledPolicy, context: Context, paint: Paint) -> Iterator[str]:
    word = command.verdict.word
    yield f"  {paint(word, f'{word:5}')} {shown(' '.join(command.argv))}".replace("\n", "\\n")
    if command.effects:
        yield f"        does: {shown(', '.join(str(effect) for effect in command.effects))}".replace("\n", "\\n")
    if command.rule is not None:
        where = command.source or _source_of(command.rule, policy)
        yield f"        rule: {command.rule}{f' ({where})' if where else ''}"
        return
    if command.verdict is Verdict.ALLOW:
        return
    yield f"        {command.reason_code}: {shown(command.message)}".replace("\n", "\\n")
    near = _nearest(command, policy, context)
    if near is not None:
        where = f"{near.rule} ({near.source or 'the policy'})"
        if near.misses == (command.message,):
            yield f"        nearest: {where} would {_verb(near.verdict)} it but for that"
        else:
            misses = "; ".join(each.removesuffix(".") for each in near.misses)
            yield f"        nearest: {where} would {_verb(near.verdict)} it, but {shown(misses)}"
    elif command.source:
        yield f"        nearest: the rule at {command.source}"


def _verb(verdict: Verdict) -> str:
    return "allow" if verdict is Verdict.ALLOW else "ask about"
