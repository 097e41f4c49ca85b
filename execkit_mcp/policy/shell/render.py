"""Canonical text: this module is the renderer of trees, the only text that a shell ever gets.

Invariants:
    * ``parse(render(tree)) == tree``, so what runs is what was judged (promise P1).
    * The text has no here-document, no comment, no line continuation, no brace expansion, no backquote.
    * Every character outside quotes is either plain (``quoting``) or syntax that this module wrote.
    * A reserved word or an assignment is only ever written where the tree has one.

Longer than most, because it has one way to write for each kind of node.
"""

from collections.abc import Callable, Iterable

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.builtins import BUILTINS, KEYWORDS
from execkit_mcp.policy.shell.lexer import NAME
from execkit_mcp.policy.shell.quoting import PLAIN_CHARACTERS, WHOLE_WORDS, is_plain, quote
from execkit_mcp.policy.shell.reader import WORD_OPERATORS
from execkit_mcp.policy.shell.tree import (
    AndOr,
    Arithmetic,
    Assignment,
    Binary,
    Both,
    Case,
    Command,
    Condition,
    For,
    Glob,
    Group,
    If,
    Literal,
    Loop,
    Not,
    Parameter,
    Part,
    Pipeline,
    Plain,
    ProcessSubstitution,
    Redirect,
    Script,
    Sequence,
    Simple,
    Subshell,
    Substitution,
    Tilde,
    Unary,
    Word,
)
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER

Locate = Callable[[str], str | None]

_ASSIGNMENT_LIKE = lazy_regex(rf"{NAME}\+?=")
# A program's name that can be nothing else: neither an assignment nor an option.
_IS_PROGRAM = lazy_regex(r"[A-Za-z0-9_./][A-Za-z0-9_./-]*").fullmatch
_IS_PLAIN_LINE = lazy_regex(f"[{PLAIN_CHARACTERS}]+(?: [{PLAIN_CHARACTERS}]+)*+").fullmatch
_SIMPLE_NAME = lazy_regex(NAME)
# What may follow ``$name``; else it is ``${name}`` (bash's lexer takes the end of ``$$`` and a ``{``
# for the beginning of ``${``).
_ENDS_NAME = lazy_regex(r"[ ./:=@%+,-]")
_PATTERN_PLAIN = lazy_regex(r"[A-Za-z0-9_.]+")
_FOR_DOUBLE_QUOTES = lazy_regex(r'[$`"\\]')


def render(script: Script, *, locate: Locate | None = None) -> str:
    """The canonical text of a script.

    Args:
        script: what the parser made.
        locate: gives the absolute path for a bare program name in command position, or None; it is not
            asked for builtins. The text then parses to the tree with those names replaced.
    """
    return Renderer(locate).sequence(script.body)


def render_plain(words: tuple[str, ...], *, locate: Locate | None = None) -> str:
    """The canonical text of one command of words that need no quotes (``plain_words``), as ``render`` writes it."""
    name = words[0]
    place = None if locate is None or "/" in name or name in BUILTINS else locate(name)
    return " ".join((_program(place or name), *words[1:]))


def render_word(word: Word) -> str:
    """The canonical text of one word."""
    return Renderer(None).word(word)


def _program(name: str) -> str:
    """A name in command position: never to be read as a reserved word, an assignment or an option."""
    if _IS_PROGRAM(name) is not None and name not in KEYWORDS:
        return name
    if name in KEYWORDS or _ASSIGNMENT_LIKE.match(name) or name.startswith("-"):
        return quote(name)
    return name if is_plain(name) or name in WHOLE_WORDS else quote(name)


