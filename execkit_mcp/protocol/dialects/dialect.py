"""What a session's machine says to its shell, whichever that is and however its bytes travel; this module is that port.

A dialect turns intentions into script. ``LOCAL`` is bash with a status descriptor of its own; others stand in modules
beside this one.
"""

from typing import Protocol

from execkit_mcp.protocol.dialects import bash

__all__ = ["LOCAL", "Dialect"]


class Dialect(Protocol):
    """One shell, spoken to over one kind of wire.

    Attributes:
        drops_input: whether it forgets what it has read already when SIGINT ends a command, so that it must be asked
            for the status again.
    """

    drops_input: bool

    def init(self, shell_nonce: str, nonce: str) -> bytes:
        """The first lines of a shell, up to its first status record."""
        ...

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
        """Deliver ``command``."""
        ...

    def line_two(self, nonce: str) -> bytes:
        """Report the end of what came before."""
        ...

    def query(self, nonce: str) -> bytes:
        """Report the shell's jobs."""
        ...

    def take_snapshot(self, shell_nonce: str) -> bytes:
        """Report the whole state."""
        ...

    def unhide(self) -> bytes:
        """Remove what hides the end of line one."""
        ...

    def repair(self, nonce: str) -> bytes:
        """Undo what hides these lines, then ask for the status again."""
        ...

    def rewrap(self, shell_nonce: str, user_exit_trap: str | None) -> bytes:
        """Put our EXIT trap before that of the user."""
        ...

    def restore(self, snapshot: bash.Snapshot, shell_nonce: str, nonce: str, *, env_names: frozenset[str]) -> bytes:
        """Make a fresh shell what the old one was."""
        ...


class _LocalBash:
    """Bash with descriptors of its own for status and outputs."""

    drops_input = False
    init = staticmethod(bash.init)
    line_one = staticmethod(bash.line_one)
    query = staticmethod(bash.query)
    take_snapshot = staticmethod(bash.take_snapshot)
    unhide = staticmethod(bash.unhide)
    repair = staticmethod(bash.repair)
    rewrap = staticmethod(bash.rewrap)
    restore = staticmethod(bash.restore)

    def line_two(self, nonce: str) -> bytes:
        """Report the end of what came before."""
        return bash.line_two(nonce).encode()


LOCAL: Dialect = _LocalBash()
