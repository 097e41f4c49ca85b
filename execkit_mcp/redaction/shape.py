"""A token's shape: what a vendor's published format looks like, as one row of a table.

A row is found by its ``keywords`` (the fixed beginnings of a token, or, for tokens without one, the name of
the vendor before it) and confirmed by ``pattern``, which is matched at the keyword. No row holds a token:
``example`` is a recipe from which one is assembled at run time.
"""

import hashlib
import re
import string
from collections.abc import Callable, Iterator

from msgspec import Struct

from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.value import is_placeholder

ALNUM = string.ascii_letters + string.digits
LOWER_ALNUM = string.ascii_lowercase + string.digits
UPPER_ALNUM = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
HEX = string.digits + "abcdef"
DIGITS = string.digits
BASE64 = ALNUM + "+/"
URLSAFE = ALNUM + "-_"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


class Fill(Struct, frozen=True):
    """``count`` characters of ``alphabet``, to be chosen when an example is assembled."""

    alphabet: str
    count: int


def fill(alphabet: str, count: int) -> Fill:
    """``count`` characters of ``alphabet``."""
    return Fill(alphabet, count)


def assemble(recipe: tuple[str | Fill, ...], seed: str = "") -> str:
    """The text that ``recipe`` describes; the same for the same seed."""
    out: list[str] = []
    for index, part in enumerate(recipe):
        if isinstance(part, str):
            out.append(part)
            continue
        stream = b""
        block = 0
        while len(stream) < part.count:
            stream += hashlib.sha512(f"{seed}:{index}:{block}".encode()).digest()
            block += 1
        out.append("".join(part.alphabet[byte % len(part.alphabet)] for byte in stream[: part.count]))
    return "".join(out)


class TokenShape(Struct, frozen=True, kw_only=True):
    """One vendor's token.

    Attributes:
        kind: stands in the tag.
        keywords: lower case; where the pattern starts.
        pattern: matched at the keyword; its group ``secret`` is replaced, else all of it.
        source: where the format is published.
        example: a recipe for a line that holds such a token.
        counter_example: a recipe for a line that looks alike and holds none.
        is_glued: whether the token may follow a letter or digit directly.
        lead_chars: how many characters before the keyword the pattern starts.
        check: says no to a match that only looks like a token.
    """

    kind: str
    keywords: tuple[str, ...]
    pattern: str
    source: str
    example: tuple[str | Fill, ...]
    counter_example: tuple[str | Fill, ...]
    is_glued: bool = False
    lead_chars: int = 0
    check: Callable[[str], bool] | None = None


def rule_of(shape: TokenShape) -> Rule:
    """The shape as a rule."""
    match = re.compile(shape.pattern).match
    group: str | int = "secret" if "(?P<secret>" in shape.pattern else 0
    kind, check, is_glued, lead = shape.kind, shape.check, shape.is_glued, shape.lead_chars

    def look(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
        at -= lead
        if at < 0 or (not is_glued and at and text[at - 1].isalnum()):
            return
        found = match(text, at, end)
        if found is None:
            return
        secret = found[group]
        if (check is None or check(secret)) and not is_placeholder(secret):
            start, stop = found.span(group)
            yield Span(start, stop, kind, secret, Priority.SHAPE)

    return Rule(name=f"shape:{kind}", keywords=shape.keywords, look=look)


def is_mixed(token: str) -> bool:
    """Whether ``token`` has digits and letters, as generated ones do."""
    return any(c.isdigit() for c in token) and any(c.isalpha() for c in token)


def is_varied(token: str) -> bool:
    """Whether ``token`` has digits, upper and lower case letters."""
    return is_mixed(token) and any(c.islower() for c in token) and any(c.isupper() for c in token)
