"""How text that others wrote is shown: this module marks what would hide or deceive, and escapes everything.

What ``approvals.display.visible`` puts in ``⟨marks⟩`` stands out on the page as well. A value is never taken for
markup: each piece is escaped here, and the templates escape whatever did not come through here.
"""

import re
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from markupsafe import Markup, escape

from execkit_mcp.approvals.display import visible
from execkit_mcp.model.regex import lazy_regex

__all__ = [
    "clock_time",
    "diff_lines",
    "highlighted",
    "iso_time",
    "marked",
    "one_line",
    "output",
    "size",
    "span",
    "with_marks",
]

_MARK = lazy_regex(r"⟨(?:U\+[0-9A-F]{4,6}|TAB|CR|LF|ESC|NUL|NBSP|[0-9]+ spaces)⟩")
_UNSEEN = lazy_regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\ue000-\uf8ff\U000e0000-\U000e0fff]"
)
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_KIB = 1024


def marked(text: object) -> Markup:
    """Every line of ``text`` with what hides in it made visible, as markup."""
    return with_marks("\n".join(visible(line) for line in str(text).split("\n")))


def one_line(text: object) -> str:
    """``text`` for places that hold no markup, such as a title."""
    return visible(str(text))


def with_marks(shown: str) -> Markup:
    """Text that ``visible`` gave, with its marks standing out, as markup."""
    return _wrapped(shown, _MARK.finditer(shown), "hidden-mark")


def highlighted(text: str, needle: str) -> Markup:
    """Text with each place where ``needle`` stands marked, letter case aside, and what hides marked as well."""
    places = re.split(f"({re.escape(needle)})", text, flags=re.IGNORECASE) if needle else [text]
    return Markup("").join(
        Markup('<mark class="found">{}</mark>').format(output(piece)) if number % 2 else output(piece)
        for number, piece in enumerate(places)
    )


def span(seconds: float) -> str:
    """A length of time as a person would say it."""
    left = max(0, int(seconds))
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if left >= unit:
            count, rest = divmod(left, unit)
            small = {"d": rest // _HOUR, "h": rest // _MINUTE, "min": rest}[name]
            below = {"d": "h", "h": "min", "min": "s"}[name]
            return f"{count} {name} {small} {below}" if small else f"{count} {name}"
    return f"{left} s"


def iso_time(then_s: float) -> str:
    """For ``<time datetime>``; empty for a time that no calendar has."""
    try:
        return datetime.fromtimestamp(then_s, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def clock_time(then_s: float) -> str:
    """Date and time here; a question mark for a time that no calendar has."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(then_s))
    except (ValueError, OverflowError, OSError):
        return "?"


def output(text: str) -> Markup:
    """What programs put out: letters and signs of every script as they are, what hides or reorders marked."""
    return _wrapped(text, _UNSEEN.finditer(text), "hidden-mark", _code)


def diff_lines(shown: str) -> list[tuple[str, Markup]]:
    """The lines of a unified diff that ``visible`` gave, each with what it is: add, del, at or same."""
    kinds = {"+": "add", "-": "del", "@": "at"}
    return [(kinds.get(line[:1], "same"), with_marks(line)) for line in shown.split("\n")]


def size(count: float) -> str:
    """So many bytes."""
    for unit in ("B", "KiB", "MiB"):
        if count < _KIB:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"  # noqa: PLR2004
        count /= _KIB
    return f"{count:.1f} GiB"


def _code(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"


def _wrapped(
    text: str, places: Iterable[re.Match[str]], name: str, shown: Callable[[str], str] | None = None
) -> Markup:
    pieces, at = [], 0
    for place in places:
        found = place.group() if shown is None else shown(place.group())
        pieces += [escape(text[at : place.start()]), Markup('<mark class="{}">{}</mark>').format(name, found)]
        at = place.end()
    return Markup("").join([*pieces, escape(text[at:])])
