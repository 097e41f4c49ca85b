"""What a program is to the policy: its flags, operands and subcommands as data, in a compact notation.

Flags are written as a string of tokens, one token a flag (or a cluster of single letters)::

    -n,--lines=      takes a value: `-n 5`, `-n5`, `--lines 5`, `--lines=5`
    --color=?        takes a value only when it is attached: `--color=always`
    -o,--output=:w   its value is a path that is written (marks, below)
    -r,--recursive+  paths count with everything below them
    -i,--in-place=?>edit   operands have the roles that `modes["edit"]` gives
    -abc             three flags without value

Operands are roles in order: ``"- r*"`` is one inert word, then paths that are read; ``"r* w"`` reads all but
the last,
which is written. ``""`` takes none. After a ``;`` stand marks that hold whatever the operands are.

Marks, of a value, an operand or the program itself (several may stand together):

====  =====================================================  ====  ==========================================
mark  effect                                                 mark  effect
====  =====================================================  ====  ==========================================
-     none                                                   n     connects to this host
r     reads this path (`-` is standard input)                u     connects to this URL's host
f     reads this path, `-` included                          N     connects to a server configured elsewhere
R     reads everything below this path                       U     connects to somewhere unknown
w     writes this path                                       x     runs something that cannot be told
o     writes this path (`-` is standard output)              c     runs this word as shell text
d     writes everything below this path                      s     changes the state of the session or machine
@     reads the file after a leading `@`                     p     signals or changes processes or services
A     the command to run starts here                         ?     unknown
C     connects to the configured server that this word picks
F     reads this path, or connects to this URL's host
====  =====================================================  ====  ==========================================

Where there is no word for a path mark (a flag without value, a program mark), the path is the current folder
and
everything below.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct, field

from execkit_mcp.model.regex import lazy_regex

if TYPE_CHECKING:
    from execkit_mcp.policy.knowledge.reading import Reading

MARKS = frozenset("-rfRwodnuNUCFxcsp?@A")
_TOKEN = lazy_regex(r"(?P<names>-[^\s=:>+]*)(?P<value>=\??)?(?P<deep>\+)?(?::(?P<marks>[^\s>]+))?(?:>(?P<mode>\S+))?")


class Flag(Struct, frozen=True):
    """One flag: spellings, whether it takes a value (``""``, ``"="`` or ``"=?"``), marks, mode, recursion."""

    names: tuple[str, ...]
    value: str = ""
    marks: str = ""
    mode: str = ""
    is_deep: bool = False

    @property
    def is_inert(self) -> bool:
        """Whether its value has no effect, whatever it is."""
        return not self.marks or self.marks == "-"


class Roles(Struct, frozen=True):
    """Marks of the operands: first, middle (None: no more), last; and the program's own."""

    first: tuple[str, ...] = ()
    middle: str | None = None
    last: tuple[str, ...] = ()
    always: str = ""


class Grammar(Struct, frozen=True, kw_only=True):
    """What a program or subcommand takes and does.

    Attributes:
        flags: in the notation above.
        operands: in the notation above.
        empty: marks that hold when there is no operand.
        modes: roles in place of ``operands`` once a flag has switched to them; the first mode listed wins.
        unseen: marks that cover any further words, options included, that nobody has seen (xargs); ``""``:
        nothing
            does, such words are a problem.
        is_leading: whether its options end at its first operand even where the program permutes (``docker
            exec``).
        after: reads what the tables cannot say, once flags and operands are known.
    """

    flags: str = ""
    operands: str = ""
    empty: str = ""
    modes: Mapping[str, str] = field(default_factory=dict)
    unseen: str = ""
    is_leading: bool = False
    after: "Callable[[Reading], None] | None" = None


