# ruff: noqa: E501 - a pattern stands in one piece
"""Headers that hold credentials: cookies, one by one, and ``Basic`` wherever it stands; ``user:password@host``."""

import re
from collections.abc import Iterator

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.commands import is_made
from execkit_mcp.redaction.gate import BORDER
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.value import is_basic, is_placeholder, is_wordy

_ANALYTICS = lazy_regex(
    r"(?:_ga\w*|_gid|_fbp|lang|locale|theme|tz|timezone|currency|consent\w*|cookieconsent\w*)", re.IGNORECASE
)
_COOKIE_HEADER = lazy_regex(
    r"(?i:set-cookie2?|cookie)(?:\"[ \t]{0,4},[ \t]{0,4}\"value)?\\{0,2}[\"']?[ \t]{0,4}(?P<sep>[:=])[ \t]{0,4}\\{0,2}[\"']?"
)
_COOKIE_OPTION = lazy_regex(r"(?:-b|--cookie)[= ]{1,2}[\"']?(?=[^\s=]{1,100}=)")
_COOKIE = lazy_regex(r"[ \t]{0,4}(?P<name>[\w.!#$%&*+^`|~-]{1,128})=\"?(?P<value>[^\s;\"',\\]{0,8000})\"?[;,]?")
_MIN_COOKIE_CHARS = 6
_HEADERS = ("cookie", "cookie2")
_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "priority", "version"})


def _is_word(value: str) -> bool:
    """Whether ``value`` is a word or code: no server gives such a cookie."""
    return (value.isalpha() and is_wordy(value)) or value[0] in "(!+<"


def _has_header(text: str, cookie: re.Match[str], end: int) -> bool:
    """Whether a header begins in the value of ``cookie``: it is looked at from there, and so is what follows it."""
    start, stop = cookie.span("value")
    for found in _COOKIE_HEADER.finditer(text, start, stop):
        header = _COOKIE_HEADER.match(text, found.start(), end)
        if header is not None and _COOKIE.match(text, header.end(), end) is not None:
            return True
    if not text.startswith("-b ", max(start, stop - 2)):
        return False
    option = _COOKIE_OPTION.match(text, stop - 2, end)
    return option is not None and _COOKIE.match(text, option.end(), end) is not None


def _cookies(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    header = _COOKIE_HEADER.match(text, at, end) or _COOKIE_OPTION.match(text, at, end)
    if header is None:
        return
    position = header.end()
    while (cookie := _COOKIE.match(text, position, end)) is not None:
        position = cookie.end()
        name, value = cookie["name"].lower(), cookie["value"]
        if not (
            name in _ATTRIBUTES
            or _ANALYTICS.fullmatch(name)
            or len(value) < _MIN_COOKIE_CHARS
            or is_placeholder(value)
            or _is_word(value)
        ):
            yield Span(cookie.start("value"), cookie.end("value"), "cookie", value, Priority.STRUCTURE)
        if name.endswith(_HEADERS) and _COOKIE.match(text, cookie.start("value"), end) is not None:
            return  # a header of its own, which is looked at from there
        if _has_header(text, cookie, end):
            return


_BASIC = lazy_regex(r"(?i:basic)[ \t]{1,4}([A-Za-z0-9+/]{8,4000}={0,2})")


def _basic(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    """``Basic`` and what decodes to ``user:password``, in whatever header or configuration."""
    found = _BASIC.match(text, at, end)
    if found is not None and is_basic(found[1]):
        yield Span(*found.span(1), "authorization", found[1], Priority.STRUCTURE)


_LOGIN = lazy_regex(r"(?:^|[\s\"'(=,]|[^/]/)[A-Za-z_][\w.+-]{0,63}:(?P<secret>(?!\?)[^\s@:/\"'(,]{6,200})\Z")
_HOST = lazy_regex(r"@(?!sha\d)(?:(?:tcp|udp|unix)\(|[A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,62}|:\d|(?=[\s/\"']|$)))")
_MIN_PASSWORD, _MAX_PASSWORD, _MAX_USER = 6, 200, 65


def _login(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    """``user:password@host`` without a scheme before it."""
    host = _HOST.match(text, at, end)
    if host is None:
        return
    colon = text.rfind(":", max(0, at - _MAX_PASSWORD - 1), at)
    if at - colon <= _MIN_PASSWORD or colon < 0:
        return
    start = max(text.rfind("\n", max(0, colon - _MAX_USER), colon) + 1, colon - _MAX_USER, 0)
    found = _LOGIN.search(text[start:at])
    if found is not None and (
        is_made(found["secret"]) or (host[0].endswith("(") and not found["secret"].isalpha())  # user:password@tcp(…)
    ):
        yield Span(start + found.start("secret"), at, "password", found["secret"], Priority.STRUCTURE)


RULES: tuple[Rule, ...] = (
    Rule(
        name="login:host",
        keywords=("@",),
        look=_login,
        gate=lambda: "[a-z0-9_.+-]:[^ \\t\\n@/:\"'(,]{6}[^ \\t\\n@/:\"'(,]*@[a-z0-9]",
    ),
    Rule(
        name="header:basic",
        keywords=("basic ",),
        look=_basic,
        gate=lambda: BORDER + "basic[ \\t]+[a-z0-9+/]{8}",
        is_glued=False,
    ),
    Rule(name="header:cookie", keywords=("cookie", "-b "), look=_cookies, gate=lambda: "(?:cookie|-b )[^\\n]*="),
)
