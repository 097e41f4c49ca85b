r"""Shells without bash's extensions over three streams: dash, busybox ash, zsh as sh; this module is their dialect.

As ``bash_streams``: two lines a command, records on both streams, a nonce that the command cannot know. What differs:

- Only descriptors of one digit can be named, so status and outputs are 7, 8 and 9 of the shell, and 6 its terminal, if
  it is given one. 6, 8 and 9 are closed for commands; 7, another name of their standard output, stays open so that the
  EXIT trap finds a way out.
- ``command eval`` keeps an error in a special builtin from ending the text's line two (POSIX 2.9.1); where such a shell
  drops its input all the same (SIGINT), the machine asks again.
- ``echo`` is a function that does what bash's does, since theirs read backslashes or know no ``-e``.
- Of a shell that ends, folder, umask and exported variables are restored. Functions, aliases, traps and options cannot
  be set (``policy/shell/portable``).
"""

import re
from typing import Final

from execkit_mcp.errors import CapabilityMissing
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.protocol.dialects import bash
from execkit_mcp.protocol.dialects.bash_streams import MARK

__all__ = ["PosixStreams"]

_ECHO: Final = r"""
echo() {
local IFS=' ' __ek_n='\n' __ek_e=
while :; do
case ${1-} in -*[!neE]*|-|'') break;; -*) ;; *) break;; esac
case $1 in *n*) __ek_n=;; esac
case $1 in *E*e*) __ek_e=1;; *E*) __ek_e=;; *e*) __ek_e=1;; esac
shift
done
if [ -n "$__ek_e" ]; then printf '%b' "$*" && printf "$__ek_n"; else printf "%s$__ek_n" "$*"; fi
}
"""
_SETUP: Final = (
    "PS1= PS2= PS4='+ '\nexec 7>&1 8>&1 9>&2 >/dev/null 2>/dev/null\n"
    "unset ENV HISTFILE MAILCHECK MAIL MAILPATH TMOUT CDPATH PROMPT_COMMAND\n"
    '__ek_r() { return "$1"; }\n'
)
_EXPORTED: Final = lazy_regex(r"^(?:export|declare -x|typeset -x) ([A-Za-z_]\w*)", re.MULTILINE)
_NO_NUL_OR_END: Final = "Input that a session of this shell can be given has no NUL and ends with a line break."


def _dump(nonce: str, kind: str) -> str:
    return (
        f"{{ printf '\\036{nonce}{kind}\\0%s\\0' \"${{PWD-}}\"; export -p; printf '\\0\\0\\0\\0\\0\\0'; umask; "
        f"printf '\\0\\0\\035{nonce}\\n'; }} >&7 2>/dev/null"
    )


def _mark(nonce: str) -> str:
    return (
        '[ . -ef "${__ek_w-}" ] || __ek_w="$(command pwd -P)"\n'
        f"printf '\\036{nonce}{MARK}\\0%s\\0\\035{nonce}\\n' \"${{__ek_w-}}\" >&9\n"
    )


def _end(nonce: str) -> str:
    return (
        f"__ek_s=$?\nprintf '\\036{nonce}R\\0%s\\0%s\\0%s\\0\\035{nonce}\\n' "
        '"$__ek_s" "${PWD-}" "$__ek_s" >&7\n' + _mark(nonce)
    )


class PosixStreams:
    """A POSIX shell whose status, output and errors travel on two streams."""

    drops_input = True

    def init(self, shell_nonce: str, nonce: str) -> bytes:
        """The first lines of a shell, up to its first status record."""
        trap = f"trap {bash.quote(_dump(shell_nonce, 'D'))} EXIT\n"
        return (_SETUP + _ECHO + trap + ":\n" + _end(nonce)).encode()

    def line_one(
        self,
        command: str,
        *,
        stdin_path: str | None = None,
        is_tty: bool = False,
        terminal: str | None = None,
        outputs: tuple[str, str] | None = None,
        last_code: int = 0,
    ) -> bytes:
        """Deliver ``command``; ``last_code`` is what it will see in ``$?``."""
        del outputs
        status = f"__ek_r {last_code}\n" if last_code else ""
        text = bash.quote(command + "\n")
        source, rest = stdin_path or "</dev/null", ""
        if source.startswith("<<"):
            source, _, rest = source.partition("\n")
        streams = "<&6 >&6 2>&6" if is_tty else f"{source} >&8 2>&9"
        term = "" if terminal is None else f"TERM={bash.quote(terminal)} "
        line = f"{status}{term}command eval {text} {streams} 6>&- 8>&- 9>&-\n{rest}"
        return line.encode("utf-8", "surrogateescape")

    def take_terminal(self, path: str) -> bytes:
        """Make the terminal at ``path`` the shell's own, which leads its session and has none (credentials(7))."""
        return f"exec 6<>{bash.quote(path)}\n".encode()

    def line_two(self, nonce: str) -> bytes:
        """Report the end of what came before, on both streams."""
        return _end(nonce).encode()

    def query(self, nonce: str) -> bytes:
        """Report the shell's jobs: there are none."""
        return f"printf '\\036{nonce}J\\0\\0\\0\\035{nonce}\\n' >&7\n".encode()

    def take_snapshot(self, shell_nonce: str) -> bytes:
        """Report folder, exported variables and umask."""
        return f"{_dump(shell_nonce, 'P')}\n".encode()

    def unhide(self) -> bytes:
        """Nothing can be hidden here."""
        return b""

    def repair(self, nonce: str) -> bytes:
        """Ask for the status again: what stood behind the command was dropped."""
        return f"\n{_end(nonce)}".encode()

    def rewrap(self, shell_nonce: str, user_exit_trap: str | None) -> bytes:
        """Nothing that may run changes the EXIT trap."""
        del shell_nonce, user_exit_trap
        return b""

    def restore(self, snapshot: bash.Snapshot, shell_nonce: str, nonce: str, *, env_names: frozenset[str]) -> bytes:
        """Make a fresh shell what the old one was."""
        del shell_nonce
        missing = sorted(env_names - set(_EXPORTED.findall(snapshot.variables)))
        lines = [f"cd -- {bash.quote(snapshot.cwd)}", f"unset {' '.join(missing)}" if missing else ":"]
        lines += [snapshot.variables, f"umask {snapshot.umask.strip() or '022'}"]
        text = bash.quote("\n".join(lines) + "\n")
        script = f"command eval {text} >/dev/null 2>&1 </dev/null\n"
        return script.encode("utf-8", "surrogateescape") + _end(nonce).encode()

    @staticmethod
    def stdin_words(data: bytes, delimiter: str) -> str:
        """What makes a command read ``data``: a here-document, which always ends with a line break.

        Raises:
            CapabilityMissing: it cannot be given like that.
        """
        text = data.decode("utf-8", "surrogateescape")
        if "\0" in text or (text and not text.endswith("\n")):
            raise CapabilityMissing(_NO_NUL_OR_END, hint="End it with a line break, or put it into a file there.")
        return f"<<'{delimiter}'\n{text}{delimiter}\n" if text else "</dev/null"
