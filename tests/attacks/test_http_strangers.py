"""P7, P5: nobody gets in over HTTP without credentials that hold, and nobody reaches what is another's."""

import base64
import hashlib
import hmac
import json
import select
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.conftest import POLICY, World
from tests.http_server import LEGACY, LIMIT_S, HttpServer, meta
from tests.processes import alive

pytestmark = pytest.mark.promise("P7")

AUDIENCE = "https://shell.example.com/mcp"
INITIALIZE = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": LEGACY, "clientInfo": {"name": "raw", "version": "1"}, "capabilities": {}},
}  # fmt: skip


class Issuer:
    """An authorization server: metadata, keys, and tokens as it would give them."""

    def __init__(self):
        self.rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        keys = [
            {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.rsa.public_key())), "kid": "r", "use": "sig"},
            {**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.ec.public_key())), "kid": "e"},
            {"kty": "oct", "kid": "o", "k": base64.urlsafe_b64encode(b"s" * 32).decode().rstrip("=")},
        ]
        issuer = self
        self.fetches = 0

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                documents = {
                    "/.well-known/oauth-authorization-server": {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/keys"},
                    "/keys": {"keys": keys},
                }
                issuer.fetches += self.path == "/keys"
                found = documents.get(self.path)
                self.send_response(200 if found else 404)
                self.end_headers()
                self.wfile.write(json.dumps(found or {}).encode())

            def log_message(self, *_):
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def token(self, *, key=None, algorithm="RS256", kid="r", headers=None, without=(), **claims):
        now = int(time.time())
        said = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "alice",
            "iat": now,
            "exp": now + 600,
            "scope": "use",
            **claims,
        }
        said = {name: value for name, value in said.items() if name not in without}
        return jwt.encode(said, key or self.rsa, algorithm=algorithm, headers={"kid": kid, **(headers or {})})

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(LIMIT_S)


@pytest.fixture(scope="module")
def issuer():
    made = Issuer()
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(issuer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("strangers")
    (folder / "work").mkdir()
    config = (
        "http:\n"
        "  public_url: https://shell.example.com\n"
        "  behind_proxy: true\n"
        f"  oauth: {{issuer: '{issuer.url}', required_scopes: [use]}}\n"
        "targets:\n"
        "  other: {transport: local}\n"
    )
    for name, text in (("policy.yaml", POLICY), ("config.yaml", config)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o644)
    started = HttpServer(
        World(folder=folder, workspace=folder / "work", state=folder / "state", policy=folder / "policy.yaml"),
        "--config", str(folder / "config.yaml"),
    )  # fmt: skip
    yield started
    started.close()


def challenged(answer, told):
    """That an answer is 401 as RFC 9728 wants it, with a reason."""
    status, headers, body = answer
    assert status == 401, (status, body)
    where = 'resource_metadata="https://shell.example.com/.well-known/oauth-protected-resource/mcp"'
    assert where in headers["www-authenticate"]
    assert told in json.loads(body)["error_description"]


# ── credentials ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_metadata_of_the_resource_names_the_authorization_server(server, issuer):
    for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
        status, headers, body = server.request("GET", path)
        told = json.loads(body)
        assert (status, headers["content-type"]) == (200, "application/json")
        assert (told["resource"], told["authorization_servers"]) == (AUDIENCE, [issuer.url])


def test_without_a_token_the_answer_says_where_to_get_one(server):
    challenged(server.post(None, INITIALIZE), "Send a bearer token")


@pytest.mark.parametrize(
    "header",
    [
        "", "Bearer", "Bearer ", "Basic dXNlcjpwdw==", "bearer x", "Bearer ekt_", "Bearer ekt_00000000_" + "A" * 43,
        "Bearer a.b.c", "Bearer ..", "Bearer " + "x" * 9000, "Bearer null", "Token x", "Bearer \u00e9", "Bearer a b",
        "Bearer ' OR 1=1 --", "Bearer ekt_%_%",
    ],
)  # fmt: skip
def test_what_is_no_token_opens_nothing(server, header):
    challenged(server.post(None, INITIALIZE, Authorization=header), "token")


def test_a_token_is_looked_for_nowhere_but_in_its_header(server):
    token = server.token("elsewhere")
    status, _, _ = server.request(
        "POST", f"/mcp?access_token={token}", body=json.dumps({**INITIALIZE, "token": token}).encode(),
        headers={"Content-Type": "application/json", "Accept": "*/*", "Cookie": f"token={token}", "X-Api-Key": token},
    )  # fmt: skip
    assert status == 401


def test_two_authorization_headers_are_no_authorization(server):
    token = server.token("twice")
    with server.connect() as link:
        line = f"Authorization: Bearer {token}\r\n"
        link.sendall(f"GET /mcp HTTP/1.1\r\nHost: localhost:{server.port}\r\n{line}{line}\r\n".encode())
        assert link.recv(4096).startswith(b"HTTP/1.1 400 ")


def test_one_wrong_character_makes_a_token_worthless(server):
    token = server.token("nearly")
    for place in (5, 20, len(token) - 2):
        wrong = token[:place] + ("0" if token[place] != "0" else "1") + token[place + 1 :]
        challenged(server.post(wrong, INITIALIZE), "not known")
    assert server.post(token, INITIALIZE)[0] == 200


def test_an_expired_token_opens_nothing(server):
    token = server.token("brief", lasts_s=-1)
    challenged(server.post(token, INITIALIZE), "expired")


def test_a_revoked_token_opens_nothing_and_what_it_had_open_ends(server, world):
    token = server.token("leaver")
    mark = "sleep\x0098.731"
    assert server.ask(token, "shell_run", command="sleep 98.731 & true")["exit_code"] == 0
    wait_until(lambda: alive(mark))  # `&` answers before the job has become its program
    revoke(server, "leaver")
    challenged(server.post(token, INITIALIZE), "revoked")
    wait_until(lambda: not alive(mark))


def revoke(server, name):
    from execkit_mcp.runtime.system import SystemClock, SystemEntropy
    from execkit_mcp.storage import open_database
    from execkit_mcp.storage.tokens import Tokens

    database = open_database(server.world.state)
    Tokens(database, clock=SystemClock(), entropy=SystemEntropy()).revoke(name)
    database.close()


def wait_until(check):
    until = time.monotonic() + LIMIT_S
    while not check():
        assert time.monotonic() < until
        select.select([], [], [], 0.05)


def test_a_token_for_metrics_runs_nothing(server):
    token = server.token("prometheus", metrics=True)
    assert server.post(token, INITIALIZE)[0] == 403
    assert server.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})[0] == 200


