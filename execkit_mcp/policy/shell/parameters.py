"""``${…}`` and ``$((…))``: this module is the reader of parameter expansions and of constant arithmetic.

What runs code or changes variables is not in the subset: ``${x:=w}`` and ``${!x}`` assign or dereference,
subscripts and every name inside arithmetic are evaluated recursively by bash (``a[$(cmd)]``).
"""

import re

from execkit_mcp.policy.shell.braces import Mark, RawWord
from execkit_mcp.policy.shell.lexer import NAME
from execkit_mcp.policy.shell.quoting import literal
from execkit_mcp.policy.shell.reader import (
    WORD_OPERATORS,
    WordReader,
    is_argument_text,
)
from execkit_mcp.policy.shell.tree import (
    Literal,
    Parameter,
    Part,
    Substitution,
    Word,
)

_WHOLE = re.compile(rf"\$\{{({NAME}|[0-9]{{1,4}}|[@*#?$!-])\}}")
_LENGTH = re.compile(rf"\$\{{#({NAME}|[0-9]{{1,4}}|[@*])\}}")
_OPERATED = re.compile(
    rf"\$\{{({NAME}|[0-9]{{1,4}}|[@*])"
    r"(:-|:\+|:\?|-|\+|\?|##|#|%%|%|//|/#|/%|/|\^\^|\^|,,|,|:(?![=?+-]))"
)
_SLICE = re.compile(r" *(-?[0-9]{1,9})(?: *: *(-?[0-9]{1,9}))? *\}")
_REFUSED = (
    (re.compile(rf"\$\{{(?:{NAME}|[0-9]+):?="), "assignment inside a parameter expansion"),
    (re.compile(r"\$\{!"), "indirect expansion ${!name}"),
    (re.compile(rf"\$\{{#?{NAME}\["), "array subscript"),
    (re.compile(rf"\$\{{(?:{NAME}|[0-9]+|[@*])@"), "parameter transformation ${name@…}"),
)
_PATTERN_RUN = re.compile(r"[^'\"\\$`*?\[{}~/@+!]+")
_WORD_RUN = re.compile(r"[^'\"\\$`*?\[{}~@+! \t\n]+")
_ARITHMETIC_TOKEN = re.compile(r"[ \t\n]*(0[xX][0-9a-fA-F]+|[0-9]+|\*\*|<<|>>|[<>=!]=|&&|\|\||[-+*/%<>!~&|^?:()])")
_BLANK = re.compile(r"[ \t\n]*")
_MAX_NUMBER = 20


