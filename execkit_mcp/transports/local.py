"""Shells on this machine, held by a keeper process; this module is the local transport.

One keeper serves all sessions of a process (``keeper.py``); it starts with the first shell or with
``prewarm()``. The descriptors of a shell are made here and handed to the keeper; the master side of its PTY
comes back. Script and status are socket pairs, which nobody can open again through ``/proc/PID/fd``;
standard output and error are pipes, so that ``/dev/stdout`` works. Over 400 lines: link,
transport and channel share the life of their descriptors.
"""

import array
import asyncio
import contextlib
import errno
import fcntl
import itertools
import json
import os
import secrets
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import ptyprocess

from execkit_mcp.errors import TransportLost, TransportUnavailable
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model.terminal import TerminalState
from execkit_mcp.transports import keeper, terminal
from execkit_mcp.transports.base import Capability, FreshOutputs, Role, ShellPlan, ShellReport

__all__ = ["SPARED", "LocalChannel", "LocalTransport", "find_bash"]

SPARED: set[int] = set()
"""Children of this process that outlive it on purpose."""

_TRUSTED_BASH = ("/bin/bash", "/usr/bin/bash")
_PIPE_BYTES = 1 << 18
_OPEN_S = 10.0
_CLOSE_S = 5.0
_REAPED_S = 2.0
_SIOCOUTQ = 0x5411
_INHERITED = ("LD_LIBRARY_PATH", "PYTHONHOME")
_CAPABILITIES = frozenset(Capability)
_FAILED = {"spawn": "The shell could not be started", "remount": "The file tree could not be changed"}
_GATE_EVENTS = frozenset({"judge", "refused", "ran", "gone"})


def _kept(made: Sequence[int], *stacks: contextlib.ExitStack) -> Sequence[int]:
    """``made``, each of which the stack in the same place closes."""
    for descriptor, stack in zip(made, stacks, strict=True):
        stack.callback(os.close, descriptor)
    return made


def find_bash() -> str:
    """The path of bash in a trusted folder; raises TransportUnavailable."""
    for path in _TRUSTED_BASH:
        if os.access(path, os.X_OK):
            return path
    raise TransportUnavailable(
        "bash was not found at /bin/bash or /usr/bin/bash.",
        hint="Install bash; local sessions need version 4.4 or later.",
    )


