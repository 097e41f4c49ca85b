r"""The verdict on text that is typed to a program: the same as if it had been given to it on a command line.

A shell must read the canonical text as bash reads it: what another shell, or an interactive one, would read
otherwise is refused. Where nothing is known, the policy's ``defaults.decision`` decides, and never less.
"""

from typing import Final

from msgspec.structs import replace

from execkit_mcp.model import Decision, ReasonCode, Verdict
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.model.terminal import TerminalProcess, TerminalState
from execkit_mcp.policy.compile import CompiledPolicy
from execkit_mcp.policy.engine import judge
from execkit_mcp.policy.findings import Context
from execkit_mcp.policy.readers import Kind, program_word, reader_of
from execkit_mcp.policy.typed import MAX_LINE_BYTES, Step

__all__ = ["decide"]

_CONTROL: Final = lazy_regex("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_UNQUOTED: Final = r"[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*"
_PORTABLE: Final = lazy_regex(
    rf"(?:(?:(?:{_UNQUOTED}|'[^'\\!\n]*')+|&&|\|\||\||[0-9]?(?:>>?|<)|[0-9]>&[0-9]);?(?: |\Z))*"
)
_HISTORY: Final = lazy_regex(r"!(?![\s=])|\A\^")


def decide(step: Step, state: TerminalState, policy: CompiledPolicy, context: Context) -> Decision:
    """The decision on what ``plan`` wants judged; ``context`` is the session's."""
    process, reader = step.process, step.reader
    if process is None or reader is None:
        return _unknown(step, policy, "The program that reads this cannot be told.")
    there = context if not process.cwd else replace(context, cwd=process.cwd)
    if reader.kind is Kind.SHELL:
        return _typeable(judge(step.text, policy, there), process)
    if reader.kind in {Kind.INTERPRETER, Kind.EDITOR, Kind.VIEWER}:
        given = f"{reader.form} {_quote(step.text)}" if reader.form != "+" else _quote("+" + step.text)
        words = f"{_quote(program_word(process, context.locator))} {given}"
        return _askable(_at_least(judge(words, policy, there), step, policy))
    front = [each for each in state.front if reader_of(each).kind in {Kind.OTHER, Kind.CARRIER}]
    found = [_of_program(each, state, policy, context) for each in front] or [_unknown(step, policy, step.message)]
    told = max(found, key=lambda each: each.verdict)
    return _askable(_at_least(told, step, policy))


def _at_least(told: Decision, step: Step, policy: CompiledPolicy) -> Decision:
    """``told``, or the step's own floor where that is stricter."""
    floor = max(step.floor, policy.document.defaults.decision) if step.floor is not Verdict.ALLOW else Verdict.ALLOW
    if told.verdict >= floor:
        return told
    return replace(told, verdict=floor, rule=None, reason_code=ReasonCode.NO_RULE, message=step.message, hint=step.hint)


def _of_program(process: TerminalProcess, state: TerminalState, policy: CompiledPolicy, context: Context) -> Decision:
    """What the policy says of the program's command line, or of the nearest one above it that it lets run."""
    by_pid = {each.pid: each for each in state.processes}
    first: Decision | None = None
    at: TerminalProcess | None = process
    while at is not None and (at is process or reader_of(at).kind is Kind.OTHER):
        words = " ".join(_quote(word) for word in (program_word(at, context.locator), *at.argv[1:]))
        there = context if not at.cwd else replace(context, cwd=at.cwd)
        told = judge(words, policy, there)
        if told.verdict is Verdict.ALLOW:
            return told
        first = first or told
        at = by_pid.get(at.parent)
    assert first is not None
    name = process.path.rpartition("/")[2] or "this program"
    return replace(
        first,
        message=f"What {name} does with this text is not known. {first.message}",
        hint="Answer with y, n, a number or Enter; or let a rule vouch for the program with `effects: trusted`.",
    )


def _typeable(decision: Decision, process: TerminalProcess) -> Decision:
    """The decision on a command for a shell of another process: it must read the canonical text as we do."""
    canonical = decision.canonical
    if canonical is None:
        return replace(decision, verdict=Verdict.DENY)
    name = process.path.rpartition("/")[2]
    reason = ""
    if _CONTROL.search(canonical) is not None:
        reason = "it needs more than one line"
    elif len(canonical.encode()) > MAX_LINE_BYTES:
        reason = f"it has more than {MAX_LINE_BYTES} bytes"
    elif _HISTORY.search(canonical):
        reason = "an interactive shell takes ! or ^ for its history"
    elif name not in {"bash", "rbash"} and _PORTABLE.fullmatch(canonical) is None:
        reason = f"{name} may read it otherwise than bash"
    if not reason:
        return decision
    return replace(
        decision,
        verdict=Verdict.DENY,
        rule=None,
        reason_code=ReasonCode.UNPARSED,
        message=f"The command cannot be typed to {name}: {reason}.",
        hint="Run it with shell_run in a session of its own.",
    )


def _askable(decision: Decision) -> Decision:
    return replace(decision, verdict=Verdict.DENY) if decision.canonical is None else decision


def _unknown(step: Step, policy: CompiledPolicy, message: str) -> Decision:
    return Decision(
        verdict=Verdict.DENY,
        canonical=None,
        rule=None,
        reason_code=ReasonCode.NO_RULE,
        message=message or "The program that reads this cannot be told.",
        hint=step.hint or "Answer with y, n, a number or Enter, or wait until the program is in front.",
        policy=policy.ref,
    )


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
