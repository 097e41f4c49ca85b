"""What ``find … -print0 | xargs -0 …`` runs: this module gives xargs the words that find is sure to print.

A name ends at its zero byte and begins with a start folder, so what xargs appends is a path below one of those, as
in ``find -exec``. That holds only if find prints nothing else, if nothing but filters of whole names stand between
them, and if xargs takes the names as they are; anything less leaves the words unseen.
"""

from msgspec.structs import replace

from execkit_mcp.policy.knowledge import interpret
from execkit_mcp.policy.knowledge.findutils import path_below
from execkit_mcp.policy.knowledge.invocation import STATIC, Arg, Inner, Invocation, static
from execkit_mcp.policy.knowledge.spec import words_of
from execkit_mcp.policy.shell import tree
from execkit_mcp.policy.shell.printed import is_away

_HERE = static(".")
# What find prints besides, or takes its start folders from.
_PRINTING = words_of(
    "-print -printf -ls -fprint -fprint0 -fprintf -fls -exec -execdir -ok -okdir -files0-from -help --help -version"
)
_PLAIN_XARGS = frozenset({"-0", "-r", "-n", "-P", "-t", "-x", "-I", "-s"})
_FILTERS = frozenset({"sort", "uniq", "shuf", "grep", "head", "tail"})
# Options of the filters that leave names whole, in every spelling.
_WHOLE = words_of(
    "-z --zero-terminated --null-data -r --reverse -n --numeric-sort --lines -u --unique -i --ignore-case -v "
    "--invert-match -E --extended-regexp -F --fixed-strings -y --no-ignore-case"
)
_MOST_STARTS = 8


def _argv(command: tree.Command) -> tuple[Arg, ...] | None:
    """The words of a command that is nothing but plain words, with its error messages thrown away or not."""
    if not isinstance(command, tree.Simple) or command.assignments or not command.words:
        return None
    if not all(map(is_away, command.redirects)):
        return None
    texts = [
        word.parts[0].text for word in command.words if len(word.parts) == 1 and isinstance(word.parts[0], tree.Literal)
    ]
    return tuple(map(static, texts)) if len(texts) == len(command.words) else None


def _is_xargs(command: tree.Command) -> bool:
    parts = command.words[0].parts if isinstance(command, tree.Simple) and command.words else ()
    return len(parts) == 1 and isinstance(parts[0], tree.Literal) and parts[0].text == "xargs"


def starts_before(commands: tuple[tree.Command, ...], index: int) -> tuple[Arg, ...]:
    """The folders that the names come from which the command at ``index`` of a pipeline reads; empty: not known."""
    reader = commands[index]
    if index == 0 or not _is_xargs(reader) or _argv(reader) is None:
        return ()
    while index > 0:
        index -= 1
        argv = _argv(commands[index])
        if argv is None:
            return ()
        if argv[0].text == "find":
            return _starts(interpret(argv))
        if argv[0].text not in _FILTERS or not any(
            arg.text in ("-z", "--null-data", "--zero-terminated") for arg in argv
        ):
            return ()
        found = interpret(argv)
        # A file of its own, other separators, a count or parts of a name: no names of find's.
        is_whole = {name for use in found.flags for name in use.names} <= _WHOLE
        if found.problems or not is_whole or len(found.operands) > (argv[0].text == "grep"):
            return ()
    return ()


def _starts(find: Invocation) -> tuple[Arg, ...]:
    names = {name for use in find.flags for name in use.names}
    if find.problems or "-print0" not in names or names & _PRINTING:
        return ()
    starts = find.operands or (_HERE,)
    return starts if len(starts) <= _MOST_STARTS and all(each.kind is STATIC and each.text for each in starts) else ()


def feed(invocation: Invocation, starts: tuple[Arg, ...]) -> Invocation:
    """The reading of xargs with the names that come from below ``starts`` in place of words that nobody has seen."""
    flags = invocation.flags
    if not all(_PLAIN_XARGS.intersection(use.names) for use in flags) or not any("-0" in use.names for use in flags):
        return invocation
    replaced = [use.value.text for use in flags if "-I" in use.names and use.value is not None]
    words = invocation.operands or (static("echo"),)
    if not replaced:
        lines = [(*words, path_below(start)) for start in starts]
    elif any("{}" in word.text.replace(replaced[-1], "") for word in words) or not replaced[-1]:
        return invocation
    else:
        texts = [word.text.replace(replaced[-1], "{}") for word in words]
        lines = [tuple(path_below(start, text) for text in texts) for start in starts]
    return replace(invocation, inner=tuple(Inner(argv=line, via="xargs") for line in lines))
