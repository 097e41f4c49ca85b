"""The syntax tree of the judged subset of bash: what the parser makes, the engine judges, the renderer prints.

Invariants:
    * A tree holds only what the renderer can print and bash reads back as the same tree.
    * Quoting is resolved: a ``Literal`` holds the characters that the program would see.
    * Brace expansion, line continuations, comments, ``|&``, ``&>``, here-documents and ``$'…'`` are gone: the
      parser rewrites each into a plainer form (``a|&b`` is ``a 2>&1 | b``; a here-document is a here-string).
"""

from typing import Literal as Choice
from typing import TypeAlias

from msgspec import Struct

# ── words ────────────────────────────────────────────────────────────────────────────────────────────────


class Literal(Struct, frozen=True, gc=False):
    """Characters that stand for themselves.

    ``quoted`` says how they are written, and is a function of the text (``quoting.literal``); adjacent ones are one.
    """

    text: str
    quoted: bool = False


class Glob(Struct, frozen=True, gc=False):
    """An unquoted pathname pattern: ``*``, ``?`` or a bracket expression as written.

    ``is_one``: not written, but what is known of a variable that holds one name which the pattern found.
    """

    text: str
    is_one: bool = False


class Tilde(Struct, frozen=True, gc=False):
    """A leading unquoted ``~`` (home) or ``~user``; ``user`` is empty for one's own home."""

    user: str = ""


class Parameter(Struct, frozen=True, gc=False):
    """``$name`` or ``${name…}``.

    ``name`` may be an element (``a[0]``) or all of them (``a[@]``); ``operator`` is ``""``, ``length`` or as written
    (``:-``, ``%%``, ``//``, ``:`` …).

    ``argument`` is what follows the operator (for ``:`` the constant ``offset`` or ``offset:length``), ``replacement``
    what follows the second slash of ``/``, ``//``, ``/#`` and ``/%``.
    """

    name: str
    operator: str = ""
    argument: "Word | None" = None
    quoted: bool = False
    replacement: "Word | None" = None


class Substitution(Struct, frozen=True, gc=False):
    """``$(…)`` or backquotes."""

    body: "Sequence"
    quoted: bool = False


class ProcessSubstitution(Struct, frozen=True, gc=False):
    """``<(…)`` or ``>(…)``."""

    direction: Choice["<", ">"]
    body: "Sequence"


class Arithmetic(Struct, frozen=True, gc=False):
    """``$((…))`` over constants only, as canonical text."""

    text: str
    quoted: bool = False


class Plain(Struct, frozen=True, gc=False):
    """Not written, but what is known of a variable: a word of which only the shape is known.

    It starts with a letter or a digit, matches the glob ``shape``, and holds neither a blank nor a slash that the glob
    does not write. ``is_sure``: it is not empty either.
    """

    name: str
    shape: str
    quoted: bool = False
    is_sure: bool = False


Part: TypeAlias = Literal | Glob | Tilde | Parameter | Substitution | ProcessSubstitution | Arithmetic | Plain


class Word(Struct, frozen=True, gc=False):
    """One word; an empty tuple of parts is the empty string ``''``."""

    parts: tuple[Part, ...]


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────


class Assignment(Struct, frozen=True, gc=False):
    """``name=value`` (``operator`` ``=`` or ``+=``), or ``name=(items)``: then ``value`` is empty."""

    name: str
    value: Word
    operator: Choice["=", "+="] = "="
    items: tuple[Word, ...] | None = None


class Redirect(Struct, frozen=True, gc=False):
    """A redirect. ``descriptor`` None is the operator's default.

    ``operator`` is one of ``< > >> >| <> <<< <& >&``; for ``<&`` and ``>&`` the target is digits, or ``-`` to close.
    """

    operator: str
    target: Word
    descriptor: int | None = None


