r"""How literal characters are written: this module is the one place that decides which of them need quotes.

``Literal.quoted`` is a function of the text alone (``literal`` computes it), so that equal words are equal
trees however they were typed. Only characters that bash reads as themselves everywhere stay unquoted; all
others go into single quotes, where nothing is special, and control or format characters into ``$'\x1b'``,
as bytes, so that the canonical text shows them and no locale changes them.
"""

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.tree import Literal
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER

PLAIN_CHARACTERS = "A-Za-z0-9_./:=@%+,-"
_PLAIN = lazy_regex(f"[{PLAIN_CHARACTERS}]+")
_IS_PLAIN = _PLAIN.fullmatch
# Words that are plain only as a whole: the test command's brackets, the placeholder of find and xargs.
WHOLE_WORDS = frozenset({"[", "]", "{}"})


def is_plain(text: str) -> bool:
    """Whether the text needs no quotes wherever a part of a word may stand."""
    return _IS_PLAIN(text) is not None


def literal(text: str) -> Literal:
    """The canonical Literal of these characters."""
    return Literal(text, not (_PLAIN.fullmatch(text) or text in WHOLE_WORDS))


def quote(text: str) -> str:
    """The text in quotes: single ones, or ``$'…'`` if it holds characters that must not stand in a text."""
    if HOSTILE_CHARACTER.search(text) is None:
        return "'" + text.replace("'", "'\\''") + "'"
    return "$'" + "".join(_escaped(character) for character in text) + "'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character == "\n":
        return "\\n"
    if character == "\t":
        return "\\t"
    if HOSTILE_CHARACTER.match(character):
        return "".join(f"\\x{byte:02x}" for byte in character.encode())
    return character
