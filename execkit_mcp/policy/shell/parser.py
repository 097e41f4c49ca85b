"""The grammar of commands: this module is the strict parser of the judged subset of bash.

Everything that is not in the subset raises Unparsed with the construct named; nothing is skipped or
guessed. Plainer forms replace richer ones while parsing (``|&`` ``&>`` here-documents, see ``tree``), so
that the engine judges and the renderer prints few shapes.

Over 400 lines, because the rules of one grammar are read best side by side.
"""

import re
from typing import NoReturn, cast

from msgspec.structs import replace

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.shell.builtins import DECLARATION_BUILTINS
from execkit_mcp.policy.shell.conditions import ConditionReader
from execkit_mcp.policy.shell.flat import PROGRAM, SPECIAL_PROGRAMS, flat_script
from execkit_mcp.policy.shell.functions import Function, is_function_name, written_out
from execkit_mcp.policy.shell.here_documents import HereDocument, body_lines, delimiter, without_last_newline
from execkit_mcp.policy.shell.lexer import NAME, TOKEN_END, Budget
from execkit_mcp.policy.shell.quoting import PLAIN_CHARACTERS, literal
from execkit_mcp.policy.shell.reader import Place
from execkit_mcp.policy.shell.render import render
from execkit_mcp.policy.shell.tree import (
    AndOr,
    Arithmetic,
    Assignment,
    Binary,
    Case,
    CaseClause,
    Command,
    For,
    Glob,
    Group,
    If,
    Item,
    Literal,
    Loop,
    Part,
    Pipeline,
    Redirect,
    Script,
    Sequence,
    Simple,
    Subshell,
    Test,
    Word,
    sequence_of,
)
from execkit_mcp.policy.shell.unparsed import Unparsed, check_characters

MAX_COMMANDS = 200
MAX_DEPTH = 12

_REDIRECT = lazy_regex(r"([0-9]+)?(<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)")
_BLANKS = lazy_regex(r"[ \t\n]*")
_ASSIGNMENT = lazy_regex(rf"({NAME})(\+?=)")
# Words in which nothing is special, and none of which is the number before a redirect.
_PLAIN_WORDS = lazy_regex(rf"(?:[{PLAIN_CHARACTERS}]++(?=[ \t\n|&;)]|\Z)[ \t]*+)+")
_PLAIN_PROGRAM = lazy_regex(rf"{PROGRAM}(?=[ \t\n|&;)]|\Z)")
# A whole command in which nothing is special, up to what ends it.
_PLAIN_COMMAND = lazy_regex(rf"({PROGRAM})((?:[ \t]++[{PLAIN_CHARACTERS}]++)*+)[ \t]*+(?=[\n|;)]|&(?!>)|\Z)")
_BEFORE_REDIRECTS = frozenset("0123456789<>& \t\\#")
_ARRAY_ELEMENT = lazy_regex(rf"{NAME}\[")
_CLOSE_TEST = lazy_regex(rf"\]\]{TOKEN_END}")
_NAME = lazy_regex(rf"{NAME}(?=[ \t\n;])")
_FUNCTION_NAME = lazy_regex(r"[A-Za-z_][A-Za-z0-9_-]*(?=[ \t\n(])")
_CONTINUE = lazy_regex(r"\bcontinue\b")
_DESCRIPTOR = lazy_regex(r"[0-9]|-")
_ERRORS_TO_OUTPUT = Redirect(">&", Word((Literal("1"),)), 2)

_JOINS = frozenset({"&&", "||"})
_ELIF_ELSE_FI = frozenset({"elif", "else", "fi"})
_FI = frozenset({"fi"})
_THEN = frozenset({"then"})
_DO = frozenset({"do"})
_DONE = frozenset({"done"})
_ESAC = frozenset({"esac"})
_CLOSE_BRACE = frozenset({"}"})
_NONE: frozenset[str] = frozenset()
_REFUSED_KEYWORDS = {"select": "select loop", "coproc": "coproc"}


