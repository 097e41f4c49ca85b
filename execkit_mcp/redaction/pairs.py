# ruff: noqa: E501 - a pattern or a row stands in one piece
"""Names and values on lines of their own: ``- name: DB_PASSWORD``, then ``value: …``, as in manifests and plists.

The line with the name is never changed, so nothing has to wait: the stream remembers whether its last line named
a secret, and the next line's value is judged by that.
"""

from collections.abc import Iterable, Iterator

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.names import Trust, is_secret
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.sight import View
from execkit_mcp.redaction.span import Priority, Span
from execkit_mcp.redaction.structured import speaks_about
from execkit_mcp.redaction.words import NAMED_LIKE_A_PASSWORD, NAMED_LIKE_A_SECRET, NAMED_LIKE_A_TOKEN

_WORDS = {
    Trust.PASSWORD: NAMED_LIKE_A_PASSWORD + "|_pass|_pw|_pwd|(?<=[a-z])(?-i:Pass|Pwd)",
    Trust.SECRET: NAMED_LIKE_A_SECRET,
    Trust.TOKEN: NAMED_LIKE_A_TOKEN,
}
_NAME_END = r"(?P<tail>[\w.-]{0,40})(?<![Nn]ame)(?<![Ff]ile)(?<![Pp]ath)[\"']?(?:</(?:key|name)>|,|[ \t]*\{)?[ \t\r]*$"
_MARKS = tuple(
    (trust, lazy_regex(rf"(?i:[+-]?[ \t{{]*(?:-[ \t]+)?(?:[\"']?(?:\w{{0,20}}name|\w{{0,20}}key)[\"']?[ \t]*[:=][ \t]*[\"']?|<(?:key|name)>|variable[ \t]+\")[\w.-]{{0,60}}?(?:{words})){_NAME_END}"))
    for trust, words in _WORDS.items()
)  # fmt: skip
_VALUE_LINE = lazy_regex(
    r"[+-]?[ \t]*(?:[\"']?(?:[Vv]alue|default)[\"']?[ \t]*[:=][ \t]*(?:\"(?P<double>[^\"\n]{1,65536})|'(?P<single>[^'\n]{1,65536})"
    r"|(?P<bare>[^\s\"'][^\n]{0,65535}))|<(?:string|value)>(?P<xml>[^<\n]{1,65536})</(?:string|value)>)"
)
MARK = "="
"""The kind of a span that only says: a value may stand on this line."""
_MAX_NAME_LINE = 200


def named_by(line: str) -> Trust | None:
    """How much ``line`` says about the value on the next one."""
    if len(line) > _MAX_NAME_LINE:
        return None
    for trust, mark in _MARKS:
        found = mark.match(line)
        if found is not None:
            return None if speaks_about(found["tail"], is_password=trust is Trust.PASSWORD) else trust
    return None


def _mark(text: str, at: int, _after: int, end: int) -> Iterator[Span]:
    """Mark the line of a value."""
    start = text.rfind("\n", 0, at) + 1
    if _VALUE_LINE.match(text, start, end) is not None:
        yield Span(start, end, MARK, "", Priority.CONFIRMED)


RULES: tuple[Rule, ...] = (
    Rule(
        name="pairs:value",
        keywords=("value", "default", "<string>"),
        look=_mark,
        gate=lambda: r"^[+-]?[ \t]*(?:[\"']?(?:value|default)[\"']?[ \t]*[:=]|<(?:string|value)>)",
        is_of_line=True,
    ),
)


class Pairs:
    """The state of one stream: what its last line named."""

    __slots__ = ("_last", "_open")

    _last: Trust | str | None

    def __init__(self) -> None:
        self._last = None  # a line that nobody asked about yet stands as it is
        self._open = ""  # the beginning of a line that was given out before its end came

    def copy(self) -> "Pairs":
        """The same state, free to be advanced."""
        other = Pairs()
        other._last, other._open = self._last, self._open
        return other

    def commit(self, decided: str) -> None:
        """``decided`` was given out: the next text follows it."""
        if not decided:
            return
        is_whole = decided.endswith("\n")
        start = decided.rfind("\n", 0, len(decided) - is_whole) + 1
        line = (self._open if start == 0 else "") + decided[start : len(decided) - is_whole]
        self._last = line if is_whole else None
        self._open = "" if is_whole else line[: _MAX_NAME_LINE + 1]

    def find(self, view: View, starts: Iterable[int]) -> Iterator[Span]:
        """Spans of values whose name stands on the line before; values stand on the lines that start at ``starts``."""
        text = view.text
        for start in sorted(set(starts)):
            found = _VALUE_LINE.match(text, start)
            trust = self._trust(text, start) if found is not None else None
            if found is None or trust is None:
                continue
            group = str(found.lastgroup)
            value = found[group].rstrip() if group == "bare" else found[group]
            if is_secret(value, trust, "", is_quoted=group != "bare"):
                first = found.start(group)
                yield Span(first, first + len(value), _KINDS[trust], value, Priority.STRUCTURE)

    def _trust(self, text: str, start: int) -> Trust | None:
        if start == 0:
            if isinstance(self._last, str):
                self._last = named_by(self._last)
            return None if self._open else self._last
        before = text.rfind("\n", 0, start - 1) + 1
        return named_by((self._open if before == 0 else "") + text[before : start - 1])


_KINDS = {Trust.PASSWORD: "password", Trust.SECRET: "secret", Trust.TOKEN: "token"}
