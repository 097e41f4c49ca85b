"""What is known about the shell at one point of a text: its folders, and the values of its variables.

A scope is a value. Branches start from the same scope and are joined afterwards; a loop's body starts from a
scope in which everything it changes is unknown. A variable of which nothing is known is dynamic. Variables of
earlier calls are never known.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from execkit_mcp.policy.shell import tree

MAX_VALUES = 16
# Names whose value bash gives them itself, whatever was assigned (bash 5.2 manual, "Bash Variables").
_MOVING = frozenset(
    """
    _ RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME HISTCMD OPTIND OPTARG REPLY MAPFILE DIRSTACK
    FUNCNAME GROUPS PIPESTATUS BASHPID BASH_COMMAND BASH_SUBSHELL PWD OLDPWD COMP_WORDBREAKS UID EUID PPID
    """.split()  # noqa: SIM905 - read as words
)


class Scope(Struct, frozen=True, kw_only=True):
    """Folders (None: unknown), variables with every value they may have, and loop variables over globs."""

    cwds: tuple[str, ...] | None
    variables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    patterns: Mapping[str, tree.Word] = field(default_factory=dict)

    def assign(self, name: str, values: tuple[str, ...] | None, pattern: tree.Word | None = None) -> "Scope":
        """The scope after ``name`` took one of ``values``; None: nothing is known of it."""
        variables = {key: value for key, value in self.variables.items() if key != name}
        patterns = {key: value for key, value in self.patterns.items() if key != name}
        if name in _MOVING:
            pass
        elif values is not None and len(values) <= MAX_VALUES:
            variables[name] = values
        elif pattern is not None:
            patterns[name] = pattern
        return replace(self, variables=variables, patterns=patterns)

    def forget(self, names: Iterable[str]) -> "Scope":
        """The scope in which nothing is known of these variables."""
        lost = set(names)
        if not lost & (self.variables.keys() | self.patterns.keys()):
            return self
        return replace(
            self,
            variables={key: value for key, value in self.variables.items() if key not in lost},
            patterns={key: value for key, value in self.patterns.items() if key not in lost},
        )

    def enter(self, cwds: tuple[str, ...] | None) -> "Scope":
        """The scope in other folders."""
        return replace(self, cwds=cwds)

    def join(self, other: "Scope") -> "Scope":
        """The scope after one of two ways was taken."""
        if self is other or self == other:
            return self
        cwds: tuple[str, ...] | None = None
        if self.cwds is not None and other.cwds is not None:
            both = tuple(dict.fromkeys((*self.cwds, *other.cwds)))
            cwds = both if len(both) <= MAX_VALUES else None
        variables = {}
        for name in self.variables.keys() & other.variables.keys():
            values = tuple(dict.fromkeys((*self.variables[name], *other.variables[name])))
            if len(values) <= MAX_VALUES:
                variables[name] = values
        patterns = {name: word for name, word in self.patterns.items() if other.patterns.get(name) == word}
        return Scope(cwds=cwds, variables=variables, patterns=patterns)


def fill(word: tree.Word, scope: Scope) -> tree.Word:
    """The word with loop variables over globs replaced by their pattern, where each value stays one word."""
    if not scope.patterns:
        return word
    parts: list[tree.Part] = []
    for part in word.parts:
        is_plain = isinstance(part, tree.Parameter) and part.quoted and not part.operator
        if is_plain and isinstance(part, tree.Parameter) and part.name in scope.patterns and not parts:
            parts.extend(scope.patterns[part.name].parts)
        else:
            parts.append(part)
    return tree.Word(tuple(parts))


class Touched(Struct, frozen=True, kw_only=True):
    """What a piece of tree may change: variable names, and whether the folder."""

    names: frozenset[str]
    moves: bool
    is_total: bool


_MOVERS = frozenset({"cd", "pushd", "popd", "eval", "source", ".", "builtin", "command"})
_ASSIGNERS = frozenset(
    {"read", "mapfile", "readarray", "export", "unset", "printf", "declare", "typeset", "readonly", "local",
     "eval",
     "source", ".", "getopts", "let", "wait", "builtin", "command"}
)  # fmt: skip


def touched(node: object) -> Touched:
    """What the piece of tree may change, read without judging it."""
    names: set[str] = set()
    moves = False
    is_total = False
    pending: list[object] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, tuple):
            pending.extend(each)
            continue
        if isinstance(each, tree.Assignment | tree.For):
            names.add(each.name)
        if isinstance(each, tree.Parameter) and "=" in each.operator:
            names.add(each.name)
        if isinstance(each, tree.Simple) and each.words:
            head = each.words[0]
            only = head.parts[0] if len(head.parts) == 1 else None
            if not isinstance(only, tree.Literal):
                moves = is_total = True
            else:
                moves = moves or only.text in _MOVERS
                is_total = is_total or only.text in _ASSIGNERS
        slots = getattr(type(each), "__slots__", ())
        if isinstance(slots, tuple) and not isinstance(each, str):
            pending.extend(getattr(each, slot) for slot in slots)
    return Touched(names=frozenset(names), moves=moves, is_total=is_total)
