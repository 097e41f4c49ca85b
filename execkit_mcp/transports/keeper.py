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

A shell with a fence goes inside in its own child, just before the exec (``execkit_mcp.fence.enter``); its exec gate is
served here, in the one loop, because only an ancestor may stop a process before its first instruction everywhere. Such
a shell is ``spawned`` when its exec has happened, so nothing here ever waits for it.

This file is run by path with ``python -I -S``: it imports the standard library, ptyprocess and what a fence needs only,
which keeps the start at some 30 ms. ``local.py`` imports the names of its protocol from here. Over 400 lines: the
loop, the shells and what ends them are one life.
"""

import array
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from execkit_mcp.fence.exec_gate import ExecGate
    from execkit_mcp.fence.second_stop import Board

__all__ = [
    "LONG_MESSAGE",
    "MAX_PACKET",
    "SHELL_FDS",
    "become_subreaper",
    "end_all_below",
    "end_trees",
    "end_with_parent",
    "main",
    "processes_below",
    "reset_signals",
]

SHELL_FDS = {"script": 0, "tty": 248, "stdin": 249, "status": 250, "stdout": 251, "stderr": 252}
"""The descriptors of a shell; its own 1 and 2 are ``/dev/null``."""

MAX_PACKET = 1 << 16
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_CHANGEABLE_SIGNALS = sorted(set(range(1, signal.NSIG)) - {signal.SIGKILL, signal.SIGSTOP})
_RT_SIGACTION = {"x86_64": 13, "aarch64": 134}.get(os.uname().machine)
_PASSES, _QUIET_PASSES = 200, 2
_CLOSE_RANGE_CLOEXEC = 4
_NEEDED_FILES = 512
_LEAST_SHELL_FILES, _MAX_SHELL_FILES = 1024, 65_536
_WALL = 0x40000000
LONG_MESSAGE = 40_000
_LOOK_MS = 20
_MAX_FDS = 32
_SIGNAL_SET_BYTES = 128


class _Pending:
    """A fenced shell on its way: what came back from the child so far."""

    def __init__(self, number: int, pid: int, link: socket.socket, spec: dict[str, Any]) -> None:
        self.number = number
        self.pid = pid
        self.link = link
        self.plan = spec["fence"]
        self.size = struct.pack("HHHH", spec["rows"], spec["cols"], 0, 0)
        self.terminal: list[int] = []
        self.listeners: list[int] = []
        self.end: dict[str, Any] | None = None

    def take_terminal(self, master: int) -> None:
        """It is the shell's own."""
        os.set_inheritable(master, False)
        fcntl.ioctl(master, termios.TIOCSWINSZ, self.size)
        self.terminal = [master]


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
    quiet = 0
    for _ in range(_PASSES):
        fresh = _below(roots) - targets
        quiet = 0 if fresh else quiet + 1
        if quiet == _QUIET_PASSES:
            break
        for pid in fresh:
            _signal(pid, signal.SIGSTOP)
        targets |= fresh
    for pid in targets:
        _signal(pid, signal.SIGKILL)


def _below(roots: set[int]) -> set[int]:
    """What lives below ``roots``, by the kernel's lists of children where it keeps them.

    Unlike a walk over /proc this costs nothing for the rest of the machine. Who reads a list just as somebody on it
    ends may miss another: look twice.
    """
    below: set[int] = set()
    todo = list(roots)
    while todo:
        children = _children_of(todo.pop())
        if children is None:
            return {p for root in roots for p, state in processes_below(root).items() if state not in "ZX"}
        todo += children - below
        below |= children
    return below


