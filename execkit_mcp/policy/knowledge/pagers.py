"""Pagers, editors and manuals.

Sources: less 590, util-linux 2.38 (more), man-db 2.11, vim 9, nano 7.2, ed 1.19 manuals.

A pager or editor on a terminal runs whatever the person at it asks for, so all of them may run anything.
``man`` hands its page to the pager that the environment names, as git and journalctl do; the policy forces
that to be ``cat``.
"""

from execkit_mcp.policy.knowledge.opaque import opaque
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Program


def _after_man(reading: Reading) -> None:
    """A page with a slash is a file."""
    for page in reading.operands:
        if "/" in page.text or not page.is_static:
            reading.mark("r?", page)


PROGRAMS = (
    opaque(
        "vi vim view vimdiff nvim ex rvim rview nano pico emacs emacsclient ed red joe micro mcedit mc "
        "ne jed code subl gedit kate hx "
        "sensible-editor editor edit visudo vipw vigr",
        "their manuals",
    ),
    opaque("less more most pg sensible-pager pager", "their manuals: ! on a terminal, LESSOPEN", "rx"),
    Program(
        names="man",
        source="man-db 2.11 manual",
        flags="-C,--config-file=:rx -d,--debug -D,--default -f,--whatis -k,--apropos -K,--global-apropos "
        "-l,--local-file>file "
        "-w,--where,--path,--location -W,--where-cat,--location-cat -R,--recode= -L,--locale= "
        "-m,--systems= -M,--manpath=:R "
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
