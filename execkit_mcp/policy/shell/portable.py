r"""What dash, busybox ash and zsh (as sh) read exactly as bash does; this module says what of a tree they do not.

A text is judged as bash's. Where another shell runs it, only the part of the language passes in which that shell makes
the same argv of the same text, changes the same state and opens the same files; the first construct outside it is
named. When in doubt it is outside: each row here was run in the real shells (``tests/oracle/test_dialects.py``).
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.lexer import NAME
from execkit_mcp.policy.shell.tree import (
    AndOr,
    Arithmetic,
    Assignment,
    Case,
    Command,
    For,
    Glob,
    Group,
    If,
    Literal,
    Loop,
    Parameter,
    Part,
    Pipeline,
    ProcessSubstitution,
    Redirect,
    Script,
    Sequence,
    Simple,
    Subshell,
    Substitution,
    Test,
    Tilde,
    Word,
)
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER

__all__ = ["DIALECTS", "refusal"]

DIALECTS: Final = frozenset({"dash", "ash", "zsh"})

_PLAIN: Final = lazy_regex(r"[A-Za-z0-9_./:@%+,-]*")
_GLOB: Final = lazy_regex(r"\?|\*|\[!?\]?(?:[A-Za-z0-9_.-]|\[:[a-z]+:\])+\]")
_SIMPLE_NAME: Final = lazy_regex(NAME)
_SUM: Final = lazy_regex(r"(?:(?<![0-9])0(?![0-9])|[1-9][0-9]{0,17}|[-+*() ])+")
_FORMAT: Final = lazy_regex(r"(?:[^%\\]|%%|%[-+ 0#]*[0-9]*(?:\.[0-9]+)?[sdiouxXcb]|\\[\\abfnrtv]|\\[0-7]{1,3})*")
_EXPORTED: Final = lazy_regex(rf"({NAME})=")
_DIGITS: Final = lazy_regex(r"[0-9]{1,4}")
_SIGNAL: Final = lazy_regex(r"-(?:[0-9]{1,2}|[A-Z0-9]{2,9}|s|l)")
_ONE_DIGIT: Final = 9
_WITH_WORD: Final = frozenset({":-", "-", ":+", "+"})
_WITH_PATTERN: Final = frozenset({"%", "%%", "#", "##"})
_SPECIAL: Final = frozenset({"?", "$"})
_OWN_NAMES: Final = frozenset(
    """
    ARGC BASH BASHOPTS BASHPID BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_COMMAND BASH_ENV BASH_LINENO BASH_SOURCE
    BASH_SUBSHELL BASH_VERSINFO BASH_VERSION CDPATH COLUMNS COMP_CWORD CPUTYPE DIRSTACK EGID ENV EPOCHREALTIME
    EPOCHSECONDS ERRNO EUID FIGNORE FPATH FUNCNAME FUNCNEST GID GLOBIGNORE GROUPS HISTCHARS HISTCMD HISTSIZE
    HOST HOSTNAME HOSTTYPE IFS KEYBOARD_HACK KEYTIMEOUT LINENO LINES LISTMAX MACHTYPE MAILCHECK MAILPATH MANPATH
    MAPFILE MATCH MBEGIN MEND MODULE_PATH NULLCMD OPTARG OPTERR OPTIND OSTYPE PIPESTATUS POSIXLY_CORRECT PPID
    PROMPT PS1 PS2 PS3 PS4 PSVAR RANDOM READNULLCMD REPLY RPROMPT SAVEHIST SECONDS SHELLOPTS SHLVL SPROMPT
    SRANDOM TIMEFMT TMPPREFIX TRY_BLOCK_ERROR TRY_BLOCK_INTERRUPT TTY TTYIDLE UID USERNAME VENDOR WATCH
    WORDCHARS _ argv cdpath fignore fpath funcstack histchars mailpath manpath module_path path pipestatus
    prompt psvar signals status watch
    """.split()  # noqa: SIM905 - as a list it fills a page
)
"""Variables that one of the shells gives a meaning of its own."""
_ENV_PREFIXES: Final = ("BASH_", "ZSH_", "COMP_", "__ek_")
_NOT_IN_TESTS: Final = frozenset({"==", "=~", "<", ">", "-v", "-R", "-N", "-o", "-a", "(", ")"})


class _Foreign(Exception):
    """The construct, named."""


def refusal(script: Script) -> str | None:
    """The first construct that another shell would read otherwise, named; None if there is none."""
    try:
        _sequence(script.body, is_piped=False)
    except _Foreign as found:
        return str(found)
    return None


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────


def _static(word: Word) -> str | None:
    """The text of a word that is nothing but literal characters; None otherwise."""
    if not all(isinstance(part, Literal) for part in word.parts):
        return None
    return "".join(part.text for part in word.parts if isinstance(part, Literal))


def _word(word: Word, *, is_whole: bool = False) -> None:
    """Any word; ``is_whole``: where bash neither splits nor matches, but others may."""
    for index, part in enumerate(word.parts):
        _part(part)
        if index and isinstance(part, Tilde):
            raise _Foreign("~ within a word")
        if is_whole and (isinstance(part, Glob) or _splits(part)):
            raise _Foreign("an expansion without quotes where bash does not split")
    globs = "".join(part.text if isinstance(part, Glob) else "." for part in word.parts)
    if "**" in globs:
        raise _Foreign("** in a pattern")


def _splits(part: Part) -> bool:
    return isinstance(part, Parameter | Substitution) and not part.quoted


def _part(part: Part) -> None:  # noqa: C901 - one arm for each kind
    match part:
        case Literal():
            if HOSTILE_CHARACTER.search(part.text) is not None:
                raise _Foreign("ANSI-C quoting ($'…', for a line break, tab or control character in a word)")
        case Glob():
            if _GLOB.fullmatch(part.text) is None:
                raise _Foreign(f"the pattern {part.text}")
        case Tilde():
            if part.user:
                raise _Foreign(f"~{part.user}")
        case Parameter():
            _parameter(part)
        case Substitution():
            _sequence(part.body, is_piped=False)
        case ProcessSubstitution():
            raise _Foreign("process substitution")
        case Arithmetic():
            if _SUM.fullmatch(part.text) is None:
                raise _Foreign(f"the arithmetic $(({part.text}))")


def _parameter(part: Parameter) -> None:
    if part.name not in _SPECIAL:
        _name(part.name)
    if not part.operator:
        return
    argument = part.argument or Word(())
    is_plain = all(isinstance(each, Literal) and _PLAIN.fullmatch(each.text) for each in argument.parts)
    if part.operator in _WITH_WORD and is_plain:
        return
    is_pattern = all(
        each.text in {"*", "?"} if isinstance(each, Glob) else isinstance(each, Literal) and _PLAIN.fullmatch(each.text)
        for each in argument.parts
    )
    if part.operator not in _WITH_PATTERN or not is_pattern:
        raise _Foreign(f"the expansion ${{{part.name}…}} with {part.operator}")


def _name(name: str) -> None:
    if _SIMPLE_NAME.fullmatch(name) is None or name in _OWN_NAMES or name.startswith(_ENV_PREFIXES):
        raise _Foreign(f"the variable {name}")


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────


def _sequence(sequence: Sequence, *, is_piped: bool) -> None:
    for item in sequence.items:
        if item.is_background:
            raise _Foreign("a background job (&)")
        _and_or(item.command, is_piped=is_piped)


def _and_or(command: AndOr, *, is_piped: bool) -> None:
    for pipeline in (command.first, *(each for _, each in command.rest)):
        _pipeline(pipeline, is_piped=is_piped)


def _pipeline(pipeline: Pipeline, *, is_piped: bool) -> None:
    if pipeline.timed:
        raise _Foreign("time")
    for command in pipeline.commands:
        _command(command, is_piped=is_piped or len(pipeline.commands) > 1)


def _command(command: Command, *, is_piped: bool) -> None:  # noqa: C901 - one arm for each kind
    for redirect in command.redirects:
        _redirect(redirect)
    match command:
        case Simple():
            _simple(command, is_piped=is_piped)
        case Subshell():
            _sequence(command.body, is_piped=False)
        case Group():
            _sequence(command.body, is_piped=is_piped)
        case If():
            others = () if command.otherwise is None else (command.otherwise,)
            for body in (*(each for branch in command.branches for each in branch), *others):
                _sequence(body, is_piped=is_piped)
        case Loop():
            _sequence(command.condition, is_piped=is_piped)
            _sequence(command.body, is_piped=is_piped)
        case For():
            _changes(f"for {command.name}", is_piped=is_piped)
            _name(command.name)
            _words(command.words)
            _sequence(command.body, is_piped=is_piped)
        case Case():
            _word(command.subject, is_whole=True)
            for clause in command.clauses:
                _words(clause.patterns)
                _sequence(clause.body, is_piped=is_piped)
        case Test():
            raise _Foreign("[[ … ]]")


def _words(words: Iterable[Word]) -> None:
    for word in words:
        _word(word)


def _redirect(redirect: Redirect) -> None:
    if redirect.operator == "<<<":
        raise _Foreign("a here-string or here-document (<<<)")
    if redirect.descriptor is not None and redirect.descriptor > _ONE_DIGIT:
        raise _Foreign(f"the descriptor {redirect.descriptor}")
    text = _static(redirect.target)
    if redirect.operator in {"<&", ">&"} and (text is None or not (text == "-" or re.fullmatch("[0-9]", text))):
        raise _Foreign(f"the redirect {redirect.operator}{text or ''}")
    _word(redirect.target, is_whole=True)


def _changes(what: str, *, is_piped: bool) -> None:
    if is_piped:
        raise _Foreign(f"{what} in a pipeline: the last part may run in the shell itself")


def _simple(command: Simple, *, is_piped: bool) -> None:  # noqa: C901 - one check after the other
    for assignment in command.assignments:
        _assignment(assignment)
    if not command.words:
        if command.assignments:
            _changes("an assignment", is_piped=is_piped)
            if command.redirects:
                raise _Foreign("an assignment with a redirect")
        return
    _words(command.words)
    name = _static(command.words[0])
    if name is None:
        raise _Foreign("a command whose name is worked out")
    if "/" in name:
        return
    check = _BUILTINS.get(name)
    if check is None:
        raise _Foreign(f"{name} (a builtin of bash, or no program there)")
    if command.assignments:
        raise _Foreign(f"an assignment before the builtin {name}")
    if name in _SPECIAL_BUILTINS and command.redirects:
        raise _Foreign(f"{name} with a redirect")
    if name in _CHANGING:
        _changes(name, is_piped=is_piped)
    check(name, command.words[1:])


def _assignment(assignment: Assignment) -> None:
    if assignment.items is not None:
        raise _Foreign("an array")
    if assignment.operator != "=":
        raise _Foreign(assignment.operator)
    _name(assignment.name)
    _word(assignment.value)
    if any(isinstance(part, Glob) for part in assignment.value.parts):
        raise _Foreign("a pattern in an assignment")


# ── builtins ─────────────────────────────────────────────────────────────────────────────────────────────


def _anything(_name: str, _operands: tuple[Word, ...]) -> None:
    """Its operands mean the same everywhere (``echo`` is a function of ours there)."""


def _statics(name: str, operands: tuple[Word, ...]) -> list[str]:
    texts = [_static(each) for each in operands]
    if None in texts:
        raise _Foreign(f"{name} with an operand that is worked out")
    return [text for text in texts if text is not None]


def _number(name: str, operands: tuple[Word, ...]) -> None:
    texts = _statics(name, operands)
    if len(texts) > 1 or not all(_DIGITS.fullmatch(text) for text in texts):
        raise _Foreign(f"{name} {' '.join(texts)}")


def _cd(name: str, operands: tuple[Word, ...]) -> None:
    left = list(operands)
    while left and _static(left[0]) in {"-P", "-L", "--"}:
        if _static(left.pop(0)) == "--":
            break
    if len(left) > 1 or any(isinstance(part, Glob) or _splits(part) for word in left for part in word.parts):
        raise _Foreign(f"{name} with more than one word")
    text = _static(left[0]) if left else None
    if text and text != "-" and text.startswith(("-", "+")):
        raise _Foreign(f"{name} {text}")


def _export(name: str, operands: tuple[Word, ...]) -> None:
    for word in operands:
        first = word.parts[0] if word.parts else None
        text = first.text if isinstance(first, Literal) else ""
        found = _EXPORTED.match(text)
        if found is None and _static(word) is None:
            raise _Foreign(f"{name} with a name that is worked out")
        _name(found[1] if found is not None else text)
        if any(not isinstance(part, Literal) and not getattr(part, "quoted", False) for part in word.parts):
            raise _Foreign(f"{name} with a value without quotes")


def _unset(name: str, operands: tuple[Word, ...]) -> None:
    for text in _statics(name, operands):
        _name(text)


def _test(name: str, operands: tuple[Word, ...]) -> None:
    for word in operands:
        text = _static(word)
        if text in _NOT_IN_TESTS:
            raise _Foreign(f"{text} in {name}")


def _printf(name: str, operands: tuple[Word, ...]) -> None:
    text = _static(operands[0]) if operands else None
    if text is None or text.startswith("-") or _FORMAT.fullmatch(text) is None:
        raise _Foreign(f"this format of {name}")


def _pwd(name: str, operands: tuple[Word, ...]) -> None:
    if not set(_statics(name, operands)) <= {"-P", "-L"}:
        raise _Foreign(f"this use of {name}")


def _kill(name: str, operands: tuple[Word, ...]) -> None:
    for text in _statics(name, operands):
        if not (_SIGNAL.fullmatch(text) or text.isdigit() or text == "--" or re.fullmatch("[A-Z]{2,9}", text)):
            raise _Foreign(f"{name} {text}")


_BUILTINS: Final[dict[str, Callable[[str, tuple[Word, ...]], None]]] = {
    ":": _anything,
    "[": _test,
    "break": _number,
    "cd": _cd,
    "continue": _number,
    "echo": _anything,
    "exit": _number,
    "export": _export,
    "false": _anything,
    "kill": _kill,
    "printf": _printf,
    "pwd": _pwd,
    "test": _test,
    "true": _anything,
    "umask": _number,
    "unset": _unset,
}
_SPECIAL_BUILTINS: Final = frozenset({":", "break", "continue", "exit", "export", "unset"})
_CHANGING: Final = frozenset({"cd", "export", "unset", "umask", "exit", "break", "continue"})
