"""What is known of a word before it runs: this module turns a Word into the Args that the policy judges.

A word is STATIC when every character is known, GLOB when it is a pattern that expands to paths or to
itself, else DYNAMIC. A variable whose possible values are known counts as text: inside double quotes
always, outside them only if the value cannot be split or taken for a pattern.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from execkit_mcp.policy.knowledge.invocation import Arg, ArgKind
from execkit_mcp.policy.shell.render import render_word
from execkit_mcp.policy.shell.tree import (
    Glob,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Substitution,
    Tilde,
    Word,
)

MAX_ALTERNATIVES = 64

_NO_VARIABLES: Mapping[str, tuple[str, ...]] = MappingProxyType({})
_SPLIT_OR_PATTERN = re.compile(r"[\s*?\[\]\\]")
_PATTERN_CHARACTER = re.compile(r"[*?\[\]\\]")
# Parameters that are always one run of digits, so that no splitting happens even outside quotes.
_ALWAYS_NUMBERS = frozenset({"?", "#", "$"})


def to_arg(word: Word, variables: Mapping[str, tuple[str, ...]] = _NO_VARIABLES) -> tuple[Arg, ...]:
    """Each word that this one may become, as far as that is known.

    Args:
        word: as parsed.
        variables: name to the values that the variable may have here; a name that is absent is unknown.

    Returns:
        Several STATIC or GLOB Args (at most 64), or one DYNAMIC Arg. A word that is sure to
        vanish (an unquoted variable that is empty) is DYNAMIC.
    """
    parts = word.parts
    if not parts:
        return (Arg(ArgKind.STATIC, "", ""),)
    if len(parts) == 1 and isinstance(parts[0], Literal):
        text = parts[0].text
        return (Arg(ArgKind.STATIC, text, text),)
    if len(parts) == 1 and isinstance(parts[0], ProcessSubstitution):
        return (Arg(ArgKind.DYNAMIC, render_word(word), "/dev/fd/", is_pipe=True),)
    is_pattern = any(isinstance(part, Glob) for part in parts)
    is_home = isinstance(parts[0], Tilde)
    texts: list[str] = [""]  # what the program sees, pattern characters escaped if the word is a pattern
    prefixes: list[str] = [""]  # the same up to the first pattern, never escaped
    is_prefix_open = True
    for index, part in enumerate(parts):
        if isinstance(part, Glob):
            texts = [text + part.text for text in texts]
            is_prefix_open = False
            continue
        values = _values(part, variables, is_first=index == 0)
        if values is None or len(texts) * len(values) > MAX_ALTERNATIVES:
            return (_dynamic(word, prefixes, part, is_home=is_home, is_prefix_open=is_prefix_open),)
        if is_prefix_open:
            prefixes = [prefix + value for prefix in prefixes for value in values]
        if is_pattern:
            values = tuple(_PATTERN_CHARACTER.sub(r"\\\g<0>", value) for value in values)
        texts = [text + value for text in texts for value in values]
    if not is_pattern:
        return tuple(Arg(ArgKind.STATIC, text, text, is_home=is_home) for text in texts)
    prefix = _common_prefix(prefixes)
    return tuple(Arg(ArgKind.GLOB, text, prefix, is_single=False, is_home=is_home) for text in texts)


def source_of(word: Word) -> str:
    """The canonical text of a word, for people."""
    return render_word(word)


def _values(part: Part, variables: Mapping[str, tuple[str, ...]], *, is_first: bool) -> tuple[str, ...] | None:
    if isinstance(part, Literal):
        return (part.text,)
    if isinstance(part, Tilde):
        return ("~" + part.user,) if is_first else None
    if not isinstance(part, Parameter) or part.operator or part.name not in variables:
        return None
    values = variables[part.name]
    if not part.quoted and any(not value or _SPLIT_OR_PATTERN.search(value) for value in values):
        return None
    return values or None


def _dynamic(word: Word, prefixes: list[str], stopped_at: Part, *, is_home: bool, is_prefix_open: bool) -> Arg:
    prefix = _common_prefix(prefixes)
    if is_prefix_open and isinstance(stopped_at, ProcessSubstitution):
        prefix += "/dev/fd/"
    is_single = all(_is_one_word(part) for part in word.parts)
    return Arg(ArgKind.DYNAMIC, render_word(word), prefix, is_single=is_single, is_home=is_home)


def _is_one_word(part: Part) -> bool:
    if isinstance(part, Parameter):
        if part.quoted:
            return part.name != "@" or part.operator == "length"
        return part.operator == "length" or (not part.operator and part.name in _ALWAYS_NUMBERS)
    if isinstance(part, Substitution):
        return part.quoted
    return not isinstance(part, Glob)


def _common_prefix(texts: list[str]) -> str:
    shortest, longest = min(texts), max(texts)
    for index, character in enumerate(shortest):
        if longest[index] != character:
            return shortest[:index]
    return shortest
