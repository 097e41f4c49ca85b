"""findutils: find, xargs, locate. Source: findutils 4.9 manual.

find is an expression, not a list of flags: every primary takes a known number of words. ``{}`` of a command
that it runs is a path below a start folder, so it is judged as the pattern ``START/**``, once for each
start folder; the recursive read of each start folder by find itself is what ``never`` looks at.
"""

from collections.abc import Sequence

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.argv import is_several
from execkit_mcp.policy.knowledge.invocation import STATIC, Arg, ArgKind, FlagUse, Inner, static
from execkit_mcp.policy.knowledge.reading import HERE, UNSEEN, Reading
from execkit_mcp.policy.knowledge.spec import Program, words_of

_SOURCE = "findutils 4.9 manual"
_OPTIONS = words_of("-H -L -P -O0 -O1 -O2 -O3")
_PLAIN = words_of(
    "-daystart -depth -d -follow -ignore_readdir_race -noignore_readdir_race -mount -xdev -noleaf "
    "-nowarn -warn -empty "
    "-executable -readable -writable -nouser -nogroup -true -false -print -print0 -ls -prune -quit "
    "-not -a -and -o -or "
    "! ( ) , -help -version --help --version"
)
_VALUED = words_of(
    "-amin -atime -cmin -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename "
    "-links -lname "
    "-mmin -mtime -name -path -perm -regex -size -type -uid -used -user -wholename -xtype -context "
    "-maxdepth -mindepth "
    "-regextype -printf -D"
)
_READS = words_of("-newer -anewer -cnewer -samefile")
_WRITES = words_of("-fprint -fprint0 -fls")
# Every command is judged once for every start folder.
_MAX_COMMANDS = 128
_OPERATORS = frozenset("()!,")
_RUNS = words_of("-exec -execdir -ok -okdir")


class _Find:
    """One pass over find's words."""

    __slots__ = ("commands", "index", "is_too_much", "reading", "starts")

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.index = 0
        self.commands = 0
        self.is_too_much = False
        self.starts: list[Arg] = []

    def read(self) -> None:
        """Options, start folders, then the expression."""
        reading = self.reading
        args = reading.args
        while self.index < len(args) and args[self.index].kind is STATIC:
            text = args[self.index].text
            if text not in _OPTIONS and text != "-D":
                break
            reading.flags.append(FlagUse(names=(text,)))
            self.index += 2 if text == "-D" else 1
        if self.index < len(args) and args[self.index].is_static and args[self.index].text == "--":
            self.index += 1
        while self.index < len(args) and not _starts_expression(args[self.index]):
            arg = args[self.index]
            if arg.kind is ArgKind.DYNAMIC and (arg.could_be_option or not arg.is_single):
                reading.dynamic(arg, "could turn out to be part of the expression")
            self.starts.append(arg)
            self.index += 1
        reading.operands.extend(self.starts)
        for start in self.starts or [HERE]:
            reading.effect(EffectKind.READ, start, is_deep=True)
        count = len(args)
        while self.index < count:
            self.primary()

    def value(self, name: str) -> Arg | None:
        """The word after a primary."""
        if self.index >= len(self.reading.args):
            return None
        value = self.reading.args[self.index]
        self.index += 1
        if value.kind is not STATIC and is_several(value):
            self.reading.dynamic(value, f"is the value of {name} and could become several words")
        return value

    def primary(self) -> None:  # noqa: C901, PLR0912 - one branch for each form in the manual
        """One primary or operator with its words."""
        reading = self.reading
        arg = reading.args[self.index]
        self.index += 1
        if arg.kind is not STATIC:
            reading.dynamic(arg, "could turn out to be any part of the expression")
            return
        name = arg.text
        if name in _VALUED:
            reading.flags.append(FlagUse(names=(name,), value=self.value(name)))
            return
        if name in _RUNS:
            self.command(name)
            return
        value: Arg | None = None
        if name.startswith("-newer"):
            value = self.value(name)
            if not name.endswith("t"):
                reading.mark("f", value, name)
        elif name in _READS:
            value = self.value(name)
            reading.mark("f", value, name)
        elif name in _WRITES:
            value = self.value(name)
            reading.mark("w", value, name)
        elif name == "-fprintf":
            value = self.value(name)
            reading.mark("w", value, name)
            self.value(name)
        elif name == "-files0-from":
            value = self.value(name)
            reading.mark("r?", value, name)
        elif name == "-delete":
            for start in self.starts or [HERE]:
                reading.effect(EffectKind.WRITE, start, name, is_deep=True)
        elif name not in _PLAIN:
            reading.flags.append(FlagUse(names=(name,), is_known=False))
            reading.unknown_flag(name)
            return
        if name.startswith("-"):
            reading.flags.append(FlagUse(names=(name,), value=value))

    def command(self, name: str) -> None:
        """``-exec argv ;`` or ``-exec argv {} +``."""
        reading = self.reading
        words: list[Arg] = []
        while self.index < len(reading.args):
            arg = reading.args[self.index]
            self.index += 1
            if arg.is_static and arg.text == ";":
                break
            if arg.is_static and arg.text == "+" and words and words[-1].text == "{}":
                break
            if is_several(arg):
                reading.dynamic(arg, "could become several words of the command, its end included")
            words.append(arg)
        reading.flags.append(FlagUse(names=(name,)))
        if not words:
            reading.wrapper(f"{name} without a command")
            return
        if name.endswith("dir") and any(word.text != "{}" for word in words[1:]):
            reading.wrapper(f"{name} runs in folders that are not known, so its other words mean nothing here")
        self.commands += 1
        starts = self.starts or [HERE]
        if len(starts) * self.commands > _MAX_COMMANDS:
            if not self.is_too_much:
                reading.wrapper(f"{name} stands too often, or behind too many folders")
            self.is_too_much = True
            return
        for start in starts:
            reading.inner.extend(Inner(argv=argv, via=f"find {name}") for argv in commands_below(start, words))


