"""``[[ … ]]``: this module is the reader of conditional expressions.

Arithmetic comparisons evaluate their operands, variables included, and evaluation can run commands; so only
constant integers, arithmetic, the parameters that bash itself counts (``$?``, ``$#``, ``${#name}``) and variables may
stand there, and of a variable only the digits and signs of its value (``${n//[^0123456789-]/}``).
``-v`` and ``-R`` evaluate subscripts and are not in the subset.
"""

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.lexer import NAME
from execkit_mcp.policy.shell.parameters import NOT_A_NUMERAL, ParameterReader
from execkit_mcp.policy.shell.quoting import literal
from execkit_mcp.policy.shell.reader import Place
from execkit_mcp.policy.shell.tree import (
    Arithmetic,
    Binary,
    Both,
    Condition,
    Glob,
    Literal,
    Not,
    Parameter,
    Part,
    Unary,
    Word,
)

UNARY = frozenset(f"-{letter}" for letter in "abcdefghknoprstuwxzGLNOS")
STRING_BINARY = frozenset({"==", "!=", "<", ">", "-nt", "-ot", "-ef"})
ARITHMETIC_BINARY = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
REGEX_RUN = lazy_regex(
    r"(?:[A-Za-z0-9_.,:=@%+*?^/-]|\[\^?\]?(?:\[:[a-z]+:\]|[A-Za-z0-9_.,:=@%+*?/-])+\]|\$(?=[ \t\n|)])"
    r"|\{[0-9]{1,4}(?:,[0-9]{0,4})?\})+"
)
_REGEX_ESCAPE = lazy_regex(r"\\([^A-Za-z0-9\s])")
_UNARY_TOKEN = lazy_regex(r"(-[A-Za-z])(?=[ \t\n])")
_BINARY_TOKEN = lazy_regex(r"(==|=~|=|!=|-[a-z]{2}|<|>)(?=[ \t\n])")
_NOT_TOKEN = lazy_regex(r"!(?=[ \t\n(])")
_INTEGER = lazy_regex(r"-?[0-9]{1,18}")
_BLANKS = frozenset(" \t\n")
_MAX_TERMS = 64


