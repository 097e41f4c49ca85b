# ruff: noqa: E501 - a table reads one row a line
"""Wrappers: the closed list of programs that run another command, each with an option grammar of its own.

Sources: sudo 1.9, opendoas 6.8, coreutils 9.1, util-linux 2.38, bash 5.2, dash 0.5.12, busybox 1.36
manuals. A wrapper whose grammar is too rich, or that changes what the words mean (another root, an
interpreter), runs something unknown.

Over 400 lines, because the list of wrappers is closed and stands in one place.
"""

from collections.abc import Iterable

from execkit_mcp.model import EffectKind
from execkit_mcp.policy.knowledge.argv import is_several
from execkit_mcp.policy.knowledge.invocation import Arg, ArgKind, static
from execkit_mcp.policy.knowledge.opaque import opaque_wrapper
from execkit_mcp.policy.knowledge.reading import Reading, rest_of
from execkit_mcp.policy.knowledge.spec import Program

_COREUTILS = "coreutils 9.1 manual"
_UTIL_LINUX = "util-linux 2.38 manual"
# Not -a, -k and -H: they make words of the text mean something else.
_PLAIN_SHELL_OPTIONS = frozenset(
    ("errexit", "nounset", "pipefail", "noglob", "noclobber", "xtrace", "verbose", "noexec")
)
_SHORT_SHELL = "-befhmnptuvxBCEPT -l:x -i:x -r -D -s:x"


def _assignment(arg: Arg) -> tuple[str, Arg] | None:
    """``NAME=value``, split."""
    name, separator, _ = arg.prefix.partition("=")
    if not separator or not name.isascii() or not name.replace("_", "a").isalnum() or name[0].isdigit():
        return None
    return name, rest_of(arg, len(name) + 1)


def _run_with_assignments(reading: Reading, unset: Iterable[Arg] = ()) -> None:
    """``NAME=value … command …``; a name that is ``unset`` takes a value that nobody knows."""
    operands = reading.operands
    assigned = [(name.text, Arg(ArgKind.DYNAMIC, "<unset>")) for name in unset]
    start = 0
    while start < len(operands):
        pair = _assignment(operands[start])
        if pair is None:
            if "=" in operands[start].prefix and reading.name == "env":
                reading.effect(EffectKind.UNKNOWN, operands[start], "an assignment to a name that is not plain")
                start += 1
                continue
            break
        if is_several(operands[start]):
            reading.dynamic(operands[start], "could become several words")
        assigned.append(pair)
        start += 1
    command = operands[start:]
    if command:
        reading.runs(command, env=tuple(assigned))


def _after_env(reading: Reading) -> None:
    if reading.has("-S"):
        reading.wrapper("-S makes words that are not judged")
    if reading.has("-C"):
        reading.wrapper("-C runs it in another folder")
    if reading.has("-a"):
        reading.wrapper("-a tells it another name, and some programs do what their name says")
    if reading.has("-i") and any(_assignment(word) is None for word in reading.operands):
        reading.wrapper("-i takes away the environment that the policy forces")
    _run_with_assignments(reading, unset=reading.flag_values("-u"))


def _after_sudo(reading: Reading) -> None:
    if reading.has("-e") or reading.name == "sudoedit":
        for path in reading.operands:
            reading.mark("w", path)
        reading.mark("x", None)
        return
    if reading.has("-D", "-R"):
        reading.wrapper("it runs in another folder")
    if reading.has("-s", "-i"):
        reading.wrapper("a shell reads its own start-up files first")
    if reading.has("-l", "-v", "-V") and not reading.has("-s", "-i"):
        return
    _run_with_assignments(reading)


def _after_shell(reading: Reading) -> None:
    """After ``-c`` stands text; else the first operand is a script file; else it reads its input."""
    operands = reading.operands
    if reading.has("-c"):
        if operands:
            if is_several(operands[0]):
                reading.dynamic(operands[0], "would run as shell text")
            reading.runs_script(operands[0], via=f"{reading.name} -c")
    else:
        if operands:
            reading.mark("r", operands[0])
        reading.wrapper("the script is a file or standard input, which nobody has judged")
    for name in reading.flag_values("-o", "-O"):
        if not name.is_static:
            reading.dynamic(name, "could be any shell option")
        elif name.text not in _PLAIN_SHELL_OPTIONS:
            reading.unknown_flag(f"-o {name.text}")


