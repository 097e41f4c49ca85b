r"""Pairs whose quotes or brackets a second format wrote its own way.

{\u0022password\u0022:\u0022…\u0022}        &quot;api_key&quot;: &quot;…&quot;        &lt;token&gt;…&lt;/token&gt;
"""

import string
from collections.abc import Iterator
from functools import lru_cache

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.names import Trust, is_secret
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.words import NAMED, NAMED_LIKE_A_PASSWORD

_QUOTE = r"(?:\\{1,4}u002[27]|&(?:quot|#3[49]|#x2[27]);)"
_VALUE = r"(?P<secret>(?:[^\s\"&\\<>]|&amp;|\\{1,4}(?:u0026|/)){4,1000})"
_PAIR = lazy_regex(rf"{_QUOTE}[ \t]{{0,4}}(?::|=&gt;|=)[ \t]{{0,4}}{_QUOTE}{_VALUE}{_QUOTE}")
_ELEMENT = lazy_regex(rf"&gt;{_VALUE}&lt;/")
_PASSWORD = lazy_regex(rf"(?i:{NAMED_LIKE_A_PASSWORD})(?:[_-]?\d)?\Z")
_SECRET = lazy_regex(rf"(?i:{NAMED})(?:[_-]?(?:\d|base|value|key))?\Z")
_OF_NAMES = string.ascii_letters + string.digits + "_.-"
_MAX_NAME = 60


@lru_cache(maxsize=1024)
def _trust(name: str) -> Trust | None:
    """How much ``name`` says about its value."""
    if _PASSWORD.search(name) is not None:
        return Trust.PASSWORD
    return Trust.SECRET if _SECRET.search(name) is not None else None


def _look(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    """The value of the name that ends at ``at``."""
    is_element = text.startswith("&gt;", at)
    found = (_ELEMENT if is_element else _PAIR).match(text, at, end)
    if found is None:
        return
    head = text[max(0, at - _MAX_NAME) : at]
    before = head.rstrip(_OF_NAMES)
    trust = _trust(head[len(before) :])
    if trust is None or (is_element and not before.endswith(("&lt;", ":"))):
        return
    if is_secret(found["secret"], trust, "", is_quoted=True):
        kind = "password" if trust is Trust.PASSWORD else "secret"
        yield Span(*found.span("secret"), kind, found["secret"], Priority.STRUCTURE)


RULES: tuple[Rule, ...] = (
    Rule(
        name="quoted:pair",
        keywords=("\\u0022", "\\u0027", "&quot;", "&#34;", "&#39;", "&#x22;", "&#x27;", "&gt;"),
        look=_look,
        gate=lambda: r"(?:(?:\\u002[27]|&(?:quot|#3[49]|#x2[27]);)[ \t]*[:=]|&gt;[^ \t\n]{4}[^\n]*&lt;/)",
    ),
)
