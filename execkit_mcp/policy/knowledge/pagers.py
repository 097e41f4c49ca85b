# ruff: noqa: E501 - a table reads one row a line
"""Pagers, editors and manuals.

Sources: less 590, util-linux 2.38 (more), man-db 2.11, vim 9, nano 7.2, ed 1.19 manuals.

A pager or editor on a terminal runs whatever the person at it asks for, so nearly all of them may run anything.
``man`` runs the formatter that stands in a manual folder (``mandb_nfmt``), and hands its page to the pager that
the environment names, as git and journalctl do; the policy forces that to be ``cat``.
"""

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.invocation import static
from execkit_mcp.policy.knowledge.opaque import opaque
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Program


def _after_man(reading: Reading) -> None:
    """A page with a slash is a file."""
    for page in reading.operands:
        if "/" in page.text or not page.is_static:
            reading.mark("r?", page)


_FIRST_KEYS = lazy_regex(r"\+\+?(?:\d*[gGF]?|/[\w .-]*)")


_LESS_NUMBERS = frozenset(("-b", "-h", "-y", "-z"))
_NUMBER = lazy_regex(r"-?[0-9]+")


def _before_less(reading: Reading) -> None:
    """A word that begins with a plus holds keys to press first; going to a line or a pattern is what they may do.

    Such a word ends no options, so a flag without an effect stands in for it.
    """
    reading.args = tuple(
        static("-X") if arg.is_static and _FIRST_KEYS.fullmatch(arg.text) else arg for arg in reading.args
    )


def _after_less(reading: Reading) -> None:
    """A value that ends early leaves the rest of its word to be read as options: ``-b64oFILE``, ``-Pprompt$oFILE``."""
    for use in reading.flags:
        value = use.value
        if value is None or "-o" in use.names or "-O" in use.names:
            continue
        is_number = not _LESS_NUMBERS.isdisjoint(use.names)
        if not (value.is_static and (_NUMBER.fullmatch(value.text) if is_number else "$" not in value.text)):
            reading.mark("x", None)
    for word in reading.operands:
        reading.mark("x" if word.prefix.startswith("+") else "r", None if word.prefix.startswith("+") else word)


PROGRAMS = (
    opaque(
        "vi vim view vimdiff nvim ex rvim rview nano pico emacs emacsclient ed red joe micro mcedit mc "
        "ne jed code subl gedit kate hx "
        "sensible-editor editor edit visudo vipw vigr",
        "their manuals",
    ),
    opaque("more most pg sensible-pager pager", "their manuals: ! on a terminal", "rx"),
    Program(
        names="less",
        source="less 590 manual; LESSSECURE and an empty LESSOPEN, which every session has, switch off what its keys could run",
        flags="-aABcCdeEfFgGiIJKLmMnNqQrRsSuUVwWX~ -b,--buffers= -h,--max-back-scroll= -j,--jump-target= -p,--pattern= -P,--prompt= "
        "-x,--tabs= -y,--max-forw-scroll= -z,--window= -#,--shift= -D,--color= --line-numbers --LINE-NUMBERS --chop-long-lines "
        "--quit-if-one-screen --quit-at-eof --QUIT-AT-EOF --RAW-CONTROL-CHARS --raw-control-chars --no-init --ignore-case --IGNORE-CASE "
        "--squeeze-blank-lines --no-lessopen --quit-on-intr --silent --quiet --header= --wordwrap --tilde --hilite-search --no-keypad "
        "-o,--log-file=:w -O,--LOG-FILE=:w -k,--lesskey-file=:rx --lesskey-src=:rx --lesskey-content=:x -t,--tag=:x -T,--tag-file=:rx",
        operands="-*",
        is_permuting=False,  # behind a file, a flag is a file as well
        before=_before_less,
        after=_after_less,
        alone="--version -V --help -?",
    ),
    Program(
        names="bat batcat",
        drops_equals=True,
        source="bat 0.22 manual; its pager is the one that the session forces",
        flags="-A,--show-all -p,--plain -l,--language= -H,--highlight-line= --file-name= --diff-context= --tabs= --wrap= --terminal-width= "
        "-n,--number --color= --italic-text= --decorations= -f,--force-colorization --paging= -P --theme= --list-themes --style= "
        "-r,--line-range= -L,--list-languages -u,--unbuffered --no-config --squeeze-blank --strip-ansi= --config-file --cache-dir "
        "-d,--diff:x --pager=:x -m,--map-syntax= --ignored-suffix= --lessopen:x",
        operands="r*",
        alone="--version -V --help -h --list-themes --list-languages -L --config-file --config-dir --cache-dir",
    ),
    Program(
        names="man",
        source="man-db 2.11 manual",
        flags="-C,--config-file=:rx -d,--debug -D,--default -f,--whatis -k,--apropos -K,--global-apropos "
        "-l,--local-file>file "
        "-w,--where,--path,--location -W,--where-cat,--location-cat -R,--recode= -L,--locale= "
        "-m,--systems= -M,--manpath=:Rx "
        "-S,-s,--sections= -e,--extension= -i,--ignore-case -I,--match-case --regex --wildcard "
        "--names-only -a,--all -u,--update:s "
        "--no-subpages -P,--pager=:x -r,--prompt=:x -7,--ascii -E,--encoding= --no-hyphenation "
        "--no-justification "
        "-p,--preprocessor= -t,--troff -T,--troff-device=? -H,--html=?:x -X,--gxditview=?:x -Z,--ditroff",
        operands="-*",
        modes={"file": "r*;?"},
        after=_after_man,
    ),
    Program(
        names="whatis apropos",
        source="man-db 2.11 manual",
        flags="-d,--debug -v,--verbose -r,--regex -w,--wildcard -l,--long "
        "-s,--sections= -m,--systems= -M,--manpath=:R -L,--locale= -C,--config-file=:r "
        "-e,--exact -a,--and",
        operands="-*",
    ),
    Program(names="whereis", source="util-linux 2.38 manual", flags="-bmsulg -B= -M= -S= -f", operands="-*"),
    Program(names="info", source="texinfo 6.8 manual: interactive", operands="-*;x"),
)
