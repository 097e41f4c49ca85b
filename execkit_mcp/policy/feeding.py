"""Names of files that one command prints and another takes: this module has them end in a zero byte.

``find src -name '*.py' | xargs wc -l`` splits names at blanks and newlines, so a name such as ``a /etc/shadow`` makes
two words. The canonical text says ``-print0`` and ``xargs -0`` (or ``read -d ''``) and the filters between them ``-z``:
each name stays whole, and what is judged is what runs (``fed``). Names that need not begin with a folder get ``./`` in
front of a dash. The commands of a loop over names read ``/dev/null``, and none of the names. What does not fit the
pattern is left as it stands.
"""

from collections.abc import Callable
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model import ReasonCode
from execkit_mcp.policy.fed import (
    FILTERS,
    apart,
    argv_of,
    argv_of_reader,
    dashes_of,
    filters_whole,
    is_feed,
    is_named_loop,
    plain_words,
)
from execkit_mcp.policy.knowledge import interpret
from execkit_mcp.policy.knowledge.invocation import Arg, static
from execkit_mcp.policy.shell.quoting import literal
from execkit_mcp.policy.shell.rewriting import rewritten
from execkit_mcp.policy.shell.tree import (
    Assignment,
    Command,
    Literal,
    Loop,
    Pipeline,
    ProcessSubstitution,
    Redirect,
    Script,
    Sequence,
    Simple,
    Word,
    sequence_of,
)

__all__ = ["whole_names"]

_XARGS = frozenset({"-0", "-r", "-n", "-P", "-t", "-x", "-I", "-s"})
_LEADING = frozenset({"-H", "-L", "-P"})


def whole_names(script: Script, text: str) -> Script:
    """The script with names that end in a zero byte, where commands hand names on."""
    if "xargs" not in text and not ("while" in text and "read" in text):
        return script
    body = rewritten(script.body, _fed_whole)
    return script if body is script.body else replace(script, body=body)


def _fed_whole(node: Struct) -> Struct:
    if isinstance(node, Pipeline) and len(node.commands) > 1:
        return _pipeline(node)
    return _loop(node) if isinstance(node, Loop) else node


def _pipeline(node: Pipeline) -> Pipeline:
    """Each reader of names with what stands before it rewritten."""
    commands = node.commands
    for index in range(len(commands) - 1, 0, -1):
        reader = _reader(commands[index])
        if reader is None:
            continue
        before = _printer(commands[:index])
        if before is not None:
            commands = (*before, reader, *commands[index + 1 :])
        elif isinstance(loop := commands[index], Loop) and plain_words(commands[:index]):
            commands = (*commands[:index], replace(loop, body=apart(loop.body)), *commands[index + 1 :])
    return node if commands is node.commands else replace(node, commands=commands)


def _loop(node: Loop) -> Loop:
    """``while read …; done < <(find …)``."""
    if len(node.redirects) != 1 or node.redirects[0].operator != "<" or node.redirects[0].descriptor:
        return node
    part = node.redirects[0].target.parts[0] if len(node.redirects[0].target.parts) == 1 else None
    reader = _reader(replace(node, redirects=()))
    if not isinstance(part, ProcessSubstitution) or reader is None or len(part.body.items) != 1:
        return node
    item = part.body.items[0]
    pipeline = item.command.first
    if item.is_background or item.command.rest or pipeline.negated or pipeline.timed:
        return node
    before = _printer(pipeline.commands)
    if before is None:
        return replace(node, body=apart(node.body)) if plain_words(pipeline.commands) else node
    command = replace(item.command, first=replace(pipeline, commands=before))
    target = Word((replace(part, body=Sequence((replace(item, command=command),))),))
    return cast("Loop", replace(reader, redirects=(Redirect("<", target),)))


def _word(text: str) -> Word:
    return Word((literal(text),) if text else ())