def _after_flock(reading: Reading) -> None:
    """``flock FILE -c text``, ``flock FILE command …``, ``flock DESCRIPTOR``."""
    operands = reading.operands
    if not operands:
        return
    if not (operands[0].is_static and operands[0].text.isdigit() and len(operands) == 1):
        reading.mark("w", operands[0])
    command = operands[1:]
    if command and command[0].is_static and command[0].text in {"-c", "--command"}:
        if len(command) > 1:
            reading.runs_script(command[1], via="flock -c")
        return
    if command:
        reading.runs(command)


def _after_watch(reading: Reading) -> None:
    """The words, joined with spaces, are shell text; with ``-x`` they are an argv."""
    if not reading.operands:
        return
    if reading.has("-x"):
        reading.runs(reading.operands)
    elif all(word.is_static for word in reading.operands):
        reading.runs_script(static(" ".join(word.text for word in reading.operands)))
    else:
        reading.wrapper("words that are not known would run as shell text")


def _after_ionice(reading: Reading) -> None:
    if reading.has("-p", "-P", "-u"):
        for process in reading.operands:
            reading.mark("p", process)
        reading.mark("p", None)
    elif reading.operands:
        reading.runs(reading.operands)


def _after_scheduled(reading: Reading) -> None:
    """``chrt`` and ``taskset``: the first operand is the priority or mask, unless a process is meant."""
    operands = reading.operands
    if reading.has("-p"):
        reading.mark("p", operands[-1] if operands else None)
    elif len(operands) > 1:
        if is_several(operands[0]):
            reading.dynamic(operands[0], "could become several words")
        reading.runs(operands[1:])


def _after_su(reading: Reading) -> None:
    """A shell of another user; only ``-c`` without a login shell is text that can be judged."""
    operands = [word for word in reading.operands if word.text != "-"]
    is_login = reading.has("-l") or len(operands) != len(reading.operands)
    texts = reading.flag_values("-c", "--session-command")
    for text in texts:
        reading.runs_script(text, via=f"{reading.name} -c")
    if reading.name == "runuser" and reading.has("-u") and operands:
        if reading.terminated_at is None:
            reading.wrapper("the command does not stand behind --")
        reading.runs(operands)
    elif not texts or is_login or reading.has("-s") or len(operands) > 1:
        reading.wrapper("it is a shell that reads its own start-up files or input")


def _after_command(reading: Reading) -> None:
    if reading.operands and not reading.has("-v", "-V"):
        reading.runs(reading.operands)


def _after_exec(reading: Reading) -> None:
    reading.effect(EffectKind.STATE, None, "exec")
    if reading.operands:
        reading.runs(reading.operands)


def _after_prlimit(reading: Reading) -> None:
    """Without a process it runs a command; with one it shows the limits, and sets those that have a value."""
    processes = reading.flag_values("-p")
    if any(use.value is not None and not {"-p", "-o"} & set(use.names) for use in reading.flags):
        for process in processes:
            reading.mark("p", process)
    if reading.operands:
        reading.runs(reading.operands)


def _after_script(reading: Reading) -> None:
    """Writes what it saw to a file (``typescript`` by default) and runs a shell, or with ``-c`` a text."""
    for path in reading.operands or [static("typescript")]:
        reading.mark("w", path)
    texts = reading.flag_values("-c")
    for text in texts:
        reading.runs_script(text, via="script -c")
    if not texts:
        reading.wrapper("it is an interactive shell")


