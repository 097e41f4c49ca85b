"""Spans for an OpenTelemetry collector: OTLP over HTTP as JSON, sent from a thread of its own.

Nothing waits for the collector. Spans wait in a queue of bounded length; when it is full the oldest are dropped and
counted, and when the collector cannot be reached they are tried again with the next batch. ``close`` gives it a
moment. Source: https://opentelemetry.io/docs/specs/otlp/ (OTLP/HTTP, JSON Protobuf encoding).
"""

import json
import threading
import urllib.parse
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from execkit_mcp.model.version import VERSION

__all__ = ["Endpoint", "Span", "SpanExporter", "endpoint_from"]

QUEUE_SPANS: Final = 4096
BATCH_SPANS: Final = 512
BATCH_S: Final = 0.5
TIMEOUT_S: Final = 5.0
CLOSE_S: Final = 2.0
_INTERNAL, _ERROR = 1, 2
_GONE: Final = range(400, 500)
_RETRIED: Final = frozenset({408, 429})


class Endpoint(Struct, frozen=True, kw_only=True):
    """Where spans go: the full URL, headers, and what this service is called."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    service: str = "execkit-mcp"


class Span(Struct, frozen=True, kw_only=True):
    """One span, complete; times in nanoseconds since 1970, ids in hex."""

    trace_id: str
    span_id: str
    name: str
    start_ns: int
    end_ns: int
    parent_id: str = ""
    error: str | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """The span as OTLP has it."""
        out: dict[str, object] = {
            "traceId": self.trace_id,
            "spanId": self.span_id,
            "name": self.name,
            "kind": _INTERNAL,
            "startTimeUnixNano": str(self.start_ns),
            "endTimeUnixNano": str(self.end_ns),
            "attributes": _attributes(self.attributes),
            "status": {} if self.error is None else {"code": _ERROR, "message": self.error},
        }
        return {**out, "parentSpanId": self.parent_id} if self.parent_id else out


def endpoint_from(environ: Mapping[str, str], configured: str | None = None) -> Endpoint | None:
    """Where spans go, from the configuration or the variables that OpenTelemetry has for it; None: nowhere."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    url = environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
    if not url:
        base = environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "") or configured or ""
        url = base.rstrip("/") + "/v1/traces" if base else ""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        return None
    given = environ.get("OTEL_EXPORTER_OTLP_TRACES_HEADERS") or environ.get("OTEL_EXPORTER_OTLP_HEADERS", "")
    pairs = (pair.partition("=") for pair in given.split(",") if "=" in pair)
    headers = {name.strip(): urllib.parse.unquote(value.strip()) for name, _, value in pairs}
    return Endpoint(url=url, headers=headers, service=environ.get("OTEL_SERVICE_NAME") or "execkit-mcp")


class SpanExporter:
    """Sends spans; its methods never wait for the network, ``close`` at most ``CLOSE_S``.

    Attributes:
        dropped: spans that did not get there.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._queue: deque[Span] = deque()
        self._wake = threading.Condition()
        self._is_closing = False
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def put(self, span: Span) -> None:
        """Have a span sent."""
        with self._wake:
            if len(self._queue) >= QUEUE_SPANS:
                self._queue.popleft()
                self.dropped += 1
            self._queue.append(span)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="otlp", daemon=True)
                self._thread.start()
            self._wake.notify()

    def close(self) -> None:
        """Send what waits, if that is quick."""
        with self._wake:
            self._is_closing = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(CLOSE_S)

    def _run(self) -> None:
        while True:
            with self._wake:
                if not self._queue and not self._is_closing:
                    self._wake.wait()
                if not self._is_closing:
                    self._wake.wait(BATCH_S)  # more of them come together
                batch = [self._queue.popleft() for _ in range(min(BATCH_SPANS, len(self._queue)))]
                is_closing = self._is_closing
            if not batch:
                if is_closing:
                    return
                continue
            if not self._send(batch):
                with self._wake:
                    if is_closing:
                        self.dropped += len(batch) + len(self._queue)
                        return
                    room = QUEUE_SPANS - len(self._queue)
                    self.dropped += max(0, len(batch) - room)
                    self._queue.extendleft(reversed(batch[len(batch) - min(room, len(batch)) :]))
                    if not self._is_closing:
                        self._wake.wait(TIMEOUT_S)

    def _send(self, batch: Sequence[Span]) -> bool:
        """Post them; False if it is worth another try."""
        import urllib.error  # noqa: PLC0415 - 30 ms, and few need it
        import urllib.request  # noqa: PLC0415

        request = urllib.request.Request(  # noqa: S310 - endpoint_from takes http and https only
            self._endpoint.url,
            data=self._body(batch),
            headers={"Content-Type": "application/json", **self._endpoint.headers},
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
                answer.read()
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in _GONE and error.code not in _RETRIED:
                self.dropped += len(batch)
                return True
            return False
        except (OSError, ValueError):
            return False
        return True

    def _body(self, batch: Sequence[Span]) -> bytes:
        resource = {"service.name": self._endpoint.service, "service.version": VERSION}
        scope = {"scope": {"name": "execkit_mcp", "version": VERSION}, "spans": [span.to_json() for span in batch]}
        return json.dumps(
            {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}]}
        ).encode()


def _attributes(facts: Mapping[str, object]) -> list[dict[str, object]]:
    return [{"key": name, "value": _value(value)} for name, value in facts.items() if value is not None]


def _value(value: object) -> dict[str, object]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": str(value)}
