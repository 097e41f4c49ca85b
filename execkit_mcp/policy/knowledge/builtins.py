"""Bash builtins that count as programs, and those that only change the session.

Source: bash 5.2 manual, §4.
"""

import re
from collections.abc import Sequence

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.argv import is_several
from execkit_mcp.policy.knowledge.assigning import ASSIGNS, named_by_format
from execkit_mcp.policy.knowledge.invocation import Arg, FlagUse
from execkit_mcp.policy.knowledge.opaque import note_words
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Program, words_of

_BASH = "bash 5.2 manual"
_FILE_TESTS = words_of("-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S")
_OTHER_TESTS = words_of("-z -n -t -o")
_NAME_TESTS = frozenset(("-v", "-R"))
_COMPARISONS = words_of("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o")
_FILE_COMPARISONS = frozenset(("-nt", "-ot", "-ef"))
_PAIR = 2
_TRIPLE = 3


def _read_inert(reading: Reading) -> None:
    """``echo`` and its kin: no word can have an effect."""
    is_leading = True
    for arg in reading.args:
        is_leading = is_leading and arg.is_static and len(arg.text) > 1 and not arg.text[1:].strip("neE")
        if is_leading and arg.text.startswith("-"):
            reading.flags.append(FlagUse(names=(arg.text,)))
        else:
            is_leading = False
            reading.operands.append(arg)


def _read_printf(reading: Reading) -> None:
    """``printf [-v name] format …``: only ``-v`` and ``%n`` do anything."""
    args = reading.args
    for named in named_by_format(args):
        if named.is_static:
            reading.effect(EffectKind.STATE, named, "assigns a variable that its format counts for")
        else:
            reading.dynamic(named, "could name a variable that %n in the format assigns")
    if args and args[0].prefix.startswith("-v"):
        attached = args[0].text[2:] if args[0].is_static else ""
        name = args[1] if len(args) > 1 and not attached else args[0]
        reading.flags.append(FlagUse(names=("-v",), value=name))
        reading.effect(EffectKind.STATE, name, ASSIGNS)
        args = args[1:] if attached else args[2:]
    elif args and (is_several(args[0]) or args[0].could_be_option) and args[0].text != "--":
        if args[0].is_static and args[0].text.startswith("-") and args[0].text != "-":
            reading.unknown_flag(args[0].text)
        elif not args[0].is_static:
            reading.dynamic(args[0], "could turn out to be -v, which assigns a variable")
    reading.operands.extend(args)


def _read_test(reading: Reading) -> None:  # noqa: C901 - one branch for each form in the manual
    """``test`` and ``[``: file operators read metadata, ``-v`` may run a subscript."""
    words = list(reading.args)
    if reading.name == "[" and words and words[-1].is_static and words[-1].text == "]":
        words.pop()
    reading.operands.extend(words)
    while words and words[0].is_static and words[0].text == "!":
        words.pop(0)
    if any(is_several(word) for word in words) or not _is_settled(words):
        for word in words:
            if not word.is_static:
                reading.dynamic(word, "could turn out to be an operator")
                break
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else None
        if not word.is_static or following is None or (len(words) == _TRIPLE and index == 0 and _compares(words[1])):
            continue
        if word.text in _FILE_COMPARISONS and index:
            reading.effect(EffectKind.READ, words[index - 1])
            reading.effect(EffectKind.READ, following)
        elif word.text in _FILE_TESTS and not (word.text == "-a" and index):
            reading.effect(EffectKind.READ, following)
        elif word.text in _NAME_TESTS and not (following.is_static and following.text.isidentifier()):
            reading.problems.clear()
            reading.dynamic(following, f"is a subscript that {word.text} would evaluate")


def _compares(word: Arg) -> bool:
    """Whether the word is surely a binary operator."""
    return word.is_static and word.text in _COMPARISONS


def _is_settled(words: list[Arg]) -> bool:
    """Whether the expression means one thing whatever its dynamic words are."""
    if all(word.is_static for word in words):
        return True
    if len(words) == 1:
        return True
    if len(words) == _PAIR:
        return words[0].is_static
    return len(words) == _TRIPLE and _compares(words[1])


# Words with which a builtin that changes the session merely shows what is set; without any it shows as well. Not
# `ulimit -nunlimited`, which is a limit behind its flag, and not `trap INT`, which resets.
_SHOWING = {
    "ulimit": r"-[SH]{0,2}[abcdefiklmnpqrstuvxPRT]",
    "umask": r"-[pS]{1,2}",
    "export": r"-p",
    "readonly": r"-p",
    "declare": r"-p",
    "typeset": r"-p",
    "alias": r"-p",
    "shopt": r"-p",
    "trap": r"-[lp]",
    "history": r"[0-9]{1,9}",
    "dirs": r"-[lpv]{1,3}",
}


def only_shows(builtin: str, args: Sequence[Arg]) -> bool:
    """Whether a builtin that changes the session merely shows what is set, with these words."""
    words = _SHOWING.get(builtin)
    return words is not None and all(arg.is_static and re.fullmatch(words, arg.text) is not None for arg in args)


def _read_state(reading: Reading) -> None:
    """Builtins that change the session: the builtin's name is the state."""
    note_words(reading)
    if not only_shows(reading.name, reading.args):
        reading.effect(EffectKind.STATE, None, reading.name)


def _read_source(reading: Reading) -> None:
    """Builtins that run text in the session itself."""
    _read_state(reading)
    reading.mark("x", None)


def _after_hash(reading: Reading) -> None:
    if reading.has("-p", "-d", "-r"):
        reading.effect(EffectKind.STATE, None, "hash")


_STATE = (
    "cd pushd popd export unset read mapfile readarray umask set shopt trap readonly declare "
    "typeset local alias "
    "unalias return exit fg bg disown enable bind complete compopt getopts let history fc "
    "logout shift "
    "break continue suspend dirs"
)

PROGRAMS = (
    Program(names="echo true false :", source=_BASH, read=_read_inert, alone=""),
    Program(names="printf", source=_BASH, read=_read_printf, alone=""),
    Program(names="test [", source=_BASH, read=_read_test, alone=""),
    Program(names="pwd", source=_BASH, flags="-LPW --logical --physical", unseen="-"),
    Program(names="wait", source=_BASH, flags="-fn -p=:s", operands="-*"),
    Program(names="jobs", source=_BASH, flags="-lnprs -x:x", operands="-*", alone="--help"),
    Program(names="type", source=_BASH, flags="-aftpP", operands="-*", unseen="-"),
    Program(names="hash", source=_BASH, flags="-lt -r -d -p=", operands="-*", after=_after_hash),
    Program(names="ulimit", source=_BASH, read=_read_state, alone=""),
    Program(names="caller help times", source=_BASH, flags="-dms", operands="-*", alone=""),
    Program(names=_STATE, source=_BASH, read=_read_state, alone=""),
    Program(names="source . eval compgen", source=_BASH, read=_read_source, alone=""),
)
"""``cd`` and its kin are judged by ``shell.state``; here they are merely not unknown."""
