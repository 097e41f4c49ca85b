"""What ``find … -print0 | xargs -0 …`` runs: this module gives xargs the words that are sure to be printed.

A name ends at its zero byte and begins with a start folder, so what xargs appends is a path below one of those, as
in ``find -exec``. That holds only if names are all that is printed, if nothing but filters of whole names stand between
them, and if xargs takes the names as they are; anything less leaves the words unseen. git, rg and grep print names
below the folders that they look at, or below the current one; where such a name could begin with a dash, ``DASHES``
stands behind, and ``INSIDE`` behind git. A loop over ``IFS= read -r -d '' name`` gets the names as xargs does, if its
commands read none of them: what takes five bytes leaves ``/etc/x`` of ``./a/b/etc/x``.
"""

from msgspec.structs import replace

from execkit_mcp.policy.knowledge import interpret
from execkit_mcp.policy.knowledge.findutils import commands_below
from execkit_mcp.policy.knowledge.git_shows import QUIETING
from execkit_mcp.policy.knowledge.invocation import DYNAMIC, GLOB, STATIC, Arg, Inner, Invocation, static
from execkit_mcp.policy.knowledge.spec import words_of
from execkit_mcp.policy.shell import tree
from execkit_mcp.policy.shell.printed import is_away, printed_lines

_HERE = static(".")
# What find prints besides, or takes its start folders from.
_PRINTING = words_of(
    "-print -printf -ls -fprint -fprint0 -fprintf -fls -exec -execdir -ok -okdir -files0-from -help --help -version"
)
_PLAIN_XARGS = frozenset({"-0", "-r", "-n", "-P", "-t", "-x", "-I", "-s"})
FILTERS = frozenset({"sort", "uniq", "shuf", "grep", "head", "tail"})
# Options of the filters that leave names whole, in every spelling.
_WHOLE = words_of(
    "-z --zero-terminated --null-data -r --reverse -n --numeric-sort --lines -u --unique -i --ignore-case -v "
    "--invert-match -E --extended-regexp -F --fixed-strings -y --no-ignore-case"
)
_MOST_STARTS = 8
DASHES = ("sed", "-z", "s|^-|./-|")
# What a tree or an index of git's calls a file is whatever its writer put there: `/etc/passwd`, `../x`.
INSIDE = ("sed", "-zE", r"\,^/|(^|/)\.\.(/|$),d;s|^-|./-|")
# Options with which these print the names of files and nothing else. Of git's names none is absolute or climbs behind
# ``INSIDE``.
_LS_FILES = words_of(
    "-z -c --cached -d --deleted -m --modified -o --others --exclude-standard --full-name --deduplicate"
)
_NAMES_ONLY = words_of("-z --name-only --cached --staged --diff-filter --no-renames --merge-base --relative") | set(
    QUIETING
)
_OUTPUTS = frozenset({">", ">>", ">|"})
_NOTHING = tree.Redirect("<", tree.Word((tree.Literal("/dev/null"),)))
_READ_OPTIONS = frozenset({(), ("-r",), ("-r", "-d", ""), ("-d", "", "-r")})
_RG = words_of(
    "-0 --null -l --files-with-matches --files -i --ignore-case -s --case-sensitive -S --smart-case -g --glob --iglob "
    "-t --type -T --type-not -F --fixed-strings -w --word-regexp -e --regexp -U --multiline -. --hidden --no-ignore -u "
    "--unrestricted --sort --color -P --pcre2 -d --max-depth --maxdepth -v --invert-match --files-without-match"
)
_GREP = words_of(
    "-Z --null -l --files-with-matches -L --files-without-match -r -R --recursive --dereference-recursive -i -y "
    "--ignore-case -E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -w --word-regexp -x "
    "--line-regexp -I -s --no-messages -e --regexp --include --exclude --exclude-dir -v --invert-match -n "
    "--line-number -H --with-filename"
)


def argv_of(command: tree.Command) -> tuple[Arg, ...] | None:
    """The words of a command that is nothing but plain words, with its error messages thrown away or not."""
    if not isinstance(command, tree.Simple) or command.assignments or not command.words:
        return None
    if not all(map(is_away, command.redirects)):
        return None
    texts = [
        word.parts[0].text for word in command.words if len(word.parts) == 1 and isinstance(word.parts[0], tree.Literal)
    ]
    return tuple(map(static, texts)) if len(texts) == len(command.words) else None


def argv_of_reader(command: tree.Command) -> tuple[Arg, ...] | None:
    """The same of a command that reads names, wherever what it prints goes."""
    if not isinstance(command, tree.Simple):
        return None
    is_plain = all(
        each.operator in (">", ">>") and all(isinstance(part, tree.Literal) for part in each.target.parts)
        for each in command.redirects
        if each.operator != ">&"
    )
    return argv_of(replace(command, redirects=())) if is_plain else None


