r"""What is said to bash, word for word; this module is the bash dialect.

A command is two lines. Line one evaluates the text with its own descriptors and without ours; line two
reports the end (``R``). Between two lines no state of the parser is open: whatever quote the text leaves
unterminated ends with the ``eval``.

Aliases may have any name, also that of a reserved word or ``x=``, and are looked up first: each of our
commands starts with a word that is quoted in part, groups are ``eval``. The one exception is the end of line one,
where only braces hide the assignment from ``set -x``: without codes in its record, ``unhide`` follows.
``\builtin`` defeats aliases; a function named ``builtin`` is met with ``repair`` (POSIX mode finds special
builtins before functions). ``"${a[@]}"`` in an assignment joins with blanks, whatever IFS is. ``250>&-``
comes early, so the copy that bash keeps for itself is its first free descriptor from 10 on: there the EXIT
trap finds a way out even from inside the ``eval``.

The text comes behind a command of ours and is thus part of a list: a shell that is in none answers the death of
its child by SIGINT with a newline on the command's output, and goes on with the next line of the text.

Line one is never a single line of text: before it reads the second, bash reports the jobs that have ended
meanwhile, to its own standard error. What it says of a job while a command is on (``[1] 4711``,
``[1]+  Done``) it writes to that command's, like any interactive bash.
"""

import re

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.protocol.framing import Record

__all__ = [
    "Snapshot",
    "init",
    "line_one",
    "line_two",
    "query",
    "quote",
    "repair",
    "restore",
    "rewrap",
    "take_snapshot",
    "unhide",
    "without_terminal",
]

_B = "\\builtin "
_RS, _GS = r"\036", r"\035"
_STATUS_FD = 250
_SAVED_FD = 10
_SKIPPED_VARIABLES = lazy_regex(
    r"^declare -\S+ (?:PROMPT_COMMAND|TMOUT|PS[0124]|__ek_\w+|BASH_ARGV0|BASH_ALIASES)(?:=.*)?\n", re.MULTILINE
)
_VARIABLE = lazy_regex(r"^declare -\S+ ([A-Za-z_]\w*)", re.MULTILINE)
_SKIPPED_OPTIONS = frozenset(["emacs", "vi", "history", "monitor", "onecmd", "noexec"])
_SKIPPED_SHOPTS = frozenset(["login_shell", "restricted_shell", "checkjobs"])
_TERM = lazy_regex(
    r"""^(?P<words>export |(?:declare|typeset) -x )TERM=(?P<quote>["']?)(?P<value>[\w.+-]*)(?P=quote)$""", re.MULTILINE
)
_TRAP = lazy_regex(r"^trap -- '([^']*(?:'\\''[^']*)*)' (\S+)$", re.MULTILINE)
_OWN_TRAP = f"{_B}: __ek_exit;"
_USER_TRAP = f"{_B}: __ek_user;"


def quote(text: str) -> str:
    """``text`` as one single-quoted word."""
    return "'" + text.replace("'", "'\\''") + "'"


def _begin(nonce: str, kind: str) -> str:
    return rf"{_RS}{nonce}{kind}\0"


def _end(nonce: str) -> str:
    return rf"\0{_GS}{nonce}\n"


def _dump(nonce: str, kind: str) -> str:
    parts = (
        "declare -p",
        "declare -f",
        "declare -Fx",
        "alias -p",
        "set +o",
        "shopt -p",
        "umask -p",
        "trap -p",
    )
    body = rf";{_B}printf \\0;".join(_B + part for part in parts)
    begin = rf'{_B}printf "{_begin(nonce, kind)}%s\0" "${{PWD-}}"'
    return f"""{_B}eval '{begin};{body};{_B}printf "{_end(nonce)}"'"""


def _exit_trap(nonce: str, kind: str) -> str:
    return (
        f'{_OWN_TRAP} __ek_f="{_STATUS_FD}"; {_B}[ -{kind} /dev/fd/{_STATUS_FD} ] || __ek_f="{_SAVED_FD}"; '
        f'{_B}[ -{kind} "/dev/fd/$__ek_f" ] && {_dump(nonce, "D")} 2>/dev/null >&"$__ek_f";'
    )


