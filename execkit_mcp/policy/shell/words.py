"""What is known of a word before it runs: this module turns a Word into the Args that the policy judges.

A word is STATIC when every character is known, GLOB when it is a pattern that expands to paths or to
itself, else DYNAMIC. A variable whose possible values are known counts as text: inside double quotes
always, outside them only if the value cannot be split or taken for a pattern.
"""

from collections.abc import Mapping
from types import MappingProxyType

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.invocation import DYNAMIC, GLOB, STATIC, Arg
from execkit_mcp.policy.shell.printed import NUMBER, printed_word, prints_folder, prints_no_option
from execkit_mcp.policy.shell.render import render_word
from execkit_mcp.policy.shell.tree import (
    Arithmetic,
    Glob,
    Literal,
    Parameter,
    Part,
    Plain,
    ProcessSubstitution,
    Substitution,
    Tilde,
    Word,
)

MAX_ALTERNATIVES = 64

# Options whose number only says how much runs at once.
_JOBS = frozenset({"-j", "--jobs=", "--parallel="})
_NO_VARIABLES: Mapping[str, tuple[str, ...]] = MappingProxyType({})
_SPLIT_OR_PATTERN = lazy_regex(r"[\s*?\[\]\\]")
_ONE_CHARACTER = lazy_regex(r"\[[A-Za-z0-9]\]")
_PATTERN_CHARACTER = lazy_regex(r"[*?\[\]\\]")
# Parameters that are always one run of digits, so that no splitting happens even outside quotes.
_ALWAYS_NUMBERS = frozenset({"?", "#", "$"})
# Variables that nothing may set: they begin with a slash.
_FOLDERS = frozenset({"PWD", "OLDPWD", "HOME"})


class _Vanishing(Glob, frozen=True, gc=False):
    """What a word or a number of a known shape may be, besides nothing."""


def to_arg(  # noqa: C901, PLR0911, PLR0912 - each kind of word ends it
    word: Word, variables: Mapping[str, tuple[str, ...]] = _NO_VARIABLES
) -> tuple[Arg, ...]:
    """Each word that this one may become, as far as that is known.

    Args:
        word: as parsed.
        variables: name to the values that the variable may have here; a name that is absent is unknown.

    Returns:
        Several STATIC or GLOB Args (at most 64), or one DYNAMIC Arg. A word that is sure to
        vanish (an unquoted variable that is empty) is DYNAMIC.
    """
    parts = word.parts
    if not parts:
        return (Arg(STATIC, "", ""),)
    if len(parts) == 1 and isinstance(parts[0], Literal):
        text = parts[0].text
        return (Arg(STATIC, text, text),)
    if len(parts) == 1 and isinstance(parts[0], ProcessSubstitution):
        return (Arg(DYNAMIC, render_word(word), "/dev/fd/", is_pipe=True),)
    head = parts[0]
    if isinstance(head, Literal) and head.text in _JOBS and _is_number(parts[1:]):  # any number does the same
        return tuple(Arg(STATIC, text, text) for text in (head.text, f"{head.text}8"))
    if any(isinstance(part, Arithmetic | Plain | Substitution) for part in parts[1:]):
        parts = _with_plain_words(parts)
    is_pattern = any(isinstance(part, Glob) for part in parts)
    # Of `a[0]` there is but one other spelling, so that it never becomes two words.
    is_one = all(part.is_one or _ONE_CHARACTER.fullmatch(part.text) for part in parts if isinstance(part, Glob))
    is_home = isinstance(parts[0], Tilde)
    texts: list[str] = [""]  # what the program sees, pattern characters escaped if the word is a pattern
    prefixes: list[str] = [""]  # the same up to the first pattern, never escaped
    is_prefix_open = True
    for index, part in enumerate(parts):
        if isinstance(part, Glob):
            # A command that fails prints nothing, and arithmetic that fails gives nothing.
            texts = [
                text + end
                for text in texts
                for end in ((part.text, "") if isinstance(part, _Vanishing) else (part.text,))
            ]
            if len(texts) > MAX_ALTERNATIVES:
                return (_dynamic(word, prefixes, part, is_home=is_home, is_prefix_open=is_prefix_open),)
            is_prefix_open = False
            continue
        values = _values(part, variables, is_first=index == 0)
        if values is None or len(texts) * len(values) > MAX_ALTERNATIVES:
            return (_dynamic(word, prefixes, part, is_home=is_home, is_prefix_open=is_prefix_open),)
        if is_prefix_open:
            prefixes = [prefix + value for prefix in prefixes for value in values]
        if is_pattern:
            values = tuple(_PATTERN_CHARACTER.sub(r"\\\g<0>", value) for value in values)
        texts = [text + value for text in texts for value in values]
    if not is_pattern:
        return tuple(Arg(STATIC, text, text, is_home=is_home) for text in texts)
    if not all(
        prefixes
    ):  # "$x"* with an empty x: no ./ stands before it, so that a name that it finds may be an option
        return (Arg(DYNAMIC, render_word(word), "", is_single=False),)
    prefix = _common_prefix(prefixes)
    return tuple(Arg(GLOB, text, prefix, is_single=is_one, is_home=is_home) for text in texts)


