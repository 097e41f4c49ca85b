"""What a rule is: keywords that make a place worth a look, and a look that costs a bounded amount of work.

All rules share one automaton of keywords. A rule is called with the place of a keyword and matches from
there, within the line. No expression is ever searched for along a whole line, so no input is slow.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct

from execkit_mcp.redaction.span import Span

Look = Callable[[str, int, int, int], Iterable[Span]]
"""``look(text, at, after, end)``: spans found from the keyword ``text[at:after]``, in the line that ends at
``end``."""


class Rule(Struct, frozen=True, kw_only=True):
    """Lower-case ``keywords`` and what to do where one of them stands.

    ``is_wide``: takes a whole value, so there is nothing more for wide rules to find inside what one of
    them found.
    """

    name: str
    keywords: tuple[str, ...]
    look: Look
    is_wide: bool = False
