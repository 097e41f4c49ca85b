"""The shell session as a state machine, events in and actions out; this module is that machine.

Theory of operation
-------------------
::

    STARTING ─ R ─▸ IDLE ─ RunRequested ─▸ RUNNING ─ R ─▸ IDLE
                     ▴                       │   ╰ R (stop code, or in ENDING) ─▸ ASKING ─ J ─▸ IDLE
                     │                       ╰ InterruptRequested, once it has begun ─▸ ENDING (ladder)
                     ╰── R ── STARTING ◂─ Opened ── RESPAWNING ◂─ ShellExited, in any state

* A command is finished by its status record only, never by silence, output or the end of a pipe.
* An interrupt waits until a probe finds the shell inside the command: a signal that hits it while it reads
  line one could make it take the rest of the line for a command of its own.
* While idle, a snapshot of the state is taken once after each run of commands, and before a command that looks as if
  it could end the shell. When a shell ends, its EXIT
  trap has sent a fresher one, or the last snapshot serves, or the session starts anew and the completion
  says so.
* Of background jobs the shell is asked only while it is idle, and only of those that have ended: it never waits.
* The watchdog only asks; it acts when the shell twice waits for script although a command is out: then
  something hides the builtins of our own lines (a function named ``builtin``), which is repaired once, or
  the shell replaced.

Every state answers every event: what is not in the table is ignored on purpose.
Over 400 lines, because the table and all its handlers are read together.
"""

import signal
from enum import StrEnum
from typing import TYPE_CHECKING

from execkit_mcp.model.ports import Entropy
from execkit_mcp.protocol import actions as act
from execkit_mcp.protocol import events as ev
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.protocol.dialects import bash, bash_env, bash_jobs
from execkit_mcp.protocol.dialects.dialect import LOCAL, Dialect
from execkit_mcp.protocol.framing import NONCE_BYTES, Record, RecordParser
from execkit_mcp.protocol.ladder import LADDER, is_list, may_end_shell
from execkit_mcp.protocol.signal_names import NAMES_OF_CODES, SIGNAL_BASE, signal_name

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ShellMachine", "State"]

_START_S, _ASK_S, _SNAPSHOT_S = 5.0, 1.0, 0.05
_INSISTS = ((signal.SIGINT, 0.25), (signal.SIGTERM, 0.5), (signal.SIGKILL, 1.0))
"""A shell that was hit just as it forked says that the command has ended, and then waits for it all the same."""
_INSIST_S = 0.03
_WATCH_S = (0.3, 0.3, 0.6, 1.2, 2.0)
_BEGIN_S, _BEGIN_LIMIT = 0.005, 200
_STATUS_FIELDS = 3
_NOT_FOUND, _PID_DIGITS = 127, 10
_SHORTEST_PIPE = 1 + 2
"""The code of the whole, then those of two parts."""
_STOP_CODES = frozenset(SIGNAL_BASE + n for n in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU))
_RESPAWN_LIMIT = 3

_Actions = list[act.Action]


class State(StrEnum):
    """Where a session stands."""

    CLOSED = "closed"
    STARTING = "starting"
    IDLE = "idle"
    RUNNING = "running"
    ENDING = "ending"
    ASKING = "asking"
    RESPAWNING = "respawning"
    UNLINKED = "unlinked"
    LOST = "lost"


