r"""Texts of flat words: this module is the reader of commands in which nothing is expanded, in one step.

Most texts hold nothing but plain and quoted words, pipes, ``&&``, ``||``, ``;`` and redirects to a file. One expression
tells whether a text is of that kind and cuts it up; the tree is the one that the grammar makes
(``tests/properties/test_shell_round_trip.py`` holds them together). Whatever else stands in a text, and whatever is
wrong with it, is the grammar's to read and to name.
"""

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.builtins import DECLARATION_BUILTINS, KEYWORDS
from execkit_mcp.policy.shell.quoting import PLAIN_CHARACTERS, literal
from execkit_mcp.policy.shell.tree import (
    AndOr,
    Item,
    Literal,
    Pipeline,
    Redirect,
    Script,
    Sequence,
    Simple,
    Word,
    sequence_of,
)
from execkit_mcp.policy.shell.unparsed import MAX_TEXT_BYTES

# A first word that can be nothing but a program's name: no assignment, no job, no number before a redirect.
PROGRAM = r"[A-Za-z0-9_./@,-]++"
SPECIAL_PROGRAMS = KEYWORDS | DECLARATION_BUILTINS | {"command", "builtin"}

_WORD = rf"""(?:[{PLAIN_CHARACTERS}]++|'[^']*+'|"[^"\\$`]*+"|\{{\}}|\\[();!]|!)(?=[ \t|&;]|\Z)"""
_TO_FILE = r"[0-9]?(?:>>|[<>])(?![<>&|(])"
_TO_OUTPUT = r"2>&1(?=[ \t|&;]|\Z)"
_OPERATOR = r"\|\|?(?!&)|&&|;(?![;&])"
_TOKEN = rf"{_WORD}|{_TO_FILE}|{_TO_OUTPUT}|{_OPERATOR}"
_IS_PLAIN = lazy_regex(rf"[{PLAIN_CHARACTERS}]++(?:[ \t]++[{PLAIN_CHARACTERS}]++)*+").fullmatch
_IS_FLAT = lazy_regex(rf"[ \t]*+(?:(?:{_TOKEN})[ \t]*+)++").fullmatch
_TOKENS = lazy_regex(_TOKEN).findall
_IS_PROGRAM = lazy_regex(PROGRAM).fullmatch
_UNPLAIN = frozenset("'\"{\\!|&;<>")
_DIGITS = frozenset("0123456789")
_ARROWS = frozenset("<>")
_EMPTY = Word(())
_ERRORS_TO_OUTPUT = Redirect(">&", Word((Literal("1"),)), 2)


def plain_words(text: str) -> tuple[str, ...] | None:
    """The words of a text that is one command in which nothing at all is special; None if it is anything else."""
    if len(text) > MAX_TEXT_BYTES or _IS_PLAIN(text) is None:
        return None
    words = tuple(text.split())
    return None if _IS_PROGRAM(words[0]) is None or words[0] in SPECIAL_PROGRAMS else words


def flat_script(text: str, max_commands: int) -> Script | None:  # noqa: C901, PLR0911, PLR0912, PLR0915 - one loop, an arm a token
    """The script of a text of flat words, as the grammar reads it; None if the grammar has to."""
    if (plain := plain_words(text)) is not None:
        return Script(sequence_of(Simple((), tuple([Word((Literal(token),)) for token in plain]), ())), 1)
    if _IS_FLAT(text) is None:
        return None
    items: list[Item] = []
    joined: list[tuple[str, Pipeline]] = []  # behind the first pipeline
    first: Pipeline | None = None
    join = ""
    commands: list[Simple] = []
    words: list[Word] = []
    redirects: list[Redirect] = []
    arrow = ""  # what waits for its target
    count = 1
    for token in _TOKENS(text):
        initial = token[0]
        if initial not in _UNPLAIN:
            if initial in _DIGITS and len(token) > 1 and token[1] in _ARROWS:
                if not words or arrow:
                    return None
                if token == "2>&1":  # noqa: S105 - a token of the grammar
                    redirects.append(_ERRORS_TO_OUTPUT)
                else:
                    arrow = token
                continue
            if not words and (_IS_PROGRAM(token) is None or token in SPECIAL_PROGRAMS):
                return None
            word = Word((Literal(token),))
        elif initial == "|" or initial == "&" or initial == ";":  # noqa: PLR1714 - as quick as can be
            if not words or arrow:
                return None
            commands.append(Simple((), tuple(words), tuple(redirects)))
            words, redirects = [], []
            count += 1
            if token != "|":  # noqa: S105
                pipeline = Pipeline(tuple(commands))
                commands = []
                if first is None:
                    first = pipeline
                else:
                    joined.append((join, pipeline))
                join = token
                if token == ";":  # noqa: S105
                    items.append(Item(AndOr(first, tuple(joined))))  # type: ignore[arg-type]
                    first, joined = None, []
            continue
        elif initial in _ARROWS:
            if not words or arrow:
                return None
            arrow = token
            continue
        elif not words:
            return None
        elif initial == "'" or initial == '"':  # noqa: PLR1714
            inside = token[1:-1]
            word = Word((literal(inside),)) if inside else _EMPTY
        else:
            word = Word((literal(token.removeprefix("\\")),))
        if arrow:
            is_numbered = arrow[0] in _DIGITS
            redirects.append(Redirect(arrow[1:], word, int(arrow[0])) if is_numbered else Redirect(arrow, word))
            arrow = ""
        else:
            words.append(word)
    if not words or arrow or count > max_commands:
        return None
    commands.append(Simple((), tuple(words), tuple(redirects)))
    last = Pipeline(tuple(commands))
    if first is None:
        items.append(Item(AndOr(last)))
    else:
        items.append(Item(AndOr(first, (*joined, (join, last)))))  # type: ignore[arg-type]
    return Script(Sequence(tuple(items)), count)
