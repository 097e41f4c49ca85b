"""Who can read what is typed on a terminal, and how it is set up, read from the kernel: the looking itself.

It imports the standard library only and keeps to Python 3.8, because the same text looks here and, sent along, on a
host (``ssh/sent_terminal``). What it says is plain data, for ``TerminalState``.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
import termios
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["device_of", "discard_input", "everybody", "fields_of", "identity_of", "link_of", "look", "resize"]

_NAMESPACES = ("mnt", "pid", "net", "user")
_MAX_FDS = 256
_STAT_PARENT, _STAT_GROUP, _STAT_SESSION, _STAT_TTY, _STAT_START = 1, 2, 3, 4, 19
_MOVED = termios.ISTRIP | termios.INLCR | termios.IGNCR | getattr(termios, "IUCLC", 0)
_CONTROL_FROM, _DELETE, _KILL = 0x20, 0x7F, b"\x15"
_WAITS = ("n_tty_read", "wait_woken")
_DELETED = " (deleted)"
_TTY = "/dev/tty"
_TIOCGPTPEER = 0x5441
_UNKNOWN = (errno.ENOTTY, errno.EINVAL)


def look(
    master: int, slave: str, shell: int, seats: Mapping[int, list[bytes]], *, mark: bytes | None = None
) -> dict[str, Any]:
    """What stands at the PTY now.

    Args:
        master: its descriptor.
        slave: the path of its other side, as the processes there see it.
        shell: the process id of the session's own shell.
        seats: the processes that may be at it, with their stat fields.
        mark: what finds the session's own processes by their environment, if ``seats`` holds others too; its shell
            has no job control then, and what it starts is in its own process group.
    """
    try:
        group = os.tcgetpgrp(master)
        attributes = termios.tcgetattr(master)
    except (OSError, termios.error):
        return {"processes": [], "is_shell_in_front": False, "is_line_mode": True, "has_echo": False}
    modes = attributes[3]
    device = device_of(shell)
    processes = []
    for pid, fields in sorted(seats.items()):
        is_controlled = device != 0 and int(fields[_STAT_TTY]) == device
        if not is_controlled:
            # who opened /dev/tty and then left the session has it still, but under that name
            names = {slave, _TTY} if int(fields[_STAT_TTY]) == 0 and _is_ours(pid, mark) else {slave}
            if not _holds(pid, names):
                continue
        is_foreground = int(fields[_STAT_GROUP]) == group or not is_controlled
        if mark is not None and is_controlled and is_foreground:  # beside jobs of earlier commands, which read nothing
            is_foreground = _holds(pid, {slave, _TTY}) is not False
        found = _process(pid, fields, shell, is_foreground=is_foreground)
        if found is not None:
            processes.append(found)
    is_in_front = group == shell and not (mark is not None and any(each["is_foreground"] for each in processes))
    return {
        "processes": processes,
        "is_shell_in_front": is_in_front,
        "is_line_mode": bool(modes & termios.ICANON),
        "has_echo": bool(modes & termios.ECHO),
        "unread_bytes": _unread(master, slave),
        "is_plain": _is_plain(attributes),
    }


def identity_of(state: Mapping[str, Any]) -> list[object]:
    """What must be the same when bytes are written as when they were judged; as ``TerminalState.identity``."""
    names = ("pid", "started", "path", "argv", "cwd", "is_foreground")
    programs = [[each[name] for name in names] for each in state["processes"]]
    rest = [state[name] for name in ("is_shell_in_front", "is_line_mode", "has_echo")]
    return [programs, *rest, state.get("is_plain", True)]


def everybody(but: frozenset[int]) -> dict[int, list[bytes]]:
    """Every live process of the machine except ``but``, with its stat fields."""
    found = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are all that is needed
        if name.isdigit() and int(name) not in but:
            fields = fields_of(int(name))
            if fields is not None and fields[0] not in b"ZX":
                found[int(name)] = fields
    return found


def resize(master: int, cols: int, rows: int) -> None:
    """Set the window size; the kernel sends SIGWINCH."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def discard_input(master: int, slave: str) -> None:
    """Throw away what was typed and nobody read."""
    with contextlib.suppress(OSError, termios.error), _opened(master, slave) as fd:
        termios.tcflush(fd, termios.TCIFLUSH)


