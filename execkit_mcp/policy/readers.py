r"""What programs do with text that is typed to them; this module is that table.

A *shell* carries a line out: the line is judged as a command. An *interpreter* runs it: it is judged as program text.
An *editor* runs commands of its own (``:!``), and nobody can tell from outside in which mode it is, so anything
but moving about is judged like program text. A *viewer* takes single letters, some of which run commands or write
files; the harmless ones are listed. A *carrier* hands the text on to a program that cannot be seen from here
(another host, container, user or terminal). *Other* programs read answers and data.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct

from execkit_mcp.model.decision import EffectKind, JudgedCommand
from execkit_mcp.model.ports import ProgramLocator
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.model.terminal import TerminalProcess

__all__ = [
    "READERS",
    "Kind",
    "Reader",
    "has_program",
    "is_at_prompt",
    "program_word",
    "reader_of",
    "readers_of",
    "reads_itself",
]


class Kind(StrEnum):
    """What a program does with what is typed."""

    SHELL = "shell"
    INTERPRETER = "interpreter"
    EDITOR = "editor"
    VIEWER = "viewer"
    CARRIER = "carrier"
    OTHER = "program"


class Reader(Struct, frozen=True, kw_only=True):
    """One row: programs, what they do with text, and how the same text would be given on a command line.

    Attributes:
        names: the programs, separated by blanks, without version.
        kind: what they do with text.
        form: the words before the text on an equivalent command line (``python3 -c TEXT``).
        harmless: text that needs no judgement; a regular expression over all of it.
        example: a text that ``harmless`` takes; empty where nothing is.
        counter: one that it does not.
        runs_files: whether a first operand, or ``-c``, is the program, so that it reads no program from the terminal.
        prompts: words that lead to a prompt all the same, e.g. a debugger's; a regular expression sought in them.
        repeats: whether an empty line carries the one before out again; debuggers found by ``prompts`` do as well.
    """

    names: str
    kind: Kind
    form: str = "-c"
    harmless: str = ""
    example: str = ""
    counter: str = ""
    runs_files: bool = False
    prompts: str = ""
    repeats: bool = False

    def leads_to_prompt(self, argv: tuple[str, ...]) -> bool:
        """Whether these words lead to a prompt by ``prompts``."""
        return bool(self.prompts) and re.search(self.prompts, " ".join(["", *argv[1:_FEW]])) is not None

    def takes(self, text: str) -> bool:
        """Whether the text needs no judgement."""
        return bool(self.harmless) and re.fullmatch(self.harmless, text) is not None


_SEARCH: Final = r"(?:[/?][^\n]{0,200}\n)?"
_INTERPRETERS: Final = (
    ("ipython bpython ptpython", "-c"),
    ("irb pry lua luajit Rscript R julia elixir iex scala groovy", "-e"),
    ("deno", "eval"),
    ("psql pgcli", "-c"),
    ("mysql mariadb mycli mongo mongosh clickhouse clickhouse-client", "-e"),
    ("sqlite sqlite3 duckdb litecli", ":memory:"),
    ("dc bc jshell ghci ocaml utop erl sbcl guile racket clisp swift tclsh wish expect gnuplot octave maxima gp", "-e"),
    ("ftp sftp lftp telnet redis-cli sqlplus isql cqlsh influx mail mailx mutt at batch crontab", "-e"),
    ("fish csh tcsh pwsh powershell elvish nu xonsh rc es scsh", "-c"),
)  # fmt: skip
READERS: Final[tuple[Reader, ...]] = (
    Reader(names="bash rbash sh dash ash zsh ksh mksh lksh posh yash", kind=Kind.SHELL),
    Reader(
        names="python pypy",
        kind=Kind.INTERPRETER,
        form="-c",
        runs_files=True,
        prompts=r" -[bBdEIOPqsSuvVx]*m ?(?:code|i?pdb|bdb|pudb|IPython|asyncio|ptpython|bpython)(?:[. ]|\Z)",
    ),
    Reader(names="node nodejs bun", kind=Kind.INTERPRETER, form="-e", runs_files=True, prompts=" (?:inspect|debug) "),
    Reader(names="perl", kind=Kind.INTERPRETER, form="-e", runs_files=True, prompts=r" -[acflnpsStTuUwWX0-9]*d"),
    Reader(names="ruby", kind=Kind.INTERPRETER, form="-e", runs_files=True, prompts=r" -r ?(?:debug|irb|pry|byebug)"),
    Reader(names="php", kind=Kind.INTERPRETER, form="-r", runs_files=True, prompts=r" -[a-zA-Z]*a(?: |\Z)"),
    Reader(names="gdb", kind=Kind.INTERPRETER, form="-ex", repeats=True),
    Reader(names="lldb", kind=Kind.INTERPRETER, form="-o", repeats=True),
    *(Reader(names=names, kind=Kind.INTERPRETER, form=form) for names, form in _INTERPRETERS),
    Reader(
        names="vi vim view vimdiff nvim ex rvim rview gvim vimtutor",
        kind=Kind.EDITOR,
        harmless=r":q(?:a|all)?!?\n",
        example=":q!\n",
        counter=":!id\n",
    ),
    Reader(
        names="nano rnano pico emacs emacsclient ed red joe micro mcedit mc ne jed hx kak visudo vipw vigr info ranger "
        "nnn lf vifm tig lazygit",
        kind=Kind.EDITOR,
    ),
    Reader(
        names="less most pg man zless lv",
        kind=Kind.VIEWER,
        form="+",
        harmless=rf"[0-9]{{0,9}}(?:[ bdufjkgGhnNpyerRF\n<>=]{{0,100}}q?|{_SEARCH})",
        example="/needle\n",
        counter="!id\n",
    ),
    Reader(  # a search is not harmless: more takes eight characters at a time for one command; "!" may begin the next
        names="more zmore",
        kind=Kind.VIEWER,
        form="+",
        harmless=r"[0-9]{0,9}[ bdsfzhn=\n]{0,100}q?",
        example=" q",
        counter="/needle!id\n",
    ),
    Reader(
        names="top",
        kind=Kind.VIEWER,
        form="+",
        harmless=r"[ \nhH1tmcMPTNiVxyz]{0,20}q?",
        example="Mq",
        counter="k",
    ),
    Reader(
        names="htop btop atop nmon glances iotop iftop watch nethogs mtr ncdu fdisk gdisk cgdisk cfdisk parted",
        kind=Kind.VIEWER,
        form="+",
        harmless=r"q\n?",
        example="q",
        counter="t",
    ),
    Reader(
        names="ssh autossh mosh mosh-client rlogin rsh docker podman nerdctl kubectl oc crictl ctr tmux screen script "
        "sudo su doas runuser login sg newgrp unbuffer rlwrap socat nc ncat netcat minicom picocom cu chroot nsenter "
        "unshare bwrap firejail systemd-run machinectl lxc incus vagrant multipass limactl gcloud aws adb dtach abduco "
        "zellij ttyd tmate wsl cmd busybox toybox",
        kind=Kind.CARRIER,
    ),
)

_OTHER: Final = Reader(names="", kind=Kind.OTHER, form="")
_SHELL: Final = next(row for row in READERS if row.kind is Kind.SHELL)
_CARRIER: Final = next(row for row in READERS if row.kind is Kind.CARRIER)
_BY_NAME: Final[dict[str, Reader]] = {name: row for row in READERS for name in row.names.split()}
_VERSION: Final = lazy_regex(r"(?:\.(?:basic|tiny|nox|gtk3?|athena|motif|real|bin|exe))?[-.]?[0-9]*(?:\.[0-9]+)*\Z")
_WORD: Final = lazy_regex(r"[\w.+-]+")
_CODE_FLAGS: Final = frozenset({"-c", "-m", "-e", "-E", "-r", "-p", "--eval", "--print", "-pe", "-ne", "-lne", "-le"})
_VALUED_FLAGS: Final = frozenset({"-W", "-X", "-I", "--require", "--import", "--check-hash-based-pycs", "-C"})
_FEW: Final = 8
_READING_BUILTINS: Final = frozenset({"read", "mapfile", "readarray"})
_TEXT_RUNNERS: Final = frozenset({"source", ".", "eval", "coproc", "fc", "bind", "trap"})
_DYNAMIC: Final = lazy_regex(r"[$`]")
_VALUED_SHELL_FLAGS: Final = frozenset({"--rcfile", "--init-file", "-o", "+o", "-O", "+O"})


def _row(name: str) -> Reader | None:
    return _BY_NAME.get(name) or _BY_NAME.get(_VERSION.sub("", name, count=1))


def readers_of(commands: Iterable[JudgedCommand]) -> frozenset[Reader]:
    """The rows of programs that judged commands may bring to the terminal: named ones, and those that they name."""
    found = set()
    for command in commands:
        row = _row(command.program.rpartition("/")[2])
        if _runs_text(command, row):
            found.add(_SHELL)
        if row is not None and _reads_terminal(row, command.argv):
            found.add(row)
        runs_others = any(effect.kind is EffectKind.EXEC for effect in command.effects)
        if (row is None and (runs_others or command.program == "exec")) or (
            row is not None and row.kind in {Kind.SHELL, Kind.CARRIER}
        ):
            words = _WORD.findall(" ".join(command.argv[1:]).replace("/", " "))
            found |= {named for named in map(_row, words) if named is not None}
    return frozenset(found)


def reads_itself(commands: Iterable[JudgedCommand]) -> bool:
    """Whether a builtin among the commands may read the terminal, so that the session's own shell takes it as data."""
    return any(word in _READING_BUILTINS for command in commands for word in (command.program, *command.argv))


