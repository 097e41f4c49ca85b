"""What a place is: where a secret stands that only its surroundings give away, as one row of a table."""

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from execkit_mcp.redaction.gate import BORDER, gate_of, gate_of_words, is_specific
from execkit_mcp.redaction.rule import Lazy, Rule
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.value import is_date, is_placeholder, is_reference, is_wordy


class PlaceRow(Struct, frozen=True, kw_only=True):
    """A place where a secret stands.

    Attributes:
        kind: stands in the tag.
        keywords: lower case; where the pattern starts.
        pattern: has groups ``secret`` or ``double``, ``single`` and ``bare``.
        example: a line with ``{}`` where the secret goes.
        counter_example: a line that looks alike and holds none.
        may_be_glued: whether a letter or digit may stand right before the keyword.
        may_be_reference: whether the secret may look like a path or code (a URL's password may).
        may_be_words: whether the secret may be made of words, as names are.
        before: what must stand before the keyword.
        check: says no to a match that only looks like a secret.
        gate: where the pattern starts with anything, what lines must hold to be read at all.
    """

    kind: str
    keywords: tuple[str, ...]
    pattern: str
    example: str
    counter_example: str
    may_be_glued: bool = False
    may_be_reference: bool = True
    may_be_words: bool = True
    before: str = ""
    check: Callable[[str], bool] | None = None
    gate: str = ""


_MAX_BEFORE = 200
_QUOTES = "\"'`"


_MIN_RARE = 4


def _is_rare(word: str) -> bool:
    """Whether few lines hold ``word``, so that gates may stand behind it."""
    return len(word) >= _MIN_RARE and word.strip('":= ') != "name"


def _is_none(row: PlaceRow, secret: str) -> bool:
    """Whether what stands in the place is no secret after all."""
    if (
        is_placeholder(secret)
        or is_date(secret)
        or (secret[-1:] in ")]}:,;." and is_placeholder(secret.rstrip(")]}:,;.")))
        or ((secret[:1] in _QUOTES or secret[-1:] in _QUOTES) and is_placeholder(secret.strip(_QUOTES)))
        or secret.rstrip().endswith(": ")
        or (" " in secret and secret.rstrip().endswith(":"))
        or (row.check is not None and not row.check(secret))
    ):
        return True
    return (not row.may_be_words and is_wordy(secret)) or (not row.may_be_reference and is_reference(secret))


def place_rule(row: PlaceRow) -> Rule:
    """The row as a rule."""
    pattern = Lazy(row.pattern)
    before = re.compile(row.before) if row.before else None
    is_plain = "(?P<secret>" in row.pattern and "(?P<s2>" not in row.pattern

    def look(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
        found = pattern.match(text, at, end)
        if found is None or (before is not None and before.search(text, max(0, at - _MAX_BEFORE), at) is None):
            return
        group = "secret" if is_plain else str(found.lastgroup)
        secret = found[group]
        if not _is_none(row, secret):
            yield Span(found.start(group), found.end(group), row.kind, secret, Priority.STRUCTURE)

    def gate() -> str:
        own = row.gate or gate_of(row.pattern)
        if not is_specific(own):
            own = gate_of_words(row.keywords)
        return own if row.may_be_glued else BORDER + own

    return Rule(
        name=f"place:{row.kind}",
        keywords=row.keywords,
        look=look,
        gate=gate,
        is_glued=row.may_be_glued,
        is_behind=all(map(_is_rare, row.keywords)),
    )
