"""What this machine's kernel, and whoever contains us, let us do; probed once, by doing it in a child."""

import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from execkit_mcp.fence import kernel, landlock, mounts, namespaces, privileges, seccomp, terminals

__all__ = ["MECHANISMS", "Probe", "masked", "probe"]

# mechanism: what an operator does where it is missing
MECHANISMS: Mapping[str, str] = {
    "landlock": "Use Linux 5.13 or later with `landlock` in the kernel's list of security modules (lsm=landlock,…).",
    "seccomp": "Use a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or aarch64.",
    "exec_gate": "Use Linux 5.9 or later, and let containers use seccomp user notification and ptrace.",
    "mount": "Run as root with CAP_SYS_ADMIN, or permit user namespaces (see `user`).",
    "user": "Set sysctl user.max_user_namespaces above 0 and kernel.unprivileged_userns_clone (or "
    "kernel.apparmor_restrict_unprivileged_userns) so that users may make namespaces.",
    "pid": "As for `user`.",
    "net": "As for `user`.",
    "ipc": "As for `user`.",
    "uts": "As for `user`.",
}
_NAMESPACES = ("mount", "pid", "net", "ipc", "uts")


class Probe(Struct, frozen=True, kw_only=True):
    """What can be had.

    Attributes:
        landlock_abi: version of Landlock; 0: none.
        has: the words of ``MECHANISMS`` that work here.
        is_root: whether namespaces are made without a user namespace.
        lacking: mechanism to why it is missing.
    """

    landlock_abi: int = 0
    has: frozenset[str] = frozenset()
    is_root: bool = False
    lacking: Mapping[str, str] = field(default_factory=dict)


def masked(found: Probe, missing: frozenset[str]) -> Probe:
    """``found`` as if the kernel had not had ``missing``."""
    return replace(
        found,
        landlock_abi=0 if "landlock" in missing else found.landlock_abi,
        has=found.has - missing,
        lacking={**found.lacking, **dict.fromkeys(missing, "masked")},
    )


@cache
def probe() -> Probe:  # noqa: C901, PLR0912 - one question after the other
    """What works here; costs a few milliseconds the first time."""
    has: set[str] = set()
    lacking: dict[str, str] = {}
    abi = landlock.abi()
    if abi:
        has.add("landlock")
    else:
        lacking["landlock"] = "the kernel has no Landlock"
    if not kernel.audit_arch():
        lacking["seccomp"] = lacking["exec_gate"] = "system calls of this processor are not known to us"
    elif not _has_action(0x00050000):
        lacking["seccomp"] = lacking["exec_gate"] = "the kernel has no seccomp filter"
    else:
        has.add("seccomp")
        if not _has_action(0x7FC00000):
            lacking["exec_gate"] = "the kernel has no seccomp user notification"
        elif not _succeeds(_listen):
            lacking["exec_gate"] = "another supervisor answers for this process, or a container forbids it"
        elif not _can_trace():
            lacking["exec_gate"] = "ptrace is forbidden here, so what was executed could not be verified"
        else:
            has.add("exec_gate")
    is_root = os.geteuid() == 0 and _can_unshare(("mount",))
    if not is_root:
        if _can_unshare(("user",)):
            has.add("user")
        else:
            lacking["user"] = "user namespaces are forbidden here"
    for name in _NAMESPACES:
        names = (name,) if is_root else ("user", name)
        if not _can_unshare(names):
            lacking[name] = f"{name} namespaces are forbidden here"
        elif name == "mount" and not _succeeds(partial(_mount_terminals, names)):
            lacking[name] = "mounts are forbidden here, even in a namespace of one's own"
        else:
            has.add(name)
    return Probe(landlock_abi=abi, has=frozenset(has), is_root=is_root, lacking=lacking)


def _has_action(action: int) -> bool:
    import ctypes  # noqa: PLC0415

    word = ctypes.create_string_buffer(action.to_bytes(4, "little"), 4)
    try:
        kernel.call("seccomp", 2, 0, word)
    except OSError:
        return False
    return True


def _can_unshare(names: tuple[str, ...]) -> bool:
    return _succeeds(lambda: namespaces.unshare(names))


def _mount_terminals(names: tuple[str, ...]) -> None:
    namespaces.unshare(names)
    mounts.separate()
    terminals.mount_own()


def _listen() -> None:
    privileges.forbid_new_privileges()
    seccomp.install(seccomp.program(groups=(), families=("unix",), notify=("execve",)), has_listener=True)


def _can_trace() -> bool:
    """Whether a child can be seized."""
    pid = os.fork()
    if pid == 0:
        try:
            signal.pause()
        finally:
            os._exit(0)
    try:
        return kernel.ptrace(0x4206, pid)
    finally:
        os.kill(pid, signal.SIGKILL)
        _reap(pid)


def _succeeds(attempt: Callable[[], None]) -> bool:
    """Whether a child that tries it succeeds."""
    said, says = os.pipe2(os.O_CLOEXEC)  # its exit code may go to somebody else: see _reap
    pid = os.fork()
    if pid == 0:
        try:
            attempt()
            os.write(says, b"1")
        finally:
            os._exit(0)
    os.close(says)
    try:
        return os.read(said, 1) == b"1"
    finally:
        os.close(said)
        _reap(pid)


def _reap(pid: int) -> None:
    """Wait for a child; where the embedding program ignores SIGCHLD, or reaps every child, it is gone already."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def loaders() -> tuple[str, ...]:
    """The dynamic loaders of this machine, links followed."""
    names = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-linux.so.2", "/lib/ld-musl-x86_64.so.1",
             "/lib/ld-musl-aarch64.so.1", "/libx32/ld-linux-x32.so.2")  # fmt: skip
    return tuple(sorted({os.path.realpath(name) for name in names if Path(name).exists()}))
