"""``serve --transport http``: connecting, limits, drain, what an operator meets when something is wrong."""

import asyncio
import json
import os
import select
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest

from execkit_mcp.cli.main import run
from tests.http_server import LEGACY, LIMIT_S, MODERN, make_token, message_in

MODES = ("auto", "legacy")


def configure(world, text):
    path = world.folder / "config.yaml"
    path.write_text(text)
    path.chmod(0o644)
    return str(path)


@pytest.fixture
def refused(world, monkeypatch, capsys):
    """``refused(*flags)``: what a server says that does not start; it is told before anything was started."""
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)

    def start(*flags):
        code = run(["serve", "--policy", str(world.policy), "--transport", "http", *flags])
        assert code == 2
        return capsys.readouterr().err

    return start


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server for the tests that leave it as it was; each takes a token of its own name."""
    from tests.conftest import POLICY, World
    from tests.http_server import HttpServer

    folder = tmp_path_factory.mktemp("shared")
    (folder / "work").mkdir()
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "policy.yaml").chmod(0o644)
    server = HttpServer(
        World(folder=folder, workspace=folder / "work", state=folder / "state", policy=folder / "policy.yaml")
    )
    yield server
    server.close()


# ── connecting ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_of_either_era_runs_a_command(shared, mode):
    server = shared
    async with server.client(server.token(f"runs-{mode}"), mode) as client:
        assert client.protocol_version == (MODERN if mode == "auto" else LEGACY)
        assert len((await client.list_tools()).tools) >= 7
        result = await client.call_tool("shell_run", {"command": "echo over http"})
        assert result.structured_content["stdout"] == "over http\n"


@pytest.mark.parametrize("mode", MODES)
async def test_a_person_is_asked_through_the_client(shared, mode):
    from mcp.types import ElicitResult

    questions = []

    async def person(_context, question):
        questions.append(question.message)
        return ElicitResult(action="accept", content={"decision": "allow once"})

    server = shared
    async with server.client(server.token(f"asked-{mode}"), mode, elicitation_callback=person) as client:
        result = await client.call_tool("shell_run", {"command": "touch seen"})
    assert result.structured_content["status"] == "completed"
    assert len(questions) == 1
    assert (server.world.workspace / "seen").exists()


@pytest.mark.parametrize("mode", MODES)
async def test_a_long_command_is_polled(shared, mode):
    server = shared
    async with server.client(server.token(f"polls-{mode}"), mode) as client:
        begun = (
            await client.call_tool("shell_run", {"command": "sleep 0.5; echo late", "wait_s": 0})
        ).structured_content
        assert begun["status"] == "running"
        ended = await client.call_tool("shell_read", {"exec_id": begun["exec_id"], "wait_s": 20})
        assert ended.structured_content["text"] == "late\n"


def test_a_session_outlives_the_connection(shared):
    server = shared
    token = server.token("returns")
    server.ask(token, "shell_run", command="export GREETING=kept")
    assert server.ask(token, "shell_run", command="echo $GREETING")["stdout"] == "kept\n"


def test_it_listens_on_this_machine_only_unless_told_otherwise(shared):
    assert shared.url.startswith("http://127.0.0.1:")


def test_health_and_readiness_need_no_token(shared):
    server = shared
    assert server.request("GET", "/healthz")[::2] == (200, b"ok\n")
    assert server.request("GET", "/readyz", headers={"Host": "10.1.2.3:99"})[::2] == (200, b"ok\n")


def test_metrics_are_in_the_text_format_of_prometheus(http):
    server = http()
    token = server.token()
    server.ask(token, "shell_run", command="true")
    status, headers, body = server.request("GET", "/metrics")
    assert (status, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    lines = body.decode().splitlines()
    assert 'execkit_tool_calls_total{tool="shell_run",outcome="ok"} 1' in lines
    assert "execkit_sessions_open 1" in lines
    assert all(line.startswith("#") or len(line.rsplit(" ", 1)) == 2 for line in lines)


def test_metrics_need_a_token_where_a_proxy_makes_everybody_local(http):
    server = http("--public-url", "https://shell.example.com", "--behind-proxy")
    at = {"Host": "shell.example.com"}
    assert server.request("GET", "/metrics", headers=at)[0] == 401
    reader = {**at, "Authorization": f"Bearer {server.token('prometheus', metrics=True)}"}
    assert server.request("GET", "/metrics", headers=reader)[0] == 200


def test_tls_is_an_option(http, certificate):
    cert, key = certificate
    server = http("--tls-cert", cert, "--tls-key", key)
    assert server.url.startswith("https://")
    context = ssl.create_default_context(cafile=cert)
    with context.wrap_socket(server.connect(), server_hostname="localhost") as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert b"200 OK" in link.recv(4096)


@pytest.fixture
def certificate(tmp_path):
    """A certificate for localhost, and its key."""
    import datetime as dt

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return str(cert_file), str(key_file)


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_subject_that_asks_too_often_is_told_when_to_come_again(http, world):
    server = http("--config", configure(world, "http: {limits: {requests_per_minute: 5}}\n"))
    mine, other = server.token("mine"), server.token("other")
    for _ in range(5):
        server.ask(mine, "shell_info")
    status, headers, body = server.post(mine, {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert status == 429
    assert 1 <= int(headers["retry-after"]) <= 60
    assert b"slow down" in body
    assert server.ask(other, "shell_info")["sessions"] == []


def test_a_subject_has_so_many_sessions_and_no_more(http, world):
    server = http("--config", configure(world, "http: {limits: {sessions: 2}}\n"))
    mine, other = server.token("mine"), server.token("other")
    for name in ("a", "b"):
        assert server.ask(mine, "shell_open", name=name)["session"] == name
    error = server.ask(mine, "shell_open", name="c")["error"]
    assert (error["code"], error["details"]) == ("session.limit", {"limit": "http.limits.sessions"})
    assert server.ask(other, "shell_open", name="c")["session"] == "c"
    server.ask(mine, "shell_close", session="a")
    assert server.ask(mine, "shell_open", name="c")["session"] == "c"


def test_a_request_that_is_too_long_is_refused_and_the_connection_lives_on(http, world):
    server = http("--config", configure(world, "http: {limits: {request_kb: 64}}\n"))
    token = server.token()
    status, _, body = server.post(token, b" " * 70_000)
    assert status == 413
    assert b"64 kB" in body
    assert server.ask(token, "shell_run", command="echo on")["stdout"] == "on\n"


def test_an_answer_holds_no_more_than_the_operator_lets_it(http, world):
    server = http("--config", configure(world, "http: {limits: {output_chars: 1000}}\n"))
    told = server.ask(server.token(), "shell_run", command="seq 5000", max_output=100_000)
    assert len(told["stdout"]) <= 1200
    assert told["truncated"]["stdout"]["total_lines"] == 5000


# ── the end ──────────────────────────────────────────────────────────────────────────────────────────────


def test_sigterm_lets_a_call_finish_and_takes_no_new_one(http):
    server = http()
    token = server.token()
    server.ask(token, "shell_run", command="true")
    told = []
    call = threading.Thread(
        target=lambda: told.append(server.ask(token, "shell_run", command="echo begun > begun; sleep 1.5; echo done"))
    )
    call.start()
    wait_for_file(server.world.workspace / "begun")
    server.process.terminate()
    wait_for(lambda: server.request("GET", "/readyz")[0] == 503)
    assert server.post(token, {"jsonrpc": "2.0", "id": 1, "method": "ping"})[0] == 503
    call.join(LIMIT_S)
    assert told[0]["stdout"] == "done\n"
    assert server.process.wait(LIMIT_S) == 0


def test_a_call_that_outlasts_the_drain_is_told_what_became_of_it(http, world):
    server = http("--config", configure(world, "http: {limits: {drain_s: 0.2}}\n"))
    token = server.token()
    told = []
    call = threading.Thread(
        target=lambda: told.append(server.ask(token, "shell_run", command="echo begun > begun; sleep 60"))
    )
    call.start()
    wait_for_file(world.workspace / "begun")
    assert server.end() == 0
    call.join(LIMIT_S)
    assert told[0]["status"] in ("lost", "cancelled")
    assert any("the server is ending" in each for each in told[0]["warnings"])


def test_an_idle_server_ends_at_once_with_streams_open(http):
    server = http()
    token = server.token()
    hello = {"protocolVersion": LEGACY, "clientInfo": {"name": "raw", "version": "1"}, "capabilities": {}}
    _, headers, _ = server.post(token, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
    with server.connect() as stream:
        stream.sendall(
            f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {token}\r\n"
            f"Accept: text/event-stream\r\nMcp-Session-Id: {headers['mcp-session-id']}\r\n\r\n".encode()
        )
        assert b"200 OK" in stream.recv(4096)
        server.process.terminate()
        assert server.process.wait(5) == 0


def wait_for(check):
    until = time.monotonic() + LIMIT_S
    while not check():
        assert time.monotonic() < until
        select.select([], [], [], 0.02)


def wait_for_file(path):
    wait_for(path.exists)


# ── what an operator meets ───────────────────────────────────────────────────────────────────────────────


def test_a_port_in_use_is_named_with_the_remedy(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = refused("--port", port)
    assert f"Port {port} on 127.0.0.1 is in use" in told
    assert "--port" in told


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--host", "0.0.0.0"], "--tls-cert"),
        (["--host", "::"], "--tls-cert"),
        (["--host", "0.0.0.0", "--behind-proxy"], "--public-url"),
        (["--host", "0.0.0.0", "--behind-proxy", "--public-url", "https://x.example"], "tokens create"),
        (["--host", "192.0.2.1", "--behind-proxy"], "cannot be listened on"),
        (["--host", "no.such.host.invalid"], "means nothing here"),
        (["--public-url", "shell.example.com"], "begin with https://"),
        (["--public-url", "https://shell.example.com/mcp"], "has a path"),
        (["--tls-cert", "/nowhere.pem"], "both"),
        (["--tls-cert", "/nowhere.pem", "--tls-key", "/nowhere.key"], "cannot be read"),
    ],
)
def test_what_would_not_be_safe_does_not_start(refused, flags, told):
    assert told in refused("--port", "0", *flags)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("http: {prot: 8765}\n", '1:8: http: unknown key "prot"; did you mean "port"?'),
        ("http: {port: 70000}\n", "1:14: http.port: expected a port, from 0 to 65535"),
        ("http: {public_url: shell.example.com}\n", "begin with https://"),
        ("http: {behind_proxy: perhaps}\n", "expected true or false"),
        ("http: {oauth: {jwks_url: https://a.example/keys}}\n", "the key issuer is missing"),
        ("http: {oauth: {issuer: 'http://login.example.com'}}\n", "is no https address"),
        ("http: {oauth: {issuer: 'http://127.0.0.1.example.com'}}\n", "is no https address"),
        ("http: {oauth: {issuer: 'https://a.example', jwks_url: 'http://a.example/k'}}\n", "is no https address"),
        ("http: {limits: {drain_s: -1}}\n", "from 0 to 3600"),
    ],
)
def test_a_mistake_in_the_configuration_is_named_with_its_place(refused, world, text, told):
    assert told in refused("--config", configure(world, text))


def test_a_configuration_that_cannot_be_read_is_named(refused, world):
    path = configure(world, "http: {}\n")
    os.chmod(path, 0o666)  # noqa: PTH101
    assert "can be written by others" in refused("--config", path)
    assert "There is no configuration file" in refused("--config", "/nowhere.yaml")


def test_flags_of_http_mean_nothing_on_stdio(world, capsys):
    assert run(["serve", "--policy", str(world.policy), "--port", "1"]) == 2
    assert "Add --transport http" in capsys.readouterr().err


def test_two_servers_on_one_state_folder_serve_side_by_side(http):
    one, two = http(), http()
    token = one.token()
    assert one.ask(token, "shell_run", command="echo one")["stdout"] == "one\n"
    assert two.ask(token, "shell_run", command="echo two")["stdout"] == "two\n"
    assert one.end() == two.end() == 0
    assert run(["audit", "verify", "--state-dir", str(one.world.state)]) == 0


def test_a_client_that_leaves_midway_leaves_a_session_that_works(shared):
    server = shared
    token = server.token("leaver")
    server.ask(token, "shell_run", command="true")
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
         "params": {"name": "shell_run", "arguments": {"command": "echo begun > begun; sleep 60"}, "_meta": {
             "io.modelcontextprotocol/protocolVersion": MODERN,
             "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
             "io.modelcontextprotocol/clientCapabilities": {}}}}
    )  # fmt: skip
    with server.connect() as link:
        link.sendall(
            f"POST /mcp HTTP/1.1\r\nHost: localhost:{server.port}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: shell_run\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        wait_for_file(server.world.workspace / "begun")
    wait_for(lambda: server.ask(token, "shell_run", command="echo works").get("stdout") == "works\n")


def test_answers_to_a_request_without_a_body_are_plain(shared):
    server = shared
    status, headers, body = server.request("GET", "/")
    assert (status, headers["x-content-type-options"]) == (404, "nosniff")
    assert "/mcp" in message_in(body)["error"]["message"]


def test_minutes_of_a_day_run_out_and_say_so(world):
    from execkit_mcp.errors import SessionLimit
    from execkit_mcp.kit import open_kit
    from execkit_mcp.runtime.admission import Admission
    from execkit_mcp.runtime.request import RunRequest

    path = configure(world, "http: {limits: {minutes_per_day: 1}}\n")

    async def use():
        async with open_kit(policy=str(world.policy), config=path, workspace=str(world.workspace),
                            state_dir=str(world.state), environ={}) as kit:  # fmt: skip
            kit.admit("http:a", Admission(subject="a"))
            kit.admit("http:b", Admission(subject="b"))
            assert (await kit.run(RunRequest(command="true"), requester="http:a")).exit_code == 0
            with kit._quotas._database.transaction() as transaction:
                assert transaction.change("UPDATE usage SET seconds = 60 WHERE subject = 'a'") == 1
            with pytest.raises(SessionLimit) as caught:
                await kit.run(RunRequest(command="true"), requester="http:a")
            assert caught.value.details == {"limit": "http.limits.minutes_per_day"}
            assert (await kit.run(RunRequest(command="true"), requester="http:b")).exit_code == 0
            with kit._quotas._database.transaction() as transaction:
                transaction.change("UPDATE usage SET seconds = 59.9 WHERE subject = 'b'")
            ended = await kit.run(RunRequest(command="sleep 60"), requester="http:b")
            assert ended.status.value == "lost"
            assert "minutes of running commands" in ended.warnings[0]

    asyncio.run(use())


def test_tokens_are_kept_as_digests_only(world):
    text = make_token(world.state, "laptop")
    secret = text.rpartition("_")[2]
    for path in Path(world.state).rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes()