# ── JSON Web Tokens ──────────────────────────────────────────────────────────────────────────────────────


def test_a_token_of_the_authorization_server_lets_its_subject_in(server, issuer):
    assert server.ask(issuer.token(), "shell_run", command="echo in")["stdout"] == "in\n"
    by_curve = issuer.token(key=issuer.ec, algorithm="ES256", kid="e")
    assert server.ask(by_curve, "shell_run", command="echo in")["stdout"] == "in\n"


def public_pem(issuer):
    return issuer.rsa.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def signed_by_hand(header, claims, secret):
    def part(data):
        return base64.urlsafe_b64encode(json.dumps(data).encode()).rstrip(b"=")

    body = part(header) + b"." + part(claims)
    mark = hmac.new(secret, body, hashlib.sha256).digest() if secret else b""
    return (body + b"." + base64.urlsafe_b64encode(mark).rstrip(b"=")).decode()


def forgeries(issuer):
    now = int(time.time())
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    claims = {"iss": issuer.url, "aud": AUDIENCE, "sub": "alice", "exp": now + 600, "scope": "use"}
    yield "expired", issuer.token(exp=now - 1), "expired"
    yield "no end", issuer.token(without=["exp"]), "lacks the claim exp"
    yield "another audience", issuer.token(aud="https://other.example.com/mcp"), "was not made for this server"
    yield "audience of the host only", issuer.token(aud="https://shell.example.com"), "was not made for this server"
    yield "no audience", issuer.token(without=["aud"]), "lacks the claim aud"
    yield "another issuer", issuer.token(iss="https://evil.example"), "another issuer"
    yield "part of the issuer", issuer.token(iss=issuer.url[:-1]), "another issuer"
    yield "no issuer", issuer.token(without=["iss"]), "lacks the claim iss"
    yield "nobody", issuer.token(without=["sub"]), "lacks the claim sub"
    yield "an empty name", issuer.token(sub=""), "names nobody"
    yield "a name of two lines", issuer.token(sub="alice\nbob"), "names nobody"
    for unclear in ("execkit:readonly", "EXECKIT:read-only", "execkit:target:", "execkit:policy", "execkit:"):
        yield f"the scope {unclear}", issuer.token(scope=f"use {unclear}"), "scope that is not known"
    yield "an unclear scope beside a clear one", issuer.token(scp=["execkit:read_only"]), "scope that is not known"
    for kind in (5, {"execkit:read-only": True}, ["use", {"execkit:read-only": 1}], True):
        yield f"a scope of the kind {type(kind)}", issuer.token(scope=kind), "neither a text nor a list"
    yield "not yet", issuer.token(nbf=now + 3600), "not valid yet"
    yield "made tomorrow", issuer.token(iat=now + 86_400), "not valid yet"
    yield "another key", issuer.token(key=stranger), "No key"
    yield "another key of that name", issuer.token(key=stranger, kid="e"), "No key"
    yield "an unknown key", issuer.token(key=stranger, kid="x"), "No key"
    yield "unsigned", signed_by_hand({"alg": "none", "typ": "JWT"}, claims, b""), "algorithm"
    yield "unsigned, oddly spelled", signed_by_hand({"alg": "nOnE"}, claims, b""), "algorithm"
    public = signed_by_hand({"alg": "HS256", "kid": "r"}, claims, public_pem(issuer))
    yield "signed with the public key", public, "algorithm"
    yield "signed with a published secret", signed_by_hand({"alg": "HS256", "kid": "o"}, claims, b"s" * 32), "algorithm"
    yield "with a critical extension", issuer.token(headers={"crit": ["x"], "x": 1}), "no JSON Web Token"
    yield "a logout token", issuer.token(headers={"typ": "logout+jwt"}), "not an access token"
    own = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(stranger.public_key()))
    yield "bringing its own key", issuer.token(key=stranger, headers={"jwk": own}), "No key"
    yield "bringing its own address", issuer.token(key=stranger, headers={"jku": "http://127.0.0.1:1/"}), "No key"
    good = issuer.token()
    head, body, mark = good.split(".")
    other = base64.urlsafe_b64encode(json.dumps({**claims, "sub": "root"}).encode()).decode().rstrip("=")
    yield "another body", f"{head}.{other}.{mark}", "No key"
    yield "no signature", f"{head}.{body}.", "No key"