def _starts_expression(arg: Arg) -> bool:
    """Whether find takes the word as the begin of its expression."""
    if arg.kind is STATIC:
        return arg.text[:1] == "-" or arg.text in _OPERATORS
    return arg.prefix.startswith("-")


def commands_below(start: Arg, words: Sequence[Arg]) -> list[tuple[Arg, ...]]:
    """The words with ``{}`` standing for any path below ``start``; where more follows on it, for ``start`` itself too.

    With ``{}.bak`` that is no path below ``start`` but one beside it.
    """
    found = [tuple(_substitute(word, start) for word in words)]
    if start.is_static and any(word.is_static and word.text.startswith("{}") and word.text != "{}" for word in words):
        found.append(tuple(_own(word, start) for word in words))
    return found


def _own(word: Arg, start: Arg) -> Arg:
    """The word with ``{}`` standing for ``start`` itself."""
    if not word.is_static or not word.text.startswith("{}") or "{}" in word.text[2:]:
        return _substitute(word, start)
    text = start.text + word.text[2:]
    return Arg(STATIC, text, text, is_home=start.is_home)


def _substitute(word: Arg, start: Arg) -> Arg:
    """The word with ``{}`` standing for any path below ``start``."""
    if not word.is_static:
        return Arg(ArgKind.DYNAMIC, word.text, word.prefix) if "{}" in word.text else word
    before, separator, behind = word.text.partition("{}")
    if not separator:
        return word
    if start.is_static and not before and not set(behind) & set("{}/\\*?["):
        base = start.text.rstrip("/")
        prefix = f"{base}/"
        escaped = "".join(f"\\{c}" if c in "\\*?[]" else c for c in base)
        return Arg(ArgKind.GLOB, f"{escaped}/**{behind}", prefix, is_single=False, is_home=start.is_home)
    if start.is_static and not before:
        return Arg(ArgKind.DYNAMIC, word.text, start.text)
    return Arg(ArgKind.DYNAMIC, word.text, before)


def _read_find(reading: Reading) -> None:
    """Read find's words."""
    _Find(reading).read()


def _after_xargs(reading: Reading) -> None:
    """The command gets words that nobody has seen, appended or in place of the replacement string."""
    words = reading.operands or [static("echo")]
    replacement = ""
    for use in reading.flags:
        if "-I" in use.names or "-i" in use.names:
            replacement = use.value.text if use.value is not None else "{}"
    if reading.has("-I", "-i"):
        argv = tuple(_replaced(word, replacement) for word in words)
        reading.runs(argv, has_appended_input=True)
    else:
        reading.runs((*words, UNSEEN), has_appended_input=True)


def _replaced(word: Arg, replacement: str) -> Arg:
    """The word with xargs' replacement string standing for something unknown."""
    if not replacement or replacement not in word.text:
        return word
    if word.is_static:
        return Arg(ArgKind.DYNAMIC, word.text, word.text.partition(replacement)[0])
    return Arg(ArgKind.DYNAMIC, word.text, "", is_single=word.is_single)


PROGRAMS = (
    Program(names="find", source=_SOURCE, read=_read_find, alone="--help --version -help -version"),
    Program(
        names="xargs",
        source=_SOURCE,
        flags="-0,--null -a,--arg-file=:r -d,--delimiter= -E= -e,--eof=? -i,--replace=? -I= -L= "
        "-l,--max-lines=? "
        "-n,--max-args= -o,--open-tty -P,--max-procs= -p,--interactive --process-slot-var=:s "
        "-r,--no-run-if-empty "
        "-s,--max-chars= --show-limits -t,--verbose -x,--exit",
        operands="-*",
        is_permuting=False,
        is_abbreviating=True,
        is_wrapper=True,
        after=_after_xargs,
    ),
    Program(
        names="locate mlocate plocate",
        source="plocate 1.1 manual",
        flags="-A,--all -b,--basename -c,--count -d,--database=:r -e,--existing -i,--ignore-case "
        "-p,--ignore-spaces "
        "-l,--limit= -n= -0,--null -N,--literal -r,--regexp= --regex -w,--wholename -P,--nofollow "
        "-S,--statistics "
        "-q,--quiet -L,--follow -H",
        operands="-*",
    ),
    Program(
        names="updatedb",
        source="plocate 1.1 manual",
        flags="-o,--output=:w -U,--database-root=:R -v,--verbose",
        operands=";s",
    ),
)
