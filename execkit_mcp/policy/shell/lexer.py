"""Where the parser stands: this module is the cursor that knows blanks, comments, keywords and limits.

Theory of operation. The text is never sliced to parse a part of it: one position moves forward through one
string, and compiled patterns match at that position, so that reading is linear. Only backquotes and
unquoted here-documents need a text of their own (bash removes backslashes from them first); they get a new
cursor that shares the budget and reports errors where they began.
"""

from typing import NoReturn

from msgspec import Struct

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.unparsed import Unparsed, line_and_column

NAME = r"[A-Za-z_][A-Za-z0-9_]*"
METACHARACTERS = frozenset(" \t\n|&;()<>")
TOKEN_END = r"(?=[ \t\n|&;()<>]|\Z)"  # noqa: S105 - a token of the grammar

_BEFORE_TOKENS = frozenset(" \t\\#")
_BLANKS = lazy_regex(r"(?:[ \t]|\\\n)*")
_BLANKS_AND_COMMENT = lazy_regex(r"(?:[ \t]|\\\n)*(?:#[^\n]*)?")
_KEYWORD = lazy_regex(
    r"(?:if|then|elif|else|fi|for|in|do|done|while|until|case|esac|function|select|coproc|time|\[\[|[{}!])"
    r"(?=[ \t\n|&;()<>]|\Z|\\\n[ \t])"
)


class Budget(Struct):
    """What is left of the limits, shared by all cursors of one text, and what it says about the shell it is for.

    ``extension`` is the first construct that a POSIX shell reads otherwise (dash has no ``[[``: there ``[[ a || b ]]``
    runs ``b``), ``misread`` the first one that bash itself may read otherwise when it is not rendered anew.
    """

    max_commands: int
    max_depth: int
    commands: int = 0
    depth: int = 0
    expanded_words: int = 0
    substitutions: int = 0
    extension: str = ""
    misread: str = ""
    functions: bool = False


class Cursor:
    """A position in a text, with the moves that every part of the grammar needs."""

    __slots__ = ("anchor", "budget", "position", "source")

    def __init__(self, source: str, budget: Budget, anchor: tuple[int, int] | None = None) -> None:
        self.source = source
        self.position = 0
        self.budget = budget
        self.anchor = anchor

    def fail(self, construct: str, at: int | None = None, *, is_limit: bool = False) -> NoReturn:
        """Raise Unparsed for the construct at index ``at``, or here."""
        line, column = self.place(self.position if at is None else at)
        raise Unparsed(construct, line, column, is_limit=is_limit)

    def place(self, index: int) -> tuple[int, int]:
        """Line and column of an index; of the enclosing construct if this text was taken out of another."""
        return self.anchor or line_and_column(self.source, index)

    def peek(self, offset: int = 0) -> str:
        """The character ``offset`` further on; empty at the end of the text."""
        index = self.position + offset
        return self.source[index : index + 1]

    def looking_at(self, text: str) -> bool:
        """Whether the text goes on like this."""
        return self.source.startswith(text, self.position)

    def skip_blanks(self) -> None:
        """Move over blanks, line continuations and a comment (only between tokens)."""
        position = self.position
        if self.source[position : position + 1] in _BEFORE_TOKENS:
            found = _BLANKS_AND_COMMENT.match(self.source, position)
            assert found is not None
            self.position = found.end()

    def skip_blanks_only(self) -> None:
        """Move over blanks and line continuations; a ``#`` that follows stays where it is."""
        found = _BLANKS.match(self.source, self.position)
        assert found is not None
        self.position = found.end()

    def keyword(self) -> str:
        """The reserved word that stands here, unquoted and whole; empty if none does."""
        found = _KEYWORD.match(self.source, self.position)
        return found.group() if found else ""

    def extends(self, construct: str) -> None:
        """Note a construct that a POSIX shell reads otherwise than bash."""
        self.budget.extension = self.budget.extension or construct

    def deeper(self) -> None:
        """Enter a construct that nests."""
        self.budget.depth += 1
        if self.budget.depth > self.budget.max_depth:
            self.fail(f"nesting deeper than {self.budget.max_depth}", is_limit=True)

    def shallower(self) -> None:
        """Leave it."""
        self.budget.depth -= 1

    def count_command(self) -> None:
        """Count one simple command."""
        self.budget.commands += 1
        if self.budget.commands > self.budget.max_commands:
            self.fail(f"more than {self.budget.max_commands} commands", is_limit=True)