class ParameterReader(WordReader):
    """A reader of words that knows what stands between ``${`` and ``}``."""

    __slots__ = ()

    def parameter(self, *, quoted: bool, in_here_document: bool = False) -> Parameter:  # noqa: C901, PLR0912
        """Read ``${…}``."""
        start = self.position
        source = self.source
        found = _WHOLE.match(source, start)
        if found is not None:
            self.position = found.end()
            return Parameter(found.group(1), quoted=quoted)
        found = _LENGTH.match(source, start)
        if found is not None:
            self.position = found.end()
            return Parameter(found.group(1), "length", quoted=quoted)
        found = _OPERATED.match(source, start)
        if found is None:
            for pattern, construct in _REFUSED:
                if pattern.match(source, start):
                    self.fail(construct)
            self.fail("parameter expansion")
        name, operator = found.groups()
        self.position = found.end()
        self.deeper()
        argument: Word | None = None
        replacement: Word | None = None
        if operator == ":":
            argument = self.slice()
        elif operator in WORD_OPERATORS:
            argument = self.quoted_argument() if quoted else self.unquoted_argument()
        else:
            argument = self.pattern("}/" if operator.startswith("/") else "}", in_here_document=in_here_document)
            if operator.startswith("/"):
                if not argument.parts and operator in ("/", "//"):
                    self.fail("empty pattern in a parameter expansion")
                if self.peek() == "/":
                    self.position += 1
                    replacement = self.pattern("}", in_here_document=in_here_document)
            elif not argument.parts:
                argument = None
        if self.peek() != "}":
            self.fail("parameter expansion", start)
        self.position += 1
        self.shallower()
        return Parameter(name, operator, argument, quoted=quoted, replacement=replacement)

    def slice(self) -> Word:
        """Read ``offset`` or ``offset:length`` of constant numbers, up to the closing brace."""
        found = _SLICE.match(self.source, self.position)
        if found is None:
            self.fail("offset that is not a constant number")
        self.position = found.end() - 1
        offset, length = found.groups()
        return Word((Literal(offset if length is None else f"{offset}:{length}"),))

    def quoted_argument(self) -> Word:
        """Read the word behind ``:-`` and its kin inside double quotes, up to the closing brace."""
        raw: RawWord = []
        start = self.position
        while (character := self.peek()) != "}":
            if character == "$":
                raw.append(self.dollar(quoted=True))
            elif character == "`":
                raw.append(Substitution(self.backquotes(in_double_quotes=True), quoted=True))
            elif character in ("", '"', "'", "\\", "{", "~"):
                self.fail("quotes or braces inside a parameter expansion")
            else:
                raw.append(Literal(character))
                self.position += 1
        word = self.merged(raw)
        if not all(is_argument_text(part.text) for part in word.parts if isinstance(part, Literal)):
            self.fail("quotes or braces inside a parameter expansion", start)
        return word

    def unquoted_argument(self) -> Word:
        """Read the word behind ``:-`` and its kin outside double quotes, up to the closing brace."""
        return self.merged(self.argument_parts(_WORD_RUN, "}", can_be_quoted=True))

    def pattern(self, stops: str, *, in_here_document: bool) -> Word:
        """Read a pattern or replacement, up to one of ``stops``."""
        return self.merged(self.argument_parts(_PATTERN_RUN, stops, can_be_quoted=not in_here_document))

    def argument_parts(self, run: re.Pattern[str], stops: str, *, can_be_quoted: bool) -> RawWord:  # noqa: C901, PLR0912
        """Read parts up to an unquoted character of ``stops``; quotes mean what they mean in a word."""
        raw: RawWord = []
        start = self.position
        while (character := self.peek()) not in stops:
            found = run.match(self.source, self.position)
            if found is not None:
                raw.append(Literal(found.group()))
                self.position = found.end()
            elif character in " \t\n":
                self.fail("blank inside an unquoted parameter expansion")
            elif character in "*?[@+!":
                self.pattern_character(raw, character)
            elif character == "/":
                raw.append(Literal("/"))
                self.position += 1
            elif character == "$":
                raw.append(self.dollar(quoted=False))
            elif character == "`":
                raw.append(Substitution(self.backquotes(in_double_quotes=False)))
            elif not can_be_quoted or character in "{}~":
                self.fail("quotes or braces inside a parameter expansion")
            elif character == "'":
                raw.append(Literal(self.single_quoted(), quoted=True))
            elif character == '"':
                self.position += 1
                self.double_quoted(raw)
            else:
                if self.peek(1) in ("", "\n"):
                    self.fail("line continuation inside a word")
                raw.append(Literal(self.peek(1), quoted=True))
                self.position += 2
        if not self.peek():
            self.fail("unterminated ${", start)
        if Mark.BRACKET in raw:
            self.check_open_bracket(raw, start)
        return raw

    def merged(self, raw: RawWord) -> Word:
        """The Word of parts in a place where nothing but merging is to be done."""
        parts: list[Part] = []
        text: list[str] = []
        for part in raw:
            if isinstance(part, Literal):
                text.append(part.text)
            elif isinstance(part, Mark):
                text.append(part.value)
            else:
                if joined := "".join(text):
                    parts.append(literal(joined))
                text.clear()
                parts.append(part)
        if joined := "".join(text):
            parts.append(literal(joined))
        return Word(tuple(parts))

    def arithmetic(self) -> str:
        """Read ``$((…))`` over constant numbers; return the tokens, one space between them."""
        start = self.position
        self.position += 3
        tokens: list[str] = []
        depth = 0
        while True:
            found = _ARITHMETIC_TOKEN.match(self.source, self.position)
            if found is None:
                blank = _BLANK.match(self.source, self.position)
                assert blank is not None
                following = self.source[blank.end() : blank.end() + 1]
                if following.isalpha() or following in ("_", "$", "`"):
                    self.fail("arithmetic with a variable (its value is evaluated, and can run commands)", start)
                self.fail("arithmetic expansion", start)
            token = found.group(1)
            if token == ")" and depth == 0:  # noqa: S105 - a token of the grammar
                if self.source.startswith("))", found.end() - 1):
                    self.position = found.end() + 1
                    return " ".join(tokens)
                self.fail("arithmetic expansion", start)
            if len(token) > _MAX_NUMBER:
                self.fail("arithmetic with a huge number", start)
            following = self.source[found.end() : found.end() + 1]
            if token[0].isdigit() and (following.isalnum() or following in ("_", "#")):
                self.fail("arithmetic expansion", start)
            depth += {"(": 1, ")": -1}.get(token, 0)
            tokens.append(token)
            self.position = found.end()
