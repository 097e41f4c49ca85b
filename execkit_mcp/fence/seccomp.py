"""A filter on system calls, and the notification of those that the exec gate looks at; this module is that mechanism.

The program is classic BPF, assembled here: other architectures and the x32 numbers are killed, a table of calls fails
with an error that programs know how to live with, `clone`, `prctl` and `ioctl` are looked at by argument, everything else
passes. The table's rows say why each group is closed, so that an operator can read them.
"""

import ctypes
import errno
import struct
from collections.abc import Sequence

from execkit_mcp.fence import kernel

__all__ = ["GROUPS", "install", "program"]

# Each row: the error that the calls fail with, the calls, why.
GROUPS: dict[str, tuple[int, tuple[str, ...], str]] = {
    "inspect": (
        errno.EPERM,
        ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "process_madvise"),
        "one process reads or steers another",
    ),
    "memory_files": (errno.EPERM, ("memfd_create", "memfd_secret"), "a program that is in no folder"),
    "exec_by_descriptor": (errno.ENOSYS, ("execveat", "uselib"), "an exec that names no path"),
    "rings": (
        errno.ENOSYS,
        ("io_uring_setup", "io_uring_enter", "io_uring_register"),
        "calls that no filter sees",
    ),
    "new_clone": (errno.ENOSYS, ("clone3",), "flags that a filter cannot read; `clone` does the same"),
    "mounts": (
        errno.EPERM,
        (
            "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig",
            "fsmount", "fspick", "mount_setattr", "open_by_handle_at", "quotactl", "quotactl_fd",
        ),
        "the file tree itself is changed",
    ),
    "namespaces": (errno.EPERM, ("unshare", "setns"), "a namespace where one is root"),
    "keys": (errno.EPERM, ("keyctl", "add_key", "request_key"), "the kernel's key rings"),
    "kernel": (
        errno.EPERM,
        (
            "bpf", "perf_event_open", "userfaultfd", "kexec_load", "kexec_file_load", "init_module", "finit_module",
            "delete_module", "acct", "swapon", "swapoff", "reboot", "iopl", "ioperm", "modify_ldt", "fanotify_init",
            "lookup_dcookie", "vhangup", "settimeofday", "clock_settime", "adjtimex", "sethostname", "setdomainname",
        ),
        "the machine itself",
    ),
}  # fmt: skip

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_ALLOW, _ERROR, _KILL, _NOTIFY = 0x7FFF0000, 0x00050000, 0x80000000, 0x7FC00000
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020000 | 0x80
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_PROT_EXEC, _MAP_ANONYMOUS, _PR_SET_MM = 4, 0x20, 35
_NUMBER, _ARCH, _ARG0 = 0, 4, 16
_SET_MODE_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 1 << 3, 1 << 5


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def _argument(index: int) -> int:
    return _ARG0 + 8 * index


def program(*, groups: Sequence[str], families: Sequence[str], notify: Sequence[str]) -> bytes:
    """The filter as bytes.

    Args:
        groups: rows of ``GROUPS`` that are closed.
        families: socket families that may be opened, of ``unix inet netlink``.
        notify: of ``execve`` and ``mmap`` (of a file, executable): answered by the exec gate.
    """
    code: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, kernel.audit_arch()),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
    ]
    for group in groups:
        error, calls, _ = GROUPS[group]
        for name in calls:
            number = kernel.NUMBERS.get(name)
            if number is not None:
                code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | error)]
    if "execve" in notify:
        code += [(_EQUAL, 0, 1, kernel.NUMBERS["execve"]), (_RETURN, 0, 0, _NOTIFY)]
    if "mmap" in notify:
        code += [
            (_EQUAL, 0, 6, kernel.NUMBERS["mmap"]),
            (_LOAD, 0, 0, _argument(2)),
            (_ANY_BIT, 0, 3, _PROT_EXEC),
            (_LOAD, 0, 0, _argument(3)),
            (_ANY_BIT, 1, 0, _MAP_ANONYMOUS),
            (_RETURN, 0, 0, _NOTIFY),
            (_RETURN, 0, 0, _ALLOW),
        ]
    if "namespaces" in groups:
        code += [
            (_EQUAL, 0, 4, kernel.NUMBERS["clone"]),
            (_LOAD, 0, 0, _argument(0)),
            (_ANY_BIT, 0, 1, _NEW_NAMESPACES),
            (_RETURN, 0, 0, _ERROR | errno.EPERM),
            (_RETURN, 0, 0, _ALLOW),
        ]
    if "inspect" in groups:
        code += _on_limits()
        code += _on_image()
    code += _on_ioctl()
    code += _on_socket(families)
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *each) for each in code)


def _on_limits() -> list[tuple[int, int, int, int]]:
    """Nobody sets another process's limits: a second of processor time would end the server. One's own may be set."""
    return [
        (_EQUAL, 0, 8, kernel.NUMBERS["prlimit64"]),
        (_LOAD, 0, 0, _argument(0)),
        (_EQUAL, 4, 0, 0),  # one's own
        (_LOAD, 0, 0, _argument(2)),
        (_EQUAL, 0, 3, 0),
        (_LOAD, 0, 0, _argument(2) + 4),
        (_EQUAL, 0, 1, 0),  # only read
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
    ]


def _on_image() -> list[tuple[int, int, int, int]]:
    """Nobody says that its program lies elsewhere in memory: that is how the gate knows a fork of the shell."""
    return [
        (_EQUAL, 0, 4, kernel.NUMBERS["prctl"]),
        (_LOAD, 0, 0, _argument(0)),
        (_EQUAL, 0, 1, _PR_SET_MM),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _on_ioctl() -> list[tuple[int, int, int, int]]:
    """Nobody types on a terminal in another's name, or changes what a terminal is."""
    closed = (_TIOCSTI, _TIOCLINUX, _TIOCSETD)
    code = [(_EQUAL, 0, len(closed) + 3, kernel.NUMBERS["ioctl"]), (_LOAD, 0, 0, _argument(1))]
    code += [(_EQUAL, len(closed) - index, 0, number) for index, number in enumerate(closed)]
    return [*code, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERROR | errno.EPERM)]


def _on_socket(families: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Only the families named; the rest are rare, and some of them reach past every other fence."""
    numbers = [
        number
        for word, members in (("unix", (_AF_UNIX,)), ("inet", (_AF_INET, _AF_INET6)), ("netlink", (_AF_NETLINK,)))
        if word in families
        for number in members
    ]
    code = [(_EQUAL, 0, len(numbers) + 3, kernel.NUMBERS["socket"]), (_LOAD, 0, 0, _argument(0))]
    code += [(_EQUAL, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    return [*code, (_RETURN, 0, 0, _ERROR | errno.EACCES), (_RETURN, 0, 0, _ALLOW)]


def install(code: bytes, *, has_listener: bool) -> int:
    """Put the filter on this thread for good; the listener's descriptor, or -1. Raises OSError."""
    buffer = ctypes.create_string_buffer(code, len(code))
    filled = _Program(len(code) // 8, ctypes.addressof(buffer))
    if not has_listener:
        kernel.call("seccomp", _SET_MODE_FILTER, 0, filled)
        return -1
    try:
        return kernel.call("seccomp", _SET_MODE_FILTER, _NEW_LISTENER | _WAIT_KILLABLE, filled)
    except OSError as error:
        if error.errno != errno.EINVAL:  # before Linux 5.19
            raise
        return kernel.call("seccomp", _SET_MODE_FILTER, _NEW_LISTENER, filled)
