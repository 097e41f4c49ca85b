"""sed and awk: their flags, and readers of their little languages that find what runs, reads or writes.

Sources: sed 4.9, gawk 5.2, mawk 1.3.4 manuals. sed is read command by command; whatever the reader does not
know is a problem. awk is read token by token: strings and regular expressions are stepped over, and a file
that is named by one plain string is a write; any pipe, other output redirect, ``getline`` or function with an
effect marks the program as unknown.

Over 400 lines, because the two readers are read best side by side.
"""

import re

from execkit_mcp.model import EffectKind, ReasonCode
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.argv import is_several
from execkit_mcp.policy.knowledge.invocation import Arg, Problem, static
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Program, words_of

# ── sed ──────────────────────────────────────────────────────────────────────────────────────────────────

_PLAIN_COMMANDS = frozenset("=dDgGhHnNpPxzF")
_NUMBERED = frozenset("qQlL")
_TEXT_COMMANDS = frozenset("aic")
_LABELLED = frozenset(":btT")
_BLANK = " \t"
_LABEL_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"


class _UnreadScriptError(Exception):
    """The script holds something that this reader does not know."""


class _SedScript:
    """A reader of sed scripts; ``finds`` holds (mark, path) pairs, ``x`` having no path."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.index = 0
        self.finds: list[tuple[str, str]] = []

    def peek(self) -> str:
        return self.text[self.index : self.index + 1]

    def take(self) -> str:
        char = self.peek()
        self.index += 1
        return char

    def skip(self, chars: str) -> None:
        while self.peek() and self.peek() in chars:
            self.index += 1

    def line(self) -> str:
        """The rest of the line."""
        end = self.text.find("\n", self.index)
        end = len(self.text) if end < 0 else end
        found = self.text[self.index : end]
        self.index = end
        return found

    def read(self) -> None:
        """Read all commands."""
        while True:
            self.skip(" \t\n;")
            if not self.peek():
                return
            self.address()
            self.skip(_BLANK)
            while self.peek() == "!":
                self.take()
                self.skip(_BLANK)
            self.command()

    def address(self) -> None:
        """``addr``, ``addr,addr``, with GNU's ``first~step``, ``+n``, ``~n`` and flags ``I M``."""
        if not self.one_address():
            return
        self.skip(_BLANK)
        if self.peek() == ",":
            self.take()
            self.skip(_BLANK)
            if self.peek() in {"+", "~"}:
                self.take()
            if not self.one_address():
                raise _UnreadScriptError

    def one_address(self) -> bool:
        char = self.peek()
        if char.isdigit() and char:
            self.skip("0123456789")
            if self.peek() == "~":
                self.take()
                self.skip("0123456789")
            return True
        if char == "$":
            self.take()
            return True
        if char in {"/", "\\"} and char:
            self.take()
            delimiter = self.take() if char == "\\" else "/"
            self.until(delimiter)
            self.skip("IM")
            return True
        return False

    def until(self, delimiter: str) -> None:
        """Step over text to an unescaped delimiter; seds differ about one in brackets: not read."""
        if not delimiter or delimiter in "\n\\[":
            raise _UnreadScriptError
        is_in_bracket = False
        while True:
            char = self.take()
            if not char:
                raise _UnreadScriptError
            if char == "\\":
                if not self.take():
                    raise _UnreadScriptError
            elif char == delimiter:
                if is_in_bracket:
                    raise _UnreadScriptError
                return
            elif char in "[]":
                is_in_bracket = char == "["

    def command(self) -> None:  # noqa: C901, PLR0912 - one branch for each form in the manual
        """One command with what belongs to it."""
        char = self.take()
        if char in _PLAIN_COMMANDS and char:
            self.end()
        elif char == "{":
            return
        elif char == "}":
            self.end()
        elif char in _NUMBERED and char:
            self.skip(_BLANK)
            self.skip("0123456789")
            self.end()
        elif char in _LABELLED and char:
            self.skip(_BLANK)
            self.skip(_LABEL_CHARS)
            self.end()
        elif char in _TEXT_COMMANDS and char:
            self.text_block()
        elif char == "#":
            self.line()
        elif char == "s":
            self.substitution()
        elif char == "y":
            delimiter = self.take()
            self.until(delimiter)
            self.until(delimiter)
            self.end()
        elif char in {"r", "R"}:
            self.finds.append(("r", self.line().lstrip(_BLANK)))
        elif char in {"w", "W"}:
            self.finds.append(("w", self.line().lstrip(_BLANK)))
        elif char == "e":
            self.finds.append(("x", self.line()))
        else:
            raise _UnreadScriptError

    def text_block(self) -> None:
        """The text of ``a``, ``i``, ``c``: to the end of a line that does not end in a backslash."""
        while True:
            line = self.line()
            if line.endswith("\\\\"):
                raise _UnreadScriptError
            if not line.endswith("\\") or not self.peek():
                return
            self.take()

    def substitution(self) -> None:
        """``s/pattern/replacement/flags``."""
        delimiter = self.take()
        self.until(delimiter)
        self.until(delimiter)
        while True:
            char = self.peek()
            if char and char in "gpiIMm0123456789":
                self.take()
            elif char == "e":
                self.take()
                self.finds.append(("x", ""))
            elif char == "w":
                self.take()
                self.finds.append(("w", self.line().lstrip(_BLANK)))
                return
            else:
                self.end()
                return

    def end(self) -> None:
        """A command ends in ``;``, newline, ``}`` or the end."""
        self.skip(_BLANK)
        char = self.peek()
        if char and char not in ";\n}#":
            raise _UnreadScriptError


