"""System calls that Python has no name for, by number; standard library only, because the keeper imports it."""

import ctypes
import os
import platform

__all__ = ["NUMBERS", "audit_arch", "call", "prctl"]

_X86_64 = {
    "execve": 59, "execveat": 322, "mmap": 9, "clone": 56, "clone3": 435, "ioctl": 16, "socket": 41, "ptrace": 101,
    "process_vm_readv": 310, "process_vm_writev": 311, "memfd_create": 319, "memfd_secret": 447, "io_uring_setup": 425,
    "io_uring_enter": 426, "io_uring_register": 427, "userfaultfd": 323, "bpf": 321, "perf_event_open": 298,
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308, "keyctl": 250,
    "add_key": 248, "request_key": 249, "kexec_load": 246, "kexec_file_load": 320, "init_module": 175,
    "finit_module": 313, "delete_module": 176, "open_by_handle_at": 304, "move_mount": 429, "open_tree": 428,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "open_tree_attr": 467,
    "pidfd_getfd": 438, "uselib": 134, "acct": 163, "swapon": 167, "swapoff": 168, "reboot": 169, "kcmp": 312,
    "process_madvise": 440, "modify_ldt": 154, "iopl": 172, "ioperm": 173, "quotactl": 179, "quotactl_fd": 443,
    "seccomp": 317, "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
    "mknod": 133, "mknodat": 259, "syslog": 103, "fanotify_init": 300, "lookup_dcookie": 212, "vhangup": 153,
    "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "sethostname": 170, "setdomainname": 171, "prlimit64": 302,
    "prctl": 157, "io_setup": 206, "io_destroy": 207, "io_getevents": 208, "io_submit": 209,
}  # fmt: skip
_AARCH64 = {
    "execve": 221, "execveat": 281, "mmap": 222, "clone": 220, "clone3": 435, "ioctl": 29, "socket": 198, "ptrace": 117,
    "process_vm_readv": 270, "process_vm_writev": 271, "memfd_create": 279, "memfd_secret": 447, "io_uring_setup": 425,
    "io_uring_enter": 426, "io_uring_register": 427, "userfaultfd": 282, "bpf": 280, "perf_event_open": 241,
    "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "unshare": 97, "setns": 268, "keyctl": 219,
    "add_key": 217, "request_key": 218, "kexec_load": 104, "kexec_file_load": 294, "init_module": 105,
    "finit_module": 273, "delete_module": 106, "open_by_handle_at": 265, "move_mount": 429, "open_tree": 428,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "open_tree_attr": 467,
    "pidfd_getfd": 438, "acct": 89, "swapon": 224, "swapoff": 225, "reboot": 142, "kcmp": 272, "process_madvise": 440,
    "quotactl": 60, "quotactl_fd": 443, "seccomp": 277, "landlock_create_ruleset": 444, "landlock_add_rule": 445,
    "landlock_restrict_self": 446, "mknodat": 33, "syslog": 116, "fanotify_init": 262, "lookup_dcookie": 18,
    "vhangup": 58, "settimeofday": 170, "clock_settime": 112, "adjtimex": 171, "sethostname": 161, "setdomainname": 162,
    "prlimit64": 261, "prctl": 167, "io_setup": 0, "io_destroy": 1, "io_getevents": 4, "io_submit": 2,
}  # fmt: skip

_TABLES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}
_ARCH, NUMBERS = _TABLES.get(platform.machine(), (0, {}))

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def audit_arch() -> int:
    """The number by which seccomp knows this machine's calls; 0 where it is not known to us."""
    return _ARCH


def call(name: str, *arguments: "int | bytes | ctypes.Array[ctypes.c_char] | ctypes.Structure | None") -> int:
    """Make a system call; raises OSError, ENOSYS also where its number is not known for this machine."""
    number = NUMBERS.get(name)
    if number is None:
        raise OSError(38, "Function not implemented", name)
    words = [
        ctypes.c_long(each)
        if isinstance(each, int)
        else ctypes.byref(each)
        if isinstance(each, ctypes.Structure)
        else each
        for each in arguments
    ]
    result: int = _libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), name)
    return result


def prctl(option: int, value: int = 0) -> int:
    """``prctl(option, value, 0, 0, 0)``; raises OSError."""
    result: int = _libc.prctl(option, value, 0, 0, 0)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), f"prctl {option}")
    return result


def personality() -> int:
    """How programs are executed below this process: bits of ``personality(2)``."""
    result: int = _libc.personality(ctypes.c_ulong(0xFFFFFFFF))
    return max(result, 0)


def ptrace(request: int, pid: int, data: int = 0) -> bool:
    """``ptrace(request, pid, 0, data)``; whether it could be done."""
    return bool(_libc.ptrace(request, pid, None, data) >= 0)


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """``mount(2)``; raises OSError that names the target."""
    result: int = _libc.mount(
        os.fsencode(source) or None,
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        os.fsencode(data) or None,
    )
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)
