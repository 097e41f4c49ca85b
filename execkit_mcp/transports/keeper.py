"""Owner of every local shell, outliving the server just long enough to end them; this module is that process.

    server ── guardian (own session, subreaper, ignores INT, TERM, HUP)
      │           │
      ╰─ SOCK_SEQPACKET ─ keeper (the same)
                             ├── bash (session 1; subreaper)  ── what session 1 started
                             └── bash (session 2; subreaper)  ── …

Theory of operation
-------------------
A request is one packet of JSON, with descriptors beside it (SCM_RIGHTS); an answer or a report is one
packet too. Requests: ``spawn`` (a shell on a new PTY), ``kill`` (a shell and everything below it). Reports:
``exit``, ``stop``.

Every bash is a child subreaper, so whatever its commands start, daemonised or not, stays below it for as
long as it lives. When it dies, what it leaves comes to the keeper: a child of the keeper that is no shell
is an orphan of a dead shell, and is killed. When the socket ends, or the server's pidfd says that it is
gone, everything is killed until nothing is left. A tree is frozen (SIGSTOP) before it is killed, so that it
cannot fork its way out.

A command can kill its keeper (``kill -9``). The kernel then kills the shells (PDEATHSIG), and what they had started
falls to the guardian, which kills it and ends; if it is the guardian that dies, the keeper ends everything. A keeper
that is stopped (SIGSTOP) is continued by the guardian; each is continued when the one above it dies (PDEATHSIG), so
that a stopped one cannot sleep through its duty. Only who kills both at one blow leaves something behind, and
that falls to ``serve``, which is a subreaper too (``local.py``).

This file is run by path with ``python -I -S``: it imports the standard library and ptyprocess only, which
keeps the start at some 30 ms. ``local.py`` imports the names of its protocol from here.
"""

import array
import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import sys
import termios
from pathlib import Path
from typing import Any

__all__ = ["MAX_PACKET", "SHELL_FDS", "become_subreaper", "end_all_below", "end_trees", "main", "processes_below"]

SHELL_FDS = {"script": 0, "tty": 248, "stdin": 249, "status": 250, "stdout": 251, "stderr": 252}
"""The descriptors of a shell; its own 1 and 2 are ``/dev/null``."""

