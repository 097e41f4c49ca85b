"""The refusal of text outside the grammar: this module is the exception and the check of characters.

Characters that a person cannot see, or that a terminal acts on, are refused wherever they stand, comments
included: what the human approves must be what he sees (POLICY.md, "Text").
"""

from execkit_mcp.model.regex import lazy_regex

MAX_TEXT_BYTES = 64 * 1024

# Unicode category Cf (bidi, zero width, BOM, soft hyphen, tags), C0 without tab and newline, DEL, C1,
# line and paragraph separators, surrogates. The Cf ranges are compared with unicodedata in the tests.
_FORMAT_CHARACTERS = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
HOSTILE_CHARACTER = lazy_regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff" + _FORMAT_CHARACTERS + "]")
_HOSTILE_ASCII = lazy_regex("[\x00-\x08\x0b-\x1f\x7f]")


class Unparsed(Exception):
    """The text is not in the judged grammar.

    Attributes:
        construct: what was found there, as people call it ("coproc", "unterminated single quote").
        line: where, counted from 1.
        column: where, counted from 1, in characters.
        is_limit: whether the text is merely too large or too deep.
    """

    def __init__(self, construct: str, line: int = 1, column: int = 1, *, is_limit: bool = False) -> None:
        super().__init__(construct, line, column)
        self.construct = construct
        self.line = line
        self.column = column
        self.is_limit = is_limit

    def __str__(self) -> str:
        return f"{self.construct} at line {self.line}, column {self.column}"


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """Where the character at ``index`` stands, both counted from 1."""
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


def check_characters(text: str) -> None:
    """Raise Unparsed if the text is over 64 KiB or holds a character that is refused anywhere."""
    if len(text) > MAX_TEXT_BYTES:
        raise Unparsed("text over 64 KiB", is_limit=True)
    if text.isascii():
        found = _HOSTILE_ASCII.search(text)
    else:
        found = HOSTILE_CHARACTER.search(text)
        if found is None and len(text.encode()) > MAX_TEXT_BYTES:
            raise Unparsed("text over 64 KiB", is_limit=True)
    if found is not None:
        line, column = line_and_column(text, found.start())
        raise Unparsed(f"character U+{ord(found.group()):04X}", line, column)
