"""Shell patterns for one path segment: read once, matched against text, and intersected with one another.

Intersection is what lets ``cat .en[v]`` be judged without a disk: two patterns meet if some name matches
both. Invariant: when a pattern cannot be read exactly, it is read as matching more.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex

_ESCAPED = lazy_regex(r"[*?\[\]\\]")


class Star(Struct, frozen=True):
    """Any run of characters."""


class One(Struct, frozen=True):
    """One character: one of ``members``, or any if None; ``negated`` turns the set around."""

    members: tuple[tuple[str, str], ...] | None
    negated: bool = False

    def holds(self, character: str) -> bool:
        """Whether ``character`` is matched."""
        if self.members is None:
            return True
        inside = any(low <= character <= high for low, high in self.members)
        return inside is not self.negated


Token = str | Star | One
_ANY = One(None)
_STAR = Star()


def _bracket(text: str, start: int) -> tuple[One, int] | None:
    """The bracket expression at ``start`` and the index after it; None if it never closes."""
    index = start + 1
    negated = index < len(text) and text[index] in "!^"
    index += negated
    first = index
    members: list[tuple[str, str]] = []
    is_exact = True
    while index < len(text):
        character = text[index]
        if character == "]" and index > first:
            return (One(tuple(members), negated) if is_exact else _ANY), index + 1
        if character == "[" and text[index + 1 : index + 2] in (":", ".", "="):
            end = text.find(text[index + 1] + "]", index + 2)
            if end < 0:
                return None
            is_exact = False
            index = end + 2
            continue
        if character == "\\" and index + 1 < len(text):
            index += 1
            character = text[index]
        if text[index + 1 : index + 2] == "-" and text[index + 2 : index + 3] not in ("]", ""):
            members.append((character, text[index + 2]))
            index += 3
        else:
            members.append((character, character))
            index += 1
    return None


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """The pattern ``text`` (one segment; a backslash quotes) as tokens."""
    out: list[Token] = []
    index = 0
    while index < len(text):
        character = text[index]
        if character == "\\" and index + 1 < len(text):
            out.append(text[index + 1])
            index += 2
        elif character == "*":
            if not out or out[-1] != _STAR:
                out.append(_STAR)
            index += 1
        elif character == "?":
            out.append(_ANY)
            index += 1
        elif character == "[" and (found := _bracket(text, index)) is not None:
            out.append(found[0])
            index = found[1]
        else:
            out.append(character)
            index += 1
    return tuple(out)


def is_pattern(text: str) -> bool:
    """Whether ``text`` holds anything but literal characters."""
    return any(not isinstance(token, str) for token in tokens(text))


def literal(text: str) -> str | None:
    """The only text that the pattern matches, or None if there are several."""
    found = tokens(text)
    return "".join(str(token) for token in found) if all(isinstance(token, str) for token in found) else None


def escape(text: str) -> str:
    """A pattern that matches ``text`` alone."""
    if not _ESCAPED.search(text):
        return text
    return _ESCAPED.sub(r"\\\g<0>", text)


def regex(text: str, *, crosses: bool = False) -> str:
    """A regular expression of the pattern; ``*`` and ``?`` match a slash only if ``crosses``."""
    anything = "." if crosses else "[^/]"
    out: list[str] = []
    for token in tokens(text):
        if isinstance(token, str):
            out.append(re.escape(token))
        elif isinstance(token, Star):
            out.append(anything + "*")
        elif token.members is None:
            out.append(anything)
        else:
            inside = "".join(
                re.escape(low) if low == high else f"{re.escape(low)}-{re.escape(high)}"
                for low, high in token.members
                if low <= high
            )
            if not crosses and token.holds("/"):  # no bracket reaches over a slash (glob(7))
                out.append("(?!/)")
            out.append(f"[{'^' if token.negated else ''}{inside}]" if inside else ("." if token.negated else "(?!)"))
    return "".join(out)


@lru_cache(maxsize=4096)
def matcher(text: str, *, crosses: bool = True) -> re.Pattern[str]:
    """The compiled whole-text expression of a pattern."""
    return re.compile(regex(text, crosses=crosses), re.DOTALL)


def matches(text: str, pattern: str, *, crosses: bool = True) -> bool:
    """Whether the whole of ``text`` matches ``pattern``."""
    if _ESCAPED.search(pattern) is None:
        return text == pattern
    return matcher(pattern, crosses=crosses).fullmatch(text) is not None


def _share(left: Token, right: Token) -> bool:
    """Whether some character is matched by both one-character tokens."""
    if isinstance(left, str):
        return left == right if isinstance(right, str) else isinstance(right, One) and right.holds(left)
    if isinstance(right, str):
        return isinstance(left, One) and left.holds(right)
    if not isinstance(left, One) or not isinstance(right, One):
        return True
    if left.members is None or right.members is None or left.negated or right.negated:
        return True
    return any(a <= d and c <= b for a, b in left.members for c, d in right.members)


@lru_cache(maxsize=8192)
def meet(left: str, right: str, *, hides_dot: bool = True) -> bool:
    """Whether some name matches both patterns.

    ``hides_dot``: ``left`` is expanded by a shell, whose leading wildcard never matches a leading dot.
    """
    if not _ESCAPED.search(left) and not _ESCAPED.search(right):
        return left == right
    a, b = tokens(left), tokens(right)
    starts_wild = bool(a) and not isinstance(a[0], str)
    if hides_dot and starts_wild and b and b[0] == ".":
        return False
    if a == (_STAR,) or b == (_STAR,):
        return True
    if _edges_differ(a, b) or _edges_differ(a[::-1], b[::-1]):
        return False
    reached = {(0, 0)}
    pending = [(0, 0)]
    while pending:
        i, j = pending.pop()
        if i == len(a) and j == len(b):
            return True
        for step in _steps(a, b, i, j):
            if step not in reached:
                reached.add(step)
                pending.append(step)
    return False


def _edges_differ(a: Sequence[Token], b: Sequence[Token]) -> bool:
    """Whether the literal characters that both patterns start with already tell them apart."""
    for left, right in zip(a, b, strict=False):
        if not isinstance(left, str) or not isinstance(right, str):
            return False
        if left != right:
            return True
    return False


def _steps(a: Sequence[Token], b: Sequence[Token], i: int, j: int) -> list[tuple[int, int]]:
    """Where the pair of positions can go next."""
    left = a[i] if i < len(a) else None
    right = b[j] if j < len(b) else None
    out: list[tuple[int, int]] = []
    if isinstance(left, Star):
        out.append((i + 1, j))
        if right is not None:
            out.append((i, j + 1))
    if isinstance(right, Star):
        out.append((i, j + 1))
        if left is not None:
            out.append((i + 1, j))
    if left is None or right is None or isinstance(left, Star) or isinstance(right, Star):
        return out
    return [*out, (i + 1, j + 1)] if _share(left, right) else out


def edges(text: str) -> tuple[str, str]:
    """The literal characters that the pattern starts and ends with."""
    found = tokens(text)
    head: list[str] = []
    for token in found:
        if not isinstance(token, str):
            break
        head.append(token)
    tail: list[str] = []
    for token in reversed(found):
        if not isinstance(token, str):
            break
        tail.append(token)
    return "".join(head), "".join(reversed(tail))
