r"""Bash over three streams (ssh, containers), word for word; this module is that dialect.

Status travels on standard output, between the commands' own bytes, each record with a nonce that lies unread in the
shell's input while a command runs. Standard error travels apart and may come later, so it gets an end mark of its own
(``S``) after each status record; the mark also says where the shell really stands, because ``$PWD`` is only what the
shell says of itself. The number of processes is the same as locally: none of ours, except when the folder changes.
"""

from execkit_mcp.protocol.dialects import bash

__all__ = ["MARK", "BashStreams", "stdin_words"]

MARK = "S"
"""The kind of the record on standard error."""

_B = "\\builtin "
_SETUP = "\\exec 250>&1 251>&1 252>&2 248</dev/null 249</dev/null >/dev/null 2>/dev/null\n"


def _mark(nonce: str) -> bytes:
    where = f'{_B}[ . -ef "${{__ek_w-}}" ] || __ek_w="$({_B}pwd -P)" || {_B}:'
    return (f"{where}\n{_B}printf '\\036{nonce}{MARK}\\0%s\\0\\035{nonce}\\n' \"${{__ek_w-}}\" >&252\n").encode()


def stdin_words(data: bytes) -> str:
    """What stands behind ``<`` so that a command reads ``data``: a builtin writes it into a pipe."""
    text = data.decode("utf-8", "surrogateescape").replace("\\", "\\\\").replace("\0", "\\0000")
    return f" <({_B}printf %b {bash.quote(text)})"


class BashStreams:
    """Bash whose status, output and errors travel on two streams."""

    drops_input = False
    line_one = staticmethod(bash.line_one)
    query = staticmethod(bash.query)
    take_snapshot = staticmethod(bash.take_snapshot)
    unhide = staticmethod(bash.unhide)

    def init(self, shell_nonce: str, nonce: str) -> bytes:
        """The first lines of a shell, up to its first status record."""
        return _SETUP.encode() + bash.init(shell_nonce, nonce, status_kind="p") + _mark(nonce)

    def take_terminal(self, path: str) -> bytes:
        """Make the terminal at ``path`` the shell's own, which leads its session and has none (credentials(7))."""
        return f"\\exec 248<>{bash.quote(path)}\n".encode()

    def line_two(self, nonce: str) -> bytes:
        """Report the end of what came before, on both streams."""
        return bash.line_two(nonce).encode() + _mark(nonce)

    def repair(self, nonce: str) -> bytes:
        """Undo what hides the builtins, then ask for the status again."""
        return bash.repair(nonce) + _mark(nonce)

    def rewrap(self, shell_nonce: str, user_exit_trap: str | None) -> bytes:
        """Put our EXIT trap before that of the user."""
        return bash.rewrap(shell_nonce, user_exit_trap, status_kind="p")

    def restore(self, snapshot: bash.Snapshot, shell_nonce: str, nonce: str, *, env_names: frozenset[str]) -> bytes:
        """Make a fresh shell what the old one was."""
        restored = bash.restore(snapshot, shell_nonce, nonce, env_names=env_names, status_kind="p")
        return restored + _mark(nonce)