def init(shell_nonce: str, nonce: str, *, status_kind: str = "S") -> bytes:
    """The first lines of a shell, up to its first status record; its status descriptor is a socket or a pipe (p)."""
    return (
        "PS1= PS2= PS4='+ ' PROMPT_COMMAND=\n"
        f"{_B}unset HISTFILE MAILCHECK TMOUT PROMPT_COMMAND\n"
        f"{_B}set +o history +H; {_B}shopt -u checkjobs huponexit; {_B}shopt -s checkwinsize\n"
        f"{_B}history -c 2>/dev/null\n"
        f"{_B}trap -- {quote(_exit_trap(shell_nonce, status_kind))} EXIT\n" + line_two(nonce)
    ).encode()


def line_one(
    command: str,
    *,
    stdin_path: str | None = None,
    is_tty: bool = False,
    terminal: str | None = None,
    outputs: tuple[str, str] | None = None,
    last_code: int = 0,
) -> bytes:
    """Deliver ``command``; ``last_code`` is what it will see in ``$?``, ``terminal`` in ``$TERM``."""
    renew = ""
    if outputs is not None:
        # without \\builtin: below it, exec undoes its redirections like any other command
        renew = f"\\exec 251>{quote(outputs[0])} 252>{quote(outputs[1])}\n"
    status = f"{_B}:;"
    if last_code:
        # not the last of its list: neither errexit nor a trap on ERR takes notice
        status = f"{_B}. /dev/fd/0 <<<'\\builtin return {last_code}'&&{_B}:;"
    streams = f"250>&- <{stdin_path or '/dev/null'} >&251 2>&252"
    closed = "248>&- 249<&- 251>&- 252>&-"
    text = quote(command + '\n\n{ __ek_p="$? ${PIPESTATUS[@]}"; } 2>&-')
    if is_tty:
        # bash gives up on undoing redirections at the first that fails (ulimit -n 99): 0 is one of its own, lest the
        # shell reads the terminal as its script. 250 is closed behind it: what 0 was is kept at the first free one.
        text = quote(f"{_B}eval {text} 250>&- >&248 2>&248 {closed}")
        streams, closed = "<&248", ""
    # quoted, so that no alias can be named like it; without ``command`` it holds for the first command of a list only
    evaluate = f"{_B}eval" if terminal is None else f"TERM={quote(terminal)} {_B}command eval"
    return (f"{renew}{status}{evaluate} {text} {streams} {closed}\n").encode("utf-8", "surrogateescape")


def line_two(nonce: str) -> str:
    """Report the end of what came before."""
    return (
        rf"{_B}printf '{_begin(nonce, 'R')}%s\0%s\0%s{_end(nonce)}' "
        f'"$?" "${{PWD-}}" "${{__ek_p-}}" >&{_STATUS_FD}\n__ek_p=""\n'
    )


def query(nonce: str) -> bytes:
    """Report the shell's jobs: the process groups of all, the lines of the stopped ones."""
    return (
        rf"""{_B}eval '{_B}printf "{_begin(nonce, "J")}";{_B}jobs -p;{_B}printf \\0;{_B}jobs -s -l;"""
        f"""{_B}printf "{_end(nonce)}"' >&{_STATUS_FD} 2>/dev/null\n"""
    ).encode()


def take_snapshot(shell_nonce: str) -> bytes:
    """Report the whole state, in a record ``P``."""
    return f"{_dump(shell_nonce, 'P')} >&{_STATUS_FD} 2>/dev/null\n".encode()


def unhide() -> bytes:
    """Remove the aliases that break the end of line one."""
    return f"{_B}unalias {{ }} 2>/dev/null||{_B}:\n".encode()


def repair(nonce: str) -> bytes:
    """Undo functions and switches that hide the builtins of these lines, then ask for the status again."""
    names = "builtin printf eval read trap exec declare enable set unset unalias jobs [ . :"
    return (
        "\nPOSIXLY_CORRECT='1'\n"
        "\\unset -f builtin command enable\n\\unset PROMPT_COMMAND TMOUT\n\\trap - DEBUG\n\\enable builtin\n"
        f"{_B}shopt -u extdebug\n{_B}unset -f {names}\n{_B}enable {names}\n{_B}unset POSIXLY_CORRECT\n"
        + line_two(nonce)
    ).encode()


class Snapshot(Struct, frozen=True, kw_only=True):
    """The state of a shell, as its own builtins wrote it."""

    cwd: str
    variables: str
    functions: str
    exported_functions: str
    aliases: str
    options: str
    shopts: str
    umask: str
    traps: str

    @classmethod
    def from_record(cls, record: Record) -> "Snapshot | None":
        """None if the record is not whole."""
        if len(record.fields) != len(cls.__struct_fields__):
            return None
        texts = [field.decode("utf-8", "surrogateescape") for field in record.fields]
        return cls(**dict(zip(cls.__struct_fields__, texts, strict=True)))

    @property
    def user_exit_trap(self) -> str | None:
        """The quoted text of an EXIT trap that a command set; None if there is none."""
        for text, name in _TRAP.findall(self.traps):
            if name == "EXIT":
                user = text.partition(f"; {_USER_TRAP}")[2] if text.startswith(_OWN_TRAP) else text
                return user or None
        return None

    @property
    def is_exit_trap_ours(self) -> bool:
        """Whether leaving the shell would still save its state."""
        return any(name == "EXIT" and text.startswith(_OWN_TRAP) for text, name in _TRAP.findall(self.traps))


def without_terminal(snapshot: Snapshot, terminal: str, before: Snapshot | None) -> Snapshot:
    """A state that was told while ``TERM`` stood at ``terminal`` for one command: with what it was before."""
    now = _TERM.search(snapshot.variables)
    if now is None or now["value"] != terminal:
        return snapshot
    was = None if before is None else _TERM.search(before.variables)
    text = f"{now['words']}TERM={quote('dumb' if was is None else was['value'])}"
    return replace(snapshot, variables=snapshot.variables[: now.start()] + text + snapshot.variables[now.end() :])


def rewrap(shell_nonce: str, user_exit_trap: str | None, *, status_kind: str = "S") -> bytes:
    """Put our EXIT trap before that of the user."""
    user = "" if user_exit_trap is None else f" {_USER_TRAP}{user_exit_trap}"
    own = quote(_exit_trap(shell_nonce, status_kind))
    return f"{_B}trap -- {own[:-1]}{user}' EXIT\n".encode("utf-8", "surrogateescape")


def restore(
    snapshot: Snapshot, shell_nonce: str, nonce: str, *, env_names: frozenset[str], status_kind: str = "S"
) -> bytes:
    """Make a fresh shell that was started with ``env_names`` what the old one was.

    Assigning a read-only variable of bash's own fails and harms nothing; options come last, so that none of
    them (``errexit``) acts on the restoring. Never restored: what would read our script (PROMPT_COMMAND,
    ``set -o vi``).
    """
    present = set(_VARIABLE.findall(snapshot.variables))
    missing = sorted(env_names - present)
    lines = [f"{_B}shopt -u expand_aliases", f"{_B}cd -- {quote(snapshot.cwd)}"]
    if missing:
        lines.append(f"{_B}unset -v {' '.join(missing)}")
    lines += [
        _SKIPPED_VARIABLES.sub("", snapshot.variables),
        snapshot.functions,
        snapshot.exported_functions,
        snapshot.umask,
    ]
    has_extdebug = "shopt -s extdebug" in snapshot.shopts
    lines += [
        f"trap -- '{text}' {name}"
        for text, name in _TRAP.findall(snapshot.traps)
        if name != "EXIT" and not (name == "DEBUG" and has_extdebug)
    ]
    lines.append(snapshot.aliases)
    lines += [_B + line for line in snapshot.shopts.splitlines() if line.split()[-1] not in _SKIPPED_SHOPTS]
    lines += [_B + line for line in snapshot.options.splitlines() if line.split()[-1] not in _SKIPPED_OPTIONS]
    text = quote("\n".join(lines) + "\n")
    return (
        f"{_B}eval {text} >/dev/null 2>&1 </dev/null\n".encode("utf-8", "surrogateescape")
        + rewrap(shell_nonce, snapshot.user_exit_trap, status_kind=status_kind)
        + line_two(nonce).encode()
    )
