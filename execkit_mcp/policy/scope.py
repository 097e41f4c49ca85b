"""What is known about the shell at one point of a text: its folders, and the values of its variables.

A scope is a value. Branches start from the same scope and are joined afterwards; a loop's body starts from a
scope in which everything it changes is unknown. A variable of which nothing is known is dynamic. Variables of
earlier calls are never known.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct, field
from msgspec.structs import replace

from execkit_mcp.policy.knowledge.assigning import assigned_names
from execkit_mcp.policy.shell import tree
from execkit_mcp.policy.shell.printed import printed_word, printed_words
from execkit_mcp.policy.shell.quoting import literal
from execkit_mcp.policy.shell.words import to_arg

MAX_VALUES = 16
# Names whose value bash gives them itself, whatever was assigned (bash 5.2 manual, "Bash Variables").
_MOVING = frozenset(
    """
    _ RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME HISTCMD OPTIND OPTARG REPLY MAPFILE DIRSTACK
    FUNCNAME GROUPS PIPESTATUS BASHPID BASH_COMMAND BASH_SUBSHELL PWD OLDPWD COMP_WORDBREAKS UID EUID PPID
    """.split()  # noqa: SIM905 - read as words
)


class Scope(Struct, frozen=True, kw_only=True, gc=False):
    """Folders (None: unknown), variables with every value they may have, loop variables over globs, arrays in full."""

    cwds: tuple[str, ...] | None
    variables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    patterns: Mapping[str, tree.Word] = field(default_factory=dict)
    arrays: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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
        return replace(self, variables=variables, patterns=patterns, arrays=_less(self.arrays, {name}))

    def fill_array(self, name: str, items: tuple[str, ...] | None) -> "Scope":
        """The scope after ``name=(items)``; None: nothing is known of them."""
        after = self.assign(name, None)
        is_known = items is not None and len(items) <= MAX_VALUES and name not in _MOVING
        return replace(after, arrays={**after.arrays, name: items}) if is_known and items is not None else after

    def forget(self, names: Iterable[str]) -> "Scope":
        """The scope in which nothing is known of these variables."""
        lost = set(names)
        if not lost & (self.variables.keys() | self.patterns.keys() | self.arrays.keys()):
            return self
        return replace(
            self,
            variables={key: value for key, value in self.variables.items() if key not in lost},
            patterns={key: value for key, value in self.patterns.items() if key not in lost},
            arrays=_less(self.arrays, lost),
        )

    def known(self) -> Mapping[str, tuple[str, ...]]:
        """Every variable whose values are known: PWD, which nothing may set, is one of the folders."""
        return self.variables if self.cwds is None else {**self.variables, "PWD": self.cwds}

    def loop(self, changes: "Touched") -> "Scope":
        """The scope in which nothing is known of what a loop changes, but that a counter stays a number."""
        counters = [
            name
            for name in changes.numerals
            if self.patterns.get(name) is NUMERAL
            or (name in self.variables and all(value.isdecimal() for value in self.variables[name]))
        ]
        start = self.forget(changes.names)
        for name in counters:
            start = start.assign(name, None, NUMERAL)
        return start

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
        arrays = {name: items for name, items in self.arrays.items() if other.arrays.get(name) == items}
        return Scope(cwds=cwds, variables=variables, patterns=patterns, arrays=arrays)


def _less(arrays: Mapping[str, tuple[str, ...]], lost: AbstractSet[str]) -> Mapping[str, tuple[str, ...]]:
    return {key: value for key, value in arrays.items() if key not in lost} if arrays else arrays


def unfolded(words: tuple[tree.Word, ...], scope: Scope) -> tuple[tree.Word, ...]:
    """The words with each ``"${a[@]}"`` whose items are known in place of it."""
    if not scope.arrays:
        return words
    out: list[tree.Word] = []
    for word in words:
        part = word.parts[0] if len(word.parts) == 1 else None
        is_all = isinstance(part, tree.Parameter) and part.quoted and not part.operator and part.name.endswith("[@]")
        name = part.name.removesuffix("[@]") if isinstance(part, tree.Parameter) and is_all else ""
        if name in scope.arrays:
            out.extend(tree.Word((literal(item),) if item else ()) for item in scope.arrays[name])
        else:
            out.append(word)
    return tuple(out)


NUMERAL = tree.Word((tree.Arithmetic("0"),))
"""Stands in ``Scope.patterns`` for a variable that holds the result of arithmetic."""


def shape_of(word: tree.Word, *, is_list: bool = False) -> tree.Word | None:
    """What is known of the value of a word whose text is not known; ``is_list``: each of the words that it becomes."""
    if is_numeral(word):
        return NUMERAL
    part = word.parts[0] if len(word.parts) == 1 else None
    if not isinstance(part, tree.Substitution):
        return None
    if is_list and part.quoted:
        return None
    shape = printed_words(part.body) if is_list else printed_word(part.body)
    return tree.Word((tree.Plain("", shape, is_sure=is_list),)) if shape else None


def is_numeral(word: tree.Word) -> bool:
    """Whether the word is the result of arithmetic, or a number."""
    part = word.parts[0] if len(word.parts) == 1 else None
    return isinstance(part, tree.Arithmetic) or (isinstance(part, tree.Literal) and part.text.isdecimal())


def fill(word: tree.Word, scope: Scope) -> tree.Word:
    """The word with loop variables over globs replaced by their pattern, where each value stays one word."""
    if not scope.patterns:
        return word
    parts: list[tree.Part] = []
    for part in word.parts:
        if isinstance(part, tree.Parameter) and not part.operator and scope.patterns.get(part.name) is NUMERAL:
            parts.append(tree.Arithmetic(part.name, quoted=part.quoted))
            continue
        if (
            isinstance(part, tree.Parameter)
            and not part.operator
            and (plain := _plain_in(part.name, scope)) is not None
        ):
            parts.append(replace(plain, name=part.name, quoted=part.quoted))
            continue
        found = None
        if isinstance(part, tree.Parameter) and part.quoted and part.name in scope.patterns and not parts:
            found = scope.patterns[part.name].parts if not part.operator else _without_ending(part, scope)
        if found is not None:
            parts.extend(map(_held, found))
        else:
            parts.append(part)
    return tree.Word(tuple(parts))


def _without_ending(part: tree.Parameter, scope: Scope) -> tuple[tree.Part, ...] | None:
    """``${f%.ts}`` where each value of ``f`` is a name that ``*.ts`` finds, or ``*.ts`` itself."""
    pattern = scope.patterns[part.name].parts
    ending = part.argument.parts if part.argument is not None else ()
    if part.operator not in ("%", "%%") or len(pattern) <= 1 or len(ending) != 1:
        return None
    last, cut = pattern[-1], ending[0]
    if not isinstance(last, tree.Literal) or not isinstance(cut, tree.Literal) or not last.text.endswith(cut.text):
        return None
    if not cut.text or "/" in cut.text:
        return None
    rest = last.text.removesuffix(cut.text)
    return (*pattern[:-1], replace(last, text=rest)) if rest else pattern[:-1]


def _plain_in(name: str, scope: Scope) -> tree.Plain | None:
    """The shape of a variable that holds a plain word."""
    pattern = scope.patterns.get(name)
    head = pattern.parts[0] if pattern is not None and len(pattern.parts) == 1 else None
    return head if isinstance(head, tree.Plain) else None


def _held(part: tree.Part) -> tree.Part:
    """A part of a pattern as part of one name that it found."""
    return tree.Glob(part.text, is_one=True) if isinstance(part, tree.Glob) else part


def settled(word: tree.Word, scope: Scope) -> tree.Word | None:
    """The word with the values that its variables have now, whatever they are later; None if one is not known."""
    parts: list[tree.Part] = []
    for part in word.parts:
        if not isinstance(part, tree.Parameter):
            parts.append(part)
            continue
        values = scope.variables.get(part.name, ())
        if part.operator or len(values) != 1:
            return None
        parts.append(literal(values[0]))
    return tree.Word(tuple(parts))


class Touched(Struct, frozen=True, kw_only=True):
    """What a piece of tree may change: variables, and whether the folder."""

    names: frozenset[str]
    numerals: frozenset[str]  # those of the names that take nothing but numbers
    moves: bool
    is_total: bool


_MOVERS = frozenset({"cd", "pushd", "popd", "eval", "source", ".", "builtin", "command"})
_NAMING = frozenset({"read", "mapfile", "readarray", "unset", "getopts"})
_ASSIGNERS = frozenset(
    {"export", "printf", "declare", "typeset", "readonly", "local", "eval", "source", ".", "let", "wait", "builtin",
     "command", *_NAMING}
)  # fmt: skip
_DEFAULTS = ("REPLY", "MAPFILE", "OPTARG", "OPTIND")


def _assigned_by(node: tree.Simple, builtin: str) -> Iterable[str] | None:
    """Every variable that one of ``_ASSIGNERS`` may assign, and perhaps more; None: any."""
    args = [arg for word in node.words[1:] for arg in to_arg(word)]
    if builtin in ("printf", "wait"):
        head = args[:2] if args and args[0].text == "--" else args[:1]
        return assigned_names(builtin, args) if all(arg.is_static for arg in head) else None
    if builtin == "command":
        return () if args and args[0].is_static and args[0].text in ("-v", "-V") else None
    if builtin == "export":
        is_plain = all("=" in arg.prefix or (arg.is_static and arg.text[:1] != "-") for arg in args)
        return [arg.prefix.partition("=")[0].removesuffix("+") for arg in args] if is_plain else None
    if builtin not in _NAMING or not all(arg.is_static for arg in args):
        return None
    # The name behind a flag may be attached to it (`read -aname`).
    return [
        *_DEFAULTS,
        *(arg.text[start:] for arg in args for start in range(len(arg.text) if arg.text[0:1] == "-" else 1)),
    ]


def touched(node: object) -> Touched:  # noqa: C901 - one arm a kind
    """What the piece of tree may change, read without judging it; what a subshell changes ends with it."""
    names: set[str] = set()
    others: set[str] = set()
    moves = False
    is_total = False
    pending: list[object] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, tuple):
            pending.extend(each)
            continue
        if isinstance(each, tree.Subshell):
            pending.extend(each.redirects)
            continue
        if isinstance(each, tree.Assignment | tree.For):
            names.add(each.name)
            if not isinstance(each, tree.Assignment) or each.operator != "=" or not is_numeral(each.value):
                others.add(each.name)
        if isinstance(each, tree.Parameter) and "=" in each.operator:
            names.add(each.name)
            others.add(each.name)
        if isinstance(each, tree.Simple) and each.words:
            head = each.words[0]
            only = head.parts[0] if len(head.parts) == 1 else None
            if not isinstance(only, tree.Literal):
                moves = is_total = True
            elif only.text in _ASSIGNERS and (assigned := _assigned_by(each, only.text)) is not None:
                names.update(assigned)
                others.update(assigned)
            else:
                moves = moves or only.text in _MOVERS
                is_total = is_total or only.text in _ASSIGNERS
        slots = getattr(type(each), "__slots__", ())
        if isinstance(slots, tuple) and not isinstance(each, str):
            pending.extend(getattr(each, slot) for slot in slots)
    return Touched(names=frozenset(names), numerals=frozenset(names - others), moves=moves, is_total=is_total)
