"""What a rule is: keywords that make a place worth a look, and a look that costs a bounded amount of work.

All rules share one automaton of keywords. A rule is called with the place of a keyword and matches from
there, within the line. No expression is ever searched for along a whole line, so no input is slow.
"""

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from execkit_mcp.redaction.span import Span

Look = Callable[[str, int, int, int], Iterable[Span]]
"""``look(text, at, after, end)``: spans found from the keyword ``text[at:after]``, in the line that ends at
``end``."""


class Lazy:
    """An expression that is compiled when it is first matched: most are never needed."""

    __slots__ = ("match",)

    match: Callable[[str, int, int], re.Match[str] | None]

    def __init__(self, pattern: str) -> None:
        def compile_and_match(text: str, start: int, end: int) -> re.Match[str] | None:
            self.match = re.compile(pattern).match
            return self.match(text, start, end)

        self.match = compile_and_match


class Rule(Struct, frozen=True, kw_only=True):
    """Lower-case ``keywords`` and what to do where one of them stands.

    ``gate``: gives an expression, or several, of which one matches in every line in which ``look`` finds something
    (see ``gate``). Several that hold fixed characters each are quicker than one that joins them.

    ``is_glued``: whether a letter or a digit may stand right before the keyword.

    ``is_of_line``: looks at the whole line, wherever its keyword stands: it is asked once for a line.

    ``is_behind``: its gates are dear, so they are run only over lines that hold one of its keywords.

    ``is_wide``: takes a whole value, so there is nothing more for wide rules to find inside what one of
    them found.
    """

    name: str
    keywords: tuple[str, ...]
    look: Look
    gate: Callable[[], str | tuple[str, ...]]
    is_glued: bool = True
    is_wide: bool = False
    is_of_line: bool = False
    is_behind: bool = False