class ShellMachine:
    """Decides; its driver acts. ``receive`` takes an event and the time and returns actions in order."""

    def __init__(
        self, entropy: Entropy, dialect: Dialect = LOCAL, *, insist_s: float = _INSIST_S, patience: float = 1.0
    ) -> None:
        self._dialect = dialect
        self._insist_s = insist_s
        self._patience = patience
        self.state = State.CLOSED
        self.cwd = ""
        self._entropy = entropy
        self.job_nonce = entropy.token_hex(NONCE_BYTES)
        self._parser = RecordParser()
        self._shell_nonce = ""
        self._nonce = ""
        self._snapshot: bash.Snapshot | None = None
        self._is_snapshot_fresh = False
        self._is_snapshot_due = False
        self._is_restoring = False
        self._env_names: frozenset[str] = frozenset()
        self._last_code = 0
        self._has_command = False
        self._command = ""
        self._terminal: str | None = None
        self._waiting_run: ev.RunRequested | None = None
        self._started_s = 0.0
        self._reason: str | None = None
        self._rung = -1
        self._insists = 0
        self._used: list[str] = []
        self._watch = 0
        self._waits = 0
        self._begins = 0
        self._is_repaired = False
        self._warnings: list[str] = []
        self._end: Completion | None = None
        self._told_env: list[Record] = []
        self._respawns = 0
        self._why_none = "its channel closed"
        self._dead_jobs: frozenset[int] = frozenset()
        self._table: dict[type, Callable[..., _Actions]] = {
            ev.StatusBytes: self._on_status,
            ev.RunRequested: self._on_run,
            ev.TimerFired: self._on_timer,
            ev.InterruptRequested: self._on_interrupt,
            ev.ShellProbed: self._on_probed,
            ev.ShellExited: self._on_exited,
            ev.ShellStopped: self._on_stopped,
            ev.ChannelLost: self._on_lost,
            ev.LinkLost: self._on_link_lost,
            ev.Opened: self._on_opened,
            ev.OpenFailed: self._on_open_failed,
            ev.JobsDied: self._on_jobs_died,
        }
        self._records: dict[tuple[State, str], Callable[[Record, float], _Actions]] = {
            (State.STARTING, "R"): self._started_up,
            (State.RUNNING, "R"): self._command_ended,
            (State.ENDING, "R"): self._command_ended,
            (State.ASKING, "J"): self._jobs_told,
        }
        self._timers: dict[State, Callable[[float], _Actions]] = {
            State.STARTING: lambda _: [act.SignalShell(number=signal.SIGKILL)],
            State.IDLE: self._snapshot_due,
            State.RUNNING: lambda _: [act.Probe()],
            State.ENDING: lambda _: self._climb(),
            State.ASKING: self._not_told,
        }

    @property
    def is_busy(self) -> bool:
        """Whether a command is out."""
        return self._has_command

    @property
    def nonces(self) -> set[str]:
        """What the records carry that count now."""
        return {self._nonce, self._shell_nonce, self.job_nonce}

    def receive(self, event: ev.Event, now_s: float) -> _Actions:
        """What to do about ``event`` at monotonic ``now_s``."""
        return self._table[type(event)](event, now_s)

    # -- starting and replacing --------------------------------------------------------------------

    def _on_opened(self, event: ev.Opened, _now: float) -> _Actions:
        self.state = State.STARTING
        self._parser = RecordParser()
        self._dead_jobs = frozenset()
        self._shell_nonce = self._entropy.token_hex(NONCE_BYTES)
        self._nonce = self._entropy.token_hex(NONCE_BYTES)
        self._env_names = event.env_names
        return [
            act.WriteScript(data=self._dialect.init(self._shell_nonce, self._nonce)),
            act.ArmTimer(seconds=_START_S),
        ]

    def _started_up(self, record: Record, now_s: float) -> _Actions:
        if self._snapshot is not None and not self._is_restoring and self._respawns:
            self._is_restoring = True
            self._nonce = self._entropy.token_hex(NONCE_BYTES)
            text = self._dialect.restore(self._snapshot, self._shell_nonce, self._nonce, env_names=self._env_names)
            return [act.WriteScript(data=text), act.ArmTimer(seconds=_START_S)]
        was_restored, self._is_restoring = self._is_restoring, False
        self._respawns = 0
        self.cwd = _text(record.fields[1]) if len(record.fields) > 1 else self.cwd
        self.state = State.IDLE
        # a shell without a known state is worth a snapshot at once
        done: _Actions = [act.ArmTimer(seconds=None), act.MarkReady()]
        if self._end is not None:
            done += self._finish_replaced(now_s, is_restored=was_restored)
        if self._waiting_run is not None:
            run, self._waiting_run = self._waiting_run, None
            done += self._on_run(run, now_s)
        elif self._snapshot is None:
            done.append(act.ArmTimer(seconds=_SNAPSHOT_S))
            self._is_snapshot_due = True
        return done

    def _finish_replaced(self, now_s: float, *, is_restored: bool) -> _Actions:
        end, self._end = self._end, None
        assert end is not None
        if is_restored and self._is_snapshot_fresh:
            told = "its folder, variables, functions and options were restored"
        elif is_restored:
            told = (
                "its folder, variables, functions and options were restored as they were "
                "before the last commands; what those changed is lost"
            )
        else:
            told = "its state is lost"
        self._warnings.insert(0, f"{end.warnings[0]}; it was replaced, {told}. Its background jobs were ended.")
        self._is_snapshot_fresh = False
        return self._finish(
            now_s, exit_code=end.exit_code, signal_name=end.signal, is_replaced=True, is_restored=is_restored
        )

    def _on_exited(self, event: ev.ShellExited, now_s: float) -> _Actions:
        if self.state in {State.LOST, State.CLOSED, State.RESPAWNING}:
            return []
        if self.state is State.STARTING:
            if self._is_restoring:  # the state itself ends shells: go on without it
                self._snapshot, self._is_restoring = None, False
        elif self._has_command:
            told = f"The shell ended with exit code {event.code}"
            code, name = event.code, None
            if event.code < 0:
                name = signal_name(-event.code)
                code = SIGNAL_BASE - event.code
                told = f"The shell was ended by {name}"
            self._last_code = code
            is_ours = self._rung >= 0 and LADDER[self._rung].is_for_shell
            self._end = Completion(
                exit_code=None if is_ours else code, signal=None if is_ours else name, warnings=(told,)
            )
        else:
            self._warnings.append(
                "The shell ended between two commands; it was replaced, its state restored as far as it was known."
            )
        self._respawns += 1
        if self._respawns > _RESPAWN_LIMIT:
            self._why_none = f"it ended at once, {_RESPAWN_LIMIT + 1} times (exit code {event.code})"
            return self._on_lost(ev.ChannelLost(), now_s)
        self.state = State.RESPAWNING
        cwd = None if self._snapshot is None else self._snapshot.cwd
        return [act.ArmTimer(seconds=None), act.Respawn(cwd=cwd)]

    def _on_open_failed(self, event: ev.OpenFailed, now_s: float) -> _Actions:
        self._warnings.append(f"The shell could not be replaced: {event.reason}")
        self._why_none = event.reason
        return self._on_lost(ev.ChannelLost(), now_s)

    def _on_lost(self, _event: ev.ChannelLost, now_s: float) -> _Actions:
        if self.state is State.LOST:
            return []
        self.state = State.LOST
        done: _Actions = [act.ArmTimer(seconds=None)]
        if not self._has_command:
            done.append(act.GiveUp(reason=self._why_none))
        else:
            code, name = (self._end.exit_code, self._end.signal) if self._end else (None, None)
            self._warnings.append("The session is lost: its shell is gone. Open a new session.")
            done += self._finish(now_s, exit_code=code, signal_name=name, is_lost=True)
        return done

    def _on_link_lost(self, event: ev.LinkLost, now_s: float) -> _Actions:
        """The shell is out of reach. What ran is lost; a new shell gets the state that is known, if one is opened."""
        if self.state in {State.LOST, State.CLOSED, State.UNLINKED}:
            return []
        done: _Actions = [act.ArmTimer(seconds=None)]
        if self._is_restoring:
            self._snapshot, self._is_restoring = None, False
        self._waiting_run = self._end = None
        if self._has_command:
            self._warnings.append(event.reason)
            done += self._finish(now_s, exit_code=None, is_lost=True)
        self._is_snapshot_fresh = not self._is_snapshot_due
        self._is_snapshot_due = False
        self._respawns = 1
        self.state = State.UNLINKED
        return done

    @property
    def is_state_known(self) -> bool:
        """Whether a new shell would get the state that the last finished command left."""
        return self._snapshot is not None and self._is_snapshot_fresh

    def _on_stopped(self, _event: ev.ShellStopped, _now: float) -> _Actions:
        if self._has_command:
            self._warnings.append("The shell itself was stopped by a signal and was continued.")
        return [act.SignalShell(number=signal.SIGCONT)]

    # -- a command ---------------------------------------------------------------------------------

    def _on_run(self, event: ev.RunRequested, now_s: float) -> _Actions:
        self._has_command = True
        self._started_s = now_s
        if self.state is not State.IDLE:
            self._waiting_run = event
            return []
        self.state = State.RUNNING
        self._command = event.command
        self._terminal = event.terminal
        self._nonce = nonce = self._entropy.token_hex(NONCE_BYTES)
        self._reason = None
        self._rung = -1
        self._used = []
        self._watch = self._waits = self._begins = 0
        self._is_repaired = False
        line = self._dialect.line_one(
            event.command,
            stdin_path=event.stdin_path,
            is_tty=event.is_tty,
            terminal=event.terminal,
            outputs=event.outputs,
            last_code=self._last_code,
        )
        self._told_env = []
        told = bash_env.dump(nonce).encode() if event.tells_env else b""
        script = event.prologue + told + line + told + self._dialect.line_two(nonce)
        if self._is_snapshot_due and may_end_shell(event.command):
            script = self._dialect.take_snapshot(self._shell_nonce) + script
        return [act.WriteScript(data=script), act.ArmTimer(seconds=_WATCH_S[0])]

    def _on_status(self, event: ev.StatusBytes, now_s: float) -> _Actions:
        done: _Actions = []
        for record in self._parser.push(event.data, self.nonces):
            if record.kind in "DP" and record.nonce == self._shell_nonce:
                done += self._state_told(record)
            elif record.kind == bash_env.EXPORTED and record.nonce == self._nonce:
                self._told_env.append(record)
            elif record.nonce == self.job_nonce:
                done += _job_told(record)
            elif record.nonce == self._nonce:
                handler = self._records.get((self.state, record.kind))
                if handler is not None:
                    done += handler(record, now_s)
        return done

    def _state_told(self, record: Record) -> _Actions:
        snapshot = bash.Snapshot.from_record(record)
        if snapshot is None:
            return []
        if self._has_command and self._terminal is not None:  # the shell ended within a command that had its own TERM
            snapshot = bash.without_terminal(snapshot, self._terminal, self._snapshot)
        self._snapshot = snapshot
        self._is_snapshot_fresh = record.kind == "D"
        if record.kind == "P" and not snapshot.is_exit_trap_ours:
            return [act.WriteScript(data=self._dialect.rewrap(self._shell_nonce, snapshot.user_exit_trap))]
        return []

    def _command_ended(self, record: Record, now_s: float) -> _Actions:
        codes = (
            [int(word) for word in record.fields[2].split() if word.isdigit()]
            if len(record.fields) == _STATUS_FIELDS
            else []
        )
        code = codes[0] if codes else _number(record.fields[0])
        self.cwd = _text(record.fields[1]) if len(record.fields) > 1 else self.cwd
        if not codes and self.state is State.ENDING and code == self._last_code and code > SIGNAL_BASE:
            code = SIGNAL_BASE + signal.SIGINT  # bash lets an older code of a signal stand when SIGINT ends a text
        self._last_code = code or 0
        name = NAMES_OF_CODES.get(code or 0)
        parts = tuple(codes[1:]) if len(codes) >= _SHORTEST_PIPE else ()
        is_stop = code in _STOP_CODES
        done: _Actions = [] if codes else [act.WriteScript(data=self._dialect.unhide())]
        if not is_stop and self.state is not State.ENDING:
            return done + self._finish(now_s, exit_code=code, signal_name=name, pipe_status=parts)
        self._end = Completion(exit_code=code, signal=name, pipe_status=parts)
        self.state = State.ASKING
        self._nonce = self._entropy.token_hex(NONCE_BYTES)
        self._insists = 0
        ask_s = _ASK_S if self._reason is None else self._insist_s
        return [*done, act.WriteScript(data=self._dialect.query(self._nonce)), act.ArmTimer(seconds=ask_s)]

    def _jobs_told(self, record: Record, now_s: float) -> _Actions:
        end, self._end = self._end, None
        assert end is not None
        groups = frozenset(int(word) for word in record.fields[0].split() if word.isdigit())
        stopped = _text(record.fields[1]).strip() if len(record.fields) > 1 else ""
        if self._reason is not None:
            return [
                act.EndStrays(spared=groups),
                *self._finish(now_s, exit_code=end.exit_code, signal_name=end.signal, pipe_status=end.pipe_status),
            ]
        job = stopped.splitlines()[-1] if stopped else None
        if job is not None:
            self._warnings.append(
                f"The command was stopped and stands as a job of the shell: {job}. "
                "Continue it with fg or bg, or end it with kill."
            )
        return self._finish(
            now_s,
            exit_code=end.exit_code,
            signal_name=end.signal if job else None,
            pipe_status=end.pipe_status,
            stopped_job=job,
        )

    def _not_told(self, now_s: float) -> _Actions:
        if self._reason is not None and self._insists < len(_INSISTS):
            number, grace_s = _INSISTS[self._insists]
            self._insists += 1
            return [act.SignalForeground(number=number, spares_shell=True), act.ArmTimer(seconds=grace_s)]
        end, self._end = self._end, None
        assert end is not None
        return self._finish(now_s, exit_code=end.exit_code, signal_name=end.signal, pipe_status=end.pipe_status)

    def _finish(
        self,
        now_s: float,
        *,
        exit_code: int | None,
        signal_name: str | None = None,
        pipe_status: tuple[int, ...] = (),
        is_replaced: bool = False,
        is_restored: bool = False,
        is_lost: bool = False,
        stopped_job: str | None = None,
    ) -> _Actions:
        told = _env_told([] if is_replaced or is_lost else self._told_env)
        completion = Completion(
            exit_code=exit_code,
            signal=signal_name,
            cwd=self.cwd,
            pipe_status=pipe_status,
            is_timed_out=self._reason == "timeout",
            is_cancelled=self._reason == "cancelled",
            interrupted_with=tuple(self._used),
            is_shell_replaced=is_replaced,
            is_state_restored=is_restored,
            is_lost=is_lost,
            stopped_job=stopped_job,
            duration_ms=(now_s - self._started_s) * 1000,
            warnings=tuple(self._warnings),
            env_delta=told[0],
            env=told[1],
            variables=told[2],
        )
        self._warnings = []
        self._told_env = []
        self._has_command = False
        self._reason = None
        self._rung = -1
        self._used = []
        if is_lost:
            return [act.Finish(completion=completion)]
        self.state = State.IDLE
        self._is_snapshot_fresh = False
        self._is_snapshot_due = True
        return [act.ArmTimer(seconds=_SNAPSHOT_S), *self._ask_of_jobs(), act.Finish(completion=completion)]

    def _on_jobs_died(self, event: ev.JobsDied, _now: float) -> _Actions:
        self._dead_jobs |= event.pids
        return self._ask_of_jobs() if self.state is State.IDLE else []

    def _ask_of_jobs(self) -> _Actions:
        if not self._dead_jobs:
            return []
        pids, self._dead_jobs = sorted(self._dead_jobs), frozenset[int]()
        return [act.WriteScript(data=bash_jobs.query_ends(pids, self.job_nonce))]

    # -- time --------------------------------------------------------------------------------------

    def _on_timer(self, _event: ev.TimerFired, now_s: float) -> _Actions:
        handler = self._timers.get(self.state)
        return [] if handler is None else handler(now_s)

    def _snapshot_due(self, _now: float) -> _Actions:
        if not self._is_snapshot_due:
            return []
        self._is_snapshot_due = False
        return [act.WriteScript(data=self._dialect.take_snapshot(self._shell_nonce))]

    def _on_probed(self, event: ev.ShellProbed, _now: float) -> _Actions:
        if self.state is not State.RUNNING:
            return []
        if self._reason is not None:
            self._begins += 1
            if event.is_inside or self._begins > _BEGIN_LIMIT:
                self.state = State.ENDING
                return self._climb()
            return [act.ArmTimer(seconds=_BEGIN_S)]
        self._waits = self._waits + 1 if event.is_waiting else 0
        self._watch = min(self._watch + 1, len(_WATCH_S) - 1)
        again = act.ArmTimer(seconds=_WATCH_S[0] if event.is_waiting else _WATCH_S[self._watch])
        if self._waits < 2:  # noqa: PLR2004 - once may be the moment before its record arrives
            return [again]
        self._waits = 0
        if self._is_repaired:
            return [act.SignalShell(number=signal.SIGKILL), again]
        self._is_repaired = True
        if not self._dialect.drops_input:
            self._warnings.append(
                "The shell did not report its status: a function, trap or switch hid its own builtins; "
                "what hid them was removed."
            )
        return [act.WriteScript(data=self._dialect.repair(self._nonce)), again]

    def _on_interrupt(self, event: ev.InterruptRequested, now_s: float) -> _Actions:
        if not self._has_command or self._reason is not None:
            return []
        if self._waiting_run is not None:
            self._waiting_run = None
            self._reason = event.reason
            state = self.state
            done = self._finish(now_s, exit_code=None)
            self.state = state
            return [action for action in done if isinstance(action, act.Finish)]
        self._reason = event.reason
        return [act.Probe()] if self.state is State.RUNNING else []

    def _climb(self) -> _Actions:
        if self._rung + 1 >= len(LADDER):
            return [act.SignalShell(number=signal.SIGKILL), act.ArmTimer(seconds=LADDER[-1].grace_s)]
        self._rung += 1
        rung = LADDER[self._rung]
        self._used.append(rung.number.name)
        if rung.is_for_shell:
            return [act.SignalShell(number=rung.number), act.ArmTimer(seconds=rung.grace_s * self._patience)]
        done: _Actions = [act.SignalForeground(number=rung.number, stops_list=is_list(self._command))]
        if rung.is_asked_again or self._dialect.drops_input:
            done.append(act.WriteScript(data=b"\n" + self._dialect.line_two(self._nonce)))
        return [*done, act.ArmTimer(seconds=rung.grace_s * self._patience)]