def _reader(command: Command) -> Command | None:  # noqa: PLR0911 - each way ends it
    """A command that takes names, as one that takes them whole; None if it takes none, or in a way of its own."""
    if isinstance(command, Loop):
        name = is_named_loop(command)
        if not name:
            return None
        words = tuple(map(_word, ("read", "-r", "-d", "", name)))
        read = Simple((Assignment("IFS", Word(())),), words, ())
        return replace(command, condition=sequence_of(read), body=apart(command.body))
    argv = argv_of_reader(command)
    if argv is None or argv[0].text != "xargs" or not isinstance(command, Simple):
        return None
    found = interpret(argv)
    if any(problem.code is not ReasonCode.DYNAMIC_WORD for problem in found.problems):
        return None
    if not all(_XARGS.intersection(use.names) for use in found.flags):
        return None
    if any("-0" in use.names for use in found.flags):
        return command
    return replace(command, words=(command.words[0], _word("-0"), *command.words[1:]))


def _printer(commands: tuple[Command, ...]) -> tuple[Command, ...] | None:
    """Commands that print names and filter them, with names that end in a zero byte; None if they are not just that."""
    argvs = [argv_of(command) for command in commands]
    first = argvs[0]
    if first is None or not isinstance(commands[0], Simple):
        return None
    make = _PRINTERS.get(first[0].text)
    words = make(first, commands[0].words) if make is not None else None
    if words is None:
        return None
    found: list[Command] = [replace(commands[0], words=words)]
    rest = list(zip(commands[1:], argvs[1:], strict=True))
    if first[0].text != "find":
        dashes = dashes_of(commands[0])
        found.append(Simple((), tuple(map(_word, dashes)), ()))
        if rest and rest[0][1] is not None and tuple(arg.text for arg in rest[0][1]) == dashes:
            rest.pop(0)
    for command, argv in rest:
        if argv is None or not isinstance(command, Simple) or argv[0].text not in FILTERS:
            return None
        changed = _filter(command, argv)
        if changed is None:
            return None
        found.append(changed)
    return tuple(found) if is_feed(tuple(found)) else None


def _filter(command: Simple, argv: tuple[Arg, ...]) -> Simple | None:
    texts = [arg.text for arg in argv[1:]]
    if argv[0].text in ("head", "tail") and texts and texts[0][:1] == "-" and texts[0][1:].isdecimal():
        texts[:1] = ["-n", texts[0][1:]]
    if not any(text in ("-z", "--null-data", "--zero-terminated") for text in texts):
        texts.insert(0, "-z")
    words = (command.words[0], *map(_word, texts))
    return replace(command, words=words) if filters_whole(tuple(map(_as_arg, words))) else None


def _as_arg(word: Word) -> Arg:
    part = word.parts[0] if word.parts else literal("")
    return static(part.text if isinstance(part, Literal) else "")


def _find(argv: tuple[Arg, ...], words: tuple[Word, ...]) -> tuple[Word, ...] | None:
    texts = [arg.text for arg in argv]
    if "-print0" in texts:
        return words
    if "-print" in texts:
        return tuple(_word("-print0") if text == "-print" else word for text, word in zip(texts, words, strict=True))
    start = 1
    while start < len(texts) and texts[start] in _LEADING:
        start += 1
    while start < len(texts) and texts[start][:1] not in ("-", "(", "!", ","):
        start += 1
    if start == len(texts):
        return (*words, _word("-print0"))
    return (*words[:start], _word("("), *words[start:], _word(")"), _word("-print0"))


def _with(flag: str, place: int) -> Callable[[tuple[Arg, ...], tuple[Word, ...]], tuple[Word, ...] | None]:
    """Adds a flag behind the word at ``place``."""

    def add(argv: tuple[Arg, ...], words: tuple[Word, ...]) -> tuple[Word, ...] | None:
        return (
            words if any(arg.text == flag for arg in argv) else (*words[: place + 1], _word(flag), *words[place + 1 :])
        )

    return add


_PRINTERS: dict[str, Callable[[tuple[Arg, ...], tuple[Word, ...]], tuple[Word, ...] | None]] = {
    "find": _find,
    "git": _with("-z", 1),
    "rg": _with("-0", 0),
    "grep": _with("-Z", 0),
}
