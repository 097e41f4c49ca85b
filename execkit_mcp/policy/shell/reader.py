"""Words: this module is the reader of quoting, globs, tildes and expansions, up to the end of a word.

Theory of operation. A word is first read into raw parts: literals that remember whether they were quoted,
expansions, and marks for unquoted characters whose meaning depends on the rest of the word (braces, commas,
an opening bracket). Then it is settled for the place where it stands (``Place``): braces are expanded,
literals are merged and get their canonical quoting, patterns are kept or become literal, expansions that
bash would not split become quoted ones. After that the same meaning has one tree only.

Where bash's reading depends on something subtle, the word is refused and the reason named.

Over 400 lines, because how one word is read cannot be told in two places.
"""

import re
from abc import ABC, abstractmethod
from enum import Enum

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.ansi_c import ESCAPE_FAULT, decode_ansi_c
from execkit_mcp.policy.shell.braces import Mark, Raw, RawWord, expand
from execkit_mcp.policy.shell.lexer import METACHARACTERS, NAME, Cursor
from execkit_mcp.policy.shell.quoting import PLAIN_CHARACTERS, literal
from execkit_mcp.policy.shell.tree import (
    Arithmetic,
    Glob,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Sequence,
    Substitution,
    Tilde,
    Word,
)
from execkit_mcp.policy.shell.unparsed import HOSTILE_CHARACTER


class Place(Enum):
    """Where a word stands, which decides what bash does with its unquoted parts."""

    ARGUMENT = "argument"  # braces, tilde, splitting, pathnames
    TARGET = "redirect target"  # as ARGUMENT, but it must be one word
    VALUE = "assigned value"  # tildes also after colons; no splitting, no pathnames
    OPERAND = "operand"  # here-string, case subject, operand in [[ ]]: tilde; no splitting, no pathnames
    PATTERN = "pattern"  # case pattern, right side of ==: tilde; patterns are matched, not expanded
    DECLARED = "declared value"  # operand of export and its kin that looks like an assignment


MAX_EXPANDED_WORDS = 4096
MAX_PATTERNS = 64  # each is compared with each refused path
_MAX_BEFORE_TILDE = 1024  # each tilde looks back to the beginning of its word

