"""Regular expressions from outside, matched in linear time.

``shell_read(grep=…)`` and ``wait_for`` take a pattern that the agent wrote, and the agent is the adversary:
Python's backtracking ``re`` can be made to hang on twenty characters. RE2 matches in time linear in the
text, whatever the pattern, and refuses what would need backtracking (back-references, look-around).
"""

from typing import Any, Final

import re2

from execkit_mcp.errors import CommandInvalid

MAX_PATTERN_CHARS: Final = 1000
_MAX_MEMORY_BYTES: Final = 8 << 20


class PatternRefused(CommandInvalid):
    """A regular expression that is malformed, too large, or needs backtracking."""


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY_BYTES
    return options


class LinePattern:
    """A compiled pattern; raises PatternRefused if RE2 does not take it.

    A caret and a dollar sign match at the ends of each line.
    """

    __slots__ = ("_search",)

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MAX_PATTERN_CHARS:
            raise PatternRefused(
                f"The pattern has {len(pattern)} characters.", hint=f"At most {MAX_PATTERN_CHARS} are taken."
            )
        try:
            self._search = re2.compile("(?m)" + pattern, options=_options()).search
        except re2.error as error:
            reason = error.args[0].decode("utf-8", "replace") if error.args else "malformed"
            raise PatternRefused(
                f"The pattern is not a regular expression that can be matched: {reason}.",
                hint="Use RE2 syntax (no look-around, no back-references); write a literal ( as \\(.",
            ) from error

    def is_in(self, text: str) -> bool:
        """Whether the pattern matches anywhere in ``text``."""
        return self._search(text) is not None
