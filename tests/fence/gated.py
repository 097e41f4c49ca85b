"""A bare shell behind the exec gate alone, with no text gate above it: what the tests of the gate speak to.

The supervisor runs in the test's own thread, as only who has seized a process may look after it.
"""

import array
import ctypes
import os
import select
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from execkit_mcp.fence import privileges, seccomp
from execkit_mcp.fence.exec_gate import ExecGate
from execkit_mcp.fence.second_stop import Board

_WALL, _SUBREAPER = 0x40000000, 36
_END = b"\x1e"
GATE = {
    "shell": os.path.realpath("/bin/bash"), "loaders": (), "writable": ("/dev/shm",), "writable_exec": False,
    "asks_unknown": False, "is_open": True, "programs": (), "runs": (), "asked": (), "denied": (),
    "denied_patterns": (),
}  # fmt: skip


class GatedShell:
    """``run`` hands it a line; ``said`` is what its gate reported."""

    def __init__(
        self, pid: int, fds: tuple[int, int, int], gate: Mapping[str, Any], changeable: Sequence[str] | None
    ) -> None:
        listener, self._line, self._output = fds
        self.pid = pid
        self.said: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.board = Board()
        self.gate = ExecGate(
            shell=pid, listener=listener, gate=gate, report=self._report, board=self.board, changeable=changeable
        )
        self._poll = select.poll()
        for fd in (listener, self._output):
            self._poll.register(fd, select.POLLIN)

    def _report(self, message: dict[str, Any]) -> None:
        self.said.append(message)
        if message["event"] == "judge":
            self.asked.append(message)

    def run(self, text: str, judged: Sequence[tuple[str, Sequence[str], bool]] = ()) -> str:
        """What the line prints; ``judged``: file, words and trust of what it was judged for. Every question is a no."""
        self.gate.judged(
            [{"real": file, "argv": list(words), "trusted": trust} for file, words, trust in judged], keeps=False
        )
        os.write(self._line, f"{text}\nprintf '\\036'\n".encode())
        read = b""
        end_s = time.monotonic() + 20
        while _END not in read:
            assert time.monotonic() < end_s, (text, read, self.said)
            for fd, _ in self._poll.poll(2):
                if fd == self._output:
                    read += os.read(fd, 4096)
                else:
                    self.gate.notified()
            while self.asked:
                self.gate.answered(self.asked.pop()["number"], allow=False, is_trusted=False)
            self._reap()
        self.gate.flush()
        return read.partition(_END)[0].decode()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | _WALL)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.board.traced(pid, status)

    @property
    def ran(self) -> list[list[str]]:
        """What has run by now, as the record has it."""
        return [row for each in self.said if each["event"] == "ran" for row in each["rows"]]

    @property
    def questions(self) -> list[str]:
        return [each["real"] for each in self.said if each["event"] == "judge"]

    @property
    def refusals(self) -> list[str]:
        return [each["code"] for each in self.said if each["event"] == "refused"]


@contextmanager
def gated_shell(
    gate: Mapping[str, Any] | None = None,
    *,
    changeable: Sequence[str] | None = None,
    groups: Sequence[str] = (),
) -> Iterator[GatedShell]:
    """A bash that was started behind the filter, below this process."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line_r, line_w = os.pipe()
    output_r, output_w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(line_r, 0)
            os.dup2(output_w, 1)
            os.dup2(output_w, 2)
            privileges.forbid_new_privileges()
            code = seccomp.program(groups=groups, families=("unix",), notify=("execve",))
            listener = seccomp.install(code, has_listener=True)
            numbers = array.array("i", [listener])
            theirs.sendmsg([b"gate"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
            os.execve("/bin/bash", ["bash", "--norc"], {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
        finally:
            os._exit(9)
    theirs.close()
    os.close(line_r)
    os.close(output_w)
    listener = socket.recv_fds(ours, 16, 1)[1][0]
    shell = GatedShell(pid, (listener, line_w, output_r), {**GATE, **(gate or {})}, changeable)
    try:
        yield shell
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        shell.gate.close()
        for fd in (line_w, output_r):
            os.close(fd)
        ours.close()