def _judge_sed(reading: Reading, script: Arg) -> None:
    """Add what a sed script does."""
    if not script.is_static or is_several(script):
        reading.dynamic(script, "is a script that nobody has judged")
        return
    reader = _SedScript(script.text)
    try:
        reader.read()
    except _UnreadScriptError:
        reading.effect(EffectKind.UNKNOWN, script, "a sed script that this reader does not know")
        return
    for mark, path in reader.finds:
        if mark == "x":
            reading.mark("x", None)
        elif path in {"/dev/stdout", "/dev/stderr"} or (path == "/dev/stdin" and mark == "r"):
            continue
        else:
            reading.mark("f" if mark == "r" else "w", static(path), "in the script")
    if reader.finds and reading.has("--posix"):
        reading.effect(EffectKind.UNKNOWN, script, "a sed script in POSIX mode")


def _after_sed(reading: Reading) -> None:
    scripts = reading.flag_values("-e")
    if len(scripts) > 1 and all(script.is_static for script in scripts):
        _judge_sed(reading, static("\n".join(script.text for script in scripts)))
    else:
        for script in scripts:
            _judge_sed(reading, script)
    if not ({"script", "edit-script"} & reading.modes) and reading.operands:
        _judge_sed(reading, reading.operands[0])
    if reading.has("-f"):
        reading.effect(EffectKind.UNKNOWN, None, "a script in a file")
    paths = reading.operands if "script" in reading.modes else reading.operands[1:]
    marks = "d" if reading.has("-i") else "r"
    for path in paths:
        reading.mark("f" if marks == "d" else "r", path)
        if marks == "d":
            reading.mark("w", path)
    for suffix in reading.flag_values("-i"):
        if "/" in suffix.text or not suffix.is_static:
            reading.effect(EffectKind.UNKNOWN, suffix, "the backup stands in another folder")


# ── awk ──────────────────────────────────────────────────────────────────────────────────────────────────

