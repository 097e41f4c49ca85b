"""Landlock: what this process and its children may open, execute and connect to; this module is that mechanism.

Rights are named by letters, one rule a path:

    x  execute          r  read files        l  list folders
    w  write, create, remove, rename, link, truncate (no device nodes)      i  ioctl on devices

A folder's rule holds for everything below it; a file's rule for that file (never for its folder). What the kernel
is too old for is left out, and ``probe`` says so.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Sequence

from execkit_mcp.fence import kernel

__all__ = ["abi", "restrict"]

_X, _W, _R, _LIST = 1, 2, 4, 8
_RMDIR, _RMFILE, _MKDIR, _MKREG, _MKSOCK, _MKFIFO, _MKSYM = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 9, 1 << 10, 1 << 12
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_RIGHTS = {
    "x": _X,
    "r": _R,
    "l": _LIST,
    "w": _W | _RMDIR | _RMFILE | _MKDIR | _MKREG | _MKSOCK | _MKFIFO | _MKSYM | _REFER | _TRUNCATE,
    "i": _IOCTL,
}
_ON_FILES = _X | _W | _R | _TRUNCATE | _IOCTL
_KNOWN_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL = (1 << 16) - 1
_TCP_ABI, _SCOPE_ABI, _LOG_ABI = 4, 6, 7
_BIND, _CONNECT = 1, 2
_SCOPE_ABSTRACT, _SCOPE_SIGNAL = 1, 2


def abi() -> int:
    """The kernel's version of Landlock; 0: none."""
    try:
        return kernel.call("landlock_create_ruleset", 0, 0, 1)
    except OSError:
        return 0


def restrict(
    rules: Iterable[tuple[str, str]], *, tcp: "tuple[Sequence[int], Sequence[int]] | None", scopes: Sequence[str]
) -> None:
    """Restrict this thread for good; raises OSError. A path that is not there is left out.

    Args:
        rules: pairs of an absolute path and letters.
        tcp: the ports that may be connected to and bound; None: all.
        scopes: of ``signal`` and ``abstract``: reach nobody outside.
    """
    version = abi()
    handled = _KNOWN_BY_ABI.get(version, _ALL)
    net = _BIND | _CONNECT if tcp is not None and version >= _TCP_ABI else 0
    scoped = 0
    if version >= _SCOPE_ABI:
        scoped = (_SCOPE_ABSTRACT if "abstract" in scopes else 0) | (_SCOPE_SIGNAL if "signal" in scopes else 0)
    size = 24 if version >= _SCOPE_ABI else 16 if version >= _TCP_ABI else 8
    attributes = ctypes.create_string_buffer(struct.pack("QQQ", handled, net, scoped)[:size], size)
    ruleset = kernel.call("landlock_create_ruleset", attributes, size, 0)
    try:
        for path, letters in rules:
            _add_path(ruleset, path, letters, handled)
        if net and tcp is not None:
            for right, ports in zip((_CONNECT, _BIND), tcp, strict=True):
                for port in ports:
                    rule = ctypes.create_string_buffer(struct.pack("QQ", right, port), 16)
                    kernel.call("landlock_add_rule", ruleset, 2, rule, 0)
        kernel.call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _add_path(ruleset: int, path: str, letters: str, handled: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights = 0
        for letter in letters:
            rights |= _RIGHTS[letter]
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _ON_FILES
        if rights & handled:
            rule = ctypes.create_string_buffer(struct.pack("=Qi", rights & handled, fd), 12)
            kernel.call("landlock_add_rule", ruleset, 1, rule, 0)
    finally:
        os.close(fd)