def is_named_loop(loop: tree.Loop) -> str:
    """The one variable that a loop reads each name into; empty if it is not such a loop."""
    items = loop.condition.items
    if loop.keyword != "while" or loop.redirects or len(items) != 1 or items[0].is_background or items[0].command.rest:
        return ""
    pipeline = items[0].command.first
    read = pipeline.commands[0]
    if len(pipeline.commands) != 1 or pipeline.negated or pipeline.timed or not isinstance(read, tree.Simple):
        return ""
    if read.redirects or any(
        each.name != "IFS" or each.value.parts or each.items is not None for each in read.assignments
    ):
        return ""
    texts = [_literal(word) for word in read.words]
    if len(texts) < len(("read", "name")) or texts[0] != "read" or tuple(texts[1:-1]) not in _READ_OPTIONS:
        return ""
    name = texts[-1] or ""
    return name if name.isidentifier() and name.isascii() else ""


def _literal(word: tree.Word) -> str | None:
    if not word.parts:
        return ""
    part = word.parts[0]
    return part.text if len(word.parts) == 1 and isinstance(part, tree.Literal) else None


def _reads_whole(loop: tree.Loop) -> bool:
    """Whether the loop reads names up to their zero byte."""
    read = loop.condition.items[0].command.first.commands[0]
    return isinstance(read, tree.Simple) and bool(read.assignments) and len(read.words) > 4  # noqa: PLR2004 - with -d ''


def _is_output(redirect: tree.Redirect) -> bool:
    """``2>&1``: of ``3>&0``, the names could be read by ``<&3``."""
    return redirect.operator == ">&" and _literal(redirect.target) in ("1", "2")


def is_apart(body: tree.Sequence) -> bool:
    """Whether the commands of a loop read nothing of the names, so that the next one begins where a name begins."""
    only = body.items[0].command if len(body.items) == 1 and not body.items[0].is_background else None
    group = only.first.commands[0] if only is not None and not only.rest and len(only.first.commands) == 1 else None
    return isinstance(group, tree.Group) and group.redirects == (_NOTHING,)


def apart(body: tree.Sequence) -> tree.Sequence:
    """The commands of a loop with nothing to read."""
    return body if is_apart(body) else tree.sequence_of(tree.Group(body, (_NOTHING,)))


def loop_over_names(loop: tree.Loop, starts: tuple[Arg, ...]) -> tuple[str, tree.Word, str] | None:
    """The variable of a loop, what is known of it, and the start itself, where it gets the names of ``starts``."""
    name = is_named_loop(replace(loop, redirects=()))
    if (
        not starts
        and len(loop.redirects) == 1
        and loop.redirects[0].operator == "<"
        and not loop.redirects[0].descriptor
    ):
        parts = loop.redirects[0].target.parts
        body = parts[0].body if len(parts) == 1 and isinstance(parts[0], tree.ProcessSubstitution) else None
        if body is not None and len(body.items) == 1 and not body.items[0].command.rest:
            commands = body.items[0].command.first.commands
            starts = _printed_starts(commands) or plain_words(commands)
    elif not all(each.operator in _OUTPUTS or _is_output(each) for each in loop.redirects):
        return None
    if not name or len(starts) != 1 or not is_apart(loop.body) or starts[0].is_plain == _reads_whole(loop):
        return None
    if starts[0].is_plain:
        return name, tree.Word((tree.Plain("", starts[0].text),)), ""
    base = starts[0].text.rstrip("/")
    return name, tree.Word((tree.Literal(f"{base}/"), tree.Glob("**"))), starts[0].text


def starts_before(commands: tuple[tree.Command, ...], index: int) -> tuple[Arg, ...]:
    """The folders that the names come from which the command at ``index`` of a pipeline reads; empty: not known."""
    reader = commands[index]
    if index == 0:
        return ()
    if isinstance(reader, tree.Loop):
        # What stands in a redirect is judged first, and gets none of the names.
        if not all(isinstance(part, tree.Literal) for each in reader.redirects for part in each.target.parts):
            return ()
    else:
        parts = reader.words[0].parts if isinstance(reader, tree.Simple) and reader.words else ()
        is_xargs = len(parts) == 1 and isinstance(parts[0], tree.Literal) and parts[0].text == "xargs"
        if not is_xargs or argv_of_reader(reader) is None:
            return ()
    return _printed_starts(commands[:index]) or plain_words(commands[:index])


def plain_words(commands: tuple[tree.Command, ...]) -> tuple[Arg, ...]:
    """The shape of the words, one a line, that the commands print, as a word that is plain; empty: not known."""
    shape = printed_lines(tree.Sequence((tree.Item(tree.AndOr(tree.Pipeline(commands))),)))
    return (Arg(DYNAMIC, shape, "", is_plain=True),) if shape else ()


def is_feed(commands: tuple[tree.Command, ...]) -> bool:
    """Whether commands print names that end in a zero byte, and where those lie is known."""
    return bool(_printed_starts(commands))


