"""Which file a path leads to when a process executes it, and what interprets that file; this module is that look.

A path is followed as the process would: in its file tree, from where it stands. What was found is remembered by the
file's identity (device, inode, times of change), which is looked at anew each time; an interpreter always is.
"""

import os
import stat
from collections.abc import Sequence
from typing import NamedTuple

from execkit_mcp.fence.steady import Mounts, SteadyPaths

__all__ = ["Executable", "Executables"]

_MAX_FILES = 2048
_MAX_DEPTH = 4  # as deep as the kernel follows interpreters
_Identity = tuple[int, int, int, int]


class Executable(NamedTuple):
    """A program on the disk; ``runs``: device and inode of what the kernel will run, a script's interpreter.

    ``interpreter`` is that one's file and ``word`` the word behind it in the first line, of a script. ``identity`` is
    that of the file, with its times of change. ``is_steady``: the path that was asked for can lead to no other file,
    and it is no script.
    """

    real: str
    runs: tuple[int, int]
    identity: _Identity
    interpreter: str = ""
    word: str = ""
    is_steady: bool = False


class Executables:
    """Of one shell's file tree; ``writable``: what the session may change there (None: nobody can tell)."""

    def __init__(self, shell: int, writable: Sequence[str] | None) -> None:
        self._root = os.open(f"/proc/{shell}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._shell = shell
        self._writable = writable
        self._paths: SteadyPaths | None = None
        self._first_lines: dict[_Identity, tuple[str, str]] = {}
        self._steady: dict[str, tuple[str, Executable]] = {}

    def close(self) -> None:
        """Let go of the tree."""
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    @property
    def can_be_steady(self) -> bool:
        """Whether it is known what the session may change."""
        return self._writable is not None

    def forget(self) -> None:
        """The file tree itself was changed."""
        self._paths = None
        self._steady.clear()

    def find(self, tid: int, path: str) -> Executable:
        """The file behind ``path`` for the process ``tid``; raises OSError."""
        known = self._steady.get(path)
        if known is not None and _identity(os.stat(known[0], dir_fd=self._root)) == known[1].identity:
            return known[1]
        if path.startswith(("/proc/self/", "/proc/thread-self/", "/dev/fd/")):
            rest = path.partition("/dev/fd/")[2]
            return self._open(f"/proc/{tid}/fd/{rest}" if rest else f"/proc/{tid}/{path.split('/', 3)[3]}")
        if not path.startswith("/"):
            return self._open(f"/proc/{tid}/cwd/{path}")
        file = self._open(f"/proc/{tid}/root{path}")
        if not file.interpreter and self._leads_on(path):
            file = file._replace(is_steady=True)
            if len(self._steady) >= _MAX_FILES:
                self._steady.clear()
            self._steady[path] = path.lstrip("/"), file
        return file

    def _leads_on(self, path: str) -> bool:
        if self._writable is None:
            return False
        if self._paths is None:
            try:
                with open(f"/proc/{self._shell}/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
                    self._paths = SteadyPaths(self._root, Mounts(mounts.read()), self._writable)
            except OSError:
                return False
        return self._paths.leads_on(path)

    def _open(self, path: str, depth: int = 0) -> Executable:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):  # opening a FIFO would wait for whoever made it
                raise PermissionError(path)
            real = os.readlink(f"/proc/self/fd/{fd}")
            identity = _identity(status)
            first_line = self._first_lines.get(identity)
            if first_line is None:
                first_line = _first_line(fd)
        finally:
            os.close(fd)
        if len(self._first_lines) >= _MAX_FILES:
            self._first_lines.clear()
        self._first_lines[identity] = first_line
        interpreter, word = first_line
        if not interpreter or depth > _MAX_DEPTH:
            return Executable(real, identity[:2], identity)
        process = "/".join(path.split("/")[:3])
        stands = f"{process}/root" if interpreter.startswith("/") else f"{process}/cwd/"
        inner = self._open(stands + interpreter, depth + 1)
        return Executable(real, inner.runs, identity, interpreter=inner.real, word=word)


def _first_line(fd: int) -> tuple[str, str]:
    """The interpreter that a file names in its first line, and the last word behind it; empty: none."""
    try:
        with open(f"/proc/self/fd/{fd}", "rb") as content:
            head = content.read(256)
    except OSError:  # a program that may be run and not be read
        return "", ""
    if not head.startswith(b"#!"):
        return "", ""
    words = os.fsdecode(head[2:].partition(b"\n")[0]).strip(" \t").split(None, 1)
    if not words:
        return "", ""
    return words[0], words[1].strip(" \t").split(" ")[-1] if len(words) > 1 else ""


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns
