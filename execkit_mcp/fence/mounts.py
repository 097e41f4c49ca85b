"""A file tree of its own: binds, empty covers, overlays, flags on mounts; this module is that mechanism.

Operations are carried out in order in a mount namespace that was just made; nothing of them is seen outside.
"""

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Mapping, Sequence

from execkit_mcp.fence import kernel
from execkit_mcp.fence.refused_names import known_from, standing_below, standing_now

__all__ = ["arrange", "separate"]

_RDONLY, _NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE, _SLAVE = 1, 2, 4, 8, 4096, 16384, 1 << 18, 1 << 19
_MNT_DETACH = 2
_AT_RECURSIVE, _AT_FDCWD = 0x8000, -100
_SET = {"ro": _RDONLY, "nosuid": _NOSUID, "nodev": _NODEV, "noexec": _NOEXEC}
_CLEAR = {"rw": _RDONLY, "suid": _NOSUID, "dev": _NODEV, "exec": _NOEXEC}
_HIDDEN = "size=4k,nr_inodes=1,mode=000"


def separate() -> None:
    """What is mounted here is not seen outside; what the machine mounts later is seen here."""
    kernel.mount("", "/", "", _REC | _SLAVE)


def arrange(operations: Sequence[Mapping[str, object]]) -> None:
    """Carry out the plan's operations; raises OSError that names the path."""
    for each in operations:
        options = tuple(str(word) for word in _words(each.get("options")))
        _carry_out(
            str(each["op"]),
            target=str(each["target"]),
            source=str(each.get("source", "")),
            options=options,
            data=str(each.get("data", "")),
        )


def _words(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _carry_out(  # noqa: C901, PLR0912 - one operation after the other
    op: str, *, target: str, source: str, options: tuple[str, ...], data: str
) -> None:
    if op == "bind":
        kernel.mount(source or target, target, "", _BIND | (_REC if "rec" in options else 0))
        _set_flags(target, options)
    elif op == "attr":
        _set_flags(target, options)
    elif op == "hide":
        _hide(target)
    elif op == "hide_named":
        name, path = options
        known = standing_now(target, known_from(data.split("\0")))
        for found in dict.fromkeys((*known, *standing_below(target, name=name, path=path))):
            _hide(found)
    elif op in {"tmpfs", "overlay", "proc"}:
        kernel.mount(op, target, op, _NOSUID | _NODEV | (_NOEXEC if "noexec" in options else 0), data)
        _set_flags(target, tuple(word for word in options if word == "ro"))
    elif op == "mkdir":
        os.makedirs(target, exist_ok=True)
    elif op == "file":
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    elif op == "symlink":
        os.symlink(source, target)
    elif op == "settle":
        _settle(target)
    elif op == "detach":
        _detach(target)
    elif op == "pivot":
        _pivot(target)
    else:
        raise OSError(22, f"unknown mount operation {op}", target)


def _hide(target: str) -> None:
    """An empty closed folder over a folder, a device that cannot be opened over a file."""
    try:
        mode = os.stat(target).st_mode
    except OSError:
        return
    if stat.S_ISDIR(mode):
        kernel.mount("tmpfs", target, "tmpfs", _RDONLY | _NOSUID | _NODEV | _NOEXEC, _HIDDEN)
    else:
        kernel.mount("/dev/null", target, "", _BIND)
        _set_flags(target, ("ro", "nodev", "noexec", "nosuid"))


def _set_flags(target: str, options: tuple[str, ...]) -> None:
    wanted = cleared = 0
    for word in options:
        wanted |= _SET.get(word, 0)
        cleared |= _CLEAR.get(word, 0)
    if not wanted and not cleared:
        return
    attributes = ctypes.create_string_buffer(struct.pack("QQQQ", wanted, cleared, 0, 0), 32)
    flags = _AT_RECURSIVE if "rec" in options else 0
    kernel.call("mount_setattr", _AT_FDCWD, os.fsencode(target) + b"\0", flags, attributes, 32)


def _pivot(target: str) -> None:
    """Make ``target`` (a mount) the root and let go of the old one."""
    here = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.chdir(target)
    kernel.call("pivot_root", b".\0", b".\0")
    os.fchdir(here)
    kernel.mount("", ".", "", _REC | _PRIVATE)
    _detach(".")
    os.chdir("/")
    os.close(here)


def _detach(target: str) -> None:
    """Take the topmost mount at ``target`` out of the tree; who stands in it goes on standing in it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(os.fsencode(target), _MNT_DETACH) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def _settle(target: str) -> None:
    """Let a work folder that a volatile overlay left be used again: what it wrote is there, nothing has crashed."""
    with contextlib.suppress(OSError):
        os.unlink(f"{target}/work/incompat/volatile/dirty")
    for name in ("volatile", ""):
        with contextlib.suppress(OSError):
            os.rmdir(f"{target}/work/incompat/{name}")
