"""Brace expansion, done while parsing: this module is ``{a,b}`` and ``{1..9}`` as bash's braces.c reads them.

Only balanced braces are expanded here. A pair without a comma and without ``..`` of its own is literal, as
in bash (``{}``, ``{a}``, ``{{a,b}}`` is ``{a} {b}``). Texts in which bash's scanner does something less
obvious (an unbalanced brace beside a comma, a malformed sequence) are refused instead of imitated.
"""

from collections.abc import Callable
from enum import Enum
from itertools import product
from typing import NoReturn, TypeAlias

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.tree import Literal, Part


class Mark(Enum):
    """An unquoted character whose meaning depends on the rest of the word."""

    OPEN = "{"
    CLOSE = "}"
    COMMA = ","
    BRACKET = "["


Raw: TypeAlias = Part | Mark
RawWord: TypeAlias = list[Raw]

MAX_WORDS = 256
MAX_PARTS = 65536
_SEQUENCE = lazy_regex(
    r"(?P<first>-?[0-9]{1,9})\.\.(?P<last>-?[0-9]{1,9})(?:\.\.(?P<step>-?[0-9]{1,9}))?"
    r"|(?P<lower>[a-z])\.\.(?P<to_lower>[a-z])(?:\.\.(?P<lower_step>-?[0-9]{1,9}))?"
    r"|(?P<upper>[A-Z])\.\.(?P<to_upper>[A-Z])(?:\.\.(?P<upper_step>-?[0-9]{1,9}))?"
)


def expand(parts: RawWord, fail: Callable[..., NoReturn]) -> list[RawWord]:
    """The words that a word with brace marks becomes; braces that bash keeps come back as marks.

    ``fail(construct, is_limit=…)`` raises for what is refused.
    """
    depth = 0
    lowest = 0
    for part in parts:
        if part is Mark.OPEN:
            depth += 1
        elif part is Mark.CLOSE:
            depth -= 1
            lowest = min(lowest, depth)
        if depth > 8:  # noqa: PLR2004 - far beyond what people write
            fail("deeply nested brace expansion", is_limit=True)
    if depth or lowest:
        if Mark.OPEN in parts and Mark.CLOSE in parts:
            fail("unbalanced brace")
        return [parts]
    alternatives, end = _series(parts, 0, fail)
    assert end == len(parts)
    return alternatives


def _series(parts: RawWord, start: int, fail: Callable[..., NoReturn]) -> tuple[list[RawWord], int]:
    """The alternatives of everything up to a comma or closing brace of the enclosing group, or the end."""
    words: list[RawWord] = [[]]
    index = start
    while index < len(parts):
        part = parts[index]
        if part is Mark.OPEN:
            group, index = _group(parts, index, fail)
            if len(group) == 1:
                for word in words:
                    word.extend(group[0])
                continue
            if len(words) * len(group) > MAX_WORDS or len(words) * len(group) * len(parts) > MAX_PARTS:
                fail(f"brace expansion to more than {MAX_WORDS} words", is_limit=True)
            words = [head + tail for head, tail in product(words, group)]
            continue
        if start and part in (Mark.CLOSE, Mark.COMMA):
            break
        for word in words:
            word.append(part)
        index += 1
    return words, index


def _group(parts: RawWord, opening: int, fail: Callable[..., NoReturn]) -> tuple[list[RawWord], int]:
    """The alternatives of the group that opens here, and the index behind its closing brace."""
    index = opening + 1
    branches: list[list[RawWord]] = []
    while True:
        branch, index = _series(parts, index, fail)
        branches.append(branch)
        index += 1
        if parts[index - 1] is Mark.CLOSE:
            break
    if len(branches) > 1:
        words = [word for branch in branches for word in branch]
        if len(words) > MAX_WORDS:
            fail(f"brace expansion to more than {MAX_WORDS} words", is_limit=True)
        if any(_starts_with_tilde(word) for word in words):
            fail("tilde inside a brace expansion")
        return words, index
    inside = parts[opening + 1 : index - 1]
    if any(isinstance(part, Literal) and not part.quoted and ".." in part.text for part in inside):
        if len(inside) == 1 and isinstance(inside[0], Literal):
            return [[Literal(text)] for text in _sequence(inside[0].text, fail)], index
        fail("brace sequence")
    return [[Mark.OPEN, *word, Mark.CLOSE] for word in branches[0]], index


def _starts_with_tilde(word: RawWord) -> bool:
    return bool(word) and isinstance(word[0], Literal) and word[0].text.startswith("~") and not word[0].quoted


def _sequence(text: str, fail: Callable[..., NoReturn]) -> list[str]:
    found = _SEQUENCE.fullmatch(text)
    if found is None:
        fail("brace sequence")
    if found["first"] is not None:
        first, last = int(found["first"]), int(found["last"])
    else:
        first = ord(found["lower"] or found["upper"])
        last = ord(found["to_lower"] or found["to_upper"])
    step = abs(int(found["step"] or found["lower_step"] or found["upper_step"] or 1)) or 1
    if abs(last - first) // step >= MAX_WORDS:
        fail(f"brace expansion to more than {MAX_WORDS} words", is_limit=True)
    values = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    if found["first"] is None:
        return [chr(value) for value in values]
    width = 0
    if _is_padded(found["first"]) or _is_padded(found["last"]):
        width = max(len(found["first"]), len(found["last"]))
    return [f"{value:0{width}d}" if width else str(value) for value in values]


def _is_padded(number: str) -> bool:
    digits = number.lstrip("-")
    return len(digits) > 1 and digits.startswith("0")
