"""What a gate is: an expression without look-arounds and counting that lets through more than a rule's pattern.

All gates run over a whole region at once (see ``prefilter``); only lines in which one of them matches are read
by the rules. A gate is derived from the pattern, so that it can never be stricter: whatever the pattern matches
begins with something that its gate matches.

* Only the first characters of a pattern count (``_REACH``); what follows is left to the pattern.
* Look-arounds, borders and anchors are left out, upper bounds of repeats are lifted.
* Gates read lower case, in which every character outside ASCII is a ``?``; so every class that may hold such a
  character holds ``?``, and no negated class excludes ``?`` or a letter.
* No gate crosses a line end.
"""

import re
from collections.abc import Iterable
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex

_REACH = 14
_SPACE = r" \t\r\f\v\x1c-\x1f"
_POSITIVE = {
    sre.CATEGORY_DIGIT: "0-9?",
    sre.CATEGORY_SPACE: _SPACE + "?",
    sre.CATEGORY_WORD: "a-z0-9_?",
    sre.CATEGORY_NOT_SPACE: r"\x00-\x08\x0e-\x1b\x21-\x7f",
}
_NEGATIVE = {sre.CATEGORY_DIGIT: "0-9", sre.CATEGORY_SPACE: r" \t\r\f\v", sre.CATEGORY_WORD: "0-9_"}
_LAST_ASCII = 126
_GENERIC_START = lazy_regex(r"(?:\(\?:)*\[")
BORDER = r"(?:^|[^a-z0-9]|\\[nrt])"


class Gates(Struct, frozen=True):
    """All gates, and those of them that are dear.

    Attributes:
        expressions: each once; its number is its place.
        behind: the numbers of those that are run only over lines in which one of ``words`` stands.
        words: expressions of fixed characters.
    """

    expressions: tuple[str, ...]
    behind: frozenset[int]
    words: tuple[str, ...]


def gate_of(pattern: str) -> str:
    """The gate of ``pattern``, a Python expression that never matches beyond its line."""
    text, _ = _sequence(parser.parse(pattern), _REACH)
    return f"(?:{text})"


def gate_of_words(words: Iterable[str]) -> str:
    """The gate of keywords after which anything may follow."""
    return "(?:" + "|".join("".join(map(_literal, word)) for word in words) + ")"


def gates_of_words(words: Iterable[str]) -> tuple[str, ...]:
    """The gate of each of the keywords.

    Those without a character of ASCII all look like question marks here, of which there may be millions in a row, or a
    text in another script: they have one gate together, which matches once in a line.
    """
    kept = list(words)
    foreign = [word for word in kept if not any(map(str.isascii, word))]
    own = [gate_of_words([word]) for word in kept if word not in foreign]
    shared = [rf"(?:\x3f{{{min(map(len, foreign))}}}[^\n]*$)"] if foreign else []
    return (*own, *shared)


def is_specific(gate: str) -> bool:
    """Whether ``gate`` starts with fixed characters, so that few places of a text open it."""
    return _GENERIC_START.match(gate) is None and re.match(gate, "") is None


def _literal(character: str) -> str:
    code = ord(character)
    if character == "\t":
        return r"\x09"
    if code < ord(" "):
        return "[^\\n]"
    if code > _LAST_ASCII:
        return r"\x3f"
    low = character.lower()
    return low if low.isalnum() else f"\\x{ord(low):02x}"


def _in_class(code: int) -> str:
    return "?" if code > _LAST_ASCII else f"\\x{ord(chr(code).lower()):02x}"


def _class(items: list[tuple[Any, Any]]) -> str:
    is_negated = items[0][0] is sre.NEGATE
    out: list[str] = []
    for kind, value in items[1:] if is_negated else items:
        if kind is sre.LITERAL:
            if not (is_negated and (chr(value).isalpha() or chr(value) == "?" or value > _LAST_ASCII)):
                out.append(_in_class(value))
        elif kind is sre.RANGE:
            first, last = value
            if is_negated and (chr(first).isalpha() or first <= ord("?") <= last):
                continue
            out.append(f"{_in_class(first)}-{_in_class(last)}" if last <= _LAST_ASCII else "\\x00-\\x09\\x0b-\\x7f")
        elif kind is sre.CATEGORY:
            out.append((_NEGATIVE if is_negated else _POSITIVE)[value])
        else:
            raise ValueError(f"no gate for {kind} in a class")
    return f"[^\\n{''.join(out)}]" if is_negated else f"[{''.join(out)}]"


def _repeat(node: tuple[int, Any, Any], left: int) -> tuple[str, int]:
    least, most, inner = node
    width = inner.getwidth()[0]
    one, _ = _sequence(inner, left)
    count = min(least, -(-left // width)) if width else least
    out = "" if count == 0 else f"(?:{one})" if count == 1 else f"(?:{one}){{{count}}}"
    left -= count * width
    if left > 0 and most > least:
        whole, _ = _sequence(inner, 1 << 20)
        out += f"(?:{whole})" + ("?" if most - least == 1 else "*")
    return out, left


def _sequence(nodes: Any, left: int) -> tuple[str, int]:
    """The gate of ``nodes`` and how many characters may still be asked for after it."""
    out: list[str] = []
    for kind, value in nodes:
        if left <= 0:
            break
        if kind is sre.LITERAL:
            out.append(_literal(chr(value)))
            left -= 1
        elif kind is sre.IN:
            out.append(_class(value))
            left -= 1
        elif kind in {sre.ANY, sre.NOT_LITERAL}:
            out.append("[^\\n]")
            left -= 1
        elif kind in {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}:
            text, left = _repeat(value, left)
            out.append(text)
        elif kind in {sre.SUBPATTERN, sre.ATOMIC_GROUP}:
            text, left = _sequence(value[3] if kind is sre.SUBPATTERN else value, left)
            out.append(f"(?:{text})")
        elif kind is sre.BRANCH:
            arms = [_sequence(arm, left) for arm in value[1]]
            out.append("(?:" + "|".join(text for text, _ in arms) + ")")
            left = min(rest for _, rest in arms)  # an arm that was cut may be followed by anything
        elif kind not in {sre.ASSERT, sre.ASSERT_NOT, sre.AT}:
            raise ValueError(f"no gate for {kind}")
    return "".join(out), left
