"""Sessions and execs as OpenTelemetry spans: one trace a session, one span a command, all text redacted."""

from msgspec import Struct

from execkit_mcp.audit.otlp import Span, SpanExporter
from execkit_mcp.model import AuditMark, Clock, Decision, Entropy, Status
from execkit_mcp.runtime.client import current_client
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.session import Session

__all__ = ["Tracing"]

_TRACE_BYTES, _SPAN_BYTES = 16, 8
_CHARS = 2000
_FAILED = frozenset({Status.LOST, Status.TIMED_OUT, Status.CANCELLED})


class _Trace(Struct, frozen=True, kw_only=True):
    trace_id: str
    span_id: str
    start_ns: int


class Tracing:
    """The spans of one server."""

    def __init__(self, exporter: SpanExporter, *, clock: Clock, entropy: Entropy) -> None:
        self._exporter = exporter
        self._clock = clock
        self._entropy = entropy
        self._traces: dict[int, _Trace] = {}

    def session_opened(self, session: Session) -> None:
        """A trace begins."""
        self._trace(session)

    def session_closed(self, session: Session) -> None:
        """The trace is complete."""
        trace = self._traces.pop(id(session), None)
        if trace is not None:
            self._exporter.put(
                Span(
                    trace_id=trace.trace_id,
                    span_id=trace.span_id,
                    name="execkit.session",
                    start_ns=trace.start_ns,
                    end_ns=self._now_ns(),
                    attributes=self._of(session),
                )
            )

    def ended(self, exec_: Exec, session: Session, mark: AuditMark | None) -> None:
        """A command has ended."""
        end = exec_.completion
        now_ns = self._now_ns()
        self._put(
            session,
            exec_.decision,
            mark,
            start_ns=now_ns - int((end.duration_ms if end is not None else 0.0) * 1e6),
            end_ns=now_ns,
            error=exec_.status.value if exec_.status in _FAILED else None,
            told={
                "execkit.exec.id": exec_.exec_id,
                "execkit.exec.status": exec_.status.value,
                "process.exit.code": end.exit_code if end is not None else None,
                "execkit.exec.redactions": sum(exec_.redactions().values()),
            },
        )

    def not_run(self, decision: Decision, session: Session, mark: AuditMark | None) -> None:
        """A command was refused, or waits for a person."""
        now_ns = self._now_ns()
        self._put(session, decision, mark, start_ns=now_ns, end_ns=now_ns, error=decision.reason_code.value, told={})

    def close(self) -> None:
        """Send what waits, if that is quick."""
        self._exporter.close()

    def _put(
        self,
        session: Session,
        decision: Decision,
        mark: AuditMark | None,
        *,
        start_ns: int,
        end_ns: int,
        error: str | None,
        told: dict[str, object],
    ) -> None:
        trace = self._trace(session)
        self._exporter.put(
            Span(
                trace_id=trace.trace_id,
                span_id=self._entropy.token_hex(_SPAN_BYTES),
                parent_id=trace.span_id,
                name="execkit.exec",
                start_ns=start_ns,
                end_ns=end_ns,
                error=error,
                attributes={
                    **self._of(session),
                    "execkit.verdict": decision.verdict.word,
                    "execkit.rule": decision.rule,
                    "execkit.reason_code": decision.reason_code.value,
                    "execkit.command": session.redact(decision.canonical or "")[:_CHARS],
                    "execkit.audit.seq": None if mark is None else mark.seq,
                    **told,
                },
            )
        )

    def _of(self, session: Session) -> dict[str, object]:
        facts, client = session.facts, current_client()
        return {
            "execkit.session": session.redact(facts.name),
            "execkit.target": facts.target,
            "execkit.transport": facts.transport,
            "execkit.requester": session.redact(facts.owner),
            "execkit.client.version": None if client is None else str(client.to_json()["version"]),
            "execkit.policy": facts.policy.ref.name,
        }

    def _trace(self, session: Session) -> _Trace:
        trace = self._traces.get(id(session))
        if trace is None:
            trace = self._traces[id(session)] = _Trace(
                trace_id=self._entropy.token_hex(_TRACE_BYTES),
                span_id=self._entropy.token_hex(_SPAN_BYTES),
                start_ns=self._now_ns(),
            )
        return trace

    def _now_ns(self) -> int:
        return int(self._clock.epoch_s() * 1e9)