class Renderer:
    """Writes trees as text."""

    __slots__ = ("locate",)

    def __init__(self, locate: Locate | None) -> None:
        self.locate = locate

    # ── words ────────────────────────────────────────────────────────────────────────────────────────────

    def word(self, word: Word) -> str:
        """A word that stands where plain characters need no quotes."""
        parts = word.parts
        if not parts:
            return "''"
        if len(parts) == 1:
            part = parts[0]
            if type(part) is Literal:
                text = part.text
                return text if is_plain(text) or text in WHOLE_WORDS else quote(text)
        return self.parts(parts)

    def parts(self, parts: tuple[Part, ...]) -> str:  # noqa: C901 - one arm for each kind
        """Several parts; quoted expansions and the text around them share one pair of double quotes."""
        pieces: list[str] = []
        is_open = False
        for index, part in enumerate(parts):
            following = parts[index + 1] if index + 1 < len(parts) else None
            if isinstance(part, Literal):
                text = part.text
                if index and isinstance(parts[index - 1], Tilde):
                    pieces.append(text[0])  # the slash (in assignments also the colon) that ends the tilde prefix
                    text = text[1:]
                    if not text:
                        continue
                elif index == 0 and (name := _ASSIGNMENT_LIKE.match(text)) is not None:
                    pieces.append(name.group())  # export reads its operand as an assignment only if this is unquoted
                    text = text[name.end() :]
                    if not text:
                        continue
                wants_quotes = not is_plain(text)
                is_inner = _is_quoted_expansion(following) and (wants_quotes or is_open)
                if (is_inner or (is_open and wants_quotes)) and HOSTILE_CHARACTER.search(text) is None:
                    if not is_open:
                        pieces.append('"')
                        is_open = True
                    pieces.append(_FOR_DOUBLE_QUOTES.sub(r"\\\g<0>", text))
                    continue
                if is_open:
                    pieces.append('"')
                    is_open = False
                pieces.append(quote(text) if wants_quotes else text)
                continue
            is_quoted = _is_quoted_expansion(part)
            if is_quoted != is_open:
                pieces.append('"')
                is_open = is_quoted
            pieces.append(self.part(part, following))
        if is_open:
            pieces.append('"')
        return "".join(pieces)

    def part(self, part: Part, following: Part | None) -> str:  # noqa: PLR0911 - one return for each kind
        """One part that is not a Literal, without the double quotes around it."""
        match part:
            case Glob():
                return part.text
            case Tilde():
                return "~" + part.user
            case Plain():
                return self.parameter(Parameter(part.name), following)
            case Parameter():
                return self.parameter(part, following)
            case Substitution():
                return self.substitution("$", part.body)
            case ProcessSubstitution():
                return self.substitution(part.direction, part.body)
            case Arithmetic():
                return f"$(({part.text}))"
            case Literal():
                return self.word(Word((part,)))

    def substitution(self, opening: str, body: Sequence) -> str:
        """``$(…)``, ``<(…)`` or ``>(…)``."""
        text = self.sequence(body)
        return f"{opening}( {text})" if text.startswith("(") else f"{opening}({text})"

    def parameter(self, part: Parameter, following: Part | None) -> str:
        """``$name`` where that cannot be misread, else ``${name…}``."""
        name = part.name
        operator = part.operator
        if not operator:
            is_short = len(name) == 1 or _SIMPLE_NAME.fullmatch(name) is not None
            if is_short and following is not None:
                is_short = isinstance(following, Literal) and _ENDS_NAME.match(following.text) is not None
            return "$" + name if is_short else f"${{{name}}}"
        if operator == "length":
            return f"${{#{name}}}"
        argument = part.argument or Word(())
        if operator == ":":
            return f"${{{name}: {''.join(each.text for each in argument.parts if isinstance(each, Literal))}}}"
        if operator in WORD_OPERATORS:
            if part.quoted:
                inside = "".join(
                    each.text if isinstance(each, Literal) else self.part(each, Glob("")) for each in argument.parts
                )
            else:
                inside = self.parts(argument.parts) if argument.parts else ""
            return f"${{{name}{operator}{inside}}}"
        text = f"${{{name}{operator}{self.pattern_argument(argument)}"
        if part.replacement is not None:
            text += "/" + self.pattern_argument(part.replacement)
        return text + "}"

    def pattern_argument(self, word: Word) -> str:
        """A pattern or replacement inside ``${…}``: quoted unless letters, digits, underscores and dots."""
        pieces: list[str] = []
        for part in word.parts:
            if isinstance(part, Literal):
                pieces.append(part.text if _PATTERN_PLAIN.fullmatch(part.text) else quote(part.text))
            elif _is_quoted_expansion(part):
                pieces.append(f'"{self.part(part, Glob(""))}"')
            else:
                pieces.append(self.part(part, Glob("")))
        return "".join(pieces)

    # ── commands ─────────────────────────────────────────────────────────────────────────────────────────

    def sequence(self, sequence: Sequence) -> str:
        """Commands, ``;`` or ``&`` between them; no ``;`` at the end."""
        if len(sequence.items) == 1 and not (item := sequence.items[0]).is_background:
            return self.pipeline(item.command.first) if not item.command.rest else self.and_or(item.command)
        pieces: list[str] = []
        for item in sequence.items:
            pieces.append(self.and_or(item.command))
            pieces.append(" & " if item.is_background else "; ")
        if pieces:
            pieces[-1] = " &" if sequence.items[-1].is_background else ""
        return "".join(pieces)

    def closed(self, sequence: Sequence) -> str:
        """Commands with the ``;`` or ``&`` that a reserved word behind them needs."""
        text = self.sequence(sequence)
        return text if sequence.items[-1].is_background else text + ";"

    def and_or(self, command: AndOr) -> str:
        """Pipelines joined by ``&&`` and ``||``."""
        text = self.pipeline(command.first)
        if not command.rest:
            return text
        return text + "".join(f" {operator} {self.pipeline(pipeline)}" for operator, pipeline in command.rest)

    def pipeline(self, pipeline: Pipeline) -> str:
        """Commands joined by ``|``."""
        commands = pipeline.commands
        if len(commands) == 1:
            only = commands[0]
            text = self.simple(only) if type(only) is Simple else self.command(only)
        else:
            text = " | ".join(map(self.command, commands))
        if pipeline.negated:
            text = "! " + text
        return "time " + text if pipeline.timed else text

    def command(self, command: Command) -> str:
        """Any one command."""
        if isinstance(command, Simple):
            return self.simple(command)
        text = self.compound(command)
        return " ".join((text, *map(self.redirect, command.redirects))) if command.redirects else text

    def simple(self, command: Simple) -> str:
        """Assignments, words, redirects, in this order."""
        pieces: list[str] = []
        if command.assignments:
            pieces += map(self.assignment, command.assignments)
        if command.words:
            pieces.append(self.program(command.words[0]))
            rest = command.words[1:]
            texts = [p[0].text for word in rest if len(p := word.parts) == 1 and type(p[0]) is Literal]
            line = " ".join(texts)
            if len(texts) != len(rest):
                pieces += map(self.word, rest)
            elif _IS_PLAIN_LINE(line) is not None and len(texts) == line.count(" ") + 1:
                pieces.append(line)
            else:
                pieces += [text if is_plain(text) or text in WHOLE_WORDS else quote(text) for text in texts]
        if command.redirects:
            pieces += [self.redirect(redirect) for redirect in command.redirects]
        return " ".join(pieces)

    def assignment(self, node: Assignment) -> str:
        """``name=value`` or ``name=(items)``."""
        if node.items is None:
            return f"{node.name}{node.operator}{self.value(node.value)}"
        return f"{node.name}{node.operator}({' '.join(map(self.word, node.items))})"

    def program(self, word: Word) -> str:
        """The word in command position: never to be read as a reserved word or an assignment."""
        first = word.parts[0] if word.parts else None
        if not isinstance(first, Literal):
            return self.word(word)
        if len(word.parts) == 1:
            name = first.text
            if self.locate is not None and "/" not in name and name not in BUILTINS:
                name = self.locate(name) or name
            return _program(name)
        if _ASSIGNMENT_LIKE.match(first.text) or first.text.startswith("-"):
            return quote(first.text) + self.parts(word.parts[1:])
        return self.parts(word.parts)

    def value(self, word: Word) -> str:
        """The right side of an assignment; nothing at all for the empty string."""
        return self.word(word) if word.parts else ""

    def redirect(self, redirect: Redirect) -> str:
        """``2> file``, ``2>&1``, ``<<< word``."""
        descriptor = "" if redirect.descriptor is None else str(redirect.descriptor)
        space = "" if redirect.operator in (">&", "<&") else " "
        return f"{descriptor}{redirect.operator}{space}{self.word(redirect.target)}"

    def compound(self, command: Command) -> str:  # noqa: PLR0911 - one return for each kind
        """A compound command without its redirects."""
        match command:
            case Subshell():
                text = self.sequence(command.body)
                return f"( {text} )" if text.startswith("(") else f"({text})"
            case Group():
                return f"{{ {self.closed(command.body)} }}"
            case If():
                pieces = [
                    f"if {self.closed(condition)} then {self.closed(then)}" for condition, then in command.branches
                ]
                text = " el".join(pieces)
                if command.otherwise is not None:
                    text += f" else {self.closed(command.otherwise)}"
                return text + " fi"
            case Loop():
                return f"{command.keyword} {self.closed(command.condition)} do {self.closed(command.body)} done"
            case For():
                words = "".join(" " + self.word(word) for word in command.words)
                return f"for {command.name} in{words}; do {self.closed(command.body)} done"
            case Case():
                return self.case(command)
            case Simple():
                return self.simple(command)
            case _:
                return f"[[ {self.condition(command.condition)} ]]"

    def case(self, command: Case) -> str:
        """``case word in (pattern) commands ;; esac``."""
        pieces = [f"case {self.word(command.subject)} in"]
        for clause in command.clauses:
            pieces.append(f"({' | '.join(map(self.pattern, clause.patterns))})")
            if clause.body.items:
                pieces.append(self.sequence(clause.body))
            pieces.append(";;")
        pieces.append("esac")
        return " ".join(pieces)

    def pattern(self, word: Word) -> str:
        """A pattern of a case clause."""
        text = self.word(word)
        return quote(text) if text in KEYWORDS or text in WHOLE_WORDS else text

    # ── conditions ───────────────────────────────────────────────────────────────────────────────────────

    def condition(self, condition: Condition) -> str:
        """What stands between ``[[`` and ``]]``."""
        match condition:
            case Unary():
                return f"{condition.operator} {self.operand(condition.operand)}"
            case Binary():
                right = self.regex(condition.right) if condition.operator == "=~" else self.operand(condition.right)
                return f"{self.operand(condition.left)} {condition.operator} {right}"
            case Not():
                return "! " + self.nested(condition.operand, isinstance(condition.operand, Both))
            case Both():
                first = condition.left
                is_loose = isinstance(first, Both) and first.operator != condition.operator
                left = self.nested(first, is_loose)
                second = self.nested(condition.right, isinstance(condition.right, Both))
                return f"{left} {condition.operator} {second}"

    def nested(self, condition: Condition, needs_parentheses: bool) -> str:  # noqa: FBT001 - private to this class
        """A condition inside another one."""
        text = self.condition(condition)
        return f"( {text} )" if needs_parentheses else text

    def operand(self, word: Word) -> str:
        """An operand that cannot be read as an operator."""
        first = word.parts[0] if word.parts else None
        if isinstance(first, Literal) and (first.text[0] in "-=!" or first.text in WHOLE_WORDS):
            return quote(first.text) + self.parts(word.parts[1:])
        return self.word(word)

    def regex(self, word: Word) -> str:
        """A regular expression: the Glob parts as they are, all literals in quotes."""
        pieces: Iterable[str] = (
            quote(part.text)
            if isinstance(part, Literal)
            else f'"{self.part(part, Glob(""))}"'
            if _is_quoted_expansion(part)
            else self.part(part, Glob(""))
            for part in word.parts
        )
        return "".join(pieces) or "''"


def _is_quoted_expansion(part: Part | None) -> bool:
    return isinstance(part, Parameter | Substitution | Arithmetic) and part.quoted
