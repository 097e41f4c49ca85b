"""The exec gate: sees every execve of a fenced shell's processes before it runs; this module is its supervisor.

Theory of operation. The filter (``seccomp``) stops each execve and tells us, the keeper. We read path and argv, find the
file, ask ``exec_rules``, and where those have no answer the server, whose policy judges the resolved argv. A refusal
fails the call with EACCES. Until an answer comes the process waits inside its execve: that is how a person's approval
resumes the very exec that was held.

Check, then continue, is a race: another thread can change the path after it was read. So before it may go on the
process is seized (ptrace), and the kernel stops it again after the exec, before its first instruction. There the file
that runs (device and inode) and the argv on the new stack are compared with what was judged; a process that runs
anything else is killed. Then it is let go: what it does later costs nothing.

The second stop is left out where nothing is left that could race, and only then:
- Nobody can change the words: the process is a fork of the session's own shell, which has executed nothing since
  (``image_of``), has one thread, and shares its memory with nobody, as bash never does. No other process can write
  there: no ptrace, no ``process_vm_writev``, no ``/proc/…/mem`` (Landlock).
- Nobody can change where the path leads (``steady``), and it is no script.
- The same file, unchanged since, was let run before and verified at the second stop: the kernel takes it as it is.
- Nothing hangs on its success: no rule vouches for what the program starts, and it has no helpers.
An exec that then fails all the same (no memory, too much environment) stands in the record as if it had begun.
"""

import contextlib
import errno
import fcntl
import os
import signal
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from execkit_mcp.fence import kernel
from execkit_mcp.fence.exec_rules import HELPERS, SHELL, Label, Seen, Verdict, decide
from execkit_mcp.fence.executables import Executable, Executables
from execkit_mcp.fence.processes import Image, has_ended, image_of, is_running, lines_above, shown, who
from execkit_mcp.fence.second_stop import DETACH, INTERRUPT, Board, Judged, seize
from execkit_mcp.fence.waiting import read_exec

__all__ = ["ExecGate"]

_RECV, _SEND, _ID_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
_CONTINUE, _SYNC_WAKE_UP = 1, 1
_MAX_LABELS, _MAX_VERDICTS = 4096, 512
_MAX_DEPTH = 64
_BATCH = 64
_NOTIFICATION = struct.Struct("QIIiIQ6Q")
_RESPONSE = struct.Struct("QqiI")
_NOTHING = bytes(_NOTIFICATION.size)
_PLAIN = Label("plain")

Report = Callable[[dict[str, Any]], None]


class _Held(NamedTuple):
    """A question: which notification, whose, about what."""

    number: int
    tid: int
    identity: int
    judged: Judged