def filters_whole(argv: tuple[Arg, ...]) -> bool:
    """Whether a filter passes on whole names that end in a zero byte, and nothing else."""
    if argv[0].text not in FILTERS or not any(arg.text in ("-z", "--null-data", "--zero-terminated") for arg in argv):
        return False
    found = interpret(argv)
    # A file of its own, other separators, a count or parts of a name: no names of find's.
    is_whole = {name for use in found.flags for name in use.names} <= _WHOLE
    return not found.problems and is_whole and len(found.operands) <= (argv[0].text == "grep")


def _printed_starts(commands: tuple[tree.Command, ...]) -> tuple[Arg, ...]:
    has_dashes = False
    for command in reversed(commands[1:]):
        argv = argv_of(command)
        if argv is None:
            return ()
        if command is commands[1] and tuple(arg.text for arg in argv) == dashes_of(commands[0]):
            has_dashes = True
        elif not filters_whole(argv):
            return ()
    argv = argv_of(commands[0])
    if argv is None:
        return ()
    if argv[0].text == "find":
        return _starts(interpret(argv))
    return _listed(interpret(argv)) if has_dashes else ()


def _starts(find: Invocation) -> tuple[Arg, ...]:
    names = {name for use in find.flags for name in use.names}
    if find.problems or "-print0" not in names or names & _PRINTING:
        return ()
    starts = find.operands or (_HERE,)
    return starts if len(starts) <= _MOST_STARTS and all(each.kind is STATIC and each.text for each in starts) else ()


def _listed(found: Invocation) -> tuple[Arg, ...]:
    """Where the names lie that git, rg or grep list; empty if they print anything else, or it is not known."""
    names = {name for use in found.flags for name in use.names}
    operands = found.operands
    if found.problems or not all(each.kind is STATIC and each.text and each.text[0] not in "-+:~" for each in operands):
        return ()
    if found.program == "git":
        subcommand = " ".join(found.subcommand)
        known = {"ls-files": _LS_FILES, "diff": _NAMES_ONLY}.get(subcommand, frozenset())
        is_names = "-z" in names and (subcommand != "diff" or "--name-only" in names)
        climbs = any(each.text.startswith("/") or ".." in each.text.split("/") for each in operands)
        return (_HERE,) if is_names and names <= known and not climbs else ()
    if found.program == "rg":
        is_names = "-0" in names and bool(names & {"-l", "--files", "--files-without-match"})
        has_pattern = not names & {"-e", "--files"}
        is_known = is_names and names <= _RG
    elif found.program == "grep":
        is_known = {"-Z", "-r"} <= names and bool(names & {"-l", "-L"}) and names <= _GREP
        has_pattern = "-e" not in names
    else:
        return ()
    starts = operands[1:] if has_pattern else operands
    return (starts or (_HERE,)) if is_known and len(starts) <= _MOST_STARTS else ()


def dashes_of(command: tree.Command) -> tuple[str, ...]:
    """What has to stand behind a command other than find that prints names."""
    argv = argv_of(command)
    return INSIDE if argv is not None and argv[0].text == "git" else DASHES


def feed(invocation: Invocation, starts: tuple[Arg, ...]) -> Invocation:
    """The reading of xargs with the names that come from below ``starts`` in place of words that nobody has seen."""
    flags = invocation.flags
    if not all(_PLAIN_XARGS.intersection(use.names) for use in flags):
        return invocation
    replaced = [use.value.text for use in flags if "-I" in use.names and use.value is not None]
    words = invocation.operands or (static("echo"),)
    is_whole = any("-0" in use.names for use in flags)
    if is_whole == starts[0].is_plain:
        return invocation
    if not replaced:
        if starts[0].is_plain:
            several = 1 if any("-n" in use.names and use.value == static("1") for use in flags) else 2
            lines = [(*words, *([starts[0]] * several))]
        else:
            lines = [(*words, *below) for start in starts for below in commands_below(start, (static("{}"),))]
    elif (
        any("{}" in word.text.replace(replaced[-1], "") for word in words)
        or not replaced[-1]
        or any("-n" in use.names for use in flags)  # of the two the last one holds, and -n appends
    ):
        return invocation
    elif starts[0].is_plain:
        lines = [tuple(_with_word(word, replaced[-1], starts[0]) for word in words)]
    else:
        whole = [static(word.text.replace(replaced[-1], "{}")) for word in words]
        lines = [line for start in starts for line in commands_below(start, whole)]
    return replace(invocation, inner=tuple(Inner(argv=line, via="xargs") for line in lines))


def _with_word(word: Arg, token: str, plain: Arg) -> Arg:
    """A word of xargs with a plain word of a known shape in place of the token."""
    before, found, behind = word.text.partition(token)
    if not found:
        return word
    if not before and not behind:
        return plain
    if not before or before[0] == "-" or token in behind or set(before + behind) & set("\\*?[]"):
        return Arg(DYNAMIC, word.text, before)
    return Arg(GLOB, f"{before}{plain.text}{behind}", before)
