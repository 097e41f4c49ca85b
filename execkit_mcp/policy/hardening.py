"""Safety flags that the canonical text gets: this module adds them to the tree, before it is judged.

What is judged is what runs, so a flag is added to the tree and not to the text. A command is found through wrappers
(``timeout 5 git diff``) by the knowledge that the judgement uses; one that is not found here (the text of ``sh -c``,
a program named by a variable) keeps its effect: a diff without the flags runs something unknown. A database that is
opened to be read is opened safely, too.
"""

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge import Arg, Invocation, interpret
from execkit_mcp.policy.knowledge.git_shows import DIFFS, LOGS, NOWHERE, QUIETING
from execkit_mcp.policy.shell.rewriting import FLAT, rewritten
from execkit_mcp.policy.shell.tree import Literal, Script, Simple, Word, sequence_of
from execkit_mcp.policy.shell.words import to_arg

_PROGRAM = "git"
_DATABASE = "sqlite3"
_HARDENED = frozenset({_PROGRAM, _DATABASE})
_MAX_DEPTH = 8
_ADDED = tuple(Word((Literal(flag),)) for flag in QUIETING)
_SAFELY = (Word((Literal("-safe"),)),)  # no command of its own that runs, writes or reads another file
_AWAY = (Word((Literal(NOWHERE),)),)
_NAMED = lazy_regex(rf"\b{_PROGRAM}\b")
_CONCERNED = lazy_regex(rf"\b(?:{'|'.join(sorted({each.partition('/')[0] for each in DIFFS | LOGS}))}|help)\b")


def is_concerned(text: str) -> bool:
    """Whether the text may name a command that gets flags; quick, and wrong on the safe side only."""
    return _PROGRAM in text or _DATABASE in text


def harden(script: Script, text: str) -> Script:
    """The script with the flags that keep git from running what a repository configures.

    Args:
        script: as parsed.
        text: what it was parsed from; one that names no such command in plain letters is left alone.
    """
    if not is_concerned(text):
        return script
    named = _NAMED.search(text)
    if (named is None or _CONCERNED.search(text, named.end()) is None) and _DATABASE not in text:
        return script
    if (lone := _lone_command(script)) is not None:
        words = _with_flags(lone.words)
        body = script.body if words is lone.words else sequence_of(replace(lone, words=words))
    else:
        body = rewritten(script.body, _hardened)
    return script if body is script.body else replace(script, body=body)


def _lone_command(script: Script) -> Simple | None:
    """The only command, if there is nothing but flat words in the script: most texts that concern us are that."""
    items = script.body.items
    if len(items) != 1 or items[0].is_background or items[0].command.rest:
        return None
    pipeline = items[0].command.first
    only = pipeline.commands[0]
    if len(pipeline.commands) != 1 or pipeline.negated or pipeline.timed:
        return None
    if not isinstance(only, Simple) or only.assignments or only.redirects:
        return None
    return only if all(type(part) in FLAT for word in only.words for part in word.parts) else None


def _hardened(node: Struct) -> Struct:
    if not isinstance(node, Simple):
        return node
    words = _with_flags(node.words)
    return node if words is node.words else replace(node, words=words)


def _with_flags(words: tuple[Word, ...]) -> tuple[Word, ...]:
    args = tuple([to_arg(word)[0] for word in words])
    if not any(arg.text.rpartition("/")[2] in _HARDENED for arg in args):
        return words
    found: dict[int, tuple[Word, ...]] = {}
    _find(args, args, found, 0)
    for place, added in sorted(found.items(), reverse=True):
        words = (*words[:place], *added, *words[place:])
    return words


def _find(argv: tuple[Arg, ...], outer: tuple[Arg, ...], found: dict[int, tuple[Word, ...]], depth: int) -> None:
    """Note behind which words of ``outer`` which flags go, for ``argv`` and what it runs."""
    start = next((index for index, arg in enumerate(outer) if argv and arg is argv[0]), None)
    if start is None or depth > _MAX_DEPTH or not argv[0].is_static:
        return
    folder, _, name = argv[0].text.rpartition("/")
    if folder and not folder.startswith("/"):
        return
    invocation = interpret((Arg(argv[0].kind, name, name), *argv[1:]))
    if name == _DATABASE:
        given = {each for use in invocation.flags for each in use.names}
        if "-readonly" in given and "-safe" not in given:
            found[start + 1] = _SAFELY
    elif name != _PROGRAM:
        for inner in invocation.inner:
            _find(inner.argv, outer, found, depth + 1)
    elif invocation.subcommand == ("help",):
        if invocation.operands and argv[1].text != NOWHERE:
            found[start + 1] = _AWAY
    elif (place := _behind_subcommand(invocation, outer, start)) is not None:
        found[place] = _ADDED


def _behind_subcommand(invocation: Invocation, outer: tuple[Arg, ...], start: int) -> int | None:
    """Where a command that shows diffs takes the flags; None if it shows none, or has them."""
    words = invocation.subcommand
    given = {name for use in invocation.flags for name in use.names}
    if "/".join(words) not in DIFFS | LOGS or given.issuperset(QUIETING):
        return None
    values = [use.value for use in invocation.flags if use.is_global and use.value is not None]
    for index in range(start + 1, len(outer)):
        arg = outer[index]
        if arg.text == words[0] and arg.is_static and not any(arg is value for value in values):
            end = index + len(words)
            return end if tuple([each.text for each in outer[index:end]]) == words else None
    return None
