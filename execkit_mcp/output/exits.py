"""What an exit code means: this module turns the code that a command ended with into a sentence, where one helps.

An exit code is a number that the program chose, unless a signal or the shell chose it; nothing tells the two
apart. So a sentence says "either … or" unless a fact decides.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from execkit_mcp.model.regex import lazy_regex

__all__ = ["CANNOT_RUN", "CODES", "NOT_FOUND", "SIGNAL_BASE", "ExitMeaning", "explain_exit"]

CANNOT_RUN: Final = 126
NOT_FOUND: Final = 127
SIGNAL_BASE: Final = 128
_COMPLAINT: Final = lazy_regex(r"^(?:\S*(?:bash|sh): )?(?:line \d+: )?(\S[^:\n]{0,200}): ([^\n:]{1,80})$", re.MULTILINE)
_NOT_FOUND_WORDS: Final = ("command not found", "No such file or directory", "not found")
_CANNOT_RUN_WORDS: Final = (
    "Permission denied", "Is a directory", "cannot execute binary file", "bad interpreter", "Exec format error",
)  # fmt: skip
_LONGEST_ERROR: Final = 20_000


class ExitMeaning(Struct, frozen=True, kw_only=True):
    """What one code of some programs means.

    Attributes:
        programs: their names.
        code: the exit code.
        means: what it says.
        example: a command that ends so.
        files: files that the example needs, by name.
    """

    programs: tuple[str, ...]
    code: int
    means: str
    example: str
    files: Mapping[str, str] = field(default_factory=dict)


CODES: Final = (
    ExitMeaning(programs=("grep", "egrep", "fgrep", "zgrep", "rg"), code=1, means="no line matched; this is no error",
                example="grep zebra a.txt", files={"a.txt": "horse\n"}),
    ExitMeaning(programs=("diff", "cmp"), code=1, means="the files differ; this is no error",
                example="diff a.txt b.txt", files={"a.txt": "1\n", "b.txt": "2\n"}),
    ExitMeaning(programs=("test", "["), code=1, means="the condition is false; this is no error",
                example="test -e nosuch"),
    ExitMeaning(programs=("pgrep", "pidof"), code=1, means="no process matched; this is no error",
                example="pgrep nosuchprocessatall"),
    ExitMeaning(programs=("which",), code=1, means="a program was not found on PATH", example="which nosuchprogram"),
    ExitMeaning(programs=("expr",), code=1, means="the result is empty or 0; this is no error", example="expr 1 - 1"),
    ExitMeaning(programs=("ls",), code=2, means="a path that was named could not be listed", example="ls nosuch"),
    ExitMeaning(programs=("find",), code=1, means="something could not be searched; the rest was",
                example="find nosuch"),
    ExitMeaning(programs=("timeout",), code=124, means="its time was up", example="timeout 0.1 sleep 9"),
    ExitMeaning(programs=("make",), code=2, means="a target could not be made", example="make nosuchtarget"),
    ExitMeaning(programs=("curl",), code=6, means="the host name was not resolved", example="curl -s http://no.invalid/"),
    ExitMeaning(programs=("curl",), code=7, means="no connection to the host", example="curl -s http://127.0.0.1:1/"),
)  # fmt: skip
_MEANINGS: Final = {(program, row.code): row.means for row in CODES for program in row.programs}


def explain_exit(
    code: int | None, *, signal: str | None, programs: Sequence[str], pipe_status: Sequence[int] = (), stderr: str = ""
) -> str | None:
    """A sentence on the exit code, or None if there is nothing that the code itself does not say.

    Args:
        code: the exit code.
        signal: name of the signal that 128+n stands for.
        programs: names of the programs of the text, in order.
        pipe_status: exit codes of the parts, when the last thing that ran was a pipeline.
        stderr: what was written to standard error; for 126 and 127 it may name the program.
    """
    if not code:
        return None
    if code in (CANNOT_RUN, NOT_FOUND):
        return f"exit {code}: {_not_run(code, stderr[-_LONGEST_ERROR:])}"
    if signal is not None and code > SIGNAL_BASE:
        number = code - SIGNAL_BASE
        return f"exit {code}: either {signal} (signal {number}) ended it, or the program itself ended with {code}"
    program = _deciding_program(code, programs, pipe_status)
    means = _MEANINGS.get((program, code)) if program is not None else None
    return f"exit {code} of {program}: {means}" if means is not None else None


def _not_run(code: int, stderr: str) -> str:
    words = _NOT_FOUND_WORDS if code == NOT_FOUND else _CANNOT_RUN_WORDS
    named = [found[1] for found in _COMPLAINT.finditer(stderr) if found[2].strip().startswith(words)]
    what = "the program was not found" if code == NOT_FOUND else "the program was found, but cannot be run"
    return f"{what}: {named[-1]}" if named else f"either {what}, or the program itself ended with {code}"


def _deciding_program(code: int, programs: Sequence[str], pipe_status: Sequence[int]) -> str | None:
    """The program whose code it is, if the text leaves no doubt."""
    if len(programs) == 1 and not pipe_status:
        return programs[0].rsplit("/", 1)[-1]
    if len(programs) > 1 and len(programs) == len(pipe_status) and pipe_status[-1] == code:
        return programs[-1].rsplit("/", 1)[-1]
    return None