def test_a_forged_or_foreign_token_opens_nothing(server, issuer):
    for name, token, told in forgeries(issuer):
        answer = server.post(token, INITIALIZE)
        assert answer[0] == 401, (name, answer)
        challenged(answer, told)
    assert issuer.fetches <= 3, "an unknown key must not make us fetch at will"


def test_a_missing_scope_is_named(server, issuer):
    status, headers, body = server.post(issuer.token(scope="profile"), INITIALIZE)
    assert status == 403
    assert 'error="insufficient_scope"' in headers["www-authenticate"]
    assert 'scope="use"' in headers["www-authenticate"]
    assert "lacks the scope use" in json.loads(body)["error_description"]


def test_an_authorization_server_that_is_down_lets_nobody_in_and_is_named(http, world):
    path = world.folder / "config.yaml"
    path.write_text("http: {oauth: {issuer: 'http://127.0.0.1:9'}}\n")
    path.chmod(0o644)
    server = http("--config", str(path))
    key = ec.generate_private_key(ec.SECP256R1())
    token = jwt.encode({"iss": "http://127.0.0.1:9"}, key, algorithm="ES256", headers={"kid": "e"})
    status, headers, body = server.post(token, INITIALIZE)
    assert status == 503
    assert int(headers["retry-after"]) > 0
    assert "keys of http://127.0.0.1:9 cannot be fetched" in json.loads(body)["error_description"]
    assert server.ask(server.token(), "shell_run", command="echo own")["stdout"] == "own\n"


# ── what is another's ────────────────────────────────────────────────────────────────────────────────────