class _Keeper:
    """The server's end of the link to one keeper process; belongs to one event loop."""

    def __init__(self, *, owns_process: bool) -> None:
        self._owns_process = owns_process
        self._loop = asyncio.get_running_loop()
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[tuple[int, ...]]] = {}
        self._channels: dict[int, LocalChannel] = {}
        self._early: dict[int, ShellReport] = {}
        self.owner = os.getpid()
        self.folder = Path(tempfile.gettempdir(), f"execkit-{secrets.token_hex(8)}")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own file under our own interpreter
                [
                    sys.executable,
                    "-I",
                    "-S",
                    keeper.__file__,
                    str(theirs.fileno()),
                    str(self.owner),
                    str(Path(ptyprocess.__file__).parent.parent),
                    str(self.folder),
                    str(Path(__file__).parents[2]),
                ],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env={key: os.environ[key] for key in _INHERITED if key in os.environ},
            )
        ours.setblocking(False)
        self._link = ours
        self._loop.add_reader(ours.fileno(), self._read)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        """Whether the keeper lives and belongs to this process and loop."""
        return self._link.fileno() >= 0 and self.owner == os.getpid() and self._loop is asyncio.get_running_loop()

    def _read(self) -> None:
        while self._link.fileno() >= 0:
            try:
                packet, fds, flags, _ = socket.recv_fds(self._link, keeper.MAX_PACKET, 32)
            except BlockingIOError:
                return
            except OSError:
                packet, fds, flags = b"", [], 0
            if not packet:
                self._ended()
                return
            message = json.loads(packet)
            if flags & socket.MSG_CTRUNC and message["event"] == "spawned":
                self._no_room(message, fds)
            else:
                self._handle(message, fds)

    def _no_room(self, message: dict[str, Any], fds: list[int]) -> None:
        """This process could not take the descriptors of a shell: it may have no more."""
        for fd in fds:
            os.close(fd)
        self.kill(int(message["pid"]))
        answer = self._answers.pop(int(message["id"]), None)
        if answer is not None and not answer.done():
            answer.set_exception(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))

    def _handle(self, message: dict[str, Any], fds: list[int]) -> None:  # noqa: C901 - one event after the other
        event = message["event"]
        if event == "long":
            message = _long_message(fds[0])
            event, fds = message["event"], fds[1:]
        if event in _GATE_EVENTS:
            self._pass_on(message)
            return
        if event == "done":
            answer = self._answers.pop(int(message["id"]), None)
            if answer is not None and not answer.done():
                answer.set_result(())
            return
        if event in {"spawned", "failed"}:
            answer = self._answers.pop(int(message["id"]), None)
            if event == "spawned" and answer is not None and not answer.done():
                answer.set_result((int(message["pid"]), *fds))
                return
            for fd in fds:
                os.close(fd)
            if event == "spawned":  # nobody waits for it any more
                self.kill(int(message["pid"]))
            elif answer is not None and not answer.done():
                answer.set_exception(
                    TransportUnavailable(
                        f"{_FAILED[message.get('of', 'spawn')]}: {message['reason']}.",
                        hint="Check that the folder exists and that processes and terminals can be created.",
                    )
                )
            return
        pid = int(message["pid"])
        report = (
            ShellReport(kind="stopped") if event == "stop" else ShellReport(kind="exited", code=int(message["code"]))
        )
        channel = self._channels.get(pid)
        if channel is not None:
            channel.report(report)
        elif report.kind == "exited":
            self._early[pid] = report
            if len(self._early) > 64:  # noqa: PLR2004 - reports of shells that nobody asks for
                self._early.pop(next(iter(self._early)))

    def _pass_on(self, message: dict[str, Any]) -> None:
        """What an exec gate says, to whom it concerns; a question that nobody hears is a refusal."""
        gated = self._channels.get(int(message["pid"]))
        if gated is not None:
            gated.gate_report(message)
        elif message["event"] == "judge":
            self.answer(int(message["pid"]), int(message["number"]), allow=False)

    def _ended(self) -> None:
        """The keeper is gone, the kernel has killed its shells, and its guardian what those had started."""
        self._loop.remove_reader(self._link.fileno())
        self._link.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=0.5)
        if self._owns_process:  # the guardian may have been killed too: then its orphans came to us
            keeper.end_all_below(frozenset(SPARED))
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(TransportLost("The keeper of local shells ended.", retryable=True))
        self._answers.clear()
        for channel in tuple(self._channels.values()):
            channel.report(ShellReport(kind="lost"))
        self._channels.clear()

    def _send(self, message: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        self._send_packet(json.dumps(message).encode(), fds)

    def _send_packet(self, packet: bytes, fds: tuple[int, ...] = ()) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            self._link.sendmsg([packet], ancillary)
        except OSError as error:
            raise TransportLost(f"The keeper of local shells is gone ({error}).", retryable=True) from error

    async def spawn(self, spec: dict[str, object], fds: tuple[int, ...]) -> tuple[int, ...]:
        """The pid of a new shell, the master side of its PTY, and the listener of its network's proxy if it has one."""
        number = next(self._ids)
        answer: asyncio.Future[tuple[int, ...]] = self._loop.create_future()
        self._answers[number] = answer
        payload = os.memfd_create("spec", os.MFD_CLOEXEC)
        try:
            os.write(payload, json.dumps(spec).encode())
            os.lseek(payload, 0, os.SEEK_SET)
            self._send({"op": "spawn", "id": number}, (payload, *fds))
            async with asyncio.timeout(_OPEN_S):
                return await answer
        except TimeoutError as error:
            raise TransportUnavailable("The keeper of local shells did not answer.", retryable=True) from error
        finally:
            os.close(payload)

    async def remount(self, pid: int, mounts: Sequence[Mapping[str, object]]) -> None:
        """Carry out operations on the file tree of a shell; raises TransportUnavailable."""
        number = next(self._ids)
        answer: asyncio.Future[tuple[int, ...]] = self._loop.create_future()
        self._answers[number] = answer
        payload = os.memfd_create("mounts", os.MFD_CLOEXEC)
        try:
            os.write(payload, json.dumps([dict(each) for each in mounts]).encode())
            os.lseek(payload, 0, os.SEEK_SET)
            self._send({"op": "remount", "id": number, "pid": pid}, (payload,))
            async with asyncio.timeout(_OPEN_S):
                await answer
        except TimeoutError as error:
            raise TransportUnavailable("The keeper of local shells did not answer.", retryable=True) from error
        finally:
            os.close(payload)

    def judged(self, pid: int, entries: Sequence[Mapping[str, object]], *, keeps: bool, exec_id: str) -> None:
        """Tell the exec gate of a shell what its next command was judged for."""
        told: dict[str, object] = {"entries": list(entries), "keeps": keeps, "exec_id": exec_id}
        request: dict[str, object] = {"op": "judged", "pid": pid}
        packet = json.dumps({**request, **told}).encode()
        if len(packet) <= keeper.LONG_MESSAGE:
            self._send_packet(packet)
            return
        payload = os.memfd_create("judged", os.MFD_CLOEXEC)
        try:
            os.write(payload, json.dumps(told).encode())
            os.lseek(payload, 0, os.SEEK_SET)
            self._send(request, (payload,))
        finally:
            os.close(payload)

    def answer(self, pid: int, number: int, *, allow: bool, is_trusted: bool = False) -> None:
        """Tell the exec gate of a shell what becomes of an exec that it holds."""
        with contextlib.suppress(TransportLost):
            self._send({"op": "answer", "pid": pid, "number": number, "allow": allow, "trusted": is_trusted})

    def drain(self) -> None:
        """Take what the keeper has said until now."""
        if self._link.fileno() >= 0:
            self._read()

    def adopt(self, channel: "LocalChannel") -> None:
        """Send the shell's reports to ``channel``."""
        self._channels[channel.pid] = channel
        early = self._early.pop(channel.pid, None)
        if early is not None:
            channel.report(early)

    def forget(self, pid: int) -> None:
        """No more reports on ``pid``."""
        self._channels.pop(pid, None)

    def kill(self, pid: int) -> None:
        """Have the shell and everything below it killed."""
        with contextlib.suppress(ProcessLookupError):  # a command may have stopped the keepers
            self._process.send_signal(signal.SIGCONT)
        with contextlib.suppress(TransportLost):
            self._send({"op": "kill", "pid": pid})

    async def close(self) -> None:
        """End the keeper, which ends everything that it holds."""
        if self._link.fileno() < 0:
            return
        self._loop.remove_reader(self._link.fileno())
        self._link.close()
        for channel in tuple(self._channels.values()):
            channel.report(ShellReport(kind="lost"))
        self._channels.clear()
        with contextlib.suppress(ProcessLookupError):  # a command may have stopped it
            self._process.send_signal(signal.SIGCONT)
        try:
            await asyncio.to_thread(self._process.wait, _CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)


def _long_message(fd: int) -> dict[str, Any]:
    """What was too long for a packet; closes the descriptor."""
    with open(fd, "rb") as body:
        body.seek(0)
        message = json.load(body)
    assert isinstance(message, dict)
    return message


class LocalTransport:
    """Shells of this machine and user.

    Args:
        owns_process: this process starts no other children, so that whatever falls to it when keeper and guardian
            are both killed is theirs, and is ended. Not for the SDK, whose process belongs to its caller.
    """

    name = "local"

    def __init__(self, *, owns_process: bool = False) -> None:
        self._keeper: _Keeper | None = None
        self._owns_process = owns_process
        if owns_process:
            keeper.become_subreaper()

    @property
    def keeper_pid(self) -> int | None:
        """The process id of the keeper's guardian, when there is one."""
        return None if self._keeper is None else self._keeper.pid

    def prewarm(self) -> None:
        """Start the keeper now; ``open`` would do it otherwise. Call on the loop that will open shells."""
        self._usable_keeper()

    def _usable_keeper(self) -> _Keeper:
        if self._keeper is None or not self._keeper.is_usable:
            if not sys.executable:
                raise TransportUnavailable("This Python does not know its own path (sys.executable is empty).")
            self._keeper = _Keeper(owns_process=self._owns_process)
        return self._keeper

    def check(self) -> frozenset[Capability]:
        """What a local channel can do; raises TransportUnavailable without bash."""
        find_bash()
        return _CAPABILITIES

    async def open(self, plan: ShellPlan) -> "LocalChannel":
        """Start a bash; raises TransportUnavailable or TransportLost."""
        bash = find_bash()
        holder = self._usable_keeper()
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as undo:
            script, shell_script = _kept([each.detach() for each in socket.socketpair()], undo, theirs)
            status, shell_status = _kept([each.detach() for each in socket.socketpair()], undo, theirs)
            out_r, out_w = _kept(os.pipe2(os.O_CLOEXEC), undo, theirs)
            err_r, err_w = _kept(os.pipe2(os.O_CLOEXEC), undo, theirs)
            (stdin,) = _kept([os.memfd_create("stdin", os.MFD_CLOEXEC)], undo)
            spec: dict[str, object] = {
                "argv": [bash, "--norc", "--noprofile", "--noediting", "-i"],
                "env": dict(plan.env),
                "cwd": plan.cwd,
                "cols": plan.cols,
                "rows": plan.rows,
                "umask": _umask(),
                "fence": None if plan.fence is None else self._spec(plan.fence, holder),
            }
            pid, master, *listeners = await holder.spawn(spec, (shell_script, shell_status, out_w, err_w, stdin))
            undo.pop_all()
        os.set_inheritable(master, False)
        channel = LocalChannel(
            pid=pid,
            keeper=holder,
            fds={
                Role.SCRIPT: script,
                Role.STATUS: status,
                Role.STDOUT: out_r,
                Role.STDERR: err_r,
                Role.TTY: master,
            },
            stdin=stdin,
            listeners=tuple(listeners),
            has_own_pids=plan.fence is not None and "pid" in plan.fence.unshare,
        )
        holder.adopt(channel)
        return channel

    def _spec(self, plan: FencePlan, holder: _Keeper) -> dict[str, object]:
        """The plan as the keeper reads it, with what is of this transport alone: the folder of its FIFOs."""
        with contextlib.suppress(OSError):
            holder.folder.mkdir(mode=0o700, exist_ok=True)
        return plan.with_folder(str(holder.folder)).to_spec()

    async def close(self) -> None:
        """End the keeper and every shell."""
        if self._keeper is not None:
            await self._keeper.close()
            self._keeper = None


class LocalChannel:
    """One bash below the keeper."""

    def __init__(
        self,
        *,
        pid: int,
        keeper: _Keeper,
        fds: Mapping[Role, int],
        stdin: int,
        listeners: tuple[int, ...] = (),
        has_own_pids: bool = False,
    ) -> None:
        self.pid = pid
        self.listeners = listeners
        self._has_own_pids = has_own_pids
        self._gate_listener: Callable[[Mapping[str, Any]], None] | None = None
        self.capabilities = _CAPABILITIES
        self.fds = dict(fds)
        self._keeper = keeper
        self._stdin = stdin
        self._listener: Callable[[ShellReport], None] | None = None
        self._held: list[ShellReport] = []
        self._gone = asyncio.get_running_loop().create_future()
        self._paths: list[str] = []
        self._is_closed = False
        self._modes = termios.tcgetattr(self.fds[Role.TTY])
        self._proc = f"/proc/{pid}"
        self._children = _opened(f"/proc/{pid}/task/{pid}/children")
        for fd in self.fds.values():
            os.set_blocking(fd, False)
        for role in (Role.STDOUT, Role.STDERR):
            with contextlib.suppress(OSError):
                fcntl.fcntl(self.fds[role], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def listen(self, callback: Callable[[ShellReport], None]) -> None:
        """Have ``callback`` called for each report, beginning with those that came before."""
        self._listener = callback
        held, self._held = self._held, []
        for report in held:
            callback(report)

    def listen_to_gate(self, callback: Callable[[Mapping[str, Any]], None]) -> None:
        """Have ``callback`` called with what the exec gate says."""
        self._gate_listener = callback

    def gate_report(self, message: Mapping[str, Any]) -> None:
        """Called by the keeper's link."""
        if self._gate_listener is not None:
            self._gate_listener(message)
        elif message["event"] == "judge":
            self.answer(int(message["number"]), allow=False)

    def judged(self, entries: Sequence[Mapping[str, object]], *, keeps: bool, exec_id: str = "") -> None:
        """What the next command was judged for; ``keeps``: jobs of earlier ones still run."""
        self._keeper.judged(self.pid, entries, keeps=keeps, exec_id=exec_id)

    def answer(self, number: int, *, allow: bool, is_trusted: bool = False) -> None:
        """What becomes of an exec that the gate holds."""
        self._keeper.answer(self.pid, number, allow=allow, is_trusted=is_trusted)

    def outside_pid(self, pid: int) -> int:
        """Our number for the shell's child that calls itself ``pid``; differs in a process table of its own."""
        if not self._has_own_pids:
            return pid
        for child in self.children():
            with contextlib.suppress(OSError):
                for line in Path(f"/proc/{child}/status").read_text(encoding="utf-8", errors="replace").splitlines():
                    if line.startswith("NSpid:") and line.split()[-1] == str(pid):
                        return child
        return pid

    def drain(self) -> None:
        """Take at once what the gate has said until now."""
        self._keeper.drain()

    async def remount(self, mounts: Sequence[Mapping[str, object]]) -> None:
        """Carry out operations on the shell's own file tree; raises TransportUnavailable."""
        await self._keeper.remount(self.pid, mounts)

    def report(self, report: ShellReport) -> None:
        """Called by the keeper's link."""
        if report.kind != "stopped":
            self._keeper.forget(self.pid)
            if not self._gone.done():
                self._gone.set_result(None)
        if self._listener is None:
            self._held.append(report)
        else:
            self._listener(report)

    def signal_foreground(
        self, number: signal.Signals, *, spares_shell: bool = False, stops_list: bool = False
    ) -> None:
        """Signal the terminal's foreground group; if that is the shell, interrupt it and signal its work.

        The shell is interrupted first: when its child has ended it would go on with what comes behind.
        """
        if self._state() in "Tt":
            self.signal_shell(signal.SIGCONT)
        try:
            group = os.tcgetpgrp(self.fds[Role.TTY])
        except OSError:
            group = 0
        has_group = group not in {0, self.pid}
        spares_shell = spares_shell or (has_group and number is signal.SIGINT and not stops_list)
        if not spares_shell:
            self.signal_shell(signal.SIGINT)
        if has_group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
                os.killpg(group, signal.SIGCONT)
        if spares_shell or (has_group and number is signal.SIGINT):
            return
        for child in self.children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getpgid(child) == self.pid:
                    os.kill(child, number)

    def signal_shell(self, number: signal.Signals) -> None:
        """Signal the shell process."""
        if not self._gone.done():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)

    def _link(self, name: str) -> str:
        return os.readlink(f"{self._proc}/{name}")  # noqa: PTH115 - a Path costs more than the system call

    def _state(self) -> str:
        try:
            return Path(self._proc, "stat").read_bytes().rpartition(b")")[2].split(None, 1)[0].decode()
        except OSError:
            return "X"

    def is_shell_waiting(self) -> bool:
        """Whether descriptor 0 is the script (no command redirects it), all is read and the shell sleeps."""
        unread = array.array("i", [0])
        try:
            fcntl.ioctl(self.fds[Role.SCRIPT], _SIOCOUTQ, unread)
            is_script = self._link("fd/0").startswith("socket:")
            group = os.tcgetpgrp(self.fds[Role.TTY])
        except OSError:
            return False
        return is_script and unread[0] == 0 and group == self.pid and self._state() == "S"

    def is_inside_command(self) -> bool:
        """Whether a command's redirection stands in for the script on descriptor 0, or has closed it."""
        try:
            return not self._link("fd/0").startswith("socket:")
        except OSError:
            return self._state() not in "ZX"

    def is_shell_in_foreground(self) -> bool:
        """Whether the terminal's foreground group is the shell's."""
        try:
            return os.tcgetpgrp(self.fds[Role.TTY]) == self.pid
        except OSError:
            return True

    def cwd(self) -> str | None:
        """The kernel's answer: what the shell says of itself in PWD can be a lie."""
        try:
            return self._link("cwd")
        except OSError:
            return None

    def children(self) -> frozenset[int]:
        """The processes directly below the shell."""
        if self._is_closed:
            return frozenset()
        if self._children is None:
            return frozenset(keeper.processes_below(self.pid))
        try:
            text = os.pread(self._children, 1 << 16, 0)  # the kernel writes it anew for whoever reads from the start
        except OSError:  # the shell is gone
            return frozenset()
        return frozenset(map(int, text.split())) if text else frozenset()

    def end_strays(self, *, spared: Collection[int]) -> int:
        """Kill the trees below the shell that neither are nor belong to a spared process or process group."""
        strays = set()
        for child in self.children():
            try:
                group = os.getpgid(child)
            except ProcessLookupError:
                continue
            if child not in spared and group not in spared:
                strays.add(child)
        if strays:
            keeper.end_trees(strays)
        return len(strays)

    def put_stdin(self, data: bytes) -> str:
        """Fill the shell's private memory file; opening the path gives a reader of its own."""
        os.ftruncate(self._stdin, 0)
        view, at = memoryview(data), 0
        while at < len(data):
            at += os.pwrite(self._stdin, view[at:], at)
        return f"/dev/fd/{keeper.SHELL_FDS['stdin']}"

    def renew_outputs(self) -> FreshOutputs | None:
        """Two FIFOs in a private folder; ``drop_paths`` removes them once the shell has opened them."""
        try:
            folder = self._keeper.folder
            folder.mkdir(mode=0o700, exist_ok=True)
            if folder.stat().st_uid != os.geteuid():
                return None
            paths = [f"{folder}/{secrets.token_hex(8)}" for _ in range(2)]
            self._paths += paths
            fds = []
            for path in paths:
                os.mkfifo(path, 0o600)
                fds.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
        except OSError:
            return None
        return FreshOutputs(stdout_fd=fds[0], stderr_fd=fds[1], stdout_path=paths[0], stderr_path=paths[1])

    def drop_paths(self) -> None:
        """Remove the FIFOs; the folder goes with the keeper."""
        for path in self._paths:
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108 - the path is a string for the shell
        self._paths.clear()

    def terminal(self) -> TerminalState:
        """Read from the kernel; see ``terminal``."""
        return terminal.look(self.fds[Role.TTY], self.pid)

    def discard_input(self) -> None:
        """Flush the terminal's input queue."""
        terminal.discard_input(self.fds[Role.TTY])

    def restore_modes(self) -> None:
        """The modes of the first moment: a program that was killed may have left echo off or lines raw."""
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.fds[Role.TTY], termios.TCSANOW, self._modes)

    def resize(self, cols: int, rows: int) -> None:
        """Set the window size; the kernel sends SIGWINCH."""
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.fds[Role.TTY], termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    async def close(self) -> None:
        """Have the tree killed, wait (at most 2 s) until the shell is reaped, close the descriptors."""
        if self._is_closed:
            return
        self._is_closed = True
        if not self._gone.done():
            self._keeper.kill(self.pid)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_REAPED_S):
                    await asyncio.shield(self._gone)
        self._keeper.forget(self.pid)
        self.drop_paths()
        kept = () if self._children is None else (self._children,)
        for fd in {*self.fds.values(), self._stdin, *self.listeners, *kept}:
            with contextlib.suppress(OSError):
                os.close(fd)


def _opened(path: str) -> int | None:
    """A descriptor of a file in /proc; None where there is no such file."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _umask() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    return 0o022