class ExecGate:
    """Supervises one shell.

    Args:
        listener: the filter's notification descriptor; closed by ``close``.
        gate: the plan's part about the gate.
        report: takes what the server must know.
        board: what it has in common with the other gates of the keeper.
        changeable: what the session can change of the file tree, if the kernel holds that and images are random.
    """

    def __init__(
        self,
        *,
        shell: int,
        listener: int,
        gate: Mapping[str, Any],
        report: Report,
        board: Board,
        changeable: Sequence[str] | None = None,
    ) -> None:
        self.listener = listener
        self.shell = shell
        self._gate = gate
        self._report = report
        self._board = board
        self._entries: list[Mapping[str, Any]] = []
        self._allowed: dict[tuple[bytes, tuple[bytes, ...], Label], Judged] = {}
        self._labels: dict[int, tuple[int, Label]] = {}
        self._groups: dict[int, Label] = {}
        self._files = Executables(shell, changeable if changeable is None else [*changeable, *gate["writable"]])
        self._verified: set[Executable] = set()
        self._image: tuple[bytes, ...] | None = None
        self._knows_image = False
        self._calls_from = 0
        self._held: dict[int, _Held] = {}
        self._ran: list[Seen] = []
        self._exec_id = ""
        self._has_begun = False
        self._buffer = bytearray(_NOTIFICATION.size)
        self._response = bytearray(_RESPONSE.size)
        with contextlib.suppress(OSError):  # Linux 6.6; without it a notification costs a little more
            fcntl.ioctl(listener, _SET_FLAGS, _SYNC_WAKE_UP)

    # ── what the server says ─────────────────────────────────────────────────────────────────────────────

    def judged(self, entries: Sequence[Mapping[str, Any]], *, keeps: bool, exec_id: str = "") -> None:
        """The execs that the next command was judged for; ``keeps``: earlier ones may still start theirs.

        What runs from now on is told as ``exec_id``'s; what has run before must have been told.
        """
        self._exec_id = exec_id
        self._entries = [*entries, *(self._entries if keeps else ())][:512]
        self._allowed.clear()

    def answered(self, number: int, *, allow: bool, is_trusted: bool) -> None:
        """The server's answer to what it was asked."""
        held = self._held.pop(number, None)
        if held is None:
            return
        if not self._held:
            self._board.holding.discard(self)
        if allow:
            label = held.judged.label._replace(kind="trusted" if is_trusted else "plain")
            self._let(number, held.tid, held.judged._replace(label=label), held.identity)
        else:
            self._send(number, -errno.EACCES)

    def look_after_held(self) -> None:
        """Tell the server which of those that waited have ended meanwhile."""
        for number in [each for each in self._held if not self._is_valid(each)]:
            del self._held[number]
            self._report({"event": "gone", "pid": self.shell, "number": number})
        if not self._held:
            self._board.holding.discard(self)

    def flush(self) -> None:
        """Tell the server what has run since it was told last."""
        self._board.telling.discard(self)
        if self._ran:
            rows = [[seen.real, *shown(seen.argv[1:])] for seen in self._ran]
            self._report({"event": "ran", "pid": self.shell, "rows": rows, "exec_id": self._exec_id})
            self._ran = []

    def tree_changed(self) -> None:
        """The shell's file tree is another one now."""
        self._files.forget()

    def close(self) -> None:
        """Every exec that still waits fails."""
        self.flush()
        for number in self._held:
            self._report({"event": "gone", "pid": self.shell, "number": number})
        self._held.clear()
        self._board.holding.discard(self)
        self._files.close()
        if self.listener >= 0:
            os.close(self.listener)
            self.listener = -1

    # ── what the kernel says ─────────────────────────────────────────────────────────────────────────────

    def notified(self) -> None:
        """Take one notification and answer it, or hold it."""
        buffer = self._buffer
        buffer[:] = _NOTHING
        try:
            fcntl.ioctl(self.listener, _RECV, buffer)
        except OSError:
            return  # whoever asked is gone
        number, tid, _flags, call, _arch, calls_from, path_at, argv_at, _, _, fd, _ = _NOTIFICATION.unpack(buffer)
        try:
            if call == kernel.NUMBERS["mmap"]:
                self._on_map(number, tid, fd & 0xFFFFFFFF)
            else:
                self._on_exec(number, tid, calls_from, path_at, argv_at)
        except FileNotFoundError:
            self._send(number, -errno.ENOENT)
        except NotADirectoryError:
            self._send(number, -errno.ENOTDIR)
        except (OSError, ValueError, struct.error):
            self._send(number, -errno.EACCES)

    def _on_exec(self, number: int, tid: int, calls_from: int, path_at: int, argv_at: int) -> None:
        if not self._has_begun:  # the shell itself, started by us
            self._has_begun = True
            self._send(number, 0, _CONTINUE)
            return
        if not self._knows_image:  # it has executed nothing but itself by now: whatever it will be asks here first
            self._knows_image = True
            image = image_of(self.shell) if self._files.can_be_steady else None
            self._image = None if image is None else image.places
        raw_path, words = read_exec(tid, path_at, argv_at)
        fork = self._fork_of_shell(tid, calls_from)
        label, identity = (SHELL, -fork.start) if fork is not None else self._label(tid)
        path = os.fsdecode(raw_path)
        file = self._files.find(tid, path)
        known = self._allowed.get((raw_path, words, label))
        if known is not None and known.file == file:
            self._let(number, tid, known, identity, fork)
            return
        argv = tuple(map(os.fsdecode, words))
        seen = Seen(path=path, real=file.real, interpreter=file.interpreter, interpreter_word=file.word, argv=argv)
        verdict = decide(seen, label, self._gate, self._entries)
        # of a script the kernel puts the path where the first word was
        shall = (raw_path, *words[1:]) if file.interpreter else words or (b"",)
        judged = Judged(seen, file, b"\0".join(shall) + b"\0", verdict.label)
        if verdict.word == "allow":
            if len(self._allowed) >= _MAX_VERDICTS:
                self._allowed.clear()
            self._allowed[raw_path, words, label] = judged
            self._let(number, tid, judged, identity, fork)
        elif not self._is_valid(number):
            return  # whoever asked is gone, and what was read may be another's
        elif verdict.word == "refuse":
            self._refuse(number, tid, seen, verdict)
        else:
            self._held[number] = _Held(number, tid, identity, judged)
            self._board.holding.add(self)
            self._report(
                {
                    "event": "judge",
                    "pid": self.shell,
                    "number": number,
                    "path": path,
                    "real": file.real,
                    "argv": list(argv),
                    "cwd": os.readlink(f"/proc/{tid}/cwd"),
                    "label": label.kind,
                    "why": verdict.code,
                    "parents": lines_above(tid, self.shell),
                }
            )

    def _on_map(self, number: int, tid: int, fd: int) -> None:
        """A file is mapped to be executed: a library, or what the dynamic loader was told to load."""
        target = os.readlink(f"/proc/{tid}/fd/{fd}")
        if any(target.startswith(folder.rstrip("/") + "/") for folder in self._gate["writable"]) or target.startswith(
            "/memfd:"
        ):
            label, _ = self._label(tid)
            if label.kind != "trusted" and self._has_begun:
                seen = Seen(path=target, real=target, interpreter="", interpreter_word="", argv=(target,))
                why = f"{target} is a file that the session can write; it was to be loaded as code."
                self._refuse(number, tid, seen, Verdict("refuse", SHELL, code="library", why=why))
                return
        self._send(number, 0, _CONTINUE)

    def _refuse(self, number: int, tid: int, seen: Seen, verdict: Verdict) -> None:
        self._tell_refused(  # before the process hears of it, so that it stands in the result of its command
            seen, verdict.code, verdict.why, lines_above(tid, self.shell)
        )
        self._send(number, -errno.EACCES)

    def _tell_refused(self, seen: Seen, code: str, why: str, parents: Sequence[str] = ()) -> None:
        self._report(
            {
                "event": "refused",
                "pid": self.shell,
                "real": seen.real,
                "argv": shown(seen.argv),
                "code": code,
                "why": why,
                "parents": list(parents),
            }
        )

    def _let(self, number: int, tid: int, judged: Judged, identity: int, fork: Image | None = None) -> None:
        """Let it run, and have the kernel stop it before its first instruction, unless nothing can race."""
        expected = self._board.expected
        if fork is not None and judged.file in self._verified and tid not in expected and _grants_nothing(judged.label):
            if self._send(number, 0, _CONTINUE):
                self._has_begun_to_run(tid, judged, identity)
                self._groups[fork.group] = _PLAIN
            return
        if tid not in expected and not seize(tid):
            self._send(number, -errno.EACCES)  # what cannot be verified does not run
            return
        expected[tid] = self, judged, identity
        if not self._send(number, 0, _CONTINUE):  # it was killed meanwhile, and its number may be another's
            expected[tid] = self, None, identity
            kernel.ptrace(INTERRUPT, tid)

    def executed(self, tid: int, judged: Judged, identity: int) -> None:
        """It has executed, and is stopped before its first instruction: whatever was not judged is killed."""
        if not is_running(tid, judged.file.runs, judged.line, is_script=bool(judged.file.interpreter)):
            if not has_ended(tid):  # else killed by another before it could be looked at: nothing of it will run
                with contextlib.suppress(ProcessLookupError):
                    os.kill(tid, signal.SIGKILL)
                why = "What was executed was not what was judged: path or arguments were changed in between."
                self._tell_refused(judged.seen, "race", why)
            kernel.ptrace(DETACH, tid)
            return
        group = 0
        with contextlib.suppress(ProcessLookupError):
            group = os.getpgid(tid)
        kernel.ptrace(DETACH, tid)
        if judged.file.is_steady and len(self._verified) < _MAX_VERDICTS:
            self._verified.add(judged.file)
        self._groups[group] = judged.label
        self._has_begun_to_run(tid, judged, identity)

    def _has_begun_to_run(self, tid: int, judged: Judged, identity: int) -> None:
        if len(self._labels) > _MAX_LABELS:
            self._labels = {pid: each for pid, each in self._labels.items() if who(pid) is not None}
        self._labels[tid] = identity, judged.label
        self._ran.append(judged.seen)
        self._board.telling.add(self)
        if len(self._ran) >= _BATCH:
            self.flush()

    # ── answering ────────────────────────────────────────────────────────────────────────────────────────

    def _send(self, number: int, error: int, flags: int = 0) -> bool:
        _RESPONSE.pack_into(self._response, 0, number, 0, error, flags)
        try:
            fcntl.ioctl(self.listener, _SEND, self._response)
        except OSError:  # it was killed meanwhile
            return False
        return True

    def _is_valid(self, number: int) -> bool:
        try:
            fcntl.ioctl(self.listener, _ID_VALID, struct.pack("Q", number))
        except OSError:
            return False
        return True

    # ── who and what ─────────────────────────────────────────────────────────────────────────────────────

    def _label(self, tid: int) -> tuple[Label, int]:
        """The label of the process, and its identity."""
        found = first = who(tid)
        if first is None:
            raise ProcessLookupError
        pid = tid
        for _ in range(_MAX_DEPTH):
            if found is None:
                break
            pid, parent, identity = found
            known = self._labels.get(pid)
            if known is not None and (known[0] == identity or self._is_begun(pid, known[0])):
                return known[1], first.identity
            if pid == self.shell:
                return SHELL, first.identity
            if parent == self.shell:
                if not self._is_shell_program(pid):  # an orphan that came to the shell
                    break
                if self.shell not in self._labels:
                    return SHELL, first.identity
            if parent <= 1:
                break
            found = who(parent)
        with contextlib.suppress(ProcessLookupError):
            return self._groups.get(os.getpgid(pid), _PLAIN), first.identity
        return _PLAIN, first.identity

    def _fork_of_shell(self, tid: int, calls_from: int) -> Image | None:
        """The process's image if it is that of our shell: nothing was executed since it was forked."""
        if self._image is None or calls_from != self._calls_from != 0:
            return None
        image = image_of(tid)
        if image is None or image.places != self._image:
            return None
        self._calls_from = calls_from
        return image

    def _is_begun(self, pid: int, identity: int) -> bool:
        """Whether a process that was let go on without a second stop is the one with that start, and did execute."""
        if identity >= 0:
            return False
        image = image_of(pid)
        return image is not None and image.start == -identity and image.places != self._image

    def _is_shell_program(self, pid: int) -> bool:
        try:
            return os.readlink(f"/proc/{pid}/exe") == str(self._gate["shell"])
        except OSError:
            return False


def _grants_nothing(label: Label) -> bool:
    """Whether what descends from such a program runs nothing for that reason alone, should its exec have failed."""
    return label.kind == "plain" and label.program not in HELPERS
