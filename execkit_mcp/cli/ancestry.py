"""Whether this process descends from an execkit session: there, nobody may approve.

A session's shell carries ``EXECKIT_SESSION`` in its environment. A child can unset its own copy, not the one that
``/proc/PID/environ`` shows of the shell above it, so the parents are asked too. A process that leaves its parents
behind (a double fork) does not leave the session: its shell, or a durable job's process, takes orphans in
(PR_SET_CHILD_SUBREAPER) and carries the mark as well. What this cannot stop is a program that writes into the state
folder by itself, or that has another daemon of this user start ours; the fence, an approver's code, or a user id of its
own do.
"""

import os
from pathlib import Path

__all__ = ["MARK", "is_inside_a_session"]

MARK = "EXECKIT_SESSION"
_MAX_PARENTS = 64


def is_inside_a_session() -> bool:
    """Whether this process or one above it belongs to a session; False where /proc does not tell."""
    if MARK in os.environ:
        return True
    pid = os.getpid()
    for _ in range(_MAX_PARENTS):
        if pid <= 1:
            return False
        if any(entry.startswith(f"{MARK}=".encode()) for entry in _environment(pid)):
            return True
        pid = _parent(pid)
    return False


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _parent(pid: int) -> int:
    try:
        # The name, in brackets, may hold anything: what follows its last bracket is "state ppid …" (proc(5)).
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0