class Program(Grammar, frozen=True, kw_only=True):
    """A program, or several that take the same words.

    Attributes:
        names: separated by spaces.
        source: where the knowledge comes from.
        subcommands: words (``"rollout status"``, alternatives joined by ``|``) to a grammar, or to its
        operands.
        is_permuting: whether options may follow operands (GNU) or the first operand ends them (POSIX).
        is_abbreviating: whether a unique prefix of a long flag is that flag; only where the table has every
        long flag.
        is_numeric: whether ``-5`` is a flag.
        is_long_only: whether ``-name`` is one flag rather than a cluster (find, Go, X).
        drops_equals: whether ``-o=value`` is ``-o value`` (Go's pflag, clap, argparse); getopt keeps the ``=``.
        is_wrapper: whether it exists to run another command.
        is_remote: whether the command it runs does so on another machine or in another root.
        has_local_flags: whether the program's own flags may stand only before the subcommand.
        is_open: whether an unknown subcommand is an operand of the program itself.
        alone: words that, as the only argument, merely print something about the program.
        before: rewrites the arguments (old-style clusters) ahead of reading them.
        read: reads the arguments in place of the generic reader.
    """

    names: str
    source: str
    subcommands: Mapping[str, Grammar | str] = field(default_factory=dict)
    is_permuting: bool = True
    is_abbreviating: bool = False
    is_numeric: bool = False
    is_long_only: bool = False
    drops_equals: bool = False
    is_wrapper: bool = False
    is_remote: bool = False
    has_local_flags: bool = False
    is_open: bool = False
    alone: str = "--help --version"
    before: "Callable[[Reading], None] | None" = None
    read: "Callable[[Reading], None] | None" = None


def words_of(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


@lru_cache(maxsize=4096)
def flags_of(text: str, *, is_long_only: bool = False) -> Mapping[str, Flag]:
    """Every spelling in a flag notation, to its flag."""
    table: dict[str, Flag] = {}
    for token in text.split():
        match = _TOKEN.fullmatch(token)
        if match is None:
            message = f"flag notation: {token!r}"
            raise ValueError(message)
        marks = match["marks"] or ""
        if not MARKS.issuperset(marks):
            message = f"marks: {token!r}"
            raise ValueError(message)
        names = match["names"].split(",")
        groups = [tuple(names)]
        only = names[0]
        if len(names) == 1 and len(only) > len("-x") and not only.startswith("--") and not is_long_only:
            groups = [(f"-{letter}",) for letter in only[1:]]
        for group in groups:
            flag = Flag(group, match["value"] or "", marks, match["mode"] or "", match["deep"] is not None)
            for name in group:
                table[name] = flag
    return table


@lru_cache(maxsize=1024)
def roles_of(text: str) -> Roles:
    """The operand notation, read."""
    operands, _, always = text.partition(";")
    first: list[str] = []
    last: list[str] = []
    middle: str | None = None
    for role in operands.split():
        if not MARKS.issuperset(role.rstrip("*")) or role == "*":
            message = f"operand notation: {text!r}"
            raise ValueError(message)
        if role.endswith("*"):
            middle = role[:-1]
        elif middle is None:
            first.append(role)
        else:
            last.append(role)
    if not MARKS.issuperset(always.strip()):
        message = f"operand notation: {text!r}"
        raise ValueError(message)
    return Roles(tuple(first), middle, tuple(last), always.strip())


class Node(Struct):
    """A subcommand, its children, and its flags once they are first asked for."""

    grammar: Grammar | None = None
    children: "dict[str, Node]" = field(default_factory=dict)
    table: Mapping[str, Flag] | None = None


def node_of(program: Program) -> Node:
    """The program's subcommands as a tree; the root is the program itself."""
    root = Node(program)
    for words, entry in program.subcommands.items():
        grammar = Grammar(operands=entry) if isinstance(entry, str) else entry
        for spelling in _spellings(words):
            node = root
            for word in spelling:
                node = node.children.setdefault(word, Node())
            node.grammar = grammar
    return root


def _spellings(words: str) -> list[tuple[str, ...]]:
    """``"a|b c"`` as ``[("a", "c"), ("b", "c")]``."""
    found: list[tuple[str, ...]] = [()]
    for word in words.split():
        found = [(*head, choice) for head in found for choice in word.split("|")]
    return found
