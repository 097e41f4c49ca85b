"""Whether an element matches an invocation: subcommand, flags, operands, folder. Effects are judged apart.

Uncertainty goes the strict way. An allow or ask element matches only what it surely covers; a deny element
matches whatever it might cover.
"""

from collections.abc import Iterable, Sequence

from execkit_mcp.model import Verdict
from execkit_mcp.policy import globs
from execkit_mcp.policy.compile import CompiledElement
from execkit_mcp.policy.document import Element, FlagRules
from execkit_mcp.policy.knowledge.invocation import Arg, ArgKind, FlagUse, Invocation, static
from execkit_mcp.policy.paths import compile_paths, expand_home


def _names_meet(use: FlagUse, patterns: Iterable[str]) -> bool:
    return any(name == pattern or globs.matches(name, pattern) for pattern in patterns for name in use.names)


def _value_fits(use: FlagUse, patterns: Sequence[str]) -> bool:
    return (
        use.value is not None
        and use.value.kind is ArgKind.STATIC
        and any(_fits(use.value.text, pattern) for pattern in patterns)
    )


def _flags_match(rules: FlagRules, uses: Sequence[FlagUse]) -> bool:
    if rules.allow is not None and not all(_names_meet(use, rules.allow) for use in uses):
        return False
    if rules.deny and any(_names_meet(use, rules.deny) for use in uses):
        return False
    if rules.any and not any(_names_meet(use, rules.any) for use in uses):
        return False
    if not all(any(_names_meet(use, (wanted,)) for use in uses) for wanted in rules.require):
        return False
    for name, patterns in rules.values.items():
        if any(_names_meet(use, (name,)) and not _value_fits(use, patterns) for use in uses):
            return False
    return True


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
    if operand.kind is not ArgKind.STATIC:
        return False
    text = expand_home(operand.text, home) if operand.is_home else operand.text
    return text is not None and any(_fits(text, pattern) for pattern in patterns)


def _operand_may_fit(operand: Arg, patterns: Sequence[str], home: str) -> bool:
    """For refusals: the word, its plainer spelling, or a glob or dynamic word that could become it."""
    if operand.kind is ArgKind.DYNAMIC:
        heads = [globs.edges(pattern)[0] for pattern in patterns]
        return any(operand.prefix.startswith(head) or head.startswith(operand.prefix) for head in heads)
    if operand.kind is ArgKind.GLOB:
        return any(globs.meet(operand.text, pattern) for pattern in patterns)
    text = expand_home(operand.text, home) if operand.is_home else operand.text
    if text is None:
        return False
    spellings = {operand.text, text, _plain(text)}
    return any(globs.matches(spelling, pattern) for pattern in patterns for spelling in spellings)


def _plain(text: str) -> str:
    """A path without ``.``, ``..`` and doubled slashes, relative ones kept relative."""
    stack: list[str] = []
    for part in text.split("/"):
        if part == ".." and stack and stack[-1] != "..":
            stack.pop()
        elif part not in ("", "."):
            stack.append(part)
    return ("/" if text.startswith("/") else "") + "/".join(stack)


def _sub_matches(compiled: CompiledElement, invocation: Invocation) -> bool:
    wanted = compiled.element.sub
    if not wanted:
        return True
    found = invocation.subcommand
    if not invocation.is_known or not found:
        found = (*found, *(operand.text for operand in invocation.operands if operand.kind is ArgKind.STATIC))
    elif invocation.operands:
        heads = [operand.text for operand in invocation.operands if operand.kind is ArgKind.STATIC]
        found = (*found, *heads[:2])
    return any(found[: len(words)] == words for words in wanted)


# Flags by which a program goes to work in another folder, as if it had been started there.
_MAX_FOLDERS = 64
_ELSEWHERE = frozenset(
    {"-C", "--directory", "--prefix", "--cwd", "--dir", "--chdir", "--manifest-path", "--git-dir", "--work-tree"}
)


def _moved(invocation: Invocation, cwds: Sequence[str], home: str) -> Sequence[str] | None:
    """The folders, and those that the program's own flags lead to from there; None if that cannot be told."""
    found = list(cwds)
    current = list(cwds)
    uses = [use for use in invocation.flags if use.is_global or invocation.program != "git"]
    for use in uses:
        is_attached = not use.is_known and use.names[0].startswith("-C") and len(use.names[0]) > len("-C")
        if not is_attached and _ELSEWHERE.isdisjoint(use.names):
            continue
        value = static(use.names[0][2:]) if is_attached else use.value
        if value is None or not value.is_static or len(found) > _MAX_FOLDERS:
            return None
        path = expand_home(value.text, home) if value.is_home else value.text
        if not path:
            return None
        current = [path] if path.startswith("/") else [f"{cwd}/{path}" for cwd in current]
        found.extend(current)
    return [_plain(folder) for folder in found]


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
    is_deny = compiled.rule.verdict is Verdict.DENY
    if not _sub_matches(compiled, invocation):
        return False
    if element.flags != FlagRules() and not _flags_match(element.flags, invocation.flags):
        return False
    early = [use for use in invocation.flags if use.is_global]
    if element.global_flags != FlagRules() and not _flags_match(element.global_flags, early):
        return False
    if element.args is not None and not _args_match(element.args, invocation.operands, home, is_deny=is_deny):
        return False
    if element.cwd is not None:
        folders = compile_paths(element.cwd, home, workspace)
        if not folders.patterns:
            return False
        if cwds is None:
            return is_deny
        moved = _moved(invocation, cwds, home)
        if moved is None:
            return is_deny
        inside = [folders.matches(cwd) for cwd in moved]
        return any(inside) if is_deny else all(inside)
    return True
