# ruff: noqa: E501 - a table reads one row a line
"""What the programs themselves say of their options, against the tables.

``marks.txt`` is made from the tables, so a mark that was never there is not missed by it. Here the installed programs are
asked: an option whose help names a file, a command or a host, or speaks of writing, running, connecting or removing, has a
mark in its table, or stands below with the reason why it needs none.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from execkit_mcp.policy.knowledge.catalogue import PROGRAMS
from execkit_mcp.policy.knowledge.spec import Flag, Program, flags_of

OPTION = re.compile(r"^ {0,12}(-{1,2}[A-Za-z0-9#@?][\w-]*)(.*)$")
NAME = re.compile(r"(?<![\w-])(-{1,2}[A-Za-z0-9][\w-]*)")
TAKES = re.compile(
    r"\b(?:[A-Z]*FILE\d?|FILENAME|PATH|[A-Z]*DIR|DIRECTORY|COMMAND|PROG|PROGRAM|CMD|SCRIPT|HOST|HOSTNAME|URL|ADDRESS|SOCKET|CONFIG)\b"
    r"|<(?:file|path|dir|command|program|host|url|address|cmd|fname|filename|config|script)[^>]*>"
)
SPEAKS = re.compile(
    r"(?i)\b(?:writes?|output to|outputs? (?:is|goes)|saves?|saving|stores?|append to|execut\w*|runs? (?:the|a|an|COMMAND|this)|"
    r"shell command|program to|invoke\w*|spawn\w*|connect\w*|remote host|reads? (?:\w+ ){0,3}from|from (?:the )?(?:given )?file|"
    r"config(?:uration)? file|log file|deletes?|removes?|unlink\w*|overwrit\w*|in[- ]place|change root|chroot)\b"
)

# Why an option that speaks of it has no effect of its own. Reviewed by hand, one by one.
REVIEWED = {
    "the program writes its operands in any case; this says how, or what it spares": """
        bzip2 -k -f -c; cp -f -i -n --remove-destination --strip-trailing-slashes; csplit -k -z; gzip -c -f -k -n -N; ln -f -i; mv -f -i -n
        --strip-trailing-slashes; patch -p -E; rm --preserve-root -d; rmdir -p; script -a -f; shred -n -u --remove -z; tar --overwrite
        --overwrite-dir -U --strip-components; tee -a --output-error; unzip -n -o; xz -k -f -c; zip -d -y; zstd -f -c -T; time -a; mktemp -u
    """,
    "the program changes the machine in any case": """
        reboot -d; umount -n; mount -n -w; hwclock -f; partx -d; wipefs -n; blkid -S; rtcwake -a; flock -u; fuser -w; logger --no-act -P
    """,
    "another function of the table looks at it": """
        dpkg -b -e -x -R; env -u -C; su -c --session-command; script -c; xargs -i -o -r -t; systemctl --system --user --what; flock -F; sudo -D -R; passwd -d
    """,
    "it goes to standard output, to a descriptor that is open, or is a matter of layout": """
        apropos -l; whatis -l; basename -s; df --no-sync --sync; dir --show-control-chars; ls --show-control-chars; dmesg -f -l; du -a; locale -a -m -c -k;
        numfmt --padding; objdump -d; od -N; pinky -i -q; psql -1 -z -0; readelf -x -p; sed --debug --follow-symlinks; sqlite3 -echo; strace -d;
        valgrind --xml-fd; tr -d; systemd-detect-virt -r; systemd-path --suffix; systemd-escape --suffix; tail --max-unchanged-stats; who -p; xxd -b -e;
        setsid -w; timeout --foreground -f; watch -p; mcookie -m; netstat -M -a; sort -c; vdir --show-control-chars
    """,
    "it names something to match or to look for, and opens nothing": """
        diff -S; findmnt -T -M; join -a; strace -e -P; tar --level --occurrence --exclude-vcs-ignores --hard-dereference -h; whereis -B -M -S
    """,
    "it says how a connection that another mark shows is made": """
        pip --retries; wget --retry-connrefused --no-clobber --connect-timeout -4 -6 -E --referer --keep-session-cookies --delete-after -m
    """,
}  # fmt: skip


def reviewed() -> dict[str, set[str]]:
    """Program to the options that were looked at."""
    found: dict[str, set[str]] = {}
    for text in REVIEWED.values():
        for group in text.split(";"):
            program, *options = group.split()
            found.setdefault(program, set()).update(options)
    return found


def told(text: str) -> Iterator[tuple[list[str], str, str]]:
    """Every option that a help text describes: its spellings, its head, what is said of it."""
    lines = text.expandtabs().splitlines()
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if OPTION.match(line) is None:
            continue
        depth = len(line) - len(line.lstrip())
        head, *said = re.split(r"\s{2,}", line.strip(), maxsplit=1)
        while index < len(lines) and lines[index].strip() and OPTION.match(lines[index]) is None:
            if len(lines[index]) - len(lines[index].lstrip()) <= depth:
                break
            said.append(lines[index].strip())
            index += 1
        yield NAME.findall(head), head, " ".join(said)


def unmarked(program: Program, text: str) -> Iterator[tuple[Flag, str]]:
    """Flags that the table takes for harmless though the help text speaks of an effect."""
    table = flags_of(program.flags, is_long_only=program.is_long_only)
    for names, head, said in told(text):
        flag = next((table[name] for name in names if name in table), None)
        if flag is None or not flag.is_inert or flag.mode or flag.is_deep:
            continue
        if TAKES.search(head) or SPEAKS.search(said):
            yield flag, f"{head}: {said}"


def rows() -> list[tuple[str, Program]]:
    """One installed name of every row that answers ``--help`` and is read by its table."""
    found: dict[str, tuple[str, Program]] = {}
    for name, program in PROGRAMS.items():
        if program.read is None and "--help" in program.alone.split() and shutil.which(name):
            found.setdefault(program.names, (name, program))
    return list(found.values())


ROWS = rows()


def help_of(name: str) -> str:
    run = subprocess.run(
        [str(shutil.which(name)), "--help"],
        capture_output=True, text=True, errors="replace", timeout=20, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return run.stdout + run.stderr


@pytest.mark.parametrize(("name", "program"), ROWS, ids=[name for name, _ in ROWS])
def test_an_option_that_speaks_of_an_effect_has_a_mark_or_a_reason(name, program):
    known = {option for each in program.names.split() for option in reviewed().get(each, ())}
    left = [said for flag, said in unmarked(program, help_of(name)) if known.isdisjoint(flag.names)]
    assert left == [], f"{name}: give these a mark in its table, or a reason in REVIEWED"


def test_programs_are_installed_to_be_asked():
    assert len(ROWS) > 60


def test_every_option_with_a_reason_is_in_a_table():
    for program, options in reviewed().items():
        assert options <= set(flags_of(PROGRAMS[program].flags, is_long_only=PROGRAMS[program].is_long_only)), program


# Marks that are taken away here, one by one: the help text misses each.
LOST = [
    ("sort", "-o,--output=:w"), ("sort", "--compress-program=:x"), ("split", "--filter=:c"), ("tar", "--to-command=:x"), ("tar", "-I,--use-compress-program=:x"),
    ("diff", "--to-file=:R"), ("date", "-f,--file=:r"), ("shuf", "-o,--output=:w"), ("cp", "-t,--target-directory=:d>target"), ("wc", "--files0-from=:r?"),
    ("dmesg", "-F,--file=:r"), ("install", "--strip-program=:x"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "token"), LOST)
def test_a_mark_that_is_lost_is_missed_by_the_help_text(name, token):
    program = PROGRAMS[name]
    bare = token.partition(":")[0]
    assert token in program.flags
    lost = Program(names=name, source="", flags=program.flags.replace(token, bare))
    options = set(bare.rstrip("=?").split(","))
    assert any(options & set(flag.names) for flag, _ in unmarked(lost, help_of(name)))
    assert not any(options & set(flag.names) for flag, _ in unmarked(program, help_of(name)))