PROGRAMS = (
    Program(
        names="sudo sudoedit",
        source="sudo 1.9.13 manual",
        flags="-A,--askpass:x -a,--auth-type= -B,--bell -b,--background -C,--close-from= -c,--login-class= "
        "-D,--chdir= -E --preserve-env=? -e,--edit -g,--group= -H,--set-home -h,--host=?:x -i,--login "
        "-K,--remove-timestamp -k,--reset-timestamp -l,--list -N,--no-update -n,--non-interactive "
        "-P,--preserve-groups -p,--prompt= -R,--chroot= -r,--role= -S,--stdin -s,--shell "
        "-T,--command-timeout= "
        "-t,--type= -U,--other-user= -u,--user= -V,--version -v,--validate",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_sudo,
        alone="--help --version -V -h -l",
    ),
    Program(
        names="doas",
        source="opendoas 6.8 manual",
        flags="-n -L -s:x -u= -C=:r -a=",
        operands="A",
        is_permuting=False,
        is_wrapper=True,
    ),
    Program(
        names="env",
        source=_COREUTILS,
        flags="-i,--ignore-environment -0,--null -u,--unset= -C,--chdir= -S,--split-string= "
        "--block-signal=? "
        "--default-signal=? --ignore-signal=? --list-signal-handling -v,--debug -a,--argv0=",
        operands="-*",
        is_permuting=False,
        is_abbreviating=True,
        is_wrapper=True,
        after=_after_env,
    ),
    Program(
        names="timeout",
        source=_COREUTILS,
        flags="--preserve-status -p -f,--foreground -k,--kill-after= -s,--signal= -v,--verbose",
        operands="- A",
        is_permuting=False,
        is_abbreviating=True,
        is_wrapper=True,
    ),
    Program(
        names="nice",
        source=_COREUTILS,
        flags="-n,--adjustment=",
        operands="A",
        is_permuting=False,
        is_abbreviating=True,
        is_numeric=True,
        is_wrapper=True,
    ),
    Program(names="nohup", source=_COREUTILS, operands="A", is_permuting=False, is_wrapper=True),
    Program(
        names="stdbuf",
        source=_COREUTILS,
        flags="-i,--input= -o,--output= -e,--error=",
        operands="A",
        is_permuting=False,
        is_abbreviating=True,
        is_wrapper=True,
    ),
    Program(
        names="chroot",
        source=_COREUTILS,
        flags="--groups= --userspec= --skip-chdir",
        operands="f A",
        is_permuting=False,
        is_wrapper=True,
        is_remote=True,
    ),
    Program(
        names="time",
        source="GNU time 1.9 manual",
        flags="-a,--append -f,--format= -o,--output=:w -p,--portability -q,--quiet -v,--verbose -V",
        operands="A",
        is_permuting=False,
        is_wrapper=True,
    ),
    Program(
        names="command",
        source="bash 5.2 manual",
        flags="-pvV",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_command,
        alone="",
    ),
    Program(names="builtin", source="bash 5.2 manual", operands="A", is_permuting=False, is_wrapper=True, alone=""),
    Program(
        names="exec",
        source="bash 5.2 manual",
        flags="-cl -a=",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_exec,
        alone="",
    ),
    Program(
        names="bash rbash",
        source="bash 5.2 manual",
        flags=f"{_SHORT_SHELL} -c -o= -O= --debugger:x --debug --dump-po-strings --dump-strings "
        f"--init-file=:rx "
        "--rcfile=:rx --login:x --noediting --noprofile --norc --posix --pretty-print --restricted "
        "--verbose --rpm-requires",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_shell,
    ),
    Program(
        names="sh dash ash",
        source="dash 0.5.12 manual",
        flags="-bCefhImnpuvVxE -c -o= -l:x -i:x -s:x",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_shell,
    ),
    opaque_wrapper("zsh ksh mksh csh tcsh fish rc elvish nu pwsh", "their manuals: not the judged language"),
    Program(
        names="setsid",
        source=_UTIL_LINUX,
        flags="-c,--ctty -f,--fork -w,--wait -V,--version -h",
        operands="A",
        is_permuting=False,
        is_wrapper=True,
    ),
    Program(
        names="ionice",
        source=_UTIL_LINUX,
        flags="-c,--class= -n,--classdata= -t,--ignore -p,--pid= -P,--pgid= -u,--uid= -V -h",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_ionice,
    ),
    Program(
        names="chrt",
        source=_UTIL_LINUX,
        flags="-b,--batch -d,--deadline -f,--fifo -i,--idle -o,--other -r,--rr -T,--sched-runtime= "
        "-P,--sched-period= -D,--sched-deadline= -R,--reset-on-fork -a,--all-tasks -m,--max "
        "-p,--pid -v,--verbose -V -h",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_scheduled,
    ),
    Program(
        names="taskset",
        source=_UTIL_LINUX,
        flags="-a,--all-tasks -p,--pid -c,--cpu-list -V -h",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_scheduled,
    ),
    Program(
        names="flock",
        source=_UTIL_LINUX,
        flags="-s,--shared -x,-e,--exclusive -u,--unlock -n,--nonblock,--nb -w,--wait,--timeout= "
        "-o,--close "
        "-E,--conflict-exit-code= -F,--no-fork -c,--command=:c --verbose -V -h",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_flock,
    ),
    Program(
        names="watch",
        source="procps 4.0 manual",
        flags="-b,--beep -c,--color -C,--no-color -d,--differences=? -e,--errexit -g,--chgexit "
        "-q,--equexit= "
        "-n,--interval= -p,--precise -r,--no-rerun -s,--shotsdir=:d -t,--no-title -w,--no-wrap "
        "-x,--exec -v -h",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_watch,
    ),
    Program(
        names="su runuser",
        source=_UTIL_LINUX,
        flags="-c,--command= -C,--session-command= -f,--fast -g,--group= -G,--supp-group= -l,--login "
        "-m,-p,--preserve-environment -P,--pty -T,--no-pty -s,--shell= -u,--user= "
        "-w,--whitelist-environment= -h -V",
        operands="-*",
        is_wrapper=True,
        after=_after_su,
    ),
    Program(
        names="script",
        source=_UTIL_LINUX,
        flags="-a,--append -c,--command= -E,--echo= -e,--return -f,--flush --force -B,--log-io=:w "
        "-I,--log-in=:w "
        "-O,--log-out=:w -T,--log-timing=:w -m,--logging-format= -o,--output-limit= -q,--quiet "
        "-t,--timing=?:w -V -h",
        operands="-*",
        is_wrapper=True,
        after=_after_script,
    ),
    Program(
        names="setpriv",
        source=_UTIL_LINUX,
        flags="-d,--dump --clear-groups --keep-groups --init-groups --groups= --no-new-privs --rgid= "
        "--regid= "
        "--ruid= --euid= --egid= --reuid= --reset-env -h -V",
        operands="A",
        is_permuting=False,
        is_wrapper=True,
    ),
    Program(
        names="busybox toybox",
        source="busybox 1.36",
        operands="A",
        is_permuting=False,
        is_wrapper=True,
        alone="--help --list --list-full",
    ),
    Program(names="eatmydata", source="eatmydata 105 manual", operands="A", is_permuting=False, is_wrapper=True),
    Program(
        names="linux32 linux64 setarch i386 x86_64",
        source=_UTIL_LINUX,
        flags="-v,--verbose -R,--addr-no-randomize -3,--3gb -B,--32bit -F,--fdpic-funcptrs "
        "-I,--short-inode "
        "-L,--addr-compat-layout -S,--whole-seconds -T,--sticky-timeouts -X,--read-implies-exec "
        "-Z,--mmap-page-zero "
        "--uname-2.6 -V -h",
        operands="A",
        is_permuting=False,
        is_wrapper=True,
    ),
    Program(
        names="numactl",
        source="numactl 2.0.16 manual",
        flags="-H,--hardware -s,--show -a,--all -N,--cpunodebind= -C,--physcpubind= -m,--membind= -i,--interleave= -p,--preferred= "
        "-l,--localalloc -b,--balancing",
        operands="A",
        is_permuting=False,
        is_wrapper=True,
    ),
    Program(
        names="prlimit",
        source=_UTIL_LINUX,
        flags="-p,--pid= -o,--output= --noheadings --raw --verbose -c,--core=? -d,--data=? -e,--nice=? -f,--fsize=? -i,--sigpending=? "
        "-l,--memlock=? -m,--rss=? -n,--nofile=? -q,--msgqueue=? -r,--rtprio=? -s,--stack=? -t,--cpu=? -u,--nproc=? -v,--as=? "
        "-x,--locks=? -y,--rttime=? -V,--version -h",
        operands="-*",
        is_permuting=False,
        is_wrapper=True,
        after=_after_prlimit,
    ),
    opaque_wrapper(
        "parallel start-stop-daemon systemd-run faketime "
        "capsh nsenter unshare "
        "rlwrap expect unbuffer tini dumb-init xvfb-run proot bwrap firejail pkexec "
        "dbus-run-session dbus-launch "
        "proxychains proxychains4 torsocks torify tsocks catchsegv entr direnv nix-shell nix "
        "run-parts dtach abduco "
        "fakeroot chpst setuidgid softlimit envdir svlogd cgexec systemd-inhibit "
        "systemd-nspawn "
        "machinectl flatpak distrobox toolbox at batch cron anacron daemonize authbind sg newgrp "
        "ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 screen tmux byobu zellij "
        "wine uv npx pnpx bunx pipx "
        "nodemon watchexec hyperfine caffeinate chronic ifne ts-node tsx vagrant multipass lxc incus",
        "their manuals: grammars too rich to tell what runs",
    ),
)
