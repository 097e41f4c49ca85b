"""Spans reach a real collector over HTTP, and nothing waits for one that does not answer."""

import asyncio
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from execkit_mcp import aio
from execkit_mcp.audit.otlp import Endpoint, Span, SpanExporter, endpoint_from
from execkit_mcp.errors import Blocked
from execkit_mcp.redaction.shape import ALNUM, assemble, fill
from execkit_mcp.runtime.sdk_policy import Policy

SECRET = "gh" + "p_" + assemble((fill(ALNUM, 36),), "spans")
POLICY = Policy.default_deny(allow=["echo", "sleep", "false", ":"])


class Collector:
    """What an OTLP/HTTP collector does, as far as it takes spans."""

    def __init__(self, *, codes=(), delay_s=0.0):
        codes = list(codes)
        self.requests = []
        self.answered = threading.Condition()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                time.sleep(delay_s)
                code = codes.pop(0) if codes else 200
                with collector.answered:
                    collector.requests.append((self.path, dict(self.headers), body, code))
                    collector.answered.notify_all()
                self.send_response(code)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self):
        bodies = [body for _, _, body, code in self.requests if code == 200]
        return [
            {**span, "attributes": {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}}
            for body in bodies
            for resource in body["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]

    def wait(self, count):
        with self.answered:
            assert self.answered.wait_for(lambda: len(self.requests) >= count, 20)


@pytest.fixture
def collect():
    made = []

    def make(**options):
        made.append(Collector(**options))
        return made[-1]

    yield make
    for collector in made:
        collector.server.shutdown()
        collector.server.server_close()


def span(number):
    return Span(trace_id="a" * 32, span_id=f"{number:016x}", name="n", start_ns=1, end_ns=2)


async def test_a_session_and_its_commands_are_spans_of_one_trace(tmp_path, monkeypatch, collect):
    collector = collect()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a%20b")
    async with aio.create(policy=POLICY, state_dir=str(tmp_path / "state"), workspace=str(tmp_path)) as session:
        result = await session.exec(f"echo {SECRET}; sleep 0.2; false")
        with pytest.raises(Blocked):
            await session.exec("rm x")
    spans = collector.spans()
    (whole,) = (each for each in spans if each["name"] == "execkit.session")
    ran, refused = (each for each in spans if each["name"] == "execkit.exec")
    assert {each["traceId"] for each in spans} == {whole["traceId"]}
    assert ran["parentSpanId"] == refused["parentSpanId"] == whole["spanId"]
    assert ran["attributes"]["process.exit.code"] == "1"
    assert ran["attributes"]["execkit.audit.seq"] == str(result.audit.seq)
    assert int(ran["endTimeUnixNano"]) - int(ran["startTimeUnixNano"]) > 150_000_000
    assert refused["attributes"]["execkit.verdict"] == "deny"
    assert refused["status"]["code"] == 2
    path, headers, body, _ = collector.requests[0]
    assert path == "/v1/traces"
    assert {name.lower(): value for name, value in headers.items()}["x-team"] == "a b"
    assert SECRET not in json.dumps(body)


async def test_a_collector_that_does_not_answer_costs_a_command_nothing(tmp_path, monkeypatch, collect):
    collector = collect(delay_s=30)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setattr("execkit_mcp.audit.otlp.CLOSE_S", 0.1)
    async with aio.create(policy=POLICY, state_dir=str(tmp_path / "state"), workspace=str(tmp_path)) as session:
        async with asyncio.timeout(10):
            for _ in range(20):
                await session.exec(":")


def test_what_could_not_be_sent_is_sent_later(monkeypatch, collect):
    monkeypatch.setattr("execkit_mcp.audit.otlp.TIMEOUT_S", 0.05)
    collector = collect(codes=[503, 429])
    exporter = SpanExporter(Endpoint(url=collector.url + "/v1/traces"))
    exporter.put(span(1))
    collector.wait(3)
    exporter.put(span(2))
    exporter.close()
    assert [each["spanId"] for each in collector.spans()] == [f"{1:016x}", f"{2:016x}"]
    assert exporter.dropped == 0


def test_what_a_collector_refuses_is_counted_and_not_sent_again(collect):
    collector = collect(codes=[400])
    exporter = SpanExporter(Endpoint(url=collector.url))
    exporter.put(span(1))
    collector.wait(1)
    exporter.close()
    assert (exporter.dropped, len(collector.requests)) == (1, 1)


def test_a_full_queue_drops_the_oldest_and_counts_them(monkeypatch):
    monkeypatch.setattr("execkit_mcp.audit.otlp.QUEUE_SPANS", 3)
    exporter = SpanExporter(Endpoint(url="http://127.0.0.1:9/"))
    exporter._thread = threading.current_thread()  # nobody takes anything
    for number in range(5):
        exporter.put(span(number))
    assert [each.span_id[-1] for each in exporter._queue] == ["2", "3", "4"]
    assert exporter.dropped == 2


@pytest.mark.parametrize(
    ("environ", "configured", "url"),
    [
        ({}, None, None),
        ({}, "http://c:4318", "http://c:4318/v1/traces"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://e:1/"}, "http://c", "http://e:1/v1/traces"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://t/x"}, None, "https://t/x"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "grpc://e:1"}, None, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "file:///etc/passwd"}, None, None),
        ({"OTEL_SDK_DISABLED": "true"}, "http://c", None),
    ],
)
def test_where_spans_go(environ, configured, url):
    found = endpoint_from(environ, configured)
    assert (found.url if found is not None else None) == url