def _runs_text(command: JudgedCommand, row: Reader | None) -> bool:
    """Whether the session's shell, or one below it, may carry out what a builtin read from the terminal."""
    if command.program in _TEXT_RUNNERS or _DYNAMIC.search(command.program) is not None:
        return True
    runs = row is not None and row.kind in {Kind.SHELL, Kind.INTERPRETER, Kind.CARRIER}
    return runs and any(_DYNAMIC.search(word) is not None for word in command.argv)


def reader_of(process: TerminalProcess) -> Reader:
    """What a process at the terminal does with text. Its file counts, not the name that it gives itself."""
    if not process.path or process.is_confined:
        return _CARRIER
    name = process.path.rpartition("/")[2]
    row = _row(name)
    if row is not None and row.kind is Kind.CARRIER and name in {"busybox", "toybox"}:
        said = process.argv[0].rpartition("/")[2].lstrip("-") if process.argv else ""
        row = _row(said) or row
    if row is None:
        said = process.argv[0].rpartition("/")[2].lstrip("-") if process.argv else ""
        row = _row(said)  # a copy under another name, or a script that poses: taken at its word if that is stricter
    if row is None:
        return _OTHER
    return row if _reads_terminal(row, process.argv) else _of_script(row, process.argv)


def _of_script(row: Reader, argv: tuple[str, ...]) -> Reader:
    """The row of the script that an interpreter runs, if that is a program of the table too (``ruby /usr/bin/irb``)."""
    script = next((word for word in argv[1:] if not word.startswith("-")), "") if row.runs_files else ""
    named = _row(script.rpartition("/")[2])
    return named if named is not None and named.kind in {Kind.INTERPRETER, Kind.EDITOR, Kind.CARRIER} else _OTHER