_AWK_TOKEN = lazy_regex(
    r"""(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<comment>\#[^\n]*)|(?P<name>@?[A-Za-z_]\w*(?:::\w+)?)"""
    r"""|(?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?!\w))"""
    r"""|(?P<two>\|\||&&|\|&|>>|>=|<=|==|!=|!~|\+\+|--|\*\*|[-+*/%^]=)|(?P<blank>[ \t\n\r]+)|(?P<one>.)""",
    re.DOTALL,
)
# A digit may stand before a name: `1system("id")` is a number and what a function gives.
_AWK_BAD_TEXT = lazy_regex(r"(?<![A-Za-z_])(?:system|getline|include|load|extension|PROCINFO|ARGV|SYMTAB|FUNCTAB)\b|@")
_AWK_ANY_OUTPUT = lazy_regex(r"(?<!\|)\|(?!\|)|>(?!=)")
_AWK_NO_OPERAND = words_of("print printf return in case else do exit delete while if for switch")
_AWK_OPERAND_END = frozenset((")", "]", "$", "++", "--"))
# Behind these a slash begins a pattern to some awks and divides to others (`length /x/`).
_AWK_UNSETTLED = frozenset((")", "\n", "++", "--", "$", "length"))
_AWK_BAD_TOKENS = frozenset(("|", "|&", ">>", '"', "\\"))
# All awks agree about the end of a bracket expression that holds no slash, no bracket and no escaped one.
_AWK_BRACKET = lazy_regex(r"\[\^?\]?(?:\[:[a-z]+:\]|\\[^\[\]/\n]|[^\[\]/\\\n])*\]")
_AWK_UNREAD = "holds something that this reader does not know"
_AWK_AMBIGUOUS = "holds a > or | behind a / that may be a division or begin a pattern"
_AWK_UNNAMED = "writes to a file that is not one plain string"
_AWK_FAULTS = {"|": "sends its output to a command", "|&": "talks to a command", '"': "has a string that does not end"}
_AWK_LIMIT = 20_000


