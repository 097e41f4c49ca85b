# ruff: noqa: E501 - a kind reads one line
"""Programs that do not want to end, each stubborn in its own way: the table that tests and the benchmark share."""

import shutil
import sys
from typing import Final, NamedTuple

PYTHON: Final = sys.executable


class Kind(NamedTuple):
    """One way to be stubborn: a command, whether it runs on the terminal, whether SIGINT alone ends it."""

    name: str
    command: str
    is_polite: bool
    tty: bool = False


def python(text: str) -> str:
    """A command that runs a Python text."""
    return f"{PYTHON} -c '{text}'"


IGNORING = "import signal as s, time; [s.signal(n, s.SIG_IGN) for n in (2, 3, 15, 1)]"
KINDS: Final = (
    # ── ends at once ──
    Kind("a sleeping program", "sleep 60", is_polite=True),
    Kind("a sleeping program on the terminal", "sleep 60", is_polite=True, tty=True),
    Kind("a program that reads the terminal", "cat", is_polite=True, tty=True),
    Kind("a pipeline", "sleep 60 | cat | wc -c", is_polite=True),
    Kind("a flood through a pipe", "yes | cat >/dev/null", is_polite=True),
    Kind("a flood of output", "yes", is_polite=True),
    Kind("a flood on the terminal", "yes", is_polite=True, tty=True),
    Kind("a reader of a pipe that nobody writes", "cat <(sleep 60)", is_polite=True),
    Kind("a substitution", "x=$(sleep 60)", is_polite=True),
    Kind("a nested shell", "bash -c 'sleep 60; echo no'", is_polite=True),
    Kind("a subshell", "(sleep 60; echo no)", is_polite=True),
    Kind("a group with a redirect", "{ sleep 60; } >/dev/null", is_polite=True),
    Kind("an interpreter in a loop", python("while True: pass"), is_polite=True),
    Kind("an interpreter in select", python("import select; select.select([], [], [])"), is_polite=True),
    Kind("threads", python("import threading, time; threading.Thread(target=time.sleep, args=(1,)).start(); time.sleep(60)"), is_polite=False),
    Kind("busy output without newlines", python("while True: print(1, end=chr(32))"), is_polite=True),
    # ── the shell itself is busy ──
    Kind("a loop of the shell", "while :; do :; done", is_polite=True),
    Kind("a loop of short programs", "while :; do /bin/true; done", is_polite=True),
    Kind("a loop of sleeps", "while :; do sleep 0.2; done", is_polite=True),
    Kind("a loop that forks subshells", "while :; do (:); done", is_polite=False),
    Kind("a loop around a substitution", "while :; do x=$(echo hi); done", is_polite=True),
    Kind("a builtin that waits", "wait -n & read -t 60 <> <(:)", is_polite=True),
    Kind("a wait for a background job", "sleep 60 & wait", is_polite=True),
    Kind("a function that calls itself for long", "f() { local i; for i in 1 2 3; do sleep 20; done; }; f", is_polite=True),
    Kind("an until loop over a file that never comes", "until [ -e /nonexistent ]; do sleep 0.05; done", is_polite=True),
    # ── deaf ──
    Kind("deaf to SIGINT", python("import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(60)"), is_polite=False),
    Kind("deaf to all that can be refused", python(f"{IGNORING}; time.sleep(60)"), is_polite=False),
    Kind("deaf and busy", python(f"{IGNORING}\nwhile True: pass"), is_polite=False),
    Kind("a shell that traps SIGINT", "bash -c \"trap 'echo no' INT; while :; do sleep 0.1; done\"", is_polite=False),
    Kind("a shell deaf to everything", "bash -c \"trap '' INT TERM HUP QUIT; while :; do sleep 0.1; done\"", is_polite=False),
    Kind("a program that catches KeyboardInterrupt", python("import time\nwhile True:\n try: time.sleep(60)\n except KeyboardInterrupt: pass"), is_polite=False),
    Kind("deaf children", "for i in 1 2 3; do bash -c \"trap '' INT TERM; sleep 60\" & done; wait", is_polite=False),
    # ── away from the terminal's group ──
    Kind("a session of its own", "setsid -w sleep 60", is_polite=False),
    Kind("a deaf session of its own", f"setsid -w {python(f'{IGNORING}; time.sleep(60)')}", is_polite=False),
    Kind("a group of its own", python("import os, time; os.setpgid(0, 0); time.sleep(60)"), is_polite=False),
    Kind("a child that left and holds the output", "bash -c 'setsid sleep 60 & sleep 60'", is_polite=True),
    Kind("a daemon behind a sleeping program", f"{python('import os, time; os.fork() or (os.setsid(), os.fork() and os._exit(0)); time.sleep(60)')}", is_polite=False),
    Kind("nohup", "nohup sleep 60", is_polite=True),
    # ── stopped ──
    Kind("a program that stops itself", "bash -c 'kill -STOP $$; sleep 60'; sleep 60", is_polite=True),
    Kind("a stopped child of a waiting parent", python("import os, signal, time; p = os.fork() or time.sleep(60); os.kill(p, signal.SIGSTOP); os.wait()"), is_polite=False),
    # ── with the terminal in another state ──
    Kind("a raw terminal", "stty raw -isig -echo; cat", is_polite=True, tty=True),
    Kind("a hidden prompt", "read -r -s -p Password: x", is_polite=True, tty=True),
    Kind("getpass", python("import getpass; getpass.getpass()"), is_polite=False, tty=True),
    Kind("an interactive interpreter", f"{PYTHON} -i", is_polite=False, tty=True),
    Kind("an interactive shell", "bash --norc -i", is_polite=False, tty=True),
    Kind("a full screen", "printf '\\033[?1049h\\033[2J'; stty -icanon -echo; sleep 60", is_polite=True, tty=True),
    Kind("a terminal that is stopped", "stty ixon; kill -STOP $BASHPID & sleep 60", is_polite=True, tty=True),
    # ── the way out is hard ──
    Kind("closed descriptors", "exec 0<&- 1>&- 2>&-; while :; do :; done", is_polite=True),
    Kind("input that is closed", "exec 0<&-; sleep 60", is_polite=True),
    Kind("a loop whose programs end in peace", "for i in 1 2 3; do bash -c \"trap 'exit 0' INT; while :; do sleep 0.02; done\"; done", is_polite=True),
    Kind("a trap on DEBUG", "trap ': d' DEBUG; sleep 60", is_polite=True),
    Kind("an exit trap", "(trap 'sleep 0.05' EXIT; sleep 60)", is_polite=True),
    Kind("many processes", "for i in $(seq 60); do sleep 60 & done; sleep 60", is_polite=True),
    Kind("a deep tree", "bash -c 'bash -c \"bash -c \\\"sleep 60; :\\\"; :\"; :'", is_polite=True),
)  # fmt: skip

# Programs that a machine may or may not have; the benchmark names those that it ran.
SCREENS: Final = tuple(
    Kind(words.split()[0], words, is_polite=is_polite, tty=True)
    for words, is_polite in (
        ("vim -u NONE -n", False),
        ("vi", False),
        ("less /etc/services", False),
        ("top", True),
        ("man bash", False),
        ("gdb -q", False),
        ("node -i", False),
        ("sqlite3", False),
        ("ed", False),
        ("bc -q", False),
        ("watch -n 9 date", True),
    )
    if shutil.which(words.split()[0])
)
