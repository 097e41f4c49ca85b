"""Who is at a local shell's terminal: the processes below it, looked at one by one (``seats``); this module asks.

A process can read what is typed if the terminal controls it, or if it holds a descriptor of it. The foreground is
the terminal's process group; a process outside the terminal's session that holds a descriptor is not stopped by job
control and counts as foreground too. What the kernel does not show of another user's process stays empty, and
whoever judges treats it as unknown.
"""

import fcntl
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec

from execkit_mcp.model.terminal import TerminalState
from execkit_mcp.transports import seats
from execkit_mcp.transports.keeper import processes_below

__all__ = ["discard_input", "look"]

_TIOCGPTN = 0x80045430


def _slave_of(master: int) -> str:
    """The path of a PTY's other side, in the file tree that it was made in."""
    number = struct.unpack("I", fcntl.ioctl(master, _TIOCGPTN, b"\0" * 4))[0]
    return f"/dev/pts/{number}"


def look(master: int, shell: int) -> TerminalState:
    """What stands at the PTY now. ``shell`` is the process id of the session's own shell."""
    return msgspec.convert(seats.look(master, _slave_of(master), shell, _seats(shell)), TerminalState)


def discard_input(master: int) -> None:
    """Throw away what was typed and nobody read."""
    seats.discard_input(master, _slave_of(master))


def _seats(shell: int) -> dict[int, list[bytes]]:
    """Every live process below the shell, with its stat fields."""
    below: dict[int, list[bytes]] = {}
    pending = [shell]
    while pending:
        for pid in _children(pending.pop()):
            fields = seats.fields_of(pid)
            if pid not in below and fields is not None and fields[0] not in b"ZX":
                below[pid] = fields
                pending.append(pid)
    return below


def _children(pid: int) -> Iterator[int]:
    """The children of all its threads; from a walk over /proc where the kernel keeps no list."""
    folder = f"/proc/{pid}/task"
    try:
        threads = os.listdir(folder)  # noqa: PTH208 - names are all that is needed
    except OSError:
        return
    for thread in threads:
        try:
            words = Path(f"{folder}/{thread}/children").read_bytes().split()
        except FileNotFoundError:
            if not Path("/proc/self/task", str(os.getpid()), "children").exists():
                yield from processes_below(pid)
                return
            continue  # the thread has ended
        except OSError:
            continue
        yield from map(int, words)