def _children_of(pid: int) -> set[int] | None:
    """The children of all threads of a process; None where the kernel has no such list (CONFIG_PROC_CHILDREN)."""
    found: set[int] = set()
    folder = f"/proc/{pid}/task"
    try:
        threads = os.listdir(folder)  # noqa: PTH208 - names are all that is needed
    except OSError:
        return found
    for thread in threads:
        try:
            found.update(map(int, Path(folder, thread, "children").read_bytes().split()))
        except FileNotFoundError:
            if not Path("/proc/thread-self/children").exists():
                return None
        except OSError:
            continue
    return found


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def shell_files(soft: int, hard: int) -> int:
    """How many descriptors a shell may have where a process may have ``soft``, and ask for ``hard``.

    No endless number, as some programs try each of them, and enough for ``SHELL_FDS``.

    >>> shell_files(256, 4096), shell_files(20_000, 20_000), shell_files(-1, -1), shell_files(64, 512)
    (1024, 20000, 65536, 512)
    """
    most = _MAX_SHELL_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_SHELL_FILES)
    return most if soft == resource.RLIM_INFINITY else min(max(soft, _LEAST_SHELL_FILES), most)


class _Keeper:
    """The loop; single-threaded, so that PDEATHSIG means the process."""

    def __init__(self, link: socket.socket, server_pid: int, folder: Path) -> None:
        self._link = link
        self._folder = folder
        self._shells: set[int] = set()
        self._pending: dict[int, _Pending] = {}
        self._gates: dict[int, ExecGate] = {}
        self._board: Board | None = None
        self._looked_s = 0.0
        self._gate_of: dict[int, ExecGate] = {}
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        self._poll = select.poll()
        self._poll.register(link, select.POLLIN)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._shell_files = (shell_files(soft, hard), hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # ours grow with the shells
        self._guardian = os.getppid()
        self._others: list[int] = []
        for pid in (server_pid, self._guardian):
            with contextlib.suppress(OSError):
                self._others.append(os.pidfd_open(pid))
                self._poll.register(self._others[-1], select.POLLIN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        self._ended = self._signal_fd(signal.SIGCHLD)
        self._poll.register(self._ended, select.POLLIN)

    def _signal_fd(self, number: int) -> int:
        """A descriptor that can be read when the signal has come: no handler runs, no call is interrupted."""
        mask = ctypes.create_string_buffer(_SIGNAL_SET_BYTES)
        struct.pack_into("Q", mask, 0, 1 << (number - 1))
        fd: int = self._libc.signalfd(-1, mask, os.O_NONBLOCK | os.O_CLOEXEC)
        if fd < 0:
            raise OSError(ctypes.get_errno(), "signalfd")
        return fd

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
        board = self._board
        patience_ms = _LOOK_MS if self._may_have_orphans() else board.patience_ms if board is not None else None
        ready = dict(self._poll.poll(patience_ms))
        meant = {fd: self._gates.get(fd) or self._pending.get(fd) for fd in ready}
        if board is not None:
            board.look_after(is_quiet=not ready)
        if self._ended in ready:
            os.read(self._ended, 4096)
            self._reap()
        if any(other in ready for other in self._others):
            return False
        if self._link.fileno() in ready and not self._hear():
            return False
        for fd, event in ready.items():
            if meant[fd] is None or meant[fd] is not (self._gates.get(fd) or self._pending.get(fd)):
                continue  # its number is another's by now
            if fd in self._gates:
                self._notified(fd, event)
            else:
                self._progress(fd)
        return True

    def _hear(self) -> bool:
        """Take all that the server said until now."""
        while True:
            fds = array.array("i")
            room = socket.CMSG_LEN(16 * fds.itemsize)
            try:  # `socket.recv_fds` of Python 3.11 takes no notice of its flags
                packet, ancillary, _, _ = self._link.recvmsg(MAX_PACKET, room, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return True
            for _, _, data in ancillary:
                fds.frombytes(data[: len(data) // fds.itemsize * fds.itemsize])
            if not packet:
                return False
            self._handle(json.loads(packet), list(fds))

    def _listen_to(self, fd: int) -> None:
        """Poll it, before the link: what a command was judged for comes before the command, and is never overlooked.

        The kernel looks at the descriptors in this order. When a gate has a notification, what the server said before
        it handed the shell its command stands in the link already, and is reported by the same call.
        """
        self._poll.unregister(self._link)
        self._poll.register(fd, select.POLLIN)
        self._poll.register(self._link, select.POLLIN)

    def _handle(self, request: dict[str, Any], fds: list[int]) -> None:
        try:
            if request["op"] in {"spawn", "remount"}:
                try:
                    (self._spawn if request["op"] == "spawn" else self._remount)(request, fds)
                except (OSError, IndexError, ValueError) as error:  # no descriptor, terminal or process is left
                    self._report({"event": "failed", "of": request["op"], "id": request["id"], "reason": str(error)})
            elif request["op"] == "kill" and request["pid"] in self._shells:
                end_trees({request["pid"]})
            elif request["op"] in {"judged", "answer"}:
                self._tell_gate(request, fds)
        finally:
            for fd in fds:
                os.close(fd)

    def _report(self, message: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        packet = json.dumps(message).encode()
        if len(packet) <= LONG_MESSAGE:
            self._link.sendmsg([packet], ancillary)
            return
        body = os.memfd_create("message", os.MFD_CLOEXEC)
        try:
            view = memoryview(packet)
            while view:
                view = view[os.write(body, view) :]
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [body]))]
            self._link.sendmsg([b'{"event": "long"}'], rights)
        finally:
            os.close(body)

    # ── shells with a fence ──────────────────────────────────────────────────────────────────────────────

    def _spawn_fenced(self, request: dict[str, Any], spec: dict[str, Any], sources: dict[str, int]) -> None:
        from execkit_mcp.fence import enter  # noqa: PLC0415 - only where a plan asks for it

        plan = spec["fence"]
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid, master = (os.fork(), -1) if enter.takes_own_terminal(plan) else os.forkpty()
        if pid == 0:
            try:
                link = socket.socket(fileno=fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, 400))
                tell = os.fdopen(fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, 400), "wb", closefd=False)
                ours.close()
                theirs.close()
                try:
                    listeners = enter.enter_namespaces(plan)
                    if listeners:
                        numbers = array.array("i", [each.fileno() for each in listeners])
                        link.sendmsg([b"listeners"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
                        for each in listeners:
                            each.close()
                    if "pid" in plan["unshare"]:
                        enter.become_first_process(tell.fileno())
                    enter.enter_tree(plan, spec["cwd"])
                    enter.take_terminal(plan, link)
                    self._become_shell(sources, spec["umask"], spec["cwd"])
                    self._keep_only_its_own()
                    enter.restrict(plan, link)
                    env = {os.fsencode(key): os.fsencode(value) for key, value in spec["env"].items()}
                    os.execve(spec["argv"][0], spec["argv"], env)  # noqa: S606 - that is what we are here for
                except BaseException as error:  # noqa: BLE001 - whatever it is, no shell runs without its fence
                    link.send(b"failed" + str(error).encode()[:2000])
            finally:
                os._exit(127)
        theirs.close()
        self._shells.add(pid)
        self._pending[ours.fileno()] = pending = _Pending(request["id"], pid, ours, spec)
        if master >= 0:
            pending.take_terminal(master)
        self._poll.register(ours, select.POLLIN)

    def _remount(self, request: dict[str, Any], fds: list[int]) -> None:
        """Change the file tree of a shell that runs: a child of ours goes inside for the moment that it takes."""
        from execkit_mcp.fence import mounts, namespaces  # noqa: PLC0415 - only where a plan asks for it

        answer = {"event": "failed", "of": "remount", "id": request["id"], "reason": "it has ended"}
        if request["pid"] in self._shells:
            with open(fds[0], "rb", closefd=False) as body:
                operations = json.load(body)
            read, write = os.pipe2(os.O_CLOEXEC)
            child = os.fork()
            if child == 0:
                try:
                    namespaces.join(request["pid"])
                    mounts.arrange(operations)
                    os.write(write, b"done")
                except BaseException as error:  # noqa: BLE001 - told to whoever asked
                    os.write(write, str(error).encode()[:2000])
                finally:
                    os._exit(0)
            os.close(write)
            with os.fdopen(read, "rb") as told:
                text = told.read().decode("utf-8", "replace")
            os.waitpid(child, 0)
            answer["reason"] = text or "it was killed"
            if text == "done":
                if request["pid"] in self._gate_of:
                    self._gate_of[request["pid"]].tree_changed()
                answer = {"event": "done", "id": request["id"]}
        self._report(answer)

    def _progress(self, fd: int) -> None:
        """News from a shell on its way: its gate, its number, that it failed; the end says that it runs."""
        pending = self._pending[fd]
        data, fds, _, _ = socket.recv_fds(pending.link, 4096, _MAX_FDS)
        if data in {b"gate", b"terminal"} and not fds:
            data = b"failed" + os.strerror(errno.EMFILE).encode()  # descriptors that do not fit are left out (unix(7))
        if data == b"gate":
            data = self._open_gate(pending, fds[0])
            if not data:
                return
        if data == b"terminal":
            pending.take_terminal(fds[0])
            return
        if data == b"listeners":
            pending.listeners = fds
            return
        if data.startswith(b"pid"):
            self._shells.discard(pending.pid)
            pending.pid, pending.end = struct.unpack("i", data[3:7])[0], None
            self._shells.add(pending.pid)
            return
        del self._pending[fd]
        self._poll.unregister(fd)
        pending.link.close()
        data = data or (b"" if pending.terminal else b"failedit was killed on its way")
        if data:
            reason = data.removeprefix(b"failed").decode("utf-8", "replace")
            self._shells.discard(pending.pid)
            self._report({"event": "failed", "id": pending.number, "reason": f"its fence did not hold: {reason}"})
        else:
            given = (*pending.terminal, *pending.listeners)
            self._report({"event": "spawned", "id": pending.number, "pid": pending.pid}, given)
            if pending.end is not None:
                self._report(pending.end)
        for each in (*pending.terminal, *pending.listeners):
            os.close(each)

    def _open_gate(self, pending: _Pending, listener: int) -> bytes:
        """Nothing, or what ``_progress`` would hear of a failure."""
        from execkit_mcp.fence import exec_gate, processes, second_stop, steady  # noqa: PLC0415 - where a plan asks for it

        self._board = self._board or second_stop.Board()
        try:
            gate = exec_gate.ExecGate(
                shell=pending.pid,
                listener=listener,
                gate=pending.plan["gate"],
                report=self._report,
                board=self._board,
                changeable=steady.changeable_behind(pending.plan) if processes.are_images_random() else None,
            )
        except OSError as error:  # the shell was killed meanwhile, or no descriptor is left
            os.close(listener)
            return b"failed" + str(error).encode()
        self._gates[listener] = gate
        self._gate_of[pending.pid] = gate
        self._listen_to(listener)
        return b""

    def _notified(self, fd: int, event: int) -> None:
        gate = self._gates[fd]
        if event & select.POLLIN:
            gate.notified()
        else:  # nobody is left behind the filter
            self._close_gate(gate)

    def _close_gate(self, gate: "ExecGate") -> None:
        if gate.listener >= 0:
            self._gates.pop(gate.listener, None)
            self._poll.unregister(gate.listener)
        gate.close()

    def _tell_gate(self, request: dict[str, Any], fds: list[int]) -> None:
        if fds:
            with open(fds[0], "rb", closefd=False) as payload:
                request = {**request, **json.load(payload)}
        gate = self._gate_of.get(request["pid"])
        if gate is None or gate.listener < 0:
            return
        if request["op"] == "judged":
            # its payload falls out where no descriptor is left (unix(7)): then nothing was judged, and nothing may run
            told = {"entries": [], "keeps": False, "exec_id": "", **request}
            gate.flush()
            gate.judged(told["entries"], keeps=told["keeps"], exec_id=told["exec_id"])
        elif request["op"] == "answer":
            gate.answered(request["number"], allow=request["allow"], is_trusted=request["trusted"])

    def _spawn(self, request: dict[str, Any], fds: list[int]) -> None:
        from ptyprocess import PtyProcess  # noqa: PLC0415 - its folder is put on the path by main()

        if self._shell_files[0] < _NEEDED_FILES:
            reason = (
                f"a process may have {self._shell_files[0]} open files here (ulimit -Hn), {_NEEDED_FILES} are needed"
            )
            self._report({"event": "failed", "id": request["id"], "reason": reason})
            return
        with open(fds[0], "rb", closefd=False) as payload:
            spec = json.load(payload)
        names = ("script", "status", "stdout", "stderr", "stdin")
        sources = dict(zip(names, fds[1:], strict=True))
        if spec.get("fence") is not None:
            self._spawn_fenced(request, spec, sources)
            return
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
        if null > 2:  # noqa: PLR2004 - standard error is the last of the three
            os.close(null)  # before the next lines: with many shells it may have one of the numbers that they use
        for name, fd in parked.items():
            os.dup2(fd, SHELL_FDS[name])
        for fd in sources.values():
            if fd not in SHELL_FDS.values():
                os.set_inheritable(fd, False)
        reset_signals()
        resource.setrlimit(resource.RLIMIT_NOFILE, self._shell_files)
        os.umask(umask)

    def _keep_only_its_own(self) -> None:
        """Let no descriptor through the exec but a shell's own: ours include the gates of other shells."""
        if self._libc.close_range(3, 0xFFFFFFFF, _CLOSE_RANGE_CLOEXEC) != 0:  # before Linux 5.11
            for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names are all that is needed
                with contextlib.suppress(OSError):
                    os.set_inheritable(int(name), int(name) <= 2)  # noqa: PLR2004 - the standard three
        for fd in SHELL_FDS.values():
            os.set_inheritable(fd, True)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED | _WALL)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self._board is not None and self._board.traced(pid, status):
                continue
            if pid not in self._shells:
                continue
            if os.WIFSTOPPED(status):
                self._report({"event": "stop", "pid": pid})
                continue
            self._shells.discard(pid)
            gate = self._gate_of.pop(pid, None)
            if gate is not None:
                self._close_gate(gate)
            end = {"event": "exit", "pid": pid, "code": os.waitstatus_to_exitcode(status)}
            pending = next((each for each in self._pending.values() if each.pid == pid), None)
            if pending is None:
                self._report(end)
            else:  # nobody knows of it yet; it may have ended because another process goes on in its place
                pending.end = end

    def _may_have_orphans(self) -> bool:
        """Whether to look again soon; in a burst of notifications it is not looked after each of them."""
        now_s = time.monotonic()
        if now_s - self._looked_s < _LOOK_MS / 1000:
            return True
        self._looked_s = now_s
        return self._has_orphans()

    def _has_orphans(self) -> bool:
        orphans = set() if self._pending else _children() - self._shells
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


def end_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def reset_signals() -> None:
    """Give every signal its default action and block none: what is ignored or blocked is inherited (execve(2)).

    The C library refuses to touch the two real-time signals that it keeps for itself (signal(7)), so the kernel is
    asked directly; a parent that ignores them (a runtime, a supervisor) would make a shell deaf to them.
    """
    for number in _CHANGEABLE_SIGNALS:
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            if _RT_SIGACTION is not None:
                default = ctypes.create_string_buffer(32)  # struct kernel_sigaction; SIG_DFL, no flags, no mask
                ctypes.CDLL(None).syscall(_RT_SIGACTION, number, default, None, 8)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


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

    ``argv[3]`` is the private folder of the server's FIFOs, removed at the end if it is there; our own package stands
    in ``argv[4]``.
    """
    sys.path.extend((argv[2], argv[4]))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would hide from us how children end
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
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
