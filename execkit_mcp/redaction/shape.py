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

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.gate import BORDER, gate_of, gate_of_words, is_specific
from execkit_mcp.redaction.rule import Lazy, Rule
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


UUID = (fill(HEX, 8), "-", fill(HEX, 4), "-", fill(HEX, 4), "-", fill(HEX, 4), "-", fill(HEX, 12))


def class_of(alphabet: str) -> str:
    """The character class that holds exactly ``alphabet``."""
    codes = sorted({ord(character) for character in alphabet})
    out: list[str] = []
    while codes:
        count = next((n for n, code in enumerate(codes) if code != codes[0] + n), len(codes))
        first, last = re.escape(chr(codes[0])), re.escape(chr(codes[count - 1]))
        out.append(first if count == 1 else f"{first}-{last}")
        del codes[:count]
    return f"[{''.join(out)}]"


def prefixed(  # noqa: PLR0917 - a row is read from left to right
    kind: str,
    prefix: str | tuple[str, ...],
    alphabet: str,
    least: int,
    most: int,
    source: str,
    *,
    check: Callable[[str], bool] | None = None,
) -> TokenShape:
    """A reserved beginning and then ``least`` to ``most`` characters of ``alphabet``."""
    prefixes = (prefix,) if isinstance(prefix, str) else prefix
    one = class_of(alphabet)
    return TokenShape(
        kind=kind,
        keywords=tuple(dict.fromkeys(word.lower() for word in prefixes)),
        pattern=f"(?:{'|'.join(map(re.escape, prefixes))}){one}{{{least},{most}}}(?!{one})",
        source=source,
        example=(prefixes[0], fill(alphabet, least)),
        counter_example=(prefixes[0], fill(alphabet, min(3, least - 1)), " and more"),
        check=check,
    )


def shaped(  # noqa: PLR0917 - as above
    kind: str,
    keywords: tuple[str, ...],
    pattern: str,
    example: tuple[str | Fill, ...],
    counter_example: tuple[str | Fill, ...],
    source: str,
    *,
    check: Callable[[str], bool] | None = None,
    is_glued: bool = False,
    lead_chars: int = 0,
) -> TokenShape:
    """A longer structure on one line of a table."""
    return TokenShape(
        kind=kind,
        keywords=keywords,
        pattern=pattern,
        source=source,
        example=example,
        counter_example=counter_example,
        check=check,
        is_glued=is_glued,
        lead_chars=lead_chars,
    )


_TRAILING = lazy_regex(r"\(\?!\[[^]]*\]\)$")
_MIN_RESERVED = 4


def is_reserved(shape: TokenShape) -> bool:
    """Whether its beginnings occur in nothing else, so that letters glued to either end hide no token."""
    return not shape.lead_chars and all(
        len(word) >= _MIN_RESERVED and not word.isalnum() and not word[0].isspace() for word in shape.keywords
    )


def rule_of(shape: TokenShape) -> Rule:
    """The shape as a rule."""
    group: str | int = "secret" if "(?P<secret>" in shape.pattern else 0
    kind, check, lead = shape.kind, shape.check, shape.lead_chars
    is_glued = shape.is_glued or is_reserved(shape)
    pattern = Lazy(_TRAILING.sub("", shape.pattern) if is_reserved(shape) else shape.pattern)

    def look(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
        at -= lead
        if at < 0 or (lead and not is_glued and at and text[at - 1].isalnum()):
            return
        found = pattern.match(text, at, end)
        if found is None:
            return
        secret = found[group]
        if (check is None or check(secret)) and not is_placeholder(secret):
            start, stop = found.span(group)
            yield Span(start, stop, kind, secret, Priority.SHAPE)

    def gate() -> str:
        own = gate_of(shape.pattern)
        if lead or not is_specific(own):
            own = gate_of_words(shape.keywords)
        return own if is_glued or lead else BORDER + own

    return Rule(name=f"shape:{kind}", keywords=shape.keywords, look=look, gate=gate, is_glued=bool(is_glued or lead))


def is_mixed(token: str) -> bool:
    """Whether ``token`` has digits and letters, as generated ones do."""
    return any(c.isdigit() for c in token) and any(c.isalpha() for c in token)


def is_varied(token: str) -> bool:
    """Whether ``token`` has digits, upper and lower case letters."""
    return is_mixed(token) and any(c.islower() for c in token) and any(c.isupper() for c in token)