def _text(field: bytes) -> str:
    return field.decode("utf-8", "surrogateescape")


def _env_told(
    told: list[Record],
) -> tuple[bash_env.EnvDelta, dict[str, str], dict[str, str]] | tuple[None, None, None]:
    """From the record before the command to the one after it, what that says, and all variables."""
    if len(told) < 2:  # noqa: PLR2004 - it was not asked, or the command never came to its end
        return None, None, None
    first, last = (_text(record.fields[0]) for record in (told[0], told[-1]))
    before, after = bash_env.exported(first), bash_env.exported(last)
    return bash_env.delta(before, after), after, bash_env.variables(last)


def _job_told(record: Record) -> _Actions:
    """A record of ``bash_jobs``; what does not look like one is nothing."""
    numbers = [int(field) if field.isdigit() and len(field) < _PID_DIGITS else None for field in record.fields]
    match record.kind, numbers:
        case (bash_jobs.STARTED, [int(number), int(pid)]):
            return [act.JobStarted(number=number, pid=pid)]
        case (bash_jobs.ENDED, [int(pid), int(code), known]):
            is_unknown = known is None and code == _NOT_FOUND
            return [act.JobEnded(pid=pid, code=None if is_unknown else code)]
    return []


def _number(field: bytes) -> int | None:
    return int(field) if field.isdigit() else None