def test_what_one_subject_has_another_cannot_see_read_send_to_or_close(server, issuer):
    alice, bob = server.token("alice"), issuer.token(sub="bob")
    server.ask(alice, "shell_open", name="hers")
    begun = server.ask(alice, "shell_run", command="echo private; cat", session="hers", tty=True, wait_s=1)
    assert begun["status"] == "running"
    info = server.ask(bob, "shell_info")
    assert (info["sessions"], info["execs"]) == ([], [])
    for tool, arguments in (
        ("shell_read", {"exec_id": begun["exec_id"]}),
        ("shell_send", {"exec_id": begun["exec_id"], "key": "ctrl-c"}),
        ("shell_run", {"command": "pwd", "session": "hers"}),
        ("shell_explain", {"command": "pwd", "session": "hers"}),
    ):
        error = server.ask(bob, tool, **arguments)["error"]
        assert error["code"] in ("exec.not_found", "session.not_found"), tool
        assert "private" not in json.dumps(error)
        assert "alice" not in json.dumps(error)
    assert server.ask(bob, "shell_close", session="hers")["closed"] is False
    server.ask(alice, "shell_send", exec_id=begun["exec_id"], key="ctrl-d")
    assert "private" in server.ask(alice, "shell_read", exec_id=begun["exec_id"], wait_s=10)["text"]
    assert server.ask(alice, "shell_close", session="hers")["closed"] is True


def test_what_cannot_be_reached_reads_as_what_does_not_exist(server):
    carol, dave = server.token("carol"), server.token("dave")
    hers = server.ask(carol, "shell_run", command="echo x")["exec_id"]
    unknown = "x_000000000000"
    foreign = server.ask(dave, "shell_read", exec_id=hers)["error"]
    absent = server.ask(dave, "shell_read", exec_id=unknown)["error"]
    assert json.dumps(foreign).replace(hers, unknown) == json.dumps(absent)


def test_an_approval_of_one_subject_is_worth_nothing_to_another(server):
    erin, frank = server.token("erin"), server.token("frank")
    asked = server.ask(erin, "shell_run", command="touch approved", wait_s=0)
    assert asked["status"] == "approval_pending"
    told = server.ask(frank, "shell_run", command="touch approved", approval_id=asked["approval_id"], wait_s=0)
    assert told["status"] != "completed"
    assert not (server.world.workspace / "approved").exists()


