"""The program that owns a session's terminal on a host; it is sent there as text, and run by the host's own Python.

sshd can give a terminal only to a program of its own, and ours must be that of a shell which runs already. So this
program makes a pair of its own. The session's shell, which leads its process group's session and has no terminal,
opens the other side and thereby gets it as its controlling terminal (credentials(7)). Bytes from the terminal go out as
they come. Requests come as lines of JSON, each is answered by one, in order. To type is to look again right before: if
who is there, or how the terminal is set up, is not what was judged, nothing is typed.

It ends when its input ends; the terminal is hung up then. Standard library only, Python 3.8.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path
from typing import Any

from execkit_mcp.transports.seats import (
    device_of,
    discard_input,
    everybody,
    identity_of,
    link_of,
    look,
    resize,
)

__all__ = ["ANSWER", "BYTES", "HEAD", "hides_others", "serve"]

HEAD = struct.Struct("!cI")
"""What stands before each message to the other side: its kind, its length."""
BYTES, ANSWER = b"t", b"a"
MARK = b"EXECKIT_MARK"
"""The variable that this program has in common with the session's shell."""
_CHUNK = 1 << 16
_QUIET_S, _STEP_S, _WAIT_S = 0.003, 0.005, 3.0
_MOST_SETTLED = 1 << 20


class _Terminal:
    """One pair of descriptors and the shell at its other side."""

    def __init__(self) -> None:
        self.mark = b"%s=%s" % (MARK, os.environb[MARK])
        self.master, self.side = os.openpty()
        self.path = os.ttyname(self.side)
        self.device = os.fstat(self.side).st_rdev
        self.modes = termios.tcgetattr(self.master)
        self.shell = 0
        self.script = ""
        self.unsent = bytearray()
        os.set_blocking(self.master, False)

    # -- bytes -------------------------------------------------------------------------------------

    def pump(self) -> bool:
        """Pass on what the terminal shows now; whether there was something."""
        try:
            data = os.read(self.master, _CHUNK)
        except (BlockingIOError, OSError):
            return False
        _say(BYTES, data)
        return bool(data)

    def flush(self) -> None:
        """Type as much as the kernel takes."""
        while self.unsent:
            try:
                count = os.write(self.master, self.unsent)
            except BlockingIOError:
                return
            except OSError:
                self.unsent.clear()
                return
            del self.unsent[:count]

    # -- requests ----------------------------------------------------------------------------------

    def is_inside(self) -> bool:
        """Whether a command has begun: its input stands in for the script on descriptor 0."""
        return link_of(self.shell, "fd/0") not in {self.script, ""}

    def state(self) -> dict[str, Any] | None:
        """Who is at the terminal; None while no command has begun, or what was typed before is on its way."""
        if self.unsent or not self.is_inside():
            return None
        others = everybody(frozenset((os.getpid(), self.shell)))
        found = look(self.master, self.path, self.shell, others, mark=self.mark)
        for each in found["processes"]:
            for name in ("path", "cwd"):
                each[name] = each[name].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return found

    def look(self, _asked: dict[str, Any]) -> dict[str, Any]:
        """``state``."""
        return {"state": self.state()}

    def type(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Type ``data`` if the terminal stands like ``identity``; None: however it does, once a command has begun."""
        wanted = asked["identity"]
        state = self.state() if wanted is not None else None
        is_as_judged = self.is_inside() if wanted is None else state is not None and identity_of(state) == wanted
        if not is_as_judged:
            return {"state": state, "is_typed": False}
        self.unsent += asked["data"].encode("utf-8")
        self.flush()
        return {"state": state, "is_typed": True}

    def join(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Wait until this is the controlling terminal of the ``shell``."""
        self.shell = asked["shell"]
        self.script = link_of(self.shell, "fd/0")
        is_done = _until(lambda: device_of(self.shell) == self.device)
        if is_done:
            os.close(self.side)
        return {"is_done": is_done}

    def prepare(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The modes of the first moment, as a program that was killed may have left others; throw away old keys."""
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.master, termios.TCSANOW, self.modes)
        if asked["discards"]:
            self.unsent.clear()
            discard_input(self.master, self.path)
        return {"is_done": self._is_shells()}

    def front(self, _asked: dict[str, Any]) -> dict[str, Any]:
        """Wait until the shell's own group has the terminal again."""
        return {"is_done": _until(self._is_shells)}

    def settle(self, _asked: dict[str, Any]) -> dict[str, Any]:
        """Pass on the last of a command's output: the kernel moves it in the background."""
        left = _MOST_SETTLED
        while left > 0 and select.select([self.master], [], [], _QUIET_S)[0] and self.pump():
            left -= _CHUNK
        return {"is_done": self._is_shells()}

    def resize(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Another size."""
        resize(self.master, asked["cols"], asked["rows"])
        return {"is_done": True}

    def _is_shells(self) -> bool:
        try:
            return os.tcgetpgrp(self.master) == os.getpgid(self.shell)
        except OSError:
            return False


def _until(holds: Any) -> bool:
    until = time.monotonic() + _WAIT_S
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(_STEP_S)
    return True


def _say(kind: bytes, data: bytes) -> None:
    view = memoryview(HEAD.pack(kind, len(data)) + data)
    while view:
        view = view[os.write(1, view) :]


def hides_others(mounts: str) -> bool:
    """Whether, by ``/proc/self/mountinfo``, processes of other users cannot be seen: one of them could be reading."""
    options = [line.split()[-1] for line in mounts.splitlines() if line.split()[4:5] == ["/proc"]]
    stated = options[-1].split(",") if options else ["hidepid=unknown"]
    return any(each.startswith("hidepid=") and each not in {"hidepid=0", "hidepid=off"} for each in stated)


def serve(mark: str) -> None:
    """Carry out what comes on standard input, until it ends."""
    if os.geteuid() != 0 and hides_others(Path("/proc/self/mountinfo").read_text()):
        sys.exit("/proc hides the processes of other users (hidepid), so nobody can tell who reads a terminal")
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    terminal = _Terminal()
    os.write(1, ("\x1e%s:%s\x1e" % (mark, terminal.path)).encode())  # noqa: UP031 - one way for all versions
    pending = b""
    while True:
        ready, writable, _ = select.select([0, terminal.master], [terminal.master] if terminal.unsent else [], [])
        if terminal.master in ready and not terminal.pump():
            time.sleep(_STEP_S)  # nobody has its other side open at this moment
        if writable:
            terminal.flush()
        if 0 not in ready:
            continue
        data = os.read(0, _CHUNK)
        if not data:
            sys.exit(0)
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            asked = json.loads(line)
            answer = getattr(terminal, asked["do"])(asked)
            _say(ANSWER, json.dumps(answer).encode())
