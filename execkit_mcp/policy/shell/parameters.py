"""``${…}`` and ``$((…))``: this module is the reader of parameter expansions and of arithmetic.

What runs code is not in the subset: ``${x:=w}`` and ``${!x}`` assign or dereference, subscripts are evaluated
recursively by bash (``a[$(cmd)]``). So are the values of variables inside arithmetic: they are read as numerals.
"""

import re

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.braces import Mark, RawWord
from execkit_mcp.policy.shell.lexer import NAME
from execkit_mcp.policy.shell.quoting import literal
from execkit_mcp.policy.shell.reader import (
    WORD_OPERATORS,
    WordReader,
    is_argument_text,
)
from execkit_mcp.policy.shell.tree import (
    Arithmetic,
    Assignment,
    Literal,
    Parameter,
    Part,
    Substitution,
    Word,
)

# A subscript is evaluated as arithmetic, which can run commands; of a number nothing can come.
_ELEMENT = rf"{NAME}(?:\[(?:[@*]|-?[0-9]{{1,4}})\])?"
_WHOLE = lazy_regex(rf"\$\{{({_ELEMENT}|[0-9]{{1,4}}|[@*#?$!-])\}}")
_LENGTH = lazy_regex(rf"\$\{{#({_ELEMENT}|[0-9]{{1,4}}|[@*])\}}")
_OPERATED = lazy_regex(
    rf"\$\{{({_ELEMENT}|[0-9]{{1,4}}|[@*])"
    r"(:-|:\+|:\?|-|\+|\?|##|#|%%|%|//|/#|/%|/|\^\^|\^|,,|,|:(?![=?+-]))"
)
_SLICE = lazy_regex(r" *(-?[0-9]{1,9})(?: *: *(-?[0-9]{1,9}))? *\}")
_REFUSED = (
    (lazy_regex(rf"\$\{{(?:{NAME}|[0-9]+):?="), "assignment inside a parameter expansion"),
    (lazy_regex(r"\$\{!"), "indirect expansion ${!name}"),
    (lazy_regex(rf"\$\{{#?{NAME}\["), "array subscript"),
    (lazy_regex(rf"\$\{{(?:{NAME}|[0-9]+|[@*])@"), "parameter transformation ${name@…}"),
)
_PATTERN_RUN = lazy_regex(r"[^'\"\\$`*?\[{}~/@+!]+")
_WORD_RUN = lazy_regex(r"[^'\"\\$`*?\[{}~@+! \t\n]+")
_ARITHMETIC_TOKEN = lazy_regex(
    r"[ \t\n]*(0[xX][0-9a-fA-F]+|(?:[2-9]|[1-5][0-9]|6[0-4])#[0-9a-zA-Z]+|[0-9]+|"
    r"\*\*|<<|>>|[<>=!]=|&&|\|\||[-+*/%<>!~&|^?:()])"
)
NOT_A_NUMERAL = "[^0123456789-]"
_VARIABLE = lazy_regex(
    rf"\(\$\{{({NAME}|[0-9]{{1,4}})//{re.escape(NOT_A_NUMERAL)}/\}}\+0\)|\$\{{({NAME}|[0-9]{{1,4}})\}}|\$({NAME}|[0-9])|({NAME})"
)
_COUNTED = lazy_regex(rf"\$[#?]|\$\{{#(?:{_ELEMENT}|[@*])\}}")
_CHANGES_BEFORE = lazy_regex(r"(?:\+\+|--)[ \t]*[A-Za-z_$]")
_CHANGES_AFTER = lazy_regex(r"[ \t]*(?:\+\+|--|=(?!=)|[-+*/%&|^]=|<<=|>>=)")
_STEP = lazy_regex(rf"[ \t\n]*(?:({NAME})[ \t]*(\+\+|--)|(\+\+|--)[ \t]*({NAME}))[ \t\n]*")
_SET = lazy_regex(rf"[ \t\n]*({NAME})[ \t]*(=(?!=)|[-+*/%&|^]=|<<=|>>=)")
_BLANK = lazy_regex(r"[ \t\n]*")
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
            self.notes_element(found.group(1))
            return Parameter(found.group(1), quoted=quoted)
        found = _LENGTH.match(source, start)
        if found is not None:
            self.position = found.end()
            self.notes_element(found.group(1))
            return Parameter(found.group(1), "length", quoted=quoted)
        found = _OPERATED.match(source, start)
        if found is None:
            for pattern, construct in _REFUSED:
                if pattern.match(source, start):
                    self.fail(construct)
            self.fail("parameter expansion")
        name, operator = found.groups()
        self.position = found.end()
        self.notes_element(name)
        if operator[0] in "/^,:" and operator not in WORD_OPERATORS:
            self.extends("${" + f"name{operator}…" + "}")
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

    def notes_element(self, name: str) -> None:
        """Note that an array is what a POSIX shell does not have."""
        if name.endswith("]"):
            self.extends("${" + name + "}")

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
        """Read ``$((…))``; return its canonical inside (see ``expression``)."""
        start = self.position
        self.position += 3
        return self.expression("))", start)

    def expression(self, end: str, start: int) -> str:
        """Read an arithmetic expression up to ``end`` and move behind it; return its tokens, one space between them.

        A variable is read as ``(${name//[^0123456789-]/}+0)``: bash evaluates a variable's value once more, and what
        it finds there can run commands (``a[$(cmd)]``); of digits and signs nothing but a number can come.
        """
        tokens: list[str] = []
        depth = 0
        while True:
            blank = _BLANK.match(self.source, self.position)
            assert blank is not None
            self.position = blank.end()
            if depth == 0 and self.source.startswith(end, self.position):
                self.position += len(end)
                return " ".join(tokens)
            token = self._operand_of_arithmetic(start) or self._arithmetic_token(start)
            depth += {"(": 1, ")": -1}.get(token, 0)
            if depth < 0:
                self.fail("arithmetic expansion", start)
            tokens.append(token)

    def _arithmetic_token(self, start: int) -> str:
        found = _ARITHMETIC_TOKEN.match(self.source, self.position)
        if found is None:
            if self.source.startswith(("$(", "`"), self.position):
                self.fail("command inside arithmetic (its output is evaluated, and can run commands)", start)
            if self.source.startswith("=", self.position):
                self.fail("assignment inside arithmetic", start)
            self.fail("arithmetic expansion", start)
        token = found.group(1)
        following = self.source[found.end() : found.end() + 1]
        if len(token) > _MAX_NUMBER:
            self.fail("arithmetic with a huge number", start)
        if token[0].isdigit() and (following.isalnum() or following in ("_", "#")):
            self.fail("arithmetic expansion", start)
        self.position = found.end()
        return token

    def _operand_of_arithmetic(self, start: int) -> str:
        """A variable or a count in its canonical form; empty if none stands here."""
        if _CHANGES_BEFORE.match(self.source, self.position):
            self.fail("assignment inside arithmetic", start)
        counted = _COUNTED.match(self.source, self.position)
        found = _VARIABLE.match(self.source, self.position)
        if counted is None and found is None:
            return ""
        self.position = (counted or found).end()  # type: ignore[union-attr]  # one of them is there
        if _CHANGES_AFTER.match(self.source, self.position):
            self.fail("assignment inside arithmetic", start)
        following = self.peek()
        if following == "[":
            self.fail("array subscript", start)
        if following.isalnum() or following in ("_", "#", "$", "{"):
            self.fail("arithmetic expansion", start)
        if counted is not None:
            return counted.group()
        assert found is not None
        return numeral(next(name for name in found.groups() if name is not None))

    def arithmetic_assignment(self, end: str, start: int) -> Assignment | None:
        """Read ``i=…``, ``i+=…``, ``i++`` or ``++i`` up to ``end``; None if no assignment stands here."""
        step = _STEP.match(self.source, self.position)
        if step is not None and self.source.startswith(end, step.end()):
            self.position = step.end() + len(end)
            name = step.group(1) or step.group(4)
            operator = (step.group(2) or step.group(3))[0]
            return Assignment(name, Word((Arithmetic(f"{numeral(name)} {operator} 1", quoted=True),)))
        found = _SET.match(self.source, self.position)
        if found is None:
            return None
        self.position = found.end()
        name, operator = found.groups()
        value = self.expression(end, start)
        if not value:
            self.fail("arithmetic expansion", start)
        text = value if operator == "=" else f"{numeral(name)} {operator[:-1]} ( {value} )"
        return Assignment(name, Word((Arithmetic(text, quoted=True),)))


def numeral(name: str) -> str:
    """How arithmetic reads the variable ``name``: the digits and signs of its value."""
    return f"(${{{name}//{NOT_A_NUMERAL}/}}+0)"
