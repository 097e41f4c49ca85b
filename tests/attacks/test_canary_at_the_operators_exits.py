"""P3: the same canaries at the exits that the operator reads: spans, pages, metrics, doctor; and in errors."""

import base64
import contextlib
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from execkit_mcp.redaction.shape import ALNUM, assemble, fill
from tests.http_server import HttpServer

pytestmark = pytest.mark.promise("P3")

KNOWN = "Cn4" + assemble((fill(ALNUM, 25),), "canary of operators") + "R7"
SHAPED = "gh" + "p_" + assemble((fill(ALNUM, 36),), "shaped canary of operators")
NAMES = (KNOWN, SHAPED)


def leaks(text: str) -> list[str]:
    pieces = [secret[at : at + 12] for secret in NAMES for at in (6, 12)]
    pieces += [base64.b64encode(secret.encode()).decode()[4:-4] for secret in NAMES]
    return [piece for piece in pieces if piece in text]


@contextlib.contextmanager
def collector():
    """What takes spans, and everything that it was sent."""
    sent: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            sent.append(self.path + str(self.headers) + self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sent
    finally:
        server.shutdown()
        server.server_close()


async def told_of(awaited: object) -> str:
    """The answer, or the error, as the other side reads it."""
    try:
        answer = await awaited  # type: ignore[misc]
    except Exception as error:  # noqa: BLE001 - whatever it says is an exit
        return f"{error!r} {getattr(error, 'data', '')} {getattr(error, 'error', '')}"
    return answer.model_dump_json()


async def test_p3_sessions_named_after_secrets_and_what_names_unknown_things_quotes_none(world, serve, web):
    told: list[str] = []
    (world.workspace / SHAPED).write_text("x\n")
    with collector() as (url, spans):
        async with serve(CANARY_TOKEN=KNOWN, OTEL_EXPORTER_OTLP_ENDPOINT=url) as served:
            for name in NAMES:
                told.append(await told_of(served.call("shell_open", name=name)))
                told.append(await told_of(served.call("shell_run", command=f"echo {name}; ls", session=name)))
                told.append(await told_of(served.call("shell_run", command=f"echo {name}; ls")))
                told.append(await told_of(served.call("shell_run", command=f"rm {name}")))
                told.append(await told_of(served.call("shell_run", command=f"touch {name}", wait_s=0)))
                told.append(await told_of(served.call("shell_run", command="true", **{name: 1})))
                told.append(await told_of(served.call("shell_run", command={name: name})))
                told.append(await told_of(served.call(name)))
                told.append(await told_of(served.client.get_prompt(name)))
                told.append(await told_of(served.client.get_prompt("explain", {"command": name})))
                told.append(await told_of(served.client.read_resource(f"execkit://{name}")))
            told.append(await told_of(served.call("shell_info")))
            told += [await told_of(served.call("shell_close", session=name)) for name in NAMES]
    assert spans
    person = web().login()
    paths = ("/inbox", "/sessions", "/search", f"/search?q={SHAPED[:8]}", "/policy", "/health")
    pages = [person.get(path).text for path in paths]
    assert {text[:900]: found for text in [*told, *spans] if (found := leaks(text))} == {}
    # the card of an approval shows a person the command to the letter; nothing else shows one
    assert {path: found for path, text in zip(paths[1:], pages[1:], strict=True) if (found := leaks(text))} == {}


def test_p3_metrics_count_without_naming(world):
    server = HttpServer(world, CANARY_TOKEN=KNOWN)
    try:
        token = server.token()
        for name in NAMES:
            server.call(token, "shell_open", name=name)
            server.call(token, "shell_run", command=f"echo {name}", session=name)
            server.post(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}})
            server.request("GET", f"/{name}?token={name}")
            server.post(name, {"jsonrpc": "2.0", "id": 1, "method": name}, MCP_Protocol_Version=name)
        shown = server.request("GET", "/metrics")[2].decode()
    finally:
        server.end()
        server.close()
    assert "execkit_tool_calls_total" in shown
    assert leaks(shown + "".join(server.lines)) == []


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_p3_doctor_shows_no_value_of_the_environment(world, form):
    (world.workspace / SHAPED).mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "doctor", *form, "--workspace", str(world.workspace / SHAPED)],
        env=world.environment(
            CANARY_TOKEN=KNOWN,
            EXECKIT_WEBHOOK_SECRET=KNOWN,
            OTEL_EXPORTER_OTLP_HEADERS=f"authorization=Bearer {SHAPED}",
            HTTPS_PROXY=f"http://user:{KNOWN}@127.0.0.1:9",
        ),
        cwd=world.workspace,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert leaks(done.stdout + done.stderr) == [], done.stdout
    assert json.loads(done.stdout) if form else done.stdout
