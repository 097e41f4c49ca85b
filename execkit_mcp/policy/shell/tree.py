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


class Literal(Struct, frozen=True):
    """Characters that stand for themselves.

    ``quoted`` says how they are written, and is a function of the text (``quoting.literal``); adjacent ones are one.
    """

    text: str
    quoted: bool = False


class Glob(Struct, frozen=True):
    """An unquoted pathname pattern: ``*``, ``?`` or a bracket expression as written."""

    text: str


class Tilde(Struct, frozen=True):
    """A leading unquoted ``~`` (home) or ``~user``; ``user`` is empty for one's own home."""

    user: str = ""


class Parameter(Struct, frozen=True):
    """``$name`` or ``${name…}``: ``operator`` is ``""``, ``length`` or as written (``:-``, ``%%``, ``//``, ``:`` …).

    ``argument`` is what follows the operator (for ``:`` the constant ``offset`` or ``offset:length``), ``replacement``
    what follows the second slash of ``/``, ``//``, ``/#`` and ``/%``.
    """

    name: str
    operator: str = ""
    argument: "Word | None" = None
    quoted: bool = False
    replacement: "Word | None" = None


class Substitution(Struct, frozen=True):
    """``$(…)`` or backquotes."""

    body: "Sequence"
    quoted: bool = False


class ProcessSubstitution(Struct, frozen=True):
    """``<(…)`` or ``>(…)``."""

    direction: Choice["<", ">"]
    body: "Sequence"


class Arithmetic(Struct, frozen=True):
    """``$((…))`` over constants only, as canonical text."""

    text: str
    quoted: bool = False


Part: TypeAlias = Literal | Glob | Tilde | Parameter | Substitution | ProcessSubstitution | Arithmetic


class Word(Struct, frozen=True):
    """One word; an empty tuple of parts is the empty string ``''``."""

    parts: tuple[Part, ...]


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────


class Assignment(Struct, frozen=True):
    """``name=value`` (``operator`` ``=`` or ``+=``)."""

    name: str
    value: Word
    operator: Choice["=", "+="] = "="


class Redirect(Struct, frozen=True):
    """A redirect. ``descriptor`` None is the operator's default.

    ``operator`` is one of ``< > >> >| <> <<< <& >&``; for ``<&`` and ``>&`` the target is digits, or ``-`` to close.
    """

    operator: str
    target: Word
    descriptor: int | None = None


class Simple(Struct, frozen=True):
    """Assignments, words and redirects; at least one of them is there."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


class Pipeline(Struct, frozen=True):
    """One or more commands joined by ``|``; ``timed`` and ``negated`` are the keywords before them."""

    commands: tuple["Command", ...]
    negated: bool = False
    timed: bool = False


class AndOr(Struct, frozen=True):
    """``first && b || c``: left to right, equal precedence."""

    first: Pipeline
    rest: tuple[tuple[Choice["&&", "||"], Pipeline], ...] = ()


class Item(Struct, frozen=True):
    """One member of a sequence; ``is_background`` if it ends in ``&``."""

    command: AndOr
    is_background: bool = False


class Sequence(Struct, frozen=True):
    """Commands one after another; may be empty only for a whole text."""

    items: tuple[Item, ...]


class Subshell(Struct, frozen=True):
    """``( … )``."""

    body: Sequence
    redirects: tuple[Redirect, ...] = ()


class Group(Struct, frozen=True):
    """``{ …; }``."""

    body: Sequence
    redirects: tuple[Redirect, ...] = ()


class If(Struct, frozen=True):
    """``branches`` are (condition, then) pairs: ``if`` and each ``elif``."""

    branches: tuple[tuple[Sequence, Sequence], ...]
    otherwise: Sequence | None = None
    redirects: tuple[Redirect, ...] = ()


class Loop(Struct, frozen=True):
    """``while`` or ``until``."""

    keyword: Choice["while", "until"]
    condition: Sequence
    body: Sequence
    redirects: tuple[Redirect, ...] = ()


class For(Struct, frozen=True):
    """``for name in words; do …; done``."""

    name: str
    words: tuple[Word, ...]
    body: Sequence
    redirects: tuple[Redirect, ...] = ()


class CaseClause(Struct, frozen=True):
    """``(pattern | pattern) body ;;``; an empty body stands for ``:``."""

    patterns: tuple[Word, ...]
    body: Sequence


class Case(Struct, frozen=True):
    """``case subject in … esac``."""

    subject: Word
    clauses: tuple[CaseClause, ...]
    redirects: tuple[Redirect, ...] = ()


class Unary(Struct, frozen=True):
    """``[[ -f word ]]`` and its kin; a bare word is ``-n word``."""

    operator: str
    operand: Word


class Binary(Struct, frozen=True):
    """``[[ left op right ]]``; never an arithmetic comparison of anything but constants (those execute)."""

    operator: str
    left: Word
    right: Word


class Not(Struct, frozen=True):
    """``! expression``."""

    operand: "Condition"


class Both(Struct, frozen=True):
    """``left && right``, ``left || right`` inside ``[[ ]]``; rendered in parentheses where precedence needs them."""

    operator: Choice["&&", "||"]
    left: "Condition"
    right: "Condition"


Condition: TypeAlias = Unary | Binary | Not | Both


class Test(Struct, frozen=True):
    """``[[ … ]]``."""

    condition: Condition
    redirects: tuple[Redirect, ...] = ()


Command: TypeAlias = Simple | Subshell | Group | If | Loop | For | Case | Test


class Script(Struct, frozen=True):
    """A whole judged text. ``command_count`` counts every simple command, substitutions included."""

    body: Sequence
    command_count: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Script) and self.body == other.body

    def __hash__(self) -> int:
        return hash(self.body)
