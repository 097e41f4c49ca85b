"""What comes back from one command."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from execkit_mcp.model.decision import Decision


class Status(StrEnum):
    """How a command stands or ended."""

    COMPLETED = "completed"
    RUNNING = "running"
    DENIED = "denied"
    APPROVAL_PENDING = "approval_pending"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    LOST = "lost"


class StreamCount(Struct, frozen=True, kw_only=True):
    """Exact counts of one stream's cleaned and redacted text; kept + omitted == total."""

    total_bytes: int
    total_lines: int
    omitted_bytes: int
    omitted_lines: int

    def to_json(self) -> dict[str, int]:
        """The four counts by name."""
        return {
            "total_bytes": self.total_bytes,
            "total_lines": self.total_lines,
            "omitted_bytes": self.omitted_bytes,
            "omitted_lines": self.omitted_lines,
        }


class Fence(Struct, frozen=True, kw_only=True):
    """What held beneath the shell.

    Attributes:
        level: none, process, namespaces, container or vm.
        exec_gate: whether every execve is compared with what was judged.
        network: open, filtered or none.
        mechanisms: what it is made of.
        holes: what it does not hold, in words.
    """

    level: str = "none"
    exec_gate: bool = False
    network: str = "open"
    mechanisms: tuple[str, ...] = ()
    holes: tuple[str, ...] = ()

    def brief(self) -> dict[str, object]:
        """What each result states; mechanisms and holes stay the same in a session, and stand where it is described."""
        return {"level": self.level, "exec_gate": self.exec_gate, "network": self.network}

    def to_json(self) -> dict[str, object]:
        """The facts by name; mechanisms and holes where there are some."""
        out = self.brief()
        if self.mechanisms:
            out["mechanisms"] = list(self.mechanisms)
        if self.holes:
            out["holes"] = list(self.holes)
        return out


class AuditMark(Struct, frozen=True, kw_only=True):
    """Where a result stands on the record: the number of its entry, and the hash that speaks for all up to there."""

    seq: int
    head: str

    def to_json(self) -> dict[str, object]:
        """The two by name."""
        return {"seq": self.seq, "head": self.head}


class JobNote(Struct, frozen=True, kw_only=True):
    """A background job that a command started, as it stands; ``shell_read`` and ``shell_send`` take its id."""

    exec_id: str
    pid: int
    command: str
    status: Status
    exit_code: int | None = None

    def to_json(self) -> dict[str, object]:
        """Its facts by name."""
        return {
            "exec_id": self.exec_id,
            "pid": self.pid,
            "command": self.command,
            "status": self.status.value,
            "exit_code": self.exit_code,
        }


class Refusal(Struct, frozen=True, kw_only=True):
    """An execve beneath a command that did not run: the program, why, what would help, and who started it."""

    program: str
    argv: tuple[str, ...]
    rule: str | None
    reason_code: str
    message: str
    hint: str = ""
    parents: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Its facts by name."""
        return {
            "program": self.program,
            "argv": list(self.argv),
            "rule": self.rule or "",
            "reason_code": self.reason_code,
            "message": self.message,
            "hint": self.hint,
            "parents": list(self.parents),
        }

    def __str__(self) -> str:
        by = f"rule {self.rule}" if self.rule else self.reason_code
        said = f"refused beneath the shell ({by}): {' '.join(self.argv)[:200]}: {self.message}"
        return f"{said} {self.hint}".strip()


class ExecResult(Struct, frozen=True, kw_only=True):
    """The structured result of one command.

    Attributes:
        status: how it stands; a non-zero exit code is ``completed``.
        exit_code: 0-255, 128+n after signal n, None when it is not known or nothing ran.
        stdout: cleaned, redacted, bounded text.
        stderr: the same for standard error.
        duration_ms: wall-clock milliseconds in the shell.
        cwd: the session's folder afterwards.
        session: the session's name.
        exec_id: names the full output for ``shell_read``; empty when nothing ran.
        signal: POSIX name of the signal that ended it.
        truncated: exact counts of each stream that was cut.
        redactions: how many secrets of each kind were replaced.
        decision: why it was refused, or what must be approved.
        approval_id: names the request that a human must decide.
        fence: what held beneath the shell.
        warnings: anything else that the caller must know.
        pipe_status: exit codes of the parts of a pipeline, when there were several.
        jobs: background jobs that it started.
        env_delta: exported variables that it set, changed and unset, if that was asked.
        limit: the limit that ended it, by its name in the settings or the policy.
        audit: its entry in the audit log; ``audit verify --head`` tells whether that still stands.
        refused: what the exec gate did not let run beneath it.
    """

    status: Status
    exit_code: int | None
    stdout: str
    stderr: str
    duration_ms: float
    cwd: str
    session: str
    exec_id: str
    signal: str | None = None
    truncated: Mapping[str, StreamCount] = field(default_factory=dict)
    redactions: Mapping[str, int] = field(default_factory=dict)
    decision: Decision | None = None
    approval_id: str | None = None
    fence: Fence | None = None
    warnings: tuple[str, ...] = ()
    pipe_status: tuple[int, ...] = ()
    jobs: tuple[JobNote, ...] = ()
    env_delta: Mapping[str, object] | None = None
    limit: str = ""
    audit: AuditMark | None = None
    refused: tuple[Refusal, ...] = ()

    @property
    def is_ok(self) -> bool:
        """Whether the command completed with exit code 0."""
        return self.status is Status.COMPLETED and self.exit_code == 0

    def to_json(self) -> dict[str, object]:
        """The contract's object: eight fields always, the others only when they say something."""
        out: dict[str, object] = {
            "status": self.status.value,
            "exit_code": self.exit_code,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "duration_ms": round(self.duration_ms, 3),
            "cwd": self.cwd,
            "session": self.session,
            "exec_id": self.exec_id,
        }
        if self.signal:
            out["signal"] = self.signal
        if self.truncated:
            out["truncated"] = {name: count.to_json() for name, count in self.truncated.items()}
        if self.redactions:
            out["redactions"] = dict(self.redactions)
        if self.decision is not None:
            out["decision"] = {
                "verdict": self.decision.verdict.word,
                "rule": self.decision.rule or "",
                "reason_code": self.decision.reason_code.value,
                "message": self.decision.message,
                "hint": self.decision.hint,
            }
        if self.approval_id:
            out["approval_id"] = self.approval_id
        if self.fence is not None:
            out["fence"] = self.fence.brief()
        if self.warnings:
            out["warnings"] = list(self.warnings)
        if self.pipe_status:
            out["pipe_status"] = list(self.pipe_status)
        return {**out, **self._extras()}

    def _extras(self) -> dict[str, object]:
        out: dict[str, object] = {}
        if self.jobs:
            out["jobs"] = [job.to_json() for job in self.jobs]
        if self.env_delta is not None:
            out["env_delta"] = dict(self.env_delta)
        if self.limit:
            out["limit"] = self.limit
        if self.audit is not None:
            out["audit"] = self.audit.to_json()
        if self.refused:
            out["refused"] = [each.to_json() for each in self.refused]
        return out
