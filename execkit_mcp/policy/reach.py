"""Rules that can never match, or never decide: what ``policy test`` warns of.

Nothing here changes a decision. A warning names the rule's line, why it is idle, and what was probably meant.
Only what the author wrote is looked at, not the members of a shipped group.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from execkit_mcp.model import Verdict
from execkit_mcp.policy import globs
from execkit_mcp.policy.compile import CompiledPolicy, RuleBook
from execkit_mcp.policy.document import Element, FlagRules, PathRules, Rule
from execkit_mcp.policy.groups import PREFIX
from execkit_mcp.policy.knowledge import knows
from execkit_mcp.policy.knowledge.catalogue import PROGRAMS
from execkit_mcp.policy.shell.builtins import BUILTINS

_VERY_NEAR = 0.8


class Idle(Struct, frozen=True, kw_only=True):
    """One rule element that does nothing: where it stands and why."""

    source: str
    rule: str
    message: str

    def __str__(self) -> str:
        where = f"{self.source}: " if self.source else ""
        return f"{where}rule {self.rule}: {self.message}"


def idle_rules(policy: CompiledPolicy) -> tuple[Idle, ...]:
    """Everything in the document that can never matter."""
    found: list[Idle] = []
    for rule in policy.document.rules:
        for element in rule.elements:
            if not element.program.startswith(PREFIX):
                source = f"{element.source}:{element.column}" if element.column else element.source or rule.source
                found.extend(
                    Idle(source=source, rule=rule.id, message=f"{element.program}: {message}")
                    for message in _reasons(element, rule, policy)
                )
    found.extend(_idle_paths(policy.document.paths, policy))
    return tuple(dict.fromkeys(found))


def _reasons(element: Element, rule: Rule, policy: CompiledPolicy) -> Iterator[str]:
    yield from _contradictions(element.flags)
    yield from _contradictions(element.global_flags)
    if rule.verdict is Verdict.DENY and element.args == ():
        yield "a denial with `args: []` matches nothing; leave `args` out to deny every use"
    yield from _beaten(element, rule, policy.book)
    if globs.is_pattern(element.program) or "/" in element.program:
        yield from _unreachable_path(element, policy)
    elif not knows(element.program):
        yield from _unknown(element, rule)
    else:
        yield from _misspelt_subcommands(element)


def _contradictions(flags: FlagRules) -> Iterator[str]:
    """Conditions on flags that no command can meet."""
    allowed = flags.allow
    for name in flags.require:
        if _is_listed(name, flags.deny):
            yield f"it requires and denies {name}"
        elif allowed is not None and not _is_listed(name, allowed):
            yield f"it requires {name}, which flags.allow does not list"
    if flags.any:
        left = [name for name in flags.any if not _is_listed(name, flags.deny)]
        if not left:
            yield f"it wants one of {', '.join(flags.any)} and denies each of them"
        elif allowed is not None and not any(_is_listed(name, allowed) or _covers(name, allowed) for name in left):
            yield f"it wants one of {', '.join(left)}, and flags.allow lists none of them"


def _is_listed(name: str, patterns: Iterable[str]) -> bool:
    return any(name == pattern or globs.matches(name, pattern) for pattern in patterns)


def _covers(pattern: str, names: Iterable[str]) -> bool:
    return any(globs.matches(name, pattern) for name in names)


def _beaten(element: Element, rule: Rule, book: RuleBook) -> Iterator[str]:
    """A stricter element that matches whatever this one matches."""
    if globs.is_pattern(element.program):
        return
    for verdict in (each for each in (Verdict.DENY, Verdict.ASK) if each > rule.verdict):
        for other in book.index(verdict).named(element.program.rpartition("/")[2], (element.program,)):
            covers_all = verdict is Verdict.DENY or other.grants.covers_all
            if covers_all and _is_wider(other.element, element):
                word = "denies" if verdict is Verdict.DENY else "asks about"
                yield (
                    f"rule {other.rule.id} ({other.source}) {word} everything that this would {rule.verdict.word}, "
                    "and the stricter rule wins; narrow that one"
                )
                return


def _is_wider(other: Element, element: Element) -> bool:
    """Whether ``other`` surely matches whatever ``element`` matches."""
    plain = Element(program=other.program, source=other.source, column=other.column, sub=other.sub)
    if other != plain:
        return False
    return not other.sub or (
        bool(element.sub) and all(any(words[: len(wide)] == wide for wide in other.sub) for words in element.sub)
    )


def _unknown(element: Element, rule: Rule) -> Iterator[str]:
    """An allow rule for a program of which nothing is known covers nothing unless it vouches."""
    if rule.verdict is not Verdict.ALLOW or (rule.effects is not None and rule.effects.is_trusted):
        return
    yield (
        "what it does is not known, so a plain allow never covers it: put it under `ask`, "
        f"or vouch for it with `effects: trusted`{_meant(element.program, PROGRAMS)}"
    )


def _meant(word: str, words: Iterable[str]) -> str:
    """``; did you mean "x"?`` where one of ``words`` is very near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a doubtful document pays for it

    near = get_close_matches(word, list(words), n=1, cutoff=_VERY_NEAR)
    return f'; did you mean "{near[0]}"?' if near else ""


def _unreachable_path(element: Element, policy: CompiledPolicy) -> Iterator[str]:
    folder, slash, name = element.program.rpartition("/")
    if slash and name in BUILTINS and folder not in policy.document.program_folders:
        yield f"{name} is a builtin of the shell; only its bare name means it"


def _misspelt_subcommands(element: Element) -> Iterator[str]:
    """Subcommand words that the program does not have, where all of its are known."""
    program = PROGRAMS[element.program]
    if not program.subcommands or program.is_open or program.read is not None:
        return
    heads = {head for spelled in program.subcommands for head in spelled.split()[0].split("|")}
    for words in element.sub:
        near = _meant(words[0], heads) if words[0] not in heads else ""
        if near:
            yield f"no subcommand {words[0]} of it is known{near}"


def _idle_paths(paths: PathRules, policy: CompiledPolicy) -> Iterator[Idle]:
    """Paths that are granted and never allowed at once."""
    for key, patterns in (("read", paths.read or ()), ("write", paths.write or ())):
        for pattern in patterns:
            covering = next((never for never in paths.never if pattern == never or _lies_below(pattern, never)), None)
            if covering is not None:
                yield Idle(
                    source=policy.document.source,
                    rule=f"paths.{key}",
                    message=f"{pattern} lies within {covering} of paths.never, which beats every grant",
                )


def _lies_below(pattern: str, never: str) -> bool:
    head = never.removesuffix("/**")
    return head != never and not globs.is_pattern(head) and (pattern == head or pattern.startswith(f"{head}/"))
