"""A user, file tree, process table, network, IPC and host name of one's own; this module is that mechanism."""

import ctypes
import fcntl
import os
import signal
import socket
import struct
from collections.abc import Sequence

from execkit_mcp.fence import kernel, privileges

__all__ = ["FLAGS", "become_first_process", "join", "listen_inside", "loopback_up", "unshare"]

FLAGS = {
    "mount": 0x20000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
_CLONE_PARENT = 0x8000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(names: Sequence[str]) -> None:
    """Enter new namespaces; in a user namespace one stays who one was, and is nobody else. Raises OSError."""
    flags = 0
    for name in names:
        flags |= FLAGS[name]
    if not flags:
        return
    uid, gid = os.geteuid(), os.getegid()
    privileges.may_be_inspected()  # else the maps below belong to root
    kernel.call("unshare", flags)
    if "user" in names:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def join(pid: int) -> None:
    """Enter the user and mount namespaces of a process; where they are ours already nothing happens. Raises OSError."""
    for name in ("user", "mnt"):
        fd = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            theirs, ours = os.fstat(fd), os.stat(f"/proc/self/ns/{name}")
            if theirs.st_ino != ours.st_ino and _libc.setns(fd, 0) < 0:
                error = ctypes.get_errno()
                raise OSError(error, os.strerror(error), f"the {name} namespace of {pid}")
        finally:
            os.close(fd)


def become_first_process(tell: int) -> None:
    """After ``unshare`` of ``pid``: go on as its first process, a child of our own parent.

    The caller's process ends; the new one's id, as the outside counts, is written to the descriptor ``tell``. What the
    new one says there comes after that: whoever hears it knows whose it is. Raises OSError.
    """
    has_told, tells = os.pipe()
    child = kernel.call("clone", _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if child:
        os.write(tell, b"pid" + struct.pack("i", child))
        os.write(tells, b"!")
        os._exit(0)
    os.close(tells)
    if not os.read(has_told, 1):
        raise ProcessLookupError("what it was to be started by was killed")
    os.close(has_told)


def loopback_up() -> None:
    """In a new network namespace: switch its loopback interface on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16xH14x", fcntl.ioctl(probe, _SIOCGIFFLAGS, request))[0]
        fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def listen_inside(port: int) -> socket.socket:
    """A listener on this namespace's loopback; whoever is handed it serves from outside."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    return listener
