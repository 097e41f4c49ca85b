"""The names that bash 5.2 gives a meaning: this module is the tables of builtins and reserved words."""

from collections.abc import Mapping, Sequence

# bash(1), RESERVED WORDS. Recognised only unquoted and in command position.
KEYWORDS: frozenset[str] = frozenset(
    [
        "!",
        "[[",
        "]]",
        "{",
        "}",
        "case",
        "coproc",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "fi",
        "for",
        "function",
        "if",
        "in",
        "select",
        "then",
        "time",
        "until",
        "while",
    ]
)

# bash(1), SHELL BUILTIN COMMANDS: run by the shell, whatever PATH says.
BUILTINS: frozenset[str] = frozenset(
    [
        ".",
        ":",
        "[",
        "alias",
        "bg",
        "bind",
        "break",
        "builtin",
        "caller",
        "cd",
        "command",
        "compgen",
        "complete",
        "compopt",
        "continue",
        "declare",
        "dirs",
        "disown",
        "echo",
        "enable",
        "eval",
        "exec",
        "exit",
        "export",
        "false",
        "fc",
        "fg",
        "getopts",
        "hash",
        "help",
        "history",
        "jobs",
        "kill",
        "let",
        "local",
        "logout",
        "mapfile",
        "popd",
        "printf",
        "pushd",
        "pwd",
        "read",
        "readarray",
        "readonly",
        "return",
        "set",
        "shift",
        "shopt",
        "source",
        "suspend",
        "test",
        "times",
        "trap",
        "true",
        "type",
        "typeset",
        "ulimit",
        "umask",
        "unalias",
        "unset",
        "wait",
    ]
)

# Those that change the session or run text: POLICY.md gives them to ``shell.state``, never to rules.
STATE_BUILTINS: frozenset[str] = frozenset(
    [
        ".",
        "alias",
        "bg",
        "bind",
        "cd",
        "complete",
        "compopt",
        "declare",
        "dirs",
        "disown",
        "enable",
        "eval",
        "exec",
        "exit",
        "export",
        "fc",
        "fg",
        "getopts",
        "hash",
        "history",
        "let",
        "local",
        "logout",
        "mapfile",
        "popd",
        "pushd",
        "read",
        "readarray",
        "readonly",
        "return",
        "set",
        "shift",
        "shopt",
        "source",
        "suspend",
        "trap",
        "typeset",
        "ulimit",
        "umask",
        "unalias",
        "unset",
    ]
)

# Options of ``set`` that only stop a text early, or show what runs: no word means anything else while they hold.
# ``shell.state`` may list one of them alone. Each with the name that ``set -o`` has for it.
STOPPING_OPTIONS: Mapping[str, str] = {
    "set -e": "errexit",
    "set -u": "nounset",
    "set -x": "xtrace",
    "set -o pipefail": "pipefail",
}
_STOPPING_LETTERS: Mapping[str, str] = {"e": "set -e", "u": "set -u", "x": "set -x"}


def stopping_options(args: Sequence[str]) -> frozenset[str] | None:
    """The ``STOPPING_OPTIONS`` that the words behind ``set`` switch (``-euo pipefail``); None if they do more."""
    by_name = {name: entry for entry, name in STOPPING_OPTIONS.items()}
    found: set[str | None] = set()
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if len(word) < len("-e") or word[0] not in "-+":
            return None
        for letter in word[1:]:
            is_named = letter == "o" and rest
            found.add(by_name.get(rest.pop(0)) if is_named else _STOPPING_LETTERS.get(letter))
    known = frozenset(each for each in found if each is not None)
    return known if known and len(known) == len(found) else None


# Builtins that read their ``name=value`` operands as assignments: no splitting and no globbing there.
DECLARATION_BUILTINS: frozenset[str] = frozenset(["declare", "export", "local", "readonly", "typeset"])