_EMPTY = Word(())
_WORD_END = r"(?=[ \t\n|&;()]|[<>](?!\()|\Z)"
_PLAIN_WORD = lazy_regex(f"[{PLAIN_CHARACTERS}]+{_WORD_END}")
_QUOTES = frozenset("'\"")
_QUOTED_WORD = lazy_regex(rf"""(?:'([^']*)'|"([^"\\$`]*)"){_WORD_END}""")
_RUN = lazy_regex(r"[^ \t\n|&;()<>'\"\\$`*?\[{},~+@!]+")
_DOUBLE_QUOTED_RUN = lazy_regex(r'[^"\\$`]+')
_HERE_DOCUMENT_RUN = lazy_regex(r"[^\\$`]+")
_ANSI_C = lazy_regex(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKQUOTED = lazy_regex(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_PARAMETER = lazy_regex(rf"\$({NAME}|[0-9@*#?$!-])")
_TILDE = lazy_regex(r"~([A-Za-z_][A-Za-z0-9_.-]*)?(?=[/ \t\n|&;()<>]|\Z)")
_TILDE_IN_VALUE = lazy_regex(r"~([A-Za-z_][A-Za-z0-9_.-]*)?(?=[/: \t\n|&;()<>]|\Z)")
_BEFORE_TILDE = lazy_regex(rf"(?:{NAME}\+?=)(?:[~{PLAIN_CHARACTERS}]*:)?")
_BEFORE_TILDE_IN_VALUE = lazy_regex(rf"[~{PLAIN_CHARACTERS}]*:")
# Brace expansion is textual and comes first: ``$a{b,c}`` is ``$ab $ac``, ``{$a,b}c`` is ``$ac bc``.
_NAME_BESIDE_BRACE = lazy_regex(rf"\$(?:{NAME})?[,}}]|\${NAME}\{{")
_ASSIGNMENT_LIKE = lazy_regex(rf"{NAME}(?:\+?=|\[)")
_DECLARES = lazy_regex(rf"{NAME}\+?=")
_BRACKET_ITEM = r"(?:\[:[a-z]+:\]|[A-Za-z0-9_.,:=@%+*?#~!^-])"
BRACKET = lazy_regex(rf"\[[!^]?+(?:\]{_BRACKET_ITEM}*+|{_BRACKET_ITEM}++)\]")
_CONTINUATION_AT_WORD_END = lazy_regex(r"(?:\\\n)+(?=[ \t\n|&;()]|\Z)")


class WordReader(Cursor, ABC):
    """A cursor that reads words."""

    __slots__ = ()

    @abstractmethod
    def substituted(self) -> Sequence:
        """Read the commands of a substitution, up to and including its closing parenthesis."""

    @abstractmethod
    def backquoted(self, text: str, at: int) -> Sequence:
        """Read the commands between backquotes, their backslashes already removed."""

    @abstractmethod
    def parameter(self, *, quoted: bool, in_here_document: bool) -> Parameter:
        """Read ``${…}``."""

    @abstractmethod
    def arithmetic(self) -> str:
        """Read ``$((…))``; return its canonical inside."""

    # ── whole words ──────────────────────────────────────────────────────────────────────────────────────

    def plain_word(self) -> Word | None:
        """The word that stands here if nothing in it is special, or if it is one string in quotes and no more."""
        if self.source[self.position : self.position + 1] not in _QUOTES:
            found = _PLAIN_WORD.match(self.source, self.position)
            if found is None:
                return None
            self.position = found.end()
            return Word((Literal(found.group()),))
        found = _QUOTED_WORD.match(self.source, self.position)
        if found is not None:
            self.position = found.end()
            text = found.group(1) or found.group(2)
            return Word((literal(text),)) if text else _EMPTY
        return None

    def words(self, place: Place) -> list[Word] | None:  # noqa: C901 - one way out a finding
        """The words that stand here, several if braces expand; None if none starts here."""
        word = self.plain_word()
        if word is not None:
            return [word]
        start = self.position
        raw = self.raw_word(place)
        if raw is None:
            return None
        if place is Place.DECLARED and _DECLARES.match(leading_text(raw)) is None:
            place = Place.ARGUMENT
        if Mark.OPEN not in raw or place not in (Place.ARGUMENT, Place.DECLARED):
            return [self.settle(raw, place, start)]

        def refuse(construct: str, *, is_limit: bool = False) -> None:
            self.fail(construct, start, is_limit=is_limit)

        expanded = expand(raw, refuse)  # type: ignore[arg-type]  # fail() never returns
        if expanded != [raw]:
            self.extends("a brace expansion")
        if len(expanded) == 1:
            return [self.settle(expanded[0], place, start)]
        if place is Place.DECLARED:
            self.fail("brace expansion in an assignment", start)
        if _NAME_BESIDE_BRACE.search(self.source, start, self.position):
            self.fail("variable name beside a brace expansion", start)
        if any(isinstance(part, Tilde) for part in raw[1:]):
            self.fail("tilde inside a brace expansion", start)
        self.budget.expanded_words += len(expanded)
        if self.budget.expanded_words > MAX_EXPANDED_WORDS:
            self.fail(f"brace expansion to more than {MAX_EXPANDED_WORDS} words", start, is_limit=True)
        return [self.settle(each, place, start) for each in expanded if each]

    def word(self, place: Place, missing: str) -> Word:
        """The one word that must stand here; ``missing`` says what is wrong if it does not."""
        start = self.position
        words = self.words(place)
        if words is None:
            self.fail(missing)
        if len(words) != 1:
            self.fail("brace expansion to several words", start)
        return words[0]

    def value(self) -> Word:
        """The value behind the ``=`` of an assignment; empty if nothing follows."""
        words = self.words(Place.VALUE)
        return words[0] if words else _EMPTY

    # ── raw parts ────────────────────────────────────────────────────────────────────────────────────────

    def raw_word(self, place: Place) -> RawWord | None:  # noqa: C901, PLR0912, PLR0915 - one arm for each special character
        """Read the parts of a word up to its end; None if no word starts here."""
        source = self.source
        start = self.position
        parts: RawWord = []
        while self.position < len(source):
            found = _RUN.match(source, self.position)
            if found is not None:
                text = found.group()
                if text[0] == "#" and self.position == start:
                    self.fail("comment where a word is expected")
                parts.append(Literal(text))
                self.position = found.end()
                continue
            character = source[self.position]
            if character in METACHARACTERS:
                if character in "<>" and self.peek(1) == "(":
                    self.extends("a process substitution")
                    parts.append(self.process_substitution())
                    continue
                if character == "(" and self.position > start:
                    self.fail("parenthesis inside a word")
                break
            if character == "'":
                parts.append(Literal(self.single_quoted(), quoted=True))
            elif character == '"':
                self.position += 1
                before = len(parts)
                self.double_quoted(parts)
                if len(parts) == before:
                    parts.append(Literal("", quoted=True))
            elif character == "\\":
                if self.peek(1) == "\n":
                    found = _CONTINUATION_AT_WORD_END.match(source, self.position)
                    if found is None:
                        self.fail("line continuation inside a word")
                    break
                if not self.peek(1):
                    self.fail("backslash at the end of the text")
                parts.append(Literal(self.peek(1), quoted=True))
                self.position += 2
            elif character == "$":
                parts.append(self.dollar(quoted=False))
            elif character == "`":
                parts.append(Substitution(self.backquotes(in_double_quotes=False)))
            elif character == "~":
                parts.append(self.tilde(start, place))
            elif character == "{":
                parts.append(Mark.OPEN)
                self.position += 1
            elif character == "}":
                parts.append(Mark.CLOSE)
                self.position += 1
            elif character == ",":
                parts.append(Mark.COMMA)
                self.position += 1
            else:
                self.pattern_character(parts, character)
        if self.position == start:
            return None
        if self.peek() in ("<", ">"):
            self.check_before_redirect(start)
        return parts

    def check_before_redirect(self, start: int) -> None:
        """Refuse ``{name}>``: bash would open a descriptor of its own choice and assign its number."""
        if re.fullmatch(rf"\{{{NAME}\}}", self.source[start : self.position]):
            self.fail("descriptor variable {name}>", start)

    def pattern_character(self, parts: RawWord, character: str) -> None:
        """Read one of ``* ? [ + @ !``."""
        if character != "[" and self.peek(1) == "(":
            self.fail("extended glob")
        if character in "*?":
            parts.append(Glob(character))
            self.position += 1
        elif character == "[":
            found = BRACKET.match(self.source, self.position)
            if found is None:
                parts.append(Mark.BRACKET)
                self.position += 1
            else:
                if found.group()[1] == "^":
                    self.extends("[^…]")
                parts.append(Glob(found.group()))
                self.position = found.end()
        else:
            parts.append(Literal(character))
            self.position += 1

    def single_quoted(self) -> str:
        """Read ``'…'``."""
        end = self.source.find("'", self.position + 1)
        if end < 0:
            self.fail("unterminated single quote")
        text = self.source[self.position + 1 : end]
        self.position = end + 1
        return text

    def double_quoted(self, parts: RawWord) -> None:
        """Read up to and including the closing ``"``."""
        start = self.position - 1
        if not self.quoted_text(parts, _DOUBLE_QUOTED_RUN, '"', '$`"\\'):
            self.fail("unterminated double quote", start)

    def here_document_text(self) -> list[Raw]:
        """Read the whole text as the body of an unquoted here-document."""
        parts: RawWord = []
        self.quoted_text(parts, _HERE_DOCUMENT_RUN, "", "$`\\")
        return parts

    def quoted_text(self, parts: RawWord, run: re.Pattern[str], end: str, escapable: str) -> bool:
        """Read text in which only ``$``, backquote and backslash are special; whether ``end`` was found."""
        source = self.source
        while self.position < len(source):
            found = run.match(source, self.position)
            if found is not None:
                parts.append(Literal(found.group(), quoted=True))
                self.position = found.end()
                continue
            character = source[self.position]
            if character == end:
                self.position += 1
                return True
            if character == "$":
                parts.append(self.dollar(quoted=True, in_here_document=not end))
            elif character == "`":
                parts.append(Substitution(self.backquotes(in_double_quotes=bool(end)), quoted=True))
            else:
                following = self.peek(1)
                if following == "\n":
                    self.position += 2
                elif following and following in escapable:
                    parts.append(Literal(following, quoted=True))
                    self.position += 2
                else:
                    parts.append(Literal("\\", quoted=True))
                    self.position += 1
        return False

    def tilde(self, start: int, place: Place) -> Part:  # noqa: C901, RET503 - fail() never returns
        """Read an unquoted ``~``: a home folder where bash expands it, else the character."""
        is_behind = self.position > start
        if is_behind and self.source[self.position - 1] not in ":=":
            self.position += 1
            return Literal("~")
        if self.position - start > _MAX_BEFORE_TILDE:
            self.fail("tilde inside a word")
        before = self.source[start : self.position]
        pattern = _TILDE_IN_VALUE if place is Place.VALUE else _TILDE
        if before:
            if "{" in before:
                self.fail("tilde inside a brace expansion")
            if place in (Place.OPERAND, Place.PATTERN, Place.TARGET):
                self.fail("tilde inside a word")  # a here-string expands it behind a colon
            if place is not Place.VALUE and not _ASSIGNMENT_LIKE.match(before):
                self.position += 1
                return Literal("~")
            if place is not Place.VALUE:
                self.extends("a tilde behind =")
            expected = _BEFORE_TILDE_IN_VALUE if place is Place.VALUE else _BEFORE_TILDE
            if expected.fullmatch(before) is None:
                self.fail("tilde inside a word")
            pattern = _TILDE_IN_VALUE
        found = pattern.match(self.source, self.position)
        if found is not None:
            self.position = found.end()
            return Tilde(found.group(1) or "")
        if self.peek(1) in ("'", '"', "\\") and self.peek(2) != "\n":
            self.position += 1
            return Literal("~", quoted=True)
        self.fail("tilde prefix")

    # ── expansions ───────────────────────────────────────────────────────────────────────────────────────

    def dollar(self, *, quoted: bool, in_here_document: bool = False) -> Part:
        """Read what a ``$`` begins."""
        found = _PARAMETER.match(self.source, self.position)
        if found is not None:
            self.position = found.end()
            if found.group() == "$$" and self.peek() in ("{", "("):
                self.fail("process id before a brace")  # bash's lexer sees ${ or $( here, its expander not
            return Parameter(found.group(1), quoted=quoted)
        following = self.peek(1)
        if following == "(":
            if self.peek(2) == "(":
                return Arithmetic(self.arithmetic(), quoted=quoted)
            self.position += 2
            return Substitution(self.substituted(), quoted=quoted)
        if following == "{":
            return self.parameter(quoted=quoted, in_here_document=in_here_document)
        if following == "[":
            self.fail("old arithmetic expansion $[ ]")
        if following == "\\" and self.peek(2) == "\n":
            self.fail("line continuation behind a dollar")
        if following == "'" and not quoted:
            return self.ansi_c()
        if following == '"' and not quoted:
            self.fail('translated string $""')
        self.position += 1
        return Literal("$", quoted=quoted)

    def ansi_c(self) -> Literal:
        """Read ``$'…'``."""
        self.extends("a $' quote")
        found = _ANSI_C.match(self.source, self.position)
        if found is None:
            self.fail("unterminated $' quote")
        text = decode_ansi_c(found.group(1))
        if text is None:
            self.fail(ESCAPE_FAULT)
        self.position = found.end()
        return Literal(text, quoted=True)

    def backquotes(self, *, in_double_quotes: bool) -> Sequence:
        """Read a command substitution in backquotes."""
        start = self.position
        found = _BACKQUOTED.match(self.source, start)
        if found is None:
            self.fail("unterminated backquote")
        inside = found.group(1)
        if "\\\n" in inside:
            self.fail("line continuation inside backquotes")
        escapable = r'\\([$`\\"])' if in_double_quotes else r"\\([$`\\])"
        self.position = found.end()
        return self.backquoted(re.sub(escapable, r"\1", inside), start)

    def process_substitution(self) -> ProcessSubstitution:
        """Read ``<(…)`` or ``>(…)``."""
        character = self.source[self.position]
        self.position += 2
        return ProcessSubstitution("<" if character == "<" else ">", self.substituted())

    # ── settling ─────────────────────────────────────────────────────────────────────────────────────────

    def settle(self, raw: RawWord, place: Place, start: int) -> Word:  # noqa: C901, PLR0912 - one arm for each kind
        """The canonical Word of raw parts for the place where they stand."""
        if Mark.BRACKET in raw:
            self.check_open_bracket(raw, start)
        is_literal_place = place in (Place.VALUE, Place.OPERAND, Place.DECLARED)
        if place is Place.DECLARED and any(not isinstance(part, Mark) and could_vanish(part) for part in raw):
            self.extends("a value that is not quoted")
        parts: list[Part] = []
        text: list[str] = []
        has_empty_quotes = False
        for part in raw:
            if isinstance(part, Mark):
                text.append(part.value)
            elif isinstance(part, Literal):
                text.append(part.text)
                has_empty_quotes = has_empty_quotes or not part.text
            elif is_literal_place and isinstance(part, Glob):
                text.append(part.text)
            else:
                if text and (joined := "".join(text)):
                    parts.append(literal(joined))
                text.clear()
                parts.append(self.as_quoted(part, start) if is_literal_place else part)
        if text and (joined := "".join(text)):
            parts.append(literal(joined))
        if len(parts) > MAX_PATTERNS and sum(isinstance(part, Glob) for part in parts) > MAX_PATTERNS:
            self.fail(f"more than {MAX_PATTERNS} wildcards in a word", start, is_limit=True)
        if place in (Place.ARGUMENT, Place.TARGET):
            if parts and isinstance(parts[0], Glob):
                parts.insert(0, Literal("./"))
                self.budget.misread = "a pattern with nothing before it (write ./*)"
            if has_empty_quotes and parts and all(could_vanish(part) for part in parts):
                self.fail("empty quotes beside an unquoted expansion", start)
            if _LONE_DOLLAR in raw and any(could_vanish(part) for part in parts):
                # bash would then not split the word
                self.fail("lone dollar beside an unquoted expansion", start)
        return Word(tuple(parts))

    def check_open_bracket(self, raw: RawWord, start: int) -> None:
        """Refuse a bracket expression that is not of the plain kind; an unclosed bracket is a character."""
        for part in raw[raw.index(Mark.BRACKET) + 1 :]:
            if isinstance(part, Literal):
                if part.quoted or "]" not in part.text:
                    continue
            elif (
                isinstance(part, Mark)
                or (isinstance(part, Glob) and len(part.text) == 1)
                or (isinstance(part, Substitution | Parameter | Arithmetic) and part.quoted)
            ):
                continue
            self.fail("bracket expression", start)

    def as_quoted(self, part: Part, start: int) -> Part:
        """The part as bash reads it where nothing is split: as if it stood in double quotes."""
        if isinstance(part, Substitution):
            return Substitution(part.body, quoted=True)
        if isinstance(part, Arithmetic):
            return Arithmetic(part.text, quoted=True)
        if not isinstance(part, Parameter) or part.quoted:
            return part
        argument = part.argument
        if argument is not None and part.operator in WORD_OPERATORS:
            argument = self.as_quoted_argument(argument, start)
        return Parameter(part.name, part.operator, argument, quoted=True, replacement=part.replacement)

    def as_quoted_argument(self, argument: Word, start: int) -> Word:
        """The word behind ``:-`` and its kin as it is written inside double quotes."""
        parts: list[Part] = []
        text: list[str] = []
        for part in argument.parts:
            if isinstance(part, Literal | Glob):
                text.append(part.text)
                continue
            if isinstance(part, Tilde | ProcessSubstitution):
                self.fail("expansion inside a parameter expansion", start)
            if text:
                parts.append(literal("".join(text)))
                text.clear()
            parts.append(self.as_quoted(part, start))
        if text:
            parts.append(literal("".join(text)))
        if not all(is_argument_text(part.text) for part in parts if isinstance(part, Literal)):
            self.fail("quotes or braces inside a parameter expansion", start)
        return Word(tuple(parts))


_LONE_DOLLAR = Literal("$")
WORD_OPERATORS = frozenset({":-", "-", ":+", "+", ":?", "?"})
ARGUMENT_TEXT = lazy_regex(r"[^\"'\\$`{}~]+")


def is_argument_text(text: str) -> bool:
    """Whether literal text can stand behind ``:-`` inside double quotes as it is."""
    return ARGUMENT_TEXT.fullmatch(text) is not None and HOSTILE_CHARACTER.search(text) is None


def leading_text(raw: RawWord) -> str:
    """The literal characters that a word begins with."""
    pieces: list[str] = []
    for part in raw:
        if isinstance(part, Literal):
            pieces.append(part.text)
        elif isinstance(part, Mark):
            pieces.append(part.value)
        else:
            break
    return "".join(pieces)


def could_vanish(part: Part) -> bool:
    """Whether a part may leave no word at all: an unquoted expansion, or ``"$@"``."""
    if isinstance(part, Parameter):
        return not part.quoted or part.name == "@"
    return isinstance(part, Substitution | Arithmetic) and not part.quoted
