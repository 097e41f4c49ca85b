"""The second stop of an exec, before its first instruction; this module is what the gates of a keeper share for it.

A process that was let go on is seized before, so that the kernel stops it when its exec has happened and tells the
keeper, whatever thread it was and however the process ended instead.
"""

import ctypes
import os
from typing import TYPE_CHECKING, NamedTuple

from execkit_mcp.fence import kernel
from execkit_mcp.fence.exec_rules import Label, Seen
from execkit_mcp.fence.executables import Executable

if TYPE_CHECKING:
    from execkit_mcp.fence.exec_gate import ExecGate

__all__ = ["DETACH", "INTERRUPT", "Board", "Judged", "seize"]

INTERRUPT, DETACH = 0x4207, 17
_SEIZE, _EVENT_MESSAGE = 0x4206, 0x4201
_TRACE_EXEC, _EXIT_KILL = 0x10, 0x100000
_EVENT_EXEC = 4
_TELL_MS, _HELD_MS = 10, 250


def seize(tid: int) -> bool:
    """Have the kernel stop the thread's process when it has executed, and kill it should the keeper end; whether it will."""
    return kernel.ptrace(_SEIZE, tid, _TRACE_EXEC | _EXIT_KILL)


class Judged(NamedTuple):
    """An exec that may run, and what it must turn out to be; ``line``: its words as the new process shall have them."""

    seen: Seen
    file: Executable
    line: bytes
    label: Label


class Board:
    """What the gates of one keeper have in common, so that a turn of its loop does not ask each of them.

    Attributes:
        expected: the execs that were let go on and have not happened yet, by thread: the gate
            that let them, what was judged (None: it was seized in error, and is let go at its next stop), its identity.
        holding: gates beneath which a process waits for an answer.
        telling: gates that know of execs that the server was not told of.
    """

    def __init__(self) -> None:
        self.expected: dict[int, tuple[ExecGate, Judged | None, int]] = {}
        self.holding: set[ExecGate] = set()
        self.telling: set[ExecGate] = set()

    @property
    def patience_ms(self) -> int | None:
        """How long to wait for news at most before ``look_after``; None: for as long as there are none."""
        return _TELL_MS if self.telling else _HELD_MS if self.holding else None

    def look_after(self, *, is_quiet: bool) -> None:
        """See whether those that wait still live; when it is quiet, tell the server what has run."""
        for gate in tuple(self.holding):
            gate.look_after_held()
        if is_quiet:
            for gate in tuple(self.telling):
                gate.flush()

    def traced(self, tid: int, status: int) -> bool:
        """What ``waitpid`` says of a process that was seized; False if it is none of those."""
        event = status >> 16
        if event == _EVENT_EXEC and tid not in self.expected:  # another thread than the first has executed
            message = ctypes.c_ulong()
            kernel.ptrace(_EVENT_MESSAGE, tid, ctypes.addressof(message))
            former = int(message.value)
            if former in self.expected:
                self.expected[tid] = self.expected.pop(former)
        found = self.expected.pop(tid, None)
        if found is None:
            return False
        gate, judged, identity = found
        if not os.WIFSTOPPED(status):
            return tid != gate.shell
        if event == _EVENT_EXEC and judged is not None:
            gate.executed(tid, judged, identity)
        else:
            kernel.ptrace(DETACH, tid, os.WSTOPSIG(status) if event == 0 else 0)
        return True