class ConditionReader(ParameterReader):
    """A reader that knows what stands between ``[[`` and ``]]``."""

    __slots__ = ()

    def condition(self) -> Condition:
        """Read a whole condition, up to but not including ``]]``."""
        self.skip_lines()
        terms = [0]
        result = self._either(terms)
        self.skip_lines()
        return result

    def skip_lines(self) -> None:
        """Move over blanks, continuations and newlines."""
        self.skip_blanks_only()
        while self.peek() == "\n":
            self.refuse_pending_here_documents()
            self.position += 1
            self.skip_blanks_only()

    def refuse_pending_here_documents(self) -> None:
        """Raise if a here-document body would begin at this newline."""

    def _either(self, terms: list[int]) -> Condition:
        left = self._all(terms)
        while self.looking_at("||"):
            self.position += 2
            self.skip_lines()
            left = Both("||", left, self._all(terms))
        return left

    def _all(self, terms: list[int]) -> Condition:
        left = self._term(terms)
        while self.looking_at("&&"):
            self.position += 2
            self.skip_lines()
            left = Both("&&", left, self._term(terms))
        return left

    def _term(self, terms: list[int]) -> Condition:
        terms[0] += 1
        if terms[0] > _MAX_TERMS:
            self.fail(f"more than {_MAX_TERMS} terms in [[ ]]", is_limit=True)
        result: Condition
        if _NOT_TOKEN.match(self.source, self.position):
            self.position += 1
            self.skip_lines()
            self.deeper()
            result = Not(self._term(terms))
            self.shallower()
        elif self.peek() == "(":
            self.position += 1
            self.deeper()
            self.skip_lines()
            result = self._either(terms)
            if self.peek() != ")":
                self.fail("unclosed parenthesis in [[ ]]")
            self.position += 1
            self.shallower()
        else:
            result = self._primary()
        self.skip_lines()
        return result

    def _primary(self) -> Condition:
        found = _UNARY_TOKEN.match(self.source, self.position)
        if found is not None:
            operator = found.group(1)
            if operator not in UNARY:
                self.fail(f"operator {operator} in [[ ]]")
            self.position = found.end()
            self.skip_blanks_only()
            return Unary(operator, self._operand())
        start = self.position
        left = self._operand()
        before = self.position
        self.skip_blanks_only()
        operator_found = _BINARY_TOKEN.match(self.source, self.position)
        if operator_found is None:
            if self.peek() not in ("&", "|", ")", "\n", "]"):
                self.fail("operator in [[ ]]")
            return Unary("-n", left)
        if before == self.position:
            self.fail("operator in [[ ]]")
        operator = operator_found.group(1)
        self.position = operator_found.end()
        self.skip_blanks_only()
        return self._binary("==" if operator == "=" else operator, left, start)

    def _binary(self, operator: str, left: Word, start: int) -> Binary:
        if operator in ARITHMETIC_BINARY:
            left, right = _numeral(left), _numeral(self._operand())
            if not (is_number(left) and is_number(right)):
                self.fail(
                    f"arithmetic comparison {operator} of words that may be no numbers (their values are evaluated)",
                    start,
                )
            return Binary(operator, left, right)
        if operator == "=~":
            return Binary(operator, left, self._regex())
        if operator not in STRING_BINARY:
            self.fail(f"operator {operator} in [[ ]]", start)
        if operator in ("==", "!="):
            return Binary(operator, left, self.word(Place.PATTERN, "missing operand in [[ ]]"))
        return Binary(operator, left, self._operand())

    def _operand(self) -> Word:
        if self.looking_at("]]") or self.looking_at("#"):
            self.fail("missing operand in [[ ]]")
        return self.word(Place.OPERAND, "missing operand in [[ ]]")

    def _regex(self) -> Word:
        """Read a regular expression: plain runs (kept as Glob), quoted text and expansions."""
        parts: list[Part] = []
        start = self.position
        groups = 0
        while (character := self.peek()) and character not in _BLANKS:
            if character == ")" and not groups:
                break
            found = REGEX_RUN.match(self.source, self.position)
            if found is not None:
                parts.append(Glob(found.group()))
                self.position = found.end()
            elif (escaped := _REGEX_ESCAPE.match(self.source, self.position)) is not None:
                parts.append(Literal(escaped.group(1), quoted=True))
                self.position = escaped.end()
            elif character in "()" or (character == "|" and not self.looking_at("||")):
                groups += {"(": 1, ")": -1}.get(character, 0)
                parts.append(Glob(character))
                self.position += 1
            elif character in ("'", '"', "$"):
                piece = self._quoted_piece()
                if not piece:
                    self.fail("regular expression", start)
                parts.extend(piece)
            else:
                self.fail("regular expression", start)
        if groups:
            self.fail("regular expression", start)
        if not parts:
            self.fail("missing operand in [[ ]]")
        return _joined(parts)

    def _quoted_piece(self) -> list[Part]:
        if self.peek() == "'":
            return [Literal(self.single_quoted(), quoted=True)]
        if self.peek() == "$":
            return [self.dollar(quoted=False)]
        self.position += 1
        raw: list[object] = []
        self.double_quoted(raw)  # type: ignore[arg-type]  # inside double quotes there are no marks
        return [part for part in raw if not isinstance(part, Literal) or part.text]  # type: ignore[misc]


def _joined(parts: list[Part]) -> Word:
    """Adjacent pieces of one kind as one; quoted characters of a regular expression stay quoted ones."""
    result: list[Part] = []
    for part in parts:
        last = result[-1] if result else None
        if isinstance(part, Literal) and isinstance(last, Literal):
            result[-1] = literal(last.text + part.text)
        elif isinstance(part, Glob) and isinstance(last, Glob):
            result[-1] = Glob(last.text + part.text)
        elif isinstance(part, Literal):
            result.append(literal(part.text))
        else:
            result.append(part)
    return Word(tuple(result))


def is_number(word: Word) -> bool:
    """Whether nothing but a number can come of ``word`` where bash evaluates it."""
    if len(word.parts) != 1:
        return False
    part = word.parts[0]
    if isinstance(part, Literal):
        return _INTEGER.fullmatch(part.text) is not None
    if isinstance(part, Arithmetic):
        return True
    if not isinstance(part, Parameter):
        return False
    if part.operator == "//":
        return part.argument == _NOT_A_NUMERAL and not (part.replacement and part.replacement.parts)
    return part.operator == "length" or (part.operator == "" and part.name in ("?", "#", "$"))


def _numeral(word: Word) -> Word:
    """``$n``, ``"$n"`` or ``n`` as the digits and signs of the variable's value; other words as they are."""
    part = word.parts[0] if len(word.parts) == 1 else None
    if isinstance(part, Literal) and _PLAIN_NAME.fullmatch(part.text) is not None:
        return Word((Parameter(part.text, "//", _NOT_A_NUMERAL, quoted=True, replacement=Word(())),))
    if isinstance(part, Parameter) and not part.operator and (part.name.isalnum() or _PLAIN_NAME.fullmatch(part.name)):
        return Word((Parameter(part.name, "//", _NOT_A_NUMERAL, quoted=True, replacement=Word(())),))
    return word


_NOT_A_NUMERAL = Word((Glob(NOT_A_NUMERAL),))
_PLAIN_NAME = lazy_regex(NAME)