def parse(text: str, *, max_commands: int = MAX_COMMANDS, max_depth: int = MAX_DEPTH) -> Script:
    """Parse a text of the judged subset.

    Args:
        text: at most 64 KiB.
        max_commands: how many simple commands it may hold, substitutions included.
        max_depth: how deep constructs may nest.

    Raises:
        Unparsed: with the construct that is not in the subset, or the limit that is exceeded (``is_limit``).
    """
    check_characters(text)
    if (script := flat_script(text, max_commands)) is not None:
        return script
    budget = Budget(max_commands, max_depth)
    body = Parser(text, budget).script()
    if budget.functions:
        body, budget.commands = written_out(body, max_commands)
        if parse(render(Script(body)), max_commands=max_commands, max_depth=max_depth).body != body:
            raise Unparsed("function that cannot be written out")
    return Script(body, budget.commands, budget.extension, budget.misread)


class Parser(ConditionReader):
    """A reader of commands."""

    __slots__ = ("pending",)

    def __init__(self, source: str, budget: Budget, anchor: tuple[int, int] | None = None) -> None:
        super().__init__(source, budget, anchor)
        self.pending: list[HereDocument] = []

    # ── sequences ────────────────────────────────────────────────────────────────────────────────────────

    def script(self) -> Sequence:
        """Read the whole text."""
        body = self.sequence("", _NONE)
        if self.position < len(self.source):
            self.fail(f"unexpected {self.peek()!r}")
        if self.pending:
            self.fail("unterminated here-document")
        return body

    def newlines(self) -> None:
        """Move over blanks, comments and newlines; read the here-documents that begin behind a newline."""
        self.skip_blanks()
        while self.source.startswith("\n", self.position):
            self.position += 1
            if self.pending:
                self.read_here_documents()
            self.skip_blanks()

    def sequence(self, closers: str, keywords: frozenset[str]) -> Sequence:
        """Read commands up to a closing character or reserved word, which stays unread."""
        items: list[Item] = []
        while True:
            self.newlines()
            character = self.peek()
            if not character or character in closers or (keywords and self.keyword() in keywords):
                break
            command = self.and_or()
            character = self.peek()
            is_background = False
            if not character:
                items.append(Item(command))
                break
            if character == "&":
                is_background = True
                self.position += 1
            elif character == ";":
                if self.peek(1) in (";", "&"):
                    items.append(Item(command))
                    break
                self.position += 1
            elif character != "\n" and character not in closers:
                last = (command.rest[-1][1] if command.rest else command.first).commands[-1]
                is_closed = not isinstance(last, Simple) and not last.redirects
                if not (is_closed and self.keyword() in keywords and keywords):
                    self.fail(f"unexpected {character!r}")
            items.append(Item(command, is_background))
        return Sequence(tuple(items))

    def and_or(self) -> AndOr:
        """Read pipelines joined by ``&&`` and ``||``."""
        first = self.pipeline()
        rest: list[tuple[str, Pipeline]] = []
        while True:
            self.skip_blanks()
            operator = self.source[self.position : self.position + 2]
            if operator not in _JOINS:
                return AndOr(first, tuple(rest)) if rest else AndOr(first)  # type: ignore[arg-type]
            self.position += 2
            self.newlines()
            rest.append((operator, self.pipeline()))

    def pipeline(self) -> Pipeline:  # noqa: C901 - the keywords, then the bars
        """Read commands joined by ``|`` or ``|&``, with ``!`` and ``time`` before them."""
        self.skip_blanks()
        is_timed = is_negated = False
        keyword = self.keyword()
        while keyword in ("!", "time"):
            if keyword == "!":
                if self.peek(1) == "(":
                    self.fail("extended glob")
                if is_negated:
                    self.fail("double negation")
                is_negated = True
            elif is_timed:
                self.fail("double time")
            else:
                self.extends("the keyword time")
                is_timed = True
            self.position += len(keyword)
            self.skip_blanks()
            if self.peek() in ("", "\n", ";", "&", "|", ")"):
                self.fail(f"{keyword} without a command")
            if keyword == "time" and self.peek() == "-":
                self.time_option()
            keyword = self.keyword()
        commands = [self.command(keyword) if keyword or self.peek() == "(" else self.simple()]
        while True:
            self.skip_blanks()
            following = self.source[self.position : self.position + 2]
            if following[:1] != "|" or following == "||":
                break
            self.position += 1
            if self.peek() == "&":
                self.extends("|&")
                self.position += 1
                last = commands[-1]
                commands[-1] = replace(last, redirects=(*last.redirects, _ERRORS_TO_OUTPUT))
            self.newlines()
            keyword = self.keyword()
            if keyword == "!":
                self.fail("negation inside a pipeline")
            commands.append(self.command("" if keyword == "time" else keyword))
        return Pipeline(tuple(commands), is_negated, is_timed)

    def time_option(self) -> None:
        """Move over ``-p``, which only says how the time is printed."""
        if self.source[self.position : self.position + 3] != "-p " or self.source[
            self.position + 3 : self.position + 4
        ] in ("-", "", "\n", ";"):
            self.fail("option of the time keyword")
        self.position += 3
        self.skip_blanks()

    # ── commands ─────────────────────────────────────────────────────────────────────────────────────────

    def command(self, keyword: str) -> Command:
        """Read one command; ``keyword`` is the reserved word that stands here."""
        if not keyword and self.peek() != "(":
            return self.simple()
        start = self.position
        self.deeper()
        command = self.compound(keyword, start)
        redirects = []
        while (redirect := self.redirect()) is not None:
            redirects.extend(redirect)
        self.shallower()
        return replace(command, redirects=tuple(redirects)) if redirects else command

    def compound(self, keyword: str, start: int) -> Command:  # noqa: C901, PLR0911, RET503 - one return for each kind
        """Read a compound command without its redirects."""
        self.position += len(keyword) or 1
        match keyword:
            case "":
                if self.peek() == "(":
                    return self.arithmetic_command(start)
                body = self.body(")", _NONE, start)
                self.position += 1
                return Subshell(body)
            case "{":
                body = self.body("", _CLOSE_BRACE, start)
                self.position += 1
                return Group(body)
            case "if":
                return self.branches(start)
            case "while" | "until":
                condition = self.body("", _DO, start)
                return Loop("while" if keyword == "while" else "until", condition, self.loop_body(start))
            case "for":
                return self.for_loop(start)
            case "case":
                return self.case(start)
            case "function":
                return self.keyword_function(start)
            case "[[":
                self.extends("[[ ]]")
                condition_ = self.condition()
                if not _CLOSE_TEST.match(self.source, self.position):
                    self.fail("unterminated [[", start)
                self.position += 2
                return Test(condition_)
        self.position = start
        self.fail(_REFUSED_KEYWORDS.get(keyword, f"unexpected {keyword!r}"))

    def body(self, closers: str, keywords: frozenset[str], start: int) -> Sequence:
        """Read a sequence that must not be empty, up to its closing character or word."""
        body = self.sequence(closers, keywords)
        if not self.peek():
            self.fail("unterminated compound command", start)
        if not body.items:
            self.fail("compound command without commands", start)
        if self.peek() == ";":
            self.fail("unexpected ';'")
        return body

    def branches(self, start: int) -> If:
        """Read behind ``if``, ``fi`` included."""
        branches: list[tuple[Sequence, Sequence]] = []
        keyword = "elif"
        while keyword == "elif":
            condition = self.body("", _THEN, start)
            self.position += 4
            then = self.body("", _ELIF_ELSE_FI, start)
            branches.append((condition, then))
            keyword = self.keyword()
            self.position += len(keyword)
        otherwise = None
        if keyword == "else":
            otherwise = self.body("", _FI, start)
            self.position += 2
        return If(tuple(branches), otherwise)

    def loop_body(self, start: int) -> Sequence:
        """Read ``do …; done``, the reserved word ``do`` being here."""
        self.position += 2
        body = self.body("", _DONE, start)
        self.position += 4
        return body

    def arithmetic_command(self, start: int) -> Command:
        """Read behind the first parenthesis of ``((…))``: an assignment, or a test that its value is not zero."""
        self.position += 1
        self.extends("(( ))")
        assignment = self.arithmetic_assignment("))", start)
        if assignment is not None:
            self.count_command()
            return Simple((assignment,), (), ())
        return _is_not_zero(self.expression("))", start))

    def counted_loop(self, start: int) -> Group:
        """Read ``((first; while; step)) do …; done`` as ``{ first; while [[ … -ne 0 ]]; do …; step; done; }``."""
        self.position += 2
        self.extends("for (( ))")
        first = self.loop_assignment(";", start)
        condition = self.expression(";", start) or "1"
        step = self.loop_assignment("))", start)
        self.skip_blanks()
        if self.peek() == ";":
            self.position += 1
        self.newlines()
        if self.keyword() != "do":
            self.fail("for loop")
        begin = self.position
        body = self.loop_body(start)
        if step is not None and _CONTINUE.search(self.source, begin, self.position):
            self.fail("continue inside an arithmetic for loop", start)  # it would skip the step
        items = body.items if step is None else (*body.items, *sequence_of(step).items)
        loop = Loop("while", sequence_of(_is_not_zero(condition)), Sequence(items))
        return Group(Sequence((*(() if first is None else sequence_of(first).items), *sequence_of(loop).items)))

    def loop_assignment(self, end: str, start: int) -> Simple | None:
        """Read a part of ``for ((…))`` that is empty or an assignment."""
        assignment = self.arithmetic_assignment(end, start)
        if assignment is not None:
            self.count_command()
            return Simple((assignment,), (), ())
        if self.expression(end, start):
            self.fail("arithmetic for loop", start)
        return None

    def for_loop(self, start: int) -> For | Group:
        """Read behind ``for``, ``done`` included."""
        self.skip_blanks_only()
        if self.looking_at("(("):
            return self.counted_loop(start)
        found = _NAME.match(self.source, self.position)
        if found is None:
            self.fail("name of a for loop")
        self.position = found.end()
        self.newlines()
        if self.keyword() != "in":
            self.fail("for loop over the positional parameters", start)
        self.position += 2
        words: list[Word] = []
        while True:
            self.skip_blanks()
            more = self.words(Place.ARGUMENT)
            if more is None:
                break
            words.extend(more)
        if self.peek() == ";":
            self.position += 1
        elif self.peek() != "\n":
            self.fail("for loop")
        self.newlines()
        if self.keyword() != "do":
            self.fail("for loop")
        return For(found.group(), tuple(words), self.loop_body(start))

    def case(self, start: int) -> Case:  # noqa: C901 - one loop, as the grammar has it
        """Read behind ``case``, ``esac`` included."""
        self.skip_blanks_only()
        subject = self.word(Place.OPERAND, "case without a word")
        self.newlines()
        if self.keyword() != "in":
            self.fail("case without in")
        self.position += 2
        clauses: list[CaseClause] = []
        while True:
            self.newlines()
            if not self.peek():
                self.fail("unterminated compound command", start)
            if self.keyword() == "esac":
                break
            if self.peek() == "(":
                self.position += 1
            patterns: list[Word] = []
            while True:
                self.skip_blanks_only()
                patterns.append(self.word(Place.PATTERN, "pattern of a case clause"))
                self.skip_blanks_only()
                if self.peek() != "|":
                    break
                self.position += 1
            if self.peek() != ")":
                self.fail("pattern of a case clause")
            self.position += 1
            body = self.sequence(";", _ESAC)
            clauses.append(CaseClause(tuple(patterns), body))
            if self.looking_at(";;"):
                self.position += 2
                if self.peek() == "&":
                    self.fail("case clause that falls through")
            elif self.peek() == ";":
                self.fail("case clause that falls through" if self.peek(1) == "&" else "unexpected ';'")
            elif self.keyword() != "esac":
                self.fail("unterminated compound command", start)
        self.position += 4
        return Case(subject, tuple(clauses))

    def simple(self) -> Simple:  # noqa: C901, PLR0912, PLR0915 - one loop, as the grammar has it
        """Read a simple command."""
        start = self.position
        self.count_command()
        whole = _PLAIN_COMMAND.match(self.source, start)
        if whole is not None and whole.group(1) not in SPECIAL_PROGRAMS:
            self.position = whole.end()
            return Simple((), tuple([Word((Literal(word),)) for word in whole.group().split()]), ())
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        is_declaration = False
        source = self.source
        while True:
            here = self.position
            if source[here : here + 1] in _BEFORE_REDIRECTS:
                more_redirects = self.redirect()
                if more_redirects is not None:
                    redirects.extend(more_redirects)
                    continue
                here = self.position
            if not words:
                plain = _PLAIN_PROGRAM.match(source, here)
                if plain is not None:
                    name = plain.group()
                    words.append(Word((Literal(name),)))
                    is_declaration = name in DECLARATION_BUILTINS
                    self.position = plain.end()
                    continue
            elif not is_declaration and (plain := _PLAIN_WORDS.match(source, here)) is not None:
                if static_text(words[0]) in ("command", "builtin"):
                    self.check_hidden_declaration(words, [], here)
                words.extend([Word((Literal(text),)) for text in plain.group().split()])
                self.position = plain.end()
                continue
            if not words:
                if (assignment := _ASSIGNMENT.match(source, here)) is not None:
                    assignments.append(self.assignment(assignment))
                    continue
                if _ARRAY_ELEMENT.match(source, here):
                    self.fail("array assignment or pattern in a command name")
            elif is_declaration and (assignment := _ASSIGNMENT.match(source, here)) is not None:
                self.check_no_array(assignment)
            more = self.words(Place.DECLARED if is_declaration else Place.ARGUMENT)
            if more is None:
                break
            if more and not words:
                self.check_program(more[0], here)
                is_declaration = static_text(more[0]) in DECLARATION_BUILTINS
            elif not is_declaration:
                self.check_hidden_declaration(words, more, here)
            words.extend(more)
        if self.peek() == "(":
            if len(words) == 1 and not assignments and not redirects and is_function_name(static_text(words[0])):
                return self.function(static_text(words[0]) or "", start)
            self.fail_at_parenthesis(len(words), start)
        if (words or redirects) and any(each.items is not None for each in assignments):
            self.fail("array assignment before a command", start)
        if not (assignments or words or redirects):
            self.fail(f"unexpected {self.peek()!r}" if self.peek() else "missing command")
        return Simple(tuple(assignments), tuple(words), tuple(redirects))

    def keyword_function(self, start: int) -> Simple:
        """Read behind ``function``."""
        self.skip_blanks_only()
        found = _FUNCTION_NAME.match(self.source, self.position)
        if found is None or not is_function_name(found.group()):
            self.fail("function definition", start)
        self.position = found.end()
        self.skip_blanks_only()
        return self.function(found.group(), start)

    def function(self, name: str, start: int) -> Simple:
        """Read ``()`` and the body of a function: no tree that is judged holds one (``functions``)."""
        if self.peek() == "(":
            self.position += 1
            self.skip_blanks_only()
            if self.peek() != ")":
                self.fail("function definition", start)
            self.position += 1
        self.newlines()
        keyword = self.keyword()
        if keyword not in ("{", "") or (not keyword and self.peek() != "("):
            self.fail("function definition", start)
        self.budget.functions = True
        self.budget.misread = self.budget.misread or "a function definition"
        if self.budget.substitutions:
            self.fail("function definition inside a substitution", start)
        return cast("Simple", Function(name, self.command(keyword)))

    def fail_at_parenthesis(self, word_count: int, start: int) -> NoReturn:
        """Name what an opening parenthesis behind words would have begun."""
        if word_count and self.source[self.position - 1] in "?*+@!":
            self.fail("extended glob", self.position - 1)
        if word_count == 1:
            self.fail("function definition", start)
        self.fail("unexpected '('")

    def assignment(self, found: re.Match[str]) -> Assignment:
        """Read ``name=value`` or ``name=(items)``."""
        if self.source.startswith("(", found.end()):
            return self.array(found)
        if found.group(2) == "+=":
            self.extends("name+=value")
        self.position = found.end()
        return Assignment(found.group(1), self.value(), "+=" if found.group(2) == "+=" else "=")

    def array(self, found: re.Match[str]) -> Assignment:
        """Read ``name=(items)``; an item that names its own place is not in the subset."""
        start = self.position
        self.extends("name=(…)")
        self.position = found.end() + 1
        items: list[Word] = []
        while True:
            blank = _BLANKS.match(self.source, self.position)
            assert blank is not None
            self.position = blank.end()
            if self.peek() == ")":
                self.position += 1
                break
            if (plain := _PLAIN_WORDS.match(self.source, self.position)) is not None:
                items.extend([Word((Literal(text),)) for text in plain.group().split()])
                self.position = plain.end()
                continue
            if self.peek() in ("[", "#"):
                self.fail("array item with a subscript" if self.peek() == "[" else "comment among array items")
            words = self.words(Place.ARGUMENT)
            if words is None:
                self.fail("array assignment", start)
            items.extend(words)
        return Assignment(found.group(1), Word(()), "+=" if found.group(2) == "+=" else "=", tuple(items))

    def check_no_array(self, found: re.Match[str]) -> None:
        """Refuse ``name=(…)``."""
        if self.source.startswith("(", found.end()):
            self.fail("array assignment")

    def check_program(self, word: Word, at: int) -> None:
        """Refuse first words that bash would read as a pattern or as a job."""
        for part in word.parts:
            if isinstance(part, Glob):
                self.fail("pattern in a command name", at)
        if word.parts and isinstance(word.parts[0], Literal) and word.parts[0].text.startswith("%"):
            self.fail("job as a command name", at)

    def check_hidden_declaration(self, before: list[Word], words: list[Word], at: int) -> None:
        """Refuse ``command export a=$x``: whether bash splits the value depends on its version and mode."""
        if not before or static_text(before[0]) not in ("command", "builtin"):
            return
        if not any(static_text(word) in DECLARATION_BUILTINS for word in before):
            return
        for word in words:
            for part in word.parts:
                is_literal = isinstance(part, Literal)
                if isinstance(part, Glob) or (not is_literal and not getattr(part, "quoted", True)):
                    self.fail("unquoted expansion in an indirect declaration", at)

    # ── redirects ────────────────────────────────────────────────────────────────────────────────────────

    def redirect(self) -> list[Redirect] | None:  # noqa: C901, PLR0911 - one return for each form
        """Read one redirect, as the plain ones it stands for; None if none stands here."""
        self.skip_blanks()
        found = _REDIRECT.match(self.source, self.position)
        if found is None:
            return None
        digits, operator = found.groups()
        if digits is not None and (len(digits) > 1 or operator.startswith("&")):
            if operator.startswith("&"):
                return None  # the number is a word
            self.fail("file descriptor above 9")
        start = self.position
        descriptor = int(digits) if digits is not None else None
        self.position = found.end()
        self.skip_blanks_only()
        if operator in ("<<", "<<-"):
            return [self.here_document(operator, descriptor)]
        if operator in ("<<<", "&>", "&>>"):
            self.extends(f"the redirect {operator}")
        place = Place.OPERAND if operator == "<<<" else Place.TARGET
        target = self.word(place, "redirect without a target")
        if operator in ("&>", "&>>"):
            return [Redirect(operator[1:], target), _ERRORS_TO_OUTPUT]
        if operator in (">&", "<&"):
            text = static_text(target)
            if text is None:
                self.fail("descriptor that is not a number", start)
            if _DESCRIPTOR.fullmatch(text):
                return [Redirect(operator, target, descriptor)]
            if operator == "<&" or descriptor is not None or text[:1] in "0123456789-":
                self.fail("descriptor that is not a number", start)
            self.extends("the redirect >& to a file")
            return [Redirect(">", target), _ERRORS_TO_OUTPUT]
        return [Redirect(operator, target, descriptor)]

    def here_document(self, operator: str, descriptor: int | None) -> Redirect:
        """Read the delimiter; the redirect is completed when the body is read."""
        start = self.position
        if self.budget.substitutions:
            self.budget.misread = "a here-document inside a substitution"
        raw = self.raw_word(Place.OPERAND)
        written = self.source[start : self.position]
        text = delimiter(raw, written)
        if text is None:
            self.fail("here-document delimiter", start)
        redirect = Redirect("<<<", Word(()), descriptor)
        is_quoted = any(character in written for character in "'\"\\")
        self.pending.append(HereDocument(redirect, text, operator == "<<-", is_quoted, start))
        return redirect

    def read_here_documents(self) -> None:
        """Read the bodies that begin here and complete their redirects."""
        for pending in self.pending:
            lines = body_lines(self.source, self.position, pending)
            if lines is None:
                self.fail("unterminated here-document", pending.position)
            body, self.position = lines
            if not body:
                pending.complete("<", Word((Literal("/dev/null"),)))
                continue
            if pending.is_quoted:
                parts: list[Part] = [literal(body)]
            else:
                reader = Parser(body, self.budget, self.place(pending.position))
                parts = list(reader.merged(reader.here_document_text()).parts)
            shortened = without_last_newline(parts)
            if shortened is None:
                self.fail("here-document that does not end in a newline", pending.position)
            pending.complete("<<<", Word(shortened))
        self.pending = []

    def refuse_pending_here_documents(self) -> None:
        """Raise if a here-document body would begin at this newline."""
        if self.pending:
            self.fail("here-document body inside [[ ]]")

    # ── substitutions ────────────────────────────────────────────────────────────────────────────────────

    def substituted(self) -> Sequence:
        """Read the commands of a substitution, up to and including its closing parenthesis."""
        start = self.position
        outer, self.pending = self.pending, []
        self.deeper()
        self.budget.substitutions += 1
        body = self.body(")", _NONE, start)
        self.budget.substitutions -= 1
        self.shallower()
        self.position += 1
        if self.pending:
            self.fail("here-document body outside its substitution", start)
        if outer and "\n" in self.source[start : self.position]:
            self.fail("here-document body inside a substitution", start)
        self.pending = outer
        return body

    def backquoted(self, text: str, at: int) -> Sequence:
        """Read the commands between backquotes, their backslashes already removed."""
        self.deeper()
        self.budget.substitutions += 1
        body = Parser(text, self.budget, self.place(at)).script()
        self.budget.substitutions -= 1
        self.shallower()
        if not body.items:
            self.fail("compound command without commands", at)
        return body


def static_text(word: Word) -> str | None:
    """The characters of a word that is nothing but characters."""
    if not word.parts:
        return ""
    part = word.parts[0]
    return part.text if len(word.parts) == 1 and isinstance(part, Literal) else None


def _is_not_zero(text: str) -> Test:
    """``[[ $((text)) -ne 0 ]]``."""
    return Test(Binary("-ne", Word((Arithmetic(text, quoted=True),)), Word((Literal("0"),))))