class _Awk:
    """One pass over an awk program; a slash that the last token does not settle makes it ambiguous."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.is_printing = False
        self.was_operand = False
        self.last = ""
        self.is_ambiguous = False
        self.is_naming = False
        self.outputs: list[str] = []

    def fault(self) -> str:
        """What the program may do besides printing and writing ``outputs``, in words; empty if nothing."""
        index = 0
        while index < len(self.text):
            if self.text[index] == "/" and not self.was_operand:
                index = _regex_end(self.text, index)
                if index < 0 or self.is_naming:
                    return _AWK_UNNAMED if self.is_naming else _AWK_UNREAD
                self.was_operand, self.last = True, "/"
                continue
            match = _AWK_TOKEN.match(self.text, index)
            if match is None:
                return _AWK_UNREAD
            if not self.accept(match.lastgroup or "", match.group()):
                return _AWK_UNNAMED if self.is_naming else _AWK_FAULTS.get(match.group(), _AWK_UNREAD)
            index = match.end()
        if self.is_naming and self.last == ">":
            return _AWK_UNNAMED
        return _AWK_AMBIGUOUS if self.is_ambiguous and _AWK_ANY_OUTPUT.search(self.text) else ""

    def accept(self, kind: str, text: str) -> bool:  # noqa: C901, PLR0911, PLR0912 - one branch for each kind of token
        """Take one token; False if it may have an effect."""
        if kind == "comment":
            return True
        if kind == "blank":
            if self.is_naming and self.last == ">" and "\n" in text:
                return False
            self.last = "\n" if "\n" in text else self.last
            return True
        if kind in {"name", "one"} and not text.isascii():
            return False
        if self.is_naming:
            if self.last == ">":
                self.last = "name"
                self.outputs.append(text[1:-1])
                return kind == "string" and "\\" not in text and not text.startswith(('"/inet', '"-"', '""'))
            if text not in {";", "}"} and self.last != "\n":
                return False
            self.is_naming = self.is_printing = False
        if text in {">", ">>"} and self.is_printing and self.depth == 0:
            self.is_naming, self.last = True, ">"
            return True
        # A digit by itself begins no number that all awks read alike.
        if text in _AWK_BAD_TOKENS or (kind == "one" and text.isdigit()):
            return False
        if text in {"/", "/="} and self.last in _AWK_UNSETTLED:
            self.is_ambiguous = True
        if kind == "name":
            if text in {"print", "printf"}:
                self.is_printing, self.depth = True, 0
            self.was_operand = text not in _AWK_NO_OPERAND
        else:
            self.depth += (text in {"(", "["}) - (text in {")", "]"})
            if text in {";", "}", "{"}:
                self.is_printing = False
            self.was_operand = kind in {"string", "number"} or text in _AWK_OPERAND_END
        self.last = text
        return True


def read_awk(text: str) -> tuple[str, tuple[str, ...]]:
    """What an awk program may do besides printing, in words (empty: nothing), and the files it prints to."""
    if len(text) > _AWK_LIMIT:
        return "is too long to be read", ()
    if (found := _AWK_BAD_TEXT.search(text)) is not None:
        return f"holds {found.group()}, by which it may run, read or write something else", ()
    reader = _Awk(text)
    return reader.fault(), tuple(reader.outputs)


def _regex_end(text: str, start: int) -> int:
    """Index behind a regular expression literal, or -1."""
    index = start + 1
    while index < len(text):
        char = text[index]
        if char == "\\":
            index += 1
        elif char == "\n":
            return -1
        elif char == "[":
            bracket = _AWK_BRACKET.match(text, index)
            if bracket is None:
                return -1
            index = bracket.end() - 1
        elif char == "/":
            return index + 1
        index += 1
    return -1


def _judge_awk(reading: Reading, program: Arg) -> None:
    if not program.is_static:
        reading.dynamic(program, "is a program that nobody has judged")
        return
    fault, outputs = read_awk(program.text)
    if fault:
        reading.problems.append(Problem(code=ReasonCode.WRAPPER, message=f"{reading.name}: the program {fault}"))
        reading.mark("x", None)
        reading.effect(EffectKind.UNKNOWN, program, "an awk program that runs, reads or writes something else")
        return
    for path in outputs:
        reading.mark("o", static(path), "in the program")


def _after_awk(reading: Reading) -> None:
    programs = reading.flag_values("-e")
    operands = reading.operands
    if programs or reading.has("-f", "-E"):
        files = operands
    else:
        programs, files = operands[:1], operands[1:]
    if len(programs) > 1 and all(program.is_static for program in programs):
        programs = [static("\n".join(program.text for program in programs))]
    for program in programs:
        _judge_awk(reading, program)
    for path in files:
        name, separator, _ = path.prefix.partition("=")
        if not (separator and name.replace("_", "a").isalnum() and not name[:1].isdigit()):
            reading.mark("r", path)
        if path.prefix.startswith("/inet") or not path.prefix:
            reading.mark("U", None)
    for assignment in [*reading.flag_values("-v"), *(path for path in files if "=" in path.prefix)]:
        if assignment.prefix.partition("=")[0] in {"ARGV", "ENVIRON", "PROCINFO"}:
            reading.effect(EffectKind.UNKNOWN, assignment, "changes what awk reads")


PROGRAMS = (
    Program(
        names="sed gsed",
        source="sed 4.9 manual",
        flags="-n,--quiet,--silent --debug -e,--expression=>script -f,--file=:r>script --follow-symlinks "
        "-i,--in-place=?>edit -l,--line-length= --posix -b,--binary -E,-r,--regexp-extended "
        "-s,--separate --sandbox "
        "-u,--unbuffered -z,--null-data",
        operands="- -*",
        modes={"script": "-*"},
        is_abbreviating=True,
        after=_after_sed,
    ),
    Program(
        names="awk gawk mawk nawk original-awk",
        source="gawk 5.2 manual",
        flags="-F,--field-separator= -f,--file=:rx -v,--assign= -b,--characters-as-bytes -c,--traditional "
        "-C,--copyright -d,--dump-variables=?:d -D,--debug=?:x -e,--source= -E,--exec=:rx -g,--gen-pot "
        "-h -i,--include=:rx -I,--trace -k,--csv -l,--load=:x -L,--lint=? -M,--bignum "
        "-n,--non-decimal-data "
        "-N,--use-lc-numeric -o,--pretty-print=?:d -O,--optimize -p,--profile=?:d -P,--posix "
        "-r,--re-interval "
        "-s,--no-optimize -S,--sandbox -t,--lint-old -V -W=:x",
        operands="-*",
        is_permuting=False,
        after=_after_awk,
        alone="--help --version -V -h",
    ),
)