def to_one_arg(word: Word) -> Arg:
    """The word as one Arg, whatever its variables hold: one that it may be among others is unknown."""
    args = to_arg(word)
    if len(args) == 1:
        return args[0]
    return Arg(DYNAMIC, render_word(word), _common_prefix([arg.prefix for arg in args]), is_single=False)


def _with_plain_words(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """A number or a plain word behind a word's beginning (``/proc/$((n))/fd``) as a pattern: it holds no slash."""
    head = parts[0]
    if not isinstance(head, Literal) or head.text[:1] in ("", "-"):
        return parts
    return (head, *(_as_pattern(part) for part in parts[1:]))


def _is_number(parts: tuple[Part, ...]) -> bool:
    """Whether the parts are nothing but a number that a command prints, or nothing at all."""
    return len(parts) == 1 and isinstance(parts[0], Substitution) and printed_word(parts[0].body) == NUMBER


def _as_pattern(part: Part) -> Part:
    if isinstance(part, Arithmetic):
        return _Vanishing("[-0-9]*", is_one=True)
    shape = part.shape if isinstance(part, Plain) else printed_word(part.body) if isinstance(part, Substitution) else ""
    return _Vanishing(shape, is_one=True) if shape else part


def source_of(word: Word) -> str:
    """The canonical text of a word, for people."""
    return render_word(word)


def _values(part: Part, variables: Mapping[str, tuple[str, ...]], *, is_first: bool) -> tuple[str, ...] | None:
    if isinstance(part, Literal):
        return (part.text,)
    if isinstance(part, Tilde):
        return ("~" + part.user,) if is_first else None
    if isinstance(part, Substitution) and prints_folder(part.body):
        part = Parameter("PWD", quoted=part.quoted)
        if any(folder.endswith("\n") for folder in variables.get("PWD", ())):
            return None  # the end of it is lost
    if not isinstance(part, Parameter) or part.operator or part.name not in variables:
        return None
    values = variables[part.name]
    # The folder may be spelled otherwise, through a link whose name holds a blank.
    is_one = part.quoted or (
        part.name != "PWD" and not any(not value or _SPLIT_OR_PATTERN.search(value) for value in values)
    )
    return values if values and is_one else None


def _dynamic(word: Word, prefixes: list[str], stopped_at: Part, *, is_home: bool, is_prefix_open: bool) -> Arg:
    prefix = _common_prefix(prefixes)
    if is_prefix_open and isinstance(stopped_at, ProcessSubstitution):
        prefix += "/dev/fd/"
    is_single = all(_is_one_word(part) for part in word.parts)
    is_plain = _is_never_option(word.parts)
    return Arg(DYNAMIC, source_of(word), prefix, is_single=is_single, is_home=is_home, is_plain=is_plain)


def _is_never_option(parts: tuple[Part, ...]) -> bool:
    """Whether a word that starts with this part starts with no dash; the empty word does not either."""
    head = parts[0]
    # What the first part prints may be empty: then the word begins with the next.
    is_safe = len(parts) == 1 or (isinstance(parts[1], Literal) and parts[1].text[:1] not in ("-", ""))
    if isinstance(head, Plain):
        return head.is_sure or (is_safe and head.quoted)
    if isinstance(head, Parameter) and head.name in _FOLDERS:
        return is_safe and head.quoted and not head.operator
    return is_safe and isinstance(head, Substitution) and head.quoted and prints_no_option(head.body)


def _is_one_word(part: Part) -> bool:
    if isinstance(part, Parameter):
        if part.quoted:
            return not part.name.endswith(("@", "@]")) or part.operator == "length"
        return part.operator == "length" or (not part.operator and part.name in _ALWAYS_NUMBERS)
    if isinstance(part, Plain):
        return part.quoted or part.is_sure
    if isinstance(part, Substitution):
        return part.quoted
    return not isinstance(part, Glob)


def _common_prefix(texts: list[str]) -> str:
    shortest, longest = min(texts), max(texts)
    for index, character in enumerate(shortest):
        if longest[index] != character:
            return shortest[:index]
    return shortest