def _reads_terminal(row: Reader, argv: tuple[str, ...]) -> bool:
    """Whether the program, with these words, takes text from the terminal as its row says."""
    if row.kind is Kind.SHELL:
        return is_at_prompt(argv)
    return row.leads_to_prompt(argv) or not (row.runs_files and has_program(argv))


def is_at_prompt(argv: tuple[str, ...]) -> bool:
    """Whether a shell with these words reads its commands from standard input instead of a script or ``-c``."""
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        if word in _VALUED_SHELL_FLAGS:
            words = words[1:]
        elif word in {"-", "--"}:
            return not words
        elif word.startswith("--"):
            continue
        elif word[:1] in {"-", "+"}:
            letters = word[1:]
            if "s" in letters:
                return True
            if "c" in letters:
                return False
            if letters[-1:] in {"o", "O"}:
                words = words[1:]
        else:
            return False
    return True


def has_program(argv: tuple[str, ...]) -> bool:
    """Whether an interpreter with these words was given its program, and does not go on to a prompt."""
    words = list(argv[1:])
    if any(re.match(r"-[A-Za-z]*i|--interactive", word) for word in words[:_FEW]):
        return False
    while words:
        word = words.pop(0)
        if word in _CODE_FLAGS:
            return True
        if word in _VALUED_FLAGS:
            words = words[1:]
        elif word in {"-", "--"}:
            return bool(words)
        elif not word.startswith("-"):
            return True
    return False


def program_word(process: TerminalProcess, locator: ProgramLocator | None) -> str:
    """The word for a process on a command line: a bare name where a trusted folder has it, else its file."""
    if locator is None:
        return process.path
    said = process.argv[0] if process.argv else ""
    own = process.path.rpartition("/")[2]
    for name in (
        said.rpartition("/")[2].lstrip("-"),
        own,
        re.sub(r"\.[0-9]+\Z", "", own),
        _VERSION.sub("", own, count=1),
    ):
        if not name:
            continue
        found = locator.locate(name)
        if found is not None and locator.resolve(found) == process.path:
            return name
    return process.path