MAX_PACKET = 1 << 16
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_DEFAULT_SIGNALS = sorted(set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
_PASSES = 200
_MAX_SHELL_FILES = 65_536


def processes_below(root: int) -> dict[int, str]:
    """Every process below ``root`` with its state letter, from one walk over /proc."""
    children: dict[int, list[int]] = {}
    states: dict[int, str] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are all that is needed
        if not name.isdigit():
            continue
        try:
            fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split(None, 2)
        except OSError:
            continue
        pid = int(name)
        states[pid] = fields[0].decode()
        children.setdefault(int(fields[1]), []).append(pid)
    below: dict[int, str] = {}
    todo = [root]
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in below:
                below[pid] = states[pid]
                todo.append(pid)
    return below


def end_trees(roots: set[int], *, are_roots_spared: bool = False) -> None:
    """Freeze, then kill everything below ``roots``, and the roots themselves unless they are spared."""
    targets: set[int] = set() if are_roots_spared else set(roots)
    for pid in targets:
        _signal(pid, signal.SIGSTOP)
    for _ in range(_PASSES):
        found = {p for root in roots for p, state in processes_below(root).items() if state not in "ZX"}
        fresh = found - targets
        if not fresh:
            break
        for pid in fresh:
            _signal(pid, signal.SIGSTOP)
        targets |= fresh
    for pid in targets:
        _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


class _Keeper:
    """The loop; single-threaded, so that PDEATHSIG means the process."""

    def __init__(self, link: socket.socket, server_pid: int, folder: Path) -> None:
        self._link = link
        self._folder = folder
        self._shells: set[int] = set()
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        self._poll = select.poll()
        self._poll.register(link, select.POLLIN)
        self._guardian = os.getppid()
        self._others: list[int] = []
        for pid in (server_pid, self._guardian):
            with contextlib.suppress(OSError):
                self._others.append(os.pidfd_open(pid))
                self._poll.register(self._others[-1], select.POLLIN)
        wake_r, wake_w = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._wake = wake_r
        self._poll.register(wake_r, select.POLLIN)
        signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Until the server is gone; then nothing that it started is left."""
        try:
            while self._turn():
                pass
        finally:
            self._end_all()
            if os.getppid() == self._guardian:  # it may have been stopped
                _signal(self._guardian, signal.SIGCONT)

    def _turn(self) -> bool:
        ready = dict(self._poll.poll(20 if self._has_orphans() else None))
        if self._wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 4096)
        self._reap()
        if any(other in ready for other in self._others):
            return False
        if self._link.fileno() in ready:
            packet, fds, _, _ = socket.recv_fds(self._link, MAX_PACKET, 16)
            if not packet:
                return False
            self._handle(json.loads(packet), fds)
        return True

    def _handle(self, request: dict[str, Any], fds: list[int]) -> None:
        try:
            if request["op"] == "spawn":
                self._spawn(request, fds)
            elif request["op"] == "kill" and request["pid"] in self._shells:
                end_trees({request["pid"]})
        finally:
            for fd in fds:
                os.close(fd)

    def _report(self, message: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self._link.sendmsg([json.dumps(message).encode()], ancillary)

    def _spawn(self, request: dict[str, Any], fds: list[int]) -> None:
        from ptyprocess import PtyProcess  # noqa: PLC0415 - its folder is put on the path by main()

        with open(fds[0], "rb", closefd=False) as payload:
            spec = json.load(payload)
        names = ("script", "status", "stdout", "stderr", "stdin")
        sources = dict(zip(names, fds[1:], strict=True))
        env = {os.fsencode(key): os.fsencode(value) for key, value in spec["env"].items()}
        try:
            process = PtyProcess.spawn(
                spec["argv"],
                env=env,
                preexec_fn=lambda: self._become_shell(sources, spec["umask"], spec["cwd"]),
                dimensions=(spec["rows"], spec["cols"]),
                pass_fds=list(sources.values()),
            )
        except Exception as error:  # noqa: BLE001 - ptyprocess re-raises whatever class the child named
            self._report({"event": "failed", "id": request["id"], "reason": str(error)})
            return
        process.closed = True  # its close() would wait for and kill the shell: that is ours to do
        self._shells.add(process.pid)
        self._report({"event": "spawned", "id": request["id"], "pid": process.pid}, (process.fd,))
        process.fileobj.close()

    def _become_shell(self, sources: dict[str, int], umask: int, cwd: str) -> None:
        """In the child, just before the exec: descriptors, signals, limits, guardians."""
        os.chdir(cwd)  # here, because ptyprocess would let the error of its own chdir unwind into our loop
        self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        parked = {name: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 300) for name, fd in sources.items()}
        parked["tty"] = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 300)
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        for name, fd in parked.items():
            os.dup2(fd, SHELL_FDS[name])
        for fd in sources.values():
            if fd not in SHELL_FDS.values():
                os.set_inheritable(fd, False)
        if null > 2:  # noqa: PLR2004 - standard error is the last of the three
            os.close(null)
        for number in _DEFAULT_SIGNALS:
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        signal.set_wakeup_fd(-1)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY or soft > _MAX_SHELL_FILES:
            resource.setrlimit(resource.RLIMIT_NOFILE, (_MAX_SHELL_FILES, hard))
        os.umask(umask)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid not in self._shells:
                continue
            if os.WIFSTOPPED(status):
                self._report({"event": "stop", "pid": pid})
                continue
            self._shells.discard(pid)
            self._report({"event": "exit", "pid": pid, "code": os.waitstatus_to_exitcode(status)})

    def _has_orphans(self) -> bool:
        orphans = _children() - self._shells
        if orphans:
            end_trees(orphans)
        return bool(orphans)

    def _end_all(self) -> None:
        self._shells.clear()
        end_all_below()
        _remove(self._folder)


def end_all_below(spared: frozenset[int] = frozenset()) -> None:
    """Kill everything below this process until nothing is left, but not its children ``spared`` and their trees."""
    for _ in range(_PASSES):
        roots = _children() - spared
        if not roots:
            return
        end_trees(roots)
        for pid in roots:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        select.select([], [], [], 0.01)


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


def _guard(keeper: int, folder: Path) -> None:
    """Wait for the keeper to end, wake it whenever it is stopped, and end what it leaves."""
    while True:
        pid, status = os.waitpid(-1, os.WUNTRACED)
        if pid == keeper and os.WIFSTOPPED(status):
            os.kill(keeper, signal.SIGCONT)
        elif pid == keeper:
            break
    end_all_below()
    _remove(folder)


def become_subreaper() -> None:
    """Orphans below this process come to it from now on."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def continue_when_orphaned() -> None:
    """Have the kernel send SIGCONT when the parent dies: a stopped process would not see that it is on its own."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)


def _children() -> set[int]:
    pid = os.getpid()
    try:
        return {int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_bytes().split()}
    except OSError:  # a kernel without CONFIG_PROC_CHILDREN
        below = processes_below(pid)
        return {child for child in below if _parent(child) == pid}


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split(None, 2)[1])
    except OSError:
        return 0


def main(argv: list[str]) -> None:
    """Serve on the socket ``argv[0]`` for the server ``argv[1]``; ptyprocess stands in ``argv[2]``.

    ``argv[3]`` is the private folder of the server's FIFOs, removed at the end if it is there.
    """
    sys.path.append(argv[2])
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGQUIT,
        signal.SIGPIPE,
        signal.SIGTTOU,
    ):
        signal.signal(number, signal.SIG_IGN)
    folder = Path(argv[3])
    become_subreaper()
    continue_when_orphaned()
    pid = os.fork()
    if pid:
        os.close(int(argv[0]))
        _guard(pid, folder)
        return
    continue_when_orphaned()
    link = socket.socket(fileno=int(argv[0]))
    os.set_inheritable(link.fileno(), False)
    _Keeper(link, int(argv[1]), folder).serve()


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError, ConnectionResetError, termios.error):
        main(sys.argv[1:])
