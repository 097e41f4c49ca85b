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
    """What held beneath the shell: ``level`` none, process, namespaces, container or vm."""

    level: str = "none"
    exec_gate: bool = False
    network: str = "open"

    def to_json(self) -> dict[str, object]:
        """The three facts by name."""
        return {"level": self.level, "exec_gate": self.exec_gate, "network": self.network}


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
            out["fence"] = self.fence.to_json()
        if self.warnings:
            out["warnings"] = list(self.warnings)
        if self.pipe_status:
            out["pipe_status"] = list(self.pipe_status)
        return out
