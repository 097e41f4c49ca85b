"""The syntax tree of the judged subset of bash: what the parser makes, the engine judges, the renderer prints.

Invariants:
    * A tree holds only what the renderer can print and bash reads back as the same tree.
    * Quoting is resolved: a ``Literal`` holds the characters that the program would see.
    * Brace expansion, line continuations, comments, ``|&``, ``&>``, here-documents and ``$'…'`` are gone: the
      parser rewrites each into a plainer form (``a|&b`` is ``a 2>&1 | b``; a here-document is a here-string).
"""

from dataclasses import field
from typing import Literal as Choice
from typing import TypeAlias

from execkit_mcp.model.record import record

# ── words ────────────────────────────────────────────────────────────────────────────────────────────────


@record
class Literal:
    """Characters that stand for themselves.

    ``quoted`` says how they are written, and is a function of the text (``quoting.literal``); adjacent ones are one.
    """

    text: str
    quoted: bool = False


@record
class Glob:
    """An unquoted pathname pattern: ``*``, ``?`` or a bracket expression as written."""

    text: str


@record
class Tilde:
    """A leading unquoted ``~`` (home) or ``~user``; ``user`` is empty for one's own home."""

    user: str = ""


@record
class Parameter:
    """``$name`` or ``${name…}``: ``operator`` is ``""``, ``length`` or as written (``:-``, ``%%``, ``//``, ``:`` …).

    ``argument`` is what follows the operator (for ``:`` the constant ``offset`` or ``offset:length``), ``replacement``
    what follows the second slash of ``/``, ``//``, ``/#`` and ``/%``.
    """

    name: str
    operator: str = ""
    argument: "Word | None" = None
    quoted: bool = False
    replacement: "Word | None" = None


@record
class Substitution:
    """``$(…)`` or backquotes."""

    body: "Sequence"
    quoted: bool = False


@record
class ProcessSubstitution:
    """``<(…)`` or ``>(…)``."""

    direction: Choice["<", ">"]
    body: "Sequence"


@record
class Arithmetic:
    """``$((…))`` over constants only, as canonical text."""

    text: str
    quoted: bool = False


Part: TypeAlias = Literal | Glob | Tilde | Parameter | Substitution | ProcessSubstitution | Arithmetic


@record
class Word:
    """One word; an empty tuple of parts is the empty string ``''``."""

    parts: tuple[Part, ...]


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────


@record
class Assignment:
    """``name=value`` (``operator`` ``=`` or ``+=``)."""

    name: str
    value: Word
    operator: Choice["=", "+="] = "="


@record
class Redirect:
    """A redirect. ``descriptor`` None is the operator's default.

    ``operator`` is one of ``< > >> >| <> <<< <& >&``; for ``<&`` and ``>&`` the target is digits, or ``-`` to close.
    """

    operator: str
    target: Word
    descriptor: int | None = None


@record
class Simple:
    """Assignments, words and redirects; at least one of them is there."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


@record
class Pipeline:
    """One or more commands joined by ``|``; ``timed`` and ``negated`` are the keywords before them."""

    commands: tuple["Command", ...]
    negated: bool = False
    timed: bool = False


@record
class AndOr:
    """``first && b || c``: left to right, equal precedence."""

    first: Pipeline
    rest: tuple[tuple[Choice["&&", "||"], Pipeline], ...] = ()


@record
class Item:
    """One member of a sequence; ``is_background`` if it ends in ``&``."""

    command: AndOr
    is_background: bool = False


@record
class Sequence:
    """Commands one after another; may be empty only for a whole text."""

    items: tuple[Item, ...]


@record
class Subshell:
    """``( … )``."""

    body: Sequence
    redirects: tuple[Redirect, ...] = ()


@record
class Group:
    """``{ …; }``."""

    body: Sequence
    redirects: tuple[Redirect, ...] = ()


@record
class If:
    """``branches`` are (condition, then) pairs: ``if`` and each ``elif``."""

    branches: tuple[tuple[Sequence, Sequence], ...]
    otherwise: Sequence | None = None
    redirects: tuple[Redirect, ...] = ()


@record
class Loop:
    """``while`` or ``until``."""

    keyword: Choice["while", "until"]
    condition: Sequence
    body: Sequence
    redirects: tuple[Redirect, ...] = ()


@record
class For:
    """``for name in words; do …; done``."""

    name: str
    words: tuple[Word, ...]
    body: Sequence
    redirects: tuple[Redirect, ...] = ()


@record
class CaseClause:
    """``(pattern | pattern) body ;;``; an empty body stands for ``:``."""

    patterns: tuple[Word, ...]
    body: Sequence


@record
class Case:
    """``case subject in … esac``."""

    subject: Word
    clauses: tuple[CaseClause, ...]
    redirects: tuple[Redirect, ...] = ()


@record
class Unary:
    """``[[ -f word ]]`` and its kin; a bare word is ``-n word``."""

    operator: str
    operand: Word


@record
class Binary:
    """``[[ left op right ]]``; never an arithmetic comparison of anything but constants (those execute)."""

    operator: str
    left: Word
    right: Word


@record
class Not:
    """``! expression``."""

    operand: "Condition"


@record
class Both:
    """``left && right``, ``left || right`` inside ``[[ ]]``; rendered in parentheses where precedence needs them."""

    operator: Choice["&&", "||"]
    left: "Condition"
    right: "Condition"


Condition: TypeAlias = Unary | Binary | Not | Both


@record
class Test:
    """``[[ … ]]``."""

    condition: Condition
    redirects: tuple[Redirect, ...] = ()


Command: TypeAlias = Simple | Subshell | Group | If | Loop | For | Case | Test


@record
class Script:
    """A whole judged text. ``command_count`` counts every simple command, substitutions included."""

    body: Sequence
    command_count: int = field(default=0, compare=False)