def test_a_protocol_session_of_one_subject_does_not_exist_for_another(server):
    grace, heidi = server.token("grace"), server.token("heidi")
    _, headers, _ = server.post(grace, INITIALIZE)
    session = headers["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert server.post(grace, ping, Mcp_Session_Id=session)[0] == 200
    foreign = server.post(heidi, ping, Mcp_Session_Id=session)
    absent = server.post(heidi, ping, Mcp_Session_Id="0" * 32)
    assert foreign[::2] == absent[::2]
    assert foreign[0] == 404
    link = {"Authorization": f"Bearer {heidi}", "Mcp-Session-Id": session}
    assert server.request("DELETE", "/mcp", headers=link)[0] == 404
    assert server.post(grace, ping, Mcp_Session_Id=session)[0] == 200


# ── scopes ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_read_only_token_changes_nothing_whatever_the_policy_allows(server, issuer):
    own = server.token("reader", read_only=True)
    foreign = issuer.token(sub="reader", scope="use execkit:read-only")
    for token in (own, foreign):
        assert server.ask(token, "shell_run", command="echo hello")["stdout"] == "hello\n"
        for command in ("echo x > made", 'python3 -c \'open("made", "w")\'', "touch made"):
            assert server.ask(token, "shell_run", command=command, wait_s=0)["status"] == "denied", command
    assert not (server.world.workspace / "made").exists()


@pytest.mark.parametrize(
    "claims",
    [
        {"scope": "use execkit:use execkit:read-only"},
        {"scope": "use", "scp": ["execkit:read-only"]},
        {"scope": ["use", "execkit:read-only"]},
        {"without": ["scope"], "scp": "use execkit:read-only"},
    ],
)
def test_a_scope_narrows_wherever_it_stands(server, issuer, claims):
    token = issuer.token(sub="narrow", **claims)
    assert server.ask(token, "shell_run", command="touch made", wait_s=0)["status"] == "denied"


def test_a_scope_of_targets_hides_the_others(server, issuer):
    for token in (server.token("there", targets=("other",)), issuer.token(scope="use execkit:target:other")):
        assert [row["name"] for row in server.ask(token, "shell_info")["targets"]] == ["other"]
        assert server.ask(token, "shell_open", target="local")["error"]["code"] == "transport.unknown"
        assert server.ask(token, "shell_run", command="pwd")["error"]["code"] == "transport.unknown"
        assert server.ask(token, "shell_open", target="other", name="o")["target"] == "other"


def test_a_scope_of_policies_never_widens(server):
    token = server.token("wide", policies=("workstation",))
    assert server.ask(token, "shell_run", command="git status")["status"] == "denied", "the target's policy lacks git"
    assert server.ask(token, "shell_run", command="rm x", wait_s=0)["status"] == "denied"


def test_credentials_of_one_subject_that_allow_different_things_share_no_session(server, issuer):
    full, narrow = issuer.token(sub="ivan"), issuer.token(sub="ivan", scope="use execkit:read-only")
    server.ask(full, "shell_run", command="export GREETING=full")
    assert server.ask(narrow, "shell_run", command="echo $GREETING")["stdout"] == "\n"
    renewed = issuer.token(sub="ivan", jti="another")
    assert server.ask(renewed, "shell_run", command="echo $GREETING")["stdout"] == "full\n"


def test_a_token_cannot_name_a_policy_file(server, issuer):
    assert server.post(issuer.token(scope="use execkit:policy:/tmp/mine.yaml"), INITIALIZE)[0] == 401


# ── rebinding ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("shell.example.com", None, 401),
        ("shell.example.com:443", "https://shell.example.com", 401),
        ("localhost:{port}", "http://localhost:5173", 401),
        ("evil.example", None, 421),
        ("localhost.evil.example:{port}", None, 421),
        ("127.0.0.1.nip.io:{port}", None, 421),
        ("localhost:1", None, 421),
        ("shell.example.com.evil.example", None, 421),
        ("shell.example.com@evil.example", None, 421),
        ("", None, 421),
        ("shell.example.com", "https://evil.example", 403),
        ("shell.example.com", "null", 403),
        ("shell.example.com", "https://shell.example.com.evil.example", 403),
        ("localhost:{port}", "http://localhost.evil.example", 403),
        ("localhost:{port}", "file://", 403),
    ],
)
def test_another_host_or_origin_is_turned_away_before_the_token_is_looked_at(server, host, origin, status):
    headers = {"Host": host.format(port=server.port)}
    if origin is not None:
        headers["Origin"] = origin
    for method, path in (("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/metrics")):
        body = b"{}" if method == "POST" else None
        assert server.request(method, path, headers=headers, body=body)[0] == status, (method, path)


def test_forwarded_headers_are_believed_by_nobody(server):
    lies = {"Host": "evil.example", "X-Forwarded-Host": "shell.example.com", "X-Forwarded-For": "127.0.0.1",
            "Forwarded": "for=127.0.0.1;host=shell.example.com"}  # fmt: skip
    assert server.request("GET", "/mcp", headers=lies)[0] == 421


def test_the_sealed_state_of_one_subjects_question_is_worth_nothing_to_another(server):
    """A retry of the newest revision carries a state that we sealed; it is bound to the subject as well."""
    judy, mallory = server.token("judy"), server.token("mallory")
    able = {**meta(), "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    call = {"name": "shell_run", "arguments": {"command": "touch sealed"}, "_meta": able}
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": "shell_run"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    asked = json.loads(server.post(judy, message, **headers)[2])["result"]
    assert asked["resultType"] == "input_required"
    yes = {name: {"action": "accept", "content": {"decision": "allow once"}} for name in asked["inputRequests"]}
    again = {**message, "params": {**call, "requestState": asked["requestState"], "inputResponses": yes}}
    stolen = json.loads(server.post(mallory, again, **headers)[2])
    assert "error" in stolen
    assert not (server.world.workspace / "sealed").exists()
    assert json.loads(server.post(judy, again, **headers)[2])["result"]["structuredContent"]["status"] == "completed"


def test_the_record_that_one_subject_reads_holds_nothing_of_another(server):
    niaj, olivia = server.token("niaj"), server.token("olivia")
    server.ask(niaj, "shell_run", command="echo of-niaj")
    server.ask(olivia, "shell_run", command="echo of-olivia")
    message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read",
               "params": {"uri": "execkit://audit", "_meta": meta()}}  # fmt: skip
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "resources/read", "Mcp_Name": "execkit://audit"}
    text = server.post(olivia, message, **headers)[2].decode()
    assert "of-olivia" in text
    assert "niaj" not in text
