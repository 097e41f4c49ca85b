"""The rule that comes nearest to letting a refused command through, and what keeps it from doing so.

For people to read: a dynamic word is taken as it stands in the canonical text, so the answer may be rough;
it decides nothing.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from execkit_mcp.model import JudgedCommand, ReasonCode, Verdict
from execkit_mcp.policy import globs
from execkit_mcp.policy.compile import CompiledElement, CompiledPolicy
from execkit_mcp.policy.document import FlagRules
from execkit_mcp.policy.knowledge import FlagUse, Invocation, interpret, static
from execkit_mcp.policy.rules import matches

_DENIED_FOR_GOOD = frozenset({ReasonCode.PATH_NEVER, ReasonCode.ENV, ReasonCode.SHELL_STATE, ReasonCode.LIMIT})


class Nearest(Struct, frozen=True, kw_only=True):
    """A rule of the same program; ``misses`` says what it would need, most telling first."""

    rule: str
    source: str
    verdict: Verdict
    misses: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """The rule as a JSON object."""
        return {"rule": self.rule, "source": self.source, "verdict": self.verdict.word, "misses": list(self.misses)}


def bare_name(argv: Sequence[str], policy: CompiledPolicy) -> str | None:
    """The name under which rules know ``argv[0]``; None for a path that no rule by name can mean."""
    if not argv:
        return None
    folder, slash, base = argv[0].rpartition("/")
    if not slash:
        return argv[0]
    mapped = policy.names_by_path.get(argv[0])
    if mapped is not None:
        return mapped
    return base if folder in policy.document.program_folders else None


def nearest(command: JudgedCommand, policy: CompiledPolicy, *, cwd: str, home: str, workspace: str) -> Nearest | None:
    """The allow or ask rule that comes nearest to covering ``command``; None where none names its program."""
    is_by_rule = command.rule is not None
    if command.verdict is Verdict.ALLOW or is_by_rule or command.reason_code in _DENIED_FOR_GOOD:
        return None
    name = bare_name(command.argv, policy)
    if name is None or not command.program:
        return None
    invocation = interpret((static(name), *(static(word) for word in command.argv[1:])))
    found: list[tuple[int, int, Nearest]] = []
    for verdict in (Verdict.ALLOW, Verdict.ASK):
        for compiled in policy.book.index(verdict).named(name, (command.argv[0],)):
            misses = list(_misses(compiled, invocation))
            count = len(misses)  # none: its words match, and what is missing is what the message says
            if not misses:
                fits = matches(compiled, invocation, cwds=(cwd,) if cwd else None, home=home, workspace=workspace)
                if not fits and compiled.element.cwd is not None:
                    misses.append(f"it holds in {_listed(compiled.element.cwd)}")
                elif not fits:
                    misses.append("its conditions do not hold for these words")
                else:
                    misses.append(command.message)
            near = Nearest(
                rule=compiled.rule.id, source=compiled.source, verdict=verdict, misses=tuple(dict.fromkeys(misses))
            )
            found.append((count, verdict, near))
    return min(found, key=lambda each: each[:2])[2] if found else None


def _misses(compiled: CompiledElement, invocation: Invocation) -> Iterator[str]:
    """Each condition of the element that does not hold, in words."""
    element = compiled.element
    if element.sub:
        words = [*invocation.subcommand, *(operand.text for operand in invocation.operands)]
        if not any(tuple(words[: len(each)]) == each for each in element.sub):
            here = " ".join(invocation.subcommand) or (words[0] if words else "")
            yield f"it covers {_listed([' '.join(each) for each in element.sub])}" + (f", not {here}" if here else "")
    yield from _flag_misses(element.flags, invocation.flags, "")
    yield from _flag_misses(
        element.global_flags, [use for use in invocation.flags if use.is_global], " before the subcommand"
    )
    if element.args is not None:
        others = [each.text for each in invocation.operands if not any(_fits(each.text, glob) for glob in element.args)]
        if not element.args and others:
            yield f"it takes no operand, and here is {_listed(others)}"
        elif others:
            yield f"it covers the operands {_listed(element.args)}, not {_listed(others)}"
        elif element.args and not invocation.operands:
            yield f"it wants an operand: {_listed(element.args)}"


def _flag_misses(rules: FlagRules, uses: Sequence[FlagUse], where: str) -> Iterator[str]:
    def has(use: FlagUse, names: Sequence[str]) -> bool:
        return any(_fits(name, each) for each in names for name in use.names)

    if rules.allow is not None and (over := [use.names[0] for use in uses if not has(use, rules.allow)]):
        known = f"the flags {_listed(rules.allow)}" if rules.allow else "no flag"
        yield f"it allows {known}{where}, not {_listed(over)}"
    if rules.deny and (over := [use.names[0] for use in uses if has(use, rules.deny)]):
        yield f"it does not cover {_listed(over)}{where}"
    if rules.any and not any(has(use, rules.any) for use in uses):
        yield f"it wants one of the flags {_listed(rules.any)}{where}"
    if lacking := [name for name in rules.require if not any(has(use, (name,)) for use in uses)]:
        yield f"it wants {_listed(lacking)}{where}"
    for name, globs_of_value in rules.values.items():
        for use in uses:
            value = use.value.text if use.value is not None else ""
            if has(use, (name,)) and not any(_fits(value, each) for each in globs_of_value):
                yield f"it covers {name} with {_listed(globs_of_value)}, not {value or 'without a value'}"


def _fits(text: str, glob: str) -> bool:
    return text == glob or globs.matches(text, glob)


def _listed(words: Sequence[str], most: int = 8) -> str:
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more