def fields_of(pid: int) -> list[bytes] | None:
    """The fields of ``/proc/PID/stat`` behind the name: state, parent, group, session, terminal and so on."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None


def device_of(pid: int) -> int:
    """The number of the terminal that controls a process; 0: none."""
    fields = fields_of(pid)
    return int(fields[_STAT_TTY]) if fields is not None else 0


def _is_plain(attributes: list[Any]) -> bool:
    characters = [each if isinstance(each, bytes) else bytes([each]) for each in attributes[6]]
    kill = characters[termios.VKILL]
    numbers = (termios.VMIN, termios.VTIME)
    special = {each[0] for at, each in enumerate(characters) if at not in numbers and each}
    return not attributes[0] & _MOVED and kill == _KILL and all(c < _CONTROL_FROM or c == _DELETE for c in special)


def _is_ours(pid: int, mark: bytes | None) -> bool:
    if mark is None:
        return True
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _holds(pid: int, paths: set[str]) -> bool | None:
    """Whether a process has one of ``paths`` open; None where that cannot be told."""
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is needed
    except OSError:
        return None
    for name in names[:_MAX_FDS]:
        with contextlib.suppress(OSError):
            if os.readlink(f"{folder}/{name}") in paths:  # noqa: PTH115 - cheap
                return True
    return None if len(names) > _MAX_FDS else False


def _process(pid: int, fields: list[bytes], shell: int, *, is_foreground: bool) -> dict[str, Any] | None:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        owner = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None
    path = link_of(pid, "exe")
    return {
        "pid": pid,
        "started": int(fields[_STAT_START]),
        "parent": int(fields[_STAT_PARENT]),
        "path": path[: -len(_DELETED)] if path.endswith(_DELETED) else path,  # noqa: FURB188 - 3.8
        "argv": [word.decode("utf-8", "replace") for word in words],
        "cwd": link_of(pid, "cwd"),
        "is_foreground": is_foreground,
        "is_confined": _is_confined(pid, shell),
        "is_root": owner == 0,
        "is_reading": fields[0] == b"S" and _is_reading(pid),
        "naps": _naps(pid) if is_foreground else 0,
    }


def _naps(pid: int) -> int:
    """The voluntary context switches of the process."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith("voluntary_ctxt_switches:"):
            return int(line.split()[1])
    return 0


def _is_reading(pid: int) -> bool:
    """Whether it sleeps in a read of a terminal, as far as the kernel says; False where it does not."""
    try:
        return Path(f"/proc/{pid}/wchan").read_text(encoding="ascii", errors="replace") in _WAITS
    except OSError:
        return False


def link_of(pid: int, name: str) -> str:
    """Where a link of ``/proc/PID`` leads; empty where the kernel does not say."""
    try:
        return os.readlink(f"/proc/{pid}/{name}")  # noqa: PTH115 - cheap
    except OSError:
        return ""


def _is_confined(pid: int, shell: int) -> bool:
    """Whether it sees other files or processes than the session's shell, which may stand behind a fence itself."""
    if link_of(pid, "root") not in {"/", ""}:
        return True
    for name in _NAMESPACES:
        theirs = link_of(pid, f"ns/{name}")
        if theirs and theirs != link_of(shell, f"ns/{name}"):
            return True
    return False


def _unread(master: int, slave: str) -> int:
    try:
        with _opened(master, slave) as fd:
            return int(struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0])
    except OSError:
        return 0


@contextlib.contextmanager
def _opened(master: int, slave: str) -> Iterator[int]:
    """The other side; asked of ``master``, as its path may belong to another file tree (ioctl_tty(2), TIOCGPTPEER)."""
    flags = os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = fcntl.ioctl(master, _TIOCGPTPEER, flags)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        fd = os.open(slave, flags)
    try:
        yield fd
    finally:
        os.close(fd)
