"""The text that a command writes, where the command itself says it: ``echo WORDS > file``, ``cat > file <<< TEXT``.

Only a lone command of literal words counts; whatever else decides what is written, nothing is claimed.
"""

from execkit_mcp.policy.shell.parser import parse
from execkit_mcp.policy.shell.tree import Literal, Simple, Word
from execkit_mcp.policy.shell.unparsed import Unparsed

__all__ = ["said_text"]

_WRITES = frozenset({">", ">|"})


def said_text(canonical: str, stdin: str | None) -> str | None:
    """What ``canonical`` would write into the one file that it redirects to; None where that is not certain."""
    command = _lone(canonical)
    if command is None:
        return None
    words = [_literal(word) for word in command.words]
    given = [each for each in command.redirects if each.operator == "<<<"]
    others = [each for each in command.redirects if each.operator not in _WRITES and each.operator != "<<<"]
    written = [each for each in command.redirects if each.operator in _WRITES and each.descriptor in (None, 1)]
    if None in words or not words or others or len(written) != 1 or len(given) > 1 or command.assignments:
        return None
    program, arguments = str(words[0]).rpartition("/")[2], [str(word) for word in words[1:]]
    if program == "cat" and not arguments:
        text = _literal(given[0].target) if given else None
        return f"{text}\n" if text is not None else stdin
    if program == "echo" and "\\" not in "".join(arguments) and not any(each.startswith("-") for each in arguments):
        return " ".join(arguments) + "\n"
    if program == "printf" and len(arguments) == 1 and not set(arguments[0]) & set("%\\-"):
        return arguments[0]
    return None


def _lone(canonical: str) -> Simple | None:
    try:
        items = parse(canonical).body.items
    except Unparsed:
        return None
    if len(items) != 1 or items[0].is_background or items[0].command.rest:
        return None
    commands = items[0].command.first.commands
    return commands[0] if len(commands) == 1 and isinstance(commands[0], Simple) else None


def _literal(word: Word) -> str | None:
    if all(isinstance(part, Literal) for part in word.parts):
        return "".join(part.text for part in word.parts if isinstance(part, Literal))
    return None