class Simple(Struct, frozen=True, gc=False):
    """Assignments, words and redirects; at least one of them is there."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


class Pipeline(Struct, frozen=True, gc=False):
    """One or more commands joined by ``|``; ``timed`` and ``negated`` are the keywords before them."""

    commands: tuple["Command", ...]
    negated: bool = False
    timed: bool = False


class AndOr(Struct, frozen=True, gc=False):
    """``first && b || c``: left to right, equal precedence."""

    first: Pipeline
    rest: tuple[tuple[Choice["&&", "||"], Pipeline], ...] = ()


class Item(Struct, frozen=True, gc=False):
    """One member of a sequence; ``is_background`` if it ends in ``&``."""

    command: AndOr
    is_background: bool = False


class Sequence(Struct, frozen=True, gc=False):
    """Commands one after another; may be empty only for a whole text."""

    items: tuple[Item, ...]


class Subshell(Struct, frozen=True, gc=False):
    """``( … )``."""

    body: Sequence
    redirects: tuple[Redirect, ...] = ()


class Group(Struct, frozen=True, gc=False):
    """``{ …; }``."""

    body: Sequence
    redirects: tuple[Redirect, ...] = ()


class If(Struct, frozen=True, gc=False):
    """``branches`` are (condition, then) pairs: ``if`` and each ``elif``."""

    branches: tuple[tuple[Sequence, Sequence], ...]
    otherwise: Sequence | None = None
    redirects: tuple[Redirect, ...] = ()


class Loop(Struct, frozen=True, gc=False):
    """``while`` or ``until``."""

    keyword: Choice["while", "until"]
    condition: Sequence
    body: Sequence
    redirects: tuple[Redirect, ...] = ()


class For(Struct, frozen=True, gc=False):
    """``for name in words; do …; done``."""

    name: str
    words: tuple[Word, ...]
    body: Sequence
    redirects: tuple[Redirect, ...] = ()


class CaseClause(Struct, frozen=True, gc=False):
    """``(pattern | pattern) body ;;``; an empty body stands for ``:``."""

    patterns: tuple[Word, ...]
    body: Sequence


class Case(Struct, frozen=True, gc=False):
    """``case subject in … esac``."""

    subject: Word
    clauses: tuple[CaseClause, ...]
    redirects: tuple[Redirect, ...] = ()


class Unary(Struct, frozen=True, gc=False):
    """``[[ -f word ]]`` and its kin; a bare word is ``-n word``."""

    operator: str
    operand: Word


class Binary(Struct, frozen=True, gc=False):
    """``[[ left op right ]]``; never an arithmetic comparison of anything but constants (those execute)."""

    operator: str
    left: Word
    right: Word


class Not(Struct, frozen=True, gc=False):
    """``! expression``."""

    operand: "Condition"


class Both(Struct, frozen=True, gc=False):
    """``left && right``, ``left || right`` inside ``[[ ]]``; rendered in parentheses where precedence needs them."""

    operator: Choice["&&", "||"]
    left: "Condition"
    right: "Condition"


Condition: TypeAlias = Unary | Binary | Not | Both


class Test(Struct, frozen=True, gc=False):
    """``[[ … ]]``."""

    condition: Condition
    redirects: tuple[Redirect, ...] = ()


Compound: TypeAlias = Subshell | Group | If | Loop | For | Case | Test
Command: TypeAlias = Simple | Compound


def sequence_of(command: Command) -> Sequence:
    """The sequence of one command by itself."""
    return Sequence((Item(AndOr(Pipeline((command,)))),))


class Script(Struct, frozen=True, gc=False):
    """A whole judged text.

    ``command_count`` counts every simple command, substitutions included. ``extension`` and ``misread`` name what stood
    in the text that a POSIX shell, or bash itself, would read otherwise if it were given the text as it was written.
    """

    body: Sequence
    command_count: int = 0
    extension: str = ""
    misread: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Script) and self.body == other.body

    def __hash__(self) -> int:
        return hash(self.body)
