"""Whether an element matches an invocation: subcommand, flags, operands, folder. Effects are judged apart.

Uncertainty goes the strict way. An allow or ask element matches only what it surely covers; a deny element
matches whatever it might cover.
"""

from collections.abc import Sequence
from functools import lru_cache

from execkit_mcp.model import DENY
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy import globs
from execkit_mcp.policy.compile import CompiledElement
from execkit_mcp.policy.document import Element, FlagRules
from execkit_mcp.policy.folders import moved, plain
from execkit_mcp.policy.knowledge.git_shows import QUIETING
from execkit_mcp.policy.knowledge.invocation import DYNAMIC, GLOB, STATIC, Arg, FlagUse, Invocation
from execkit_mcp.policy.path_meeting import DOUBLE, segments_meet
from execkit_mcp.policy.paths import compile_paths, expand_home

# The canonical text adds them, so a closed list of flags need not name them.
_QUIETING = frozenset(QUIETING)


_CLIMBS = lazy_regex(r"\.{1,2}[*?\[]")


@lru_cache(maxsize=1024)
def _wild(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Those that are more than a name."""
    return tuple(pattern for pattern in patterns if globs.is_pattern(pattern))


def _names_meet(use: FlagUse, patterns: tuple[str, ...]) -> bool:
    for name in use.names:
        if name in patterns:
            return True
    wild = _wild(patterns)
    return bool(wild) and any(globs.matches(name, pattern) for pattern in wild for name in use.names)


def _value_fits(use: FlagUse, patterns: Sequence[str]) -> bool:
    return (
        use.value is not None
        and use.value.kind is STATIC
        and any(_fits(use.value.text, pattern) for pattern in patterns)
    )


def _value_may_fit(use: FlagUse, patterns: Sequence[str]) -> bool:
    return use.value is None or not use.value.is_static or _value_fits(use, patterns)


def _names_may_meet(use: FlagUse, patterns: tuple[str, ...]) -> bool:
    """Whether the flag is one of these, or a word that the program may take for the beginning of one of these."""
    if _names_meet(use, patterns):
        return True
    word = use.names[0]
    return (
        not use.is_known and len(word) > len("--") and any(each.startswith(word) for each in patterns if word[1] == "-")
    )


def _flags_match(rules: FlagRules, uses: Sequence[FlagUse], *, is_deny: bool = False) -> bool:
    meet = _names_may_meet if is_deny else _names_meet
    keeps_off = _names_meet if is_deny else _names_may_meet
    named = [use for use in uses if _QUIETING.isdisjoint(use.names)]
    return (
        (rules.allow is None or all(_names_meet(use, rules.allow) for use in named))
        and not any(keeps_off(use, rules.deny) for use in uses)
        and (not rules.any or any(meet(use, rules.any) for use in uses))
        and all(any(meet(use, (wanted,)) for use in uses) for wanted in rules.require)
        and all(_values_fit(name, patterns, uses, is_deny=is_deny) for name, patterns in rules.values.items())
    )


def _values_fit(name: str, patterns: Sequence[str], uses: Sequence[FlagUse], *, is_deny: bool) -> bool:
    """Whether each occurrence of a flag has one of these values; for a refusal one that may is enough."""
    named = [use for use in uses if _names_may_meet(use, (name,))]
    if is_deny:
        return not named or any(_value_may_fit(use, patterns) for use in named)
    return all(_value_fits(use, patterns) for use in named)


def values_named(element: Element, invocation: Invocation) -> list[Arg]:
    """The values of flags that a matching element restricts by ``values``: those that it surely fits."""
    named = [
        *((use, element.flags.values) for use in invocation.flags),
        *((use, element.global_flags.values) for use in invocation.flags if use.is_global),
    ]
    return [
        use.value
        for use, values in named
        for name, patterns in values.items()
        if use.value is not None and _names_meet(use, (name,)) and _value_fits(use, patterns)
    ]


def _fits(text: str, pattern: str) -> bool:
    """Whether a word matches a granting glob: ``*`` alone is anything, else only ``**`` crosses folders."""
    if pattern in ("*", text):
        return True
    if ".." in text.split("/") and "/" in pattern:
        return False
    if "**" in pattern:
        return globs.matches(text, pattern) or (pattern.startswith("**/") and globs.matches(text, pattern[3:]))
    return globs.matches(text, pattern, crosses=False)


def _operand_fits(operand: Arg, patterns: Sequence[str], home: str) -> bool:
    if operand.kind is GLOB:
        # What a pattern finds begins like the pattern; `.*` may find `..`.
        climbs = any(part == ".." or _CLIMBS.match(part) for part in operand.text.split("/"))
        is_open = operand.prefix and not operand.is_home and not climbs
        return bool(is_open) and any(each.endswith("**") and _fits(operand.prefix, each) for each in patterns)
    if operand.kind is not STATIC:
        return False
    text = expand_home(operand.text, home) if operand.is_home else operand.text
    return text is not None and any(_fits(text, pattern) for pattern in patterns)


def _operand_may_fit(operand: Arg, patterns: Sequence[str], home: str) -> bool:
    """For refusals: the word, its plainer spelling, or a glob or dynamic word that could become it."""
    if operand.kind is DYNAMIC:
        heads = [globs.edges(pattern)[0] for pattern in patterns]
        return any(operand.prefix.startswith(head) or head.startswith(operand.prefix) for head in heads)
    if operand.kind is GLOB:
        return any(_glob_may_fit(operand.text, pattern) for pattern in patterns)
    text = expand_home(operand.text, home) if operand.is_home else operand.text
    if text is None:
        return False
    spellings = {operand.text, text, plain(text)}
    return any(globs.matches(spelling, pattern) for pattern in patterns for spelling in spellings)


def _glob_may_fit(text: str, pattern: str) -> bool:
    """Whether a word that the shell's pattern finds may fit; a wildcard of the shell's never stands for a slash."""
    if pattern.count("/") > text.count("/") or not globs.meet(text, pattern):
        return False
    refused = tuple(pattern.split("/"))
    if any(part != DOUBLE and globs.literal(part) is None for part in refused):
        return True  # a wildcard of a rule's may stand for one
    return segments_meet(tuple(part for part in text.split("/") if part != "."), refused)


def _sub_matches(compiled: CompiledElement, invocation: Invocation) -> bool:
    wanted = compiled.subs
    found = invocation.subcommand
    if not invocation.is_known or not found:
        found = (*found, *[operand.text for operand in invocation.operands if operand.kind is STATIC])
    elif invocation.operands:
        heads = [operand.text for operand in invocation.operands if operand.kind is STATIC]
        found = (*found, *heads[:2])
    for length in compiled.sub_lengths:  # noqa: SIM110 - a generator costs more than the question
        if found[:length] in wanted:
            return True
    return False


def _args_match(patterns: tuple[str, ...], operands: Sequence[Arg], home: str, *, is_deny: bool) -> bool:
    """Whether the operands fit; for a refusal one that may fit is enough, and an empty list allows no operand."""
    if is_deny:
        return any(_operand_may_fit(operand, patterns, home) for operand in operands)
    if not operands:
        return not patterns
    return all(_operand_fits(operand, patterns, home) for operand in operands)


def matches(  # noqa: PLR0911 - one condition after another
    compiled: CompiledElement,
    invocation: Invocation,
    *,
    cwds: Sequence[str] | None,
    home: str,
    workspace: str,
) -> bool:
    """Whether the element's conditions hold for the invocation, its program being matched already.

    Args:
        compiled: the element.
        invocation: what the argv means.
        cwds: every folder that the command may run in; None if unknown.
        home: the session's home.
        workspace: the session's workspace folder.
    """
    element = compiled.element
    is_deny = compiled.rule.verdict is DENY
    if element.sub and not _sub_matches(compiled, invocation):
        return False
    if compiled.minds_flags and not _flags_match(element.flags, invocation.flags, is_deny=is_deny):
        return False
    if compiled.minds_early_flags:
        early = [use for use in invocation.flags if use.is_global]
        if not _flags_match(element.global_flags, early, is_deny=is_deny):
            return False
    if element.args is not None and not _args_match(element.args, invocation.operands, home, is_deny=is_deny):
        return False
    if element.cwd is not None:
        folders = compile_paths(element.cwd, home, workspace)
        if not folders.patterns:
            return False
        if cwds is None:
            return is_deny
        worked_in = moved(invocation, cwds, home)
        if worked_in is None:
            return is_deny
        inside = [folders.matches(cwd) for cwd in worked_in]
        return any(inside) if is_deny else all(inside)
    return True
