r"""What makes a line of a log matter: this module is the tables of blocks, error signs and warning signs.

A block is a run of lines that only makes sense whole, such as a stack trace or a compiler's message. Each row
has an example, all of whose lines are the block, and a counter-example that begins none. Patterns are matched
on bytes by RE2, because the agent can make a program print what it likes: the time is linear in the text.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import re2
from msgspec import Struct

from execkit_mcp.output.characters import border_after

MAX_BLOCK_LINES: Final = 400
_MAX_LEADS: Final = 8
_NEAR_BYTES: Final = 400


class BlockRule(Struct, frozen=True, kw_only=True):
    """How a block is told from its surroundings.

    Attributes:
        name: what it is.
        opens: its first line, or the line that its leading lines belong to.
        goes_on: its further lines; the first line that does not match ends it.
        stops: lines that end it although they match ``goes_on``.
        takes: how many lines after the opening belong to it whatever they are.
        is_closed_by_next: whether the line that ends it belongs to it.
        leads: lines directly before the opening that belong to it.
        example: a block, whole.
        counter: a line that opens none.
    """

    name: str
    opens: str
    goes_on: str
    stops: str = ""
    takes: int = 0
    is_closed_by_next: bool = False
    leads: str = ""
    example: str
    counter: str


BLOCKS: Final = (
    BlockRule(
        name="Python traceback",
        opens=r".*Traceback \(most recent call last\):[ \t]*$",
        goes_on=r"\s+\S",
        is_closed_by_next=True,
        leads=r"$|During handling of the above|The above exception was the direct",
        example='Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no\n',
        counter="Traceback is a word",
    ),
    BlockRule(
        name="stack of Java or JavaScript",
        opens=r"(?:Exception in thread |Uncaught |Caused by: )?[\w.$/]*(?:Exception|Error)(?: \[\w+\])?(?::|$)",
        goes_on=r"\s+at |\s*\.\.\. \d+ |Caused by: |\s+Suppressed: |\s+\[cause\]",
        example="java.lang.IllegalStateException: x\n\tat a.B.c(B.java:7)\nCaused by: a.D: y\n\t... 3 more\n",
        counter="at the Error",
    ),
    BlockRule(
        name="Go panic",
        opens=r"panic: |fatal error: |goroutine \d+ \[",
        goes_on=r"\t|$|goroutine \d|\[signal |created by |exit status |[\w./*()\[\]{}-]+\(.*\)$",
        example="panic: boom\n\ngoroutine 1 [running]:\nmain.f(...)\n\t/a/main.go:7 +0x1d\nexit status 2\n",
        counter="panics happen",
    ),
    BlockRule(
        name="Rust panic",
        opens=r"thread '.*' (?:\(\d+\) )?panicked at ",
        goes_on=r"note: |stack backtrace:|\s+\d+: |\s+at |\s+(?:left|right): ",
        takes=1,
        example=(
            "thread 'main' panicked at src/main.rs:2:5:\nboom\nstack backtrace:\n   0: std::f\n"
            "             at /a/b.rs:1:2\nnote: run with more\n"
        ),
        counter="thread 'main' started",
    ),
    BlockRule(
        name="C compiler error",
        opens=r"[^\s:][^:\n]*:\d+:(?:\d+:)? (?:fatal )?error: |.*: undefined reference to ",
        goes_on=r"\s+\d* *\||[^\s:][^:\n]*:\d+:(?:\d+:)? note: |.*ld returned \d",
        leads=r"In file included from |\s+from .*:\d+|[^\s:]+: (?:In|At) ",
        example=(
            "a.c: In function 'main':\na.c:3:5: error: 'x' undeclared\n    3 |     x = 1;\n      |     ^\n"
            "a.c:3:5: note: once only\n"
        ),
        counter="a.c:3:5: warning: unused",
    ),
    BlockRule(
        name="Rust compiler error",
        opens=r"error(?:\[E\d+\])?: ",
        goes_on=r"\s+-->|\s*\d+ +\||\s*\||\s+[|=:]|\.\.\.",
        example="error[E0308]: mismatched types\n --> src/main.rs:2:18\n  |\n2 |     let x = 1;\n  |         ^ no\n",
        counter="errors: none",
    ),
    BlockRule(
        name="pytest failure",
        opens=r"_{3,} .+ _{3,}$",
        goes_on=r"",
        stops=r"_{3,} .+ _{3,}$|={3,}",
        example="____ test_a ____\n\n    def test_a():\n>       assert f() == 2\nE       assert 1 == 2\n\na.py:3: E\n",
        counter="_____",
    ),
    BlockRule(
        name="pytest summary",
        opens=r"=+ short test summary info =+$",
        goes_on=r"(?:FAILED|ERROR|XPASS) |=+ .* in [\d.]+s",
        example="== short test summary info ==\nFAILED a.py::test_a - assert 1 == 2\n== 1 failed in 0.1s ==\n",
        counter="== test session starts ==",
    ),
    BlockRule(
        name="unittest failure",
        opens=r"(?:FAIL|ERROR): \w+ \(",
        goes_on=r"-{10,}$|Traceback \(|\s+\S",
        is_closed_by_next=True,
        leads=r"={10,}$",
        example=(
            "==========\nFAIL: test_a (t.A.test_a)\n----------\nTraceback (most recent call last):\n"
            '  File "t.py", line 4, in test_a\nAssertionError: 1 != 2\n'
        ),
        counter="FAIL: everything",
    ),
    BlockRule(
        name="Go test failure",
        opens=r"[ \t]*--- FAIL: ",
        goes_on=r"\s{4,}\S",
        example="--- FAIL: TestA (0.00s)\n    a_test.go:7: want 2, have 1\n",
        counter="--- PASS: TestA (0.00s)",
    ),
    BlockRule(
        name="JavaScript test failure",
        opens=r"[ \t]+● .+",
        goes_on=r"\s|$",
        stops=r"\s+● ",
        example="  ● adds 1 + 1\n\n    expect(received).toBe(expected)\n\n    Expected: 3\n",
        counter="● a bullet of a list",
    ),
    BlockRule(
        name="npm error",
        opens=r"npm (?:ERR!|error)",
        goes_on=r"npm (?:ERR!|error)",
        example="npm error code E404\nnpm error 404 Not Found\n",
        counter="npm warn old lockfile",
    ),
    BlockRule(
        name="failure in TAP",
        opens=r"\s*not ok \d+",
        goes_on=r"\s+\S",
        example="not ok 7 - rounds\n  ---\n  message: 'want 1, have 2'\n  ...\n",
        counter="ok 7 - is not ok",
    ),
    BlockRule(
        name="report of valgrind",
        opens=r"==\d+== (?:Invalid |Mismatched |Conditional jump|Use of uninit|Process terminating|.* definitely lost)",
        goes_on=r"==\d+==  +\S",
        example="==7== Invalid read of size 4\n==7==    at 0x109: main (a.c:7)\n==7==  Address 0x4a is freed\n",
        counter="==7== Memcheck, a memory error detector",
    ),
    BlockRule(
        name="sanitizer report",
        opens=r"==\d+==\s*ERROR: |.*: runtime error: ",
        goes_on=r"\s+#\d+ |==\d+==|[A-Z]+ of size \d|SUMMARY: |$",
        example="==7==ERROR: AddressSanitizer: heap-use-after-free\nREAD of size 4\n    #0 0x1 in main a.c:3\n",
        counter="==7== Memcheck",
    ),
)


class Sign(Struct, frozen=True, kw_only=True):
    """A word or form that makes one line matter."""

    pattern: str
    example: str
    counter: str


ERRORS: Final = (
    Sign(pattern=r"(?i:\b(?:error|fatal|critical|emerg|panic(?:ked)?)\b)", example="ERROR: no", counter="terrors"),
    Sign(pattern=r"[a-z](?:Error|Exception)\b", example="ValueError: no", counter="Errorless"),
    Sign(pattern=r"(?i:\b(?:failed|failure|exception|aborted)\b)", example="build failed", counter="failsafe"),
    Sign(pattern=r"\bFAIL(?:ED)?\b", example="FAIL: test_a", counter="FAILOVER"),
    Sign(pattern=r"\*\*\* ", example="make: *** [all] Error 2", counter="a ** b"),
    Sign(
        pattern=r"(?i:\b(?:denied|connection (?:refused|reset)|timed out|unreachable|deadlock|corrupt(?:ed)?)\b)",
        example="ssh: Connection refused",
        counter="a refused offer",
    ),
    Sign(
        pattern=r"(?i:\b(?:no such file|not found|undefined reference|unresolved|cannot|could not|unable to)\b)",
        example="bash: x: command not found",
        counter="founded",
    ),
    Sign(
        pattern=r"(?i:\b(?:unhandled|uncaught|unexpected (?:eof|end of (?:file|input)|token))\b)",
        example="a.sh: line 8: unexpected EOF while looking for matching `)'",
        counter="an unexpected guest",
    ),
    Sign(pattern=r"\bKilled\b", example="a.sh: line 1: 77 Killed  ./worker", counter="skilled"),
    Sign(
        pattern=r"(?i:\bexit(?:ed)?(?: with)?(?: code| status)?[ :=]{1,2}[1-9])",
        example="worker exited with code 137",
        counter="exited with code 0",
    ),
    Sign(
        pattern=r'(?:HTTP/[\d.]+"?|"status(?:_?[cC]ode)?":) ?5\d\d\b',
        example='"POST /pay HTTP/1.1" 503 17',
        counter='"GET /items/503 HTTP/1.1" 200 5',
    ),
    Sign(
        pattern=r"(?m:^)[EF]\d{4} \d\d:\d\d:\d\d",
        example="E0301 10:00:00.000001       1 leader.go:12] lost the lease",
        counter="I0301 10:00:00.000001       1 leader.go:12] got the lease",
    ),
    Sign(
        pattern=r"(?i:\b(?:segmentation fault|core dumped|out of memory|no space left|oom-kill|killed process)\b)",
        example="write: No space left on device",
        counter="space",
    ),
)
WARNINGS: Final = (
    Sign(pattern=r"(?i:\bwarn(?:ing)?s?\b)", example="warning: unused", counter="forewarned"),
    Sign(pattern=r"(?i:\bdeprecat(?:ed|ion)\b)", example="f is deprecated", counter="depreciated"),
)
BENIGN: Final = (
    Sign(pattern=r"(?i:\b(?:0|no) (?:errors?|failed|failures?|warnings?)\b)", example="0 errors", counter="10 errors"),
    Sign(pattern=r"(?i:\b(?:errors?|failed|failures?)[:=] ?0\b)", example="errors=0", counter="errors=7"),
)


def _any_of(signs: Sequence[Sign]) -> bytes:
    """One pattern that takes the rest of the line, so that a line is found once."""
    return f"(?:{'|'.join(f'(?:{sign.pattern})' for sign in signs)})[^\n]*".encode()


class _Compiled(Struct, frozen=True, kw_only=True):
    """A BlockRule, ready to be matched at the beginning of a line."""

    rule: BlockRule
    opens: Any
    goes_on: Any
    stops: Any
    leads: Any


def _line_pattern(pattern: str) -> Any:
    return re2.compile(b"(?m)" + pattern.encode())


class _Patterns:
    """The tables, compiled when the first long output needs them."""

    def __init__(self) -> None:
        self.error = re2.compile(_any_of(ERRORS))
        self.warning = re2.compile(_any_of(WARNINGS))
        self.benign = re2.compile(_any_of(BENIGN))
        self.opening = re2.compile(f"(?m)^(?:{'|'.join(f'(?:{rule.opens})' for rule in BLOCKS)})[^\n]*".encode())
        self.blocks = tuple(
            _Compiled(
                rule=rule,
                opens=_line_pattern(rule.opens),
                goes_on=_line_pattern(rule.goes_on),
                stops=_line_pattern(rule.stops) if rule.stops else None,
                leads=_line_pattern(rule.leads) if rule.leads else None,
            )
            for rule in BLOCKS
        )


@cache
def _patterns() -> _Patterns:
    return _Patterns()


def error_hits(data: bytes) -> Iterator[int]:
    """Offsets, one for each line that speaks of an error: where it starts or, if it is long, shortly before it does."""
    return (start for start, is_benign in error_signs(data) if not is_benign)


def error_signs(data: bytes) -> Iterator[tuple[int, bool]]:
    """``error_hits`` and, marked as benign, lines that say that there was none: who has little time counts both."""
    return _signs(_patterns().error, data)


def warning_hits(data: bytes) -> Iterator[int]:
    """Offsets, one for each line that speaks of a warning."""
    return (start for start, is_benign in _signs(_patterns().warning, data) if not is_benign)


def _signs(pattern: Any, data: bytes) -> Iterator[tuple[int, bool]]:
    benign = _patterns().benign
    for found in pattern.finditer(data):
        sign, end = found.span()
        start = data.rfind(b"\n", 0, sign) + 1
        if sign - start > _NEAR_BYTES:  # of a very long line, what is near
            start = border_after(data, sign - _NEAR_BYTES)
        yield start, benign.search(data[start : min(end, sign + _NEAR_BYTES)]) is not None


def opening_hits(data: bytes) -> Iterator[int]:
    """Offsets of the lines that may open a block."""
    return (found.start() for found in _patterns().opening.finditer(data))


def block_at(lines: Sequence[bytes], index: int) -> tuple[int, int] | None:
    """The lines ``first`` to ``end`` (exclusive) of the block that line ``index`` opens; None if it opens none."""
    for each in _patterns().blocks:
        if each.opens.match(lines[index]) is None:
            continue
        first = index
        while each.leads and first and index - first < _MAX_LEADS and each.leads.match(lines[first - 1]):
            first -= 1
        end = min(index + 1 + each.rule.takes, len(lines))
        last = min(index + MAX_BLOCK_LINES, len(lines))
        while end < last and each.goes_on.match(lines[end]) and not (each.stops and each.stops.match(lines[end])):
            end += 1
        if each.rule.is_closed_by_next and end < last:
            end += 1
        while end > index + 1 and not lines[end - 1].strip():
            end -= 1
        return first, end
    return None
