"""The webhook channel: a real receiver over HTTP, a real server, and answers with one-time tokens."""

import asyncio
import hmac
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from execkit_mcp.approvals import State
from execkit_mcp.audit.folder import read_segments
from execkit_mcp.runtime.desk import ApprovalDesk
from execkit_mcp.runtime.token_answer import answer_by_token

pytestmark = pytest.mark.promise("P4")
SECRET = "s" * 40


class Receiver:
    """Takes what is posted and answers as it is told."""

    def __init__(self):
        self.posts = []
        self.arrived = threading.Semaphore(0)
        self.reply = lambda _body: (200, b"")
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.posts.append((dict(self.headers), body))
                status, answer = outer.reply(json.loads(body))
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                self.wfile.write(answer)
                outer.arrived.release()

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/in"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    async def message(self):
        assert await asyncio.to_thread(self.arrived.acquire, timeout=20)
        return json.loads(self.posts[-1][1])

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def receiver(world):
    made = Receiver()
    config = world.folder / "config" / "execkit-mcp" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(
        f"approvals: {{webhook: {{url: '{made.url}', secret_env: HOOK_KEY, answer_url: '{made.url}'}}}}\n"
    )
    config.chmod(0o600)
    yield made
    made.close()


@pytest.fixture
def desk(world):
    opened = ApprovalDesk.open(state_dir=world.state, audit_dir=world.state)
    yield opened
    opened.close()


def recorded(world):
    segments, _ = read_segments(world.state)
    return [json.loads(line) for segment in segments for line in segment.lines]


async def test_a_question_arrives_signed_and_its_token_answers_it_once(serve, world, receiver, desk):
    async with serve(HOOK_KEY=SECRET) as served:
        call = asyncio.create_task(served.run("touch made.txt", wait_s=60))
        message = await receiver.message()
        headers, body = receiver.posts[0]
        signed = headers["X-Execkit-Timestamp"].encode() + b"." + body
        assert headers["X-Execkit-Signature"] == "v1=" + hmac.new(SECRET.encode(), signed, "sha256").hexdigest()
        assert message["command"].endswith("touch made.txt")
        assert "A person looks at this" in message["text"]
        token = message["answer"]["token"]
        assert not any(token.encode() in path.read_bytes() for path in world.state.rglob("*") if path.is_file())
        assert answer_by_token(desk, json.dumps({"token": token[:-1] + "x", "answer": "approve"}).encode())[0] == 409
        answer = {"token": token, "answer": "approve", "who": "anna"}
        assert answer_by_token(desk, json.dumps(answer).encode()) == (
            200,
            {"approval_id": message["id"], "state": "approved"},
        )
        assert (await call)["status"] == "completed"
        assert answer_by_token(desk, json.dumps(answer).encode())[0] == 409
        assert desk.get(message["id"]).decided_by == "webhook"


async def test_the_answer_may_stand_in_the_response(serve, world, receiver, desk):
    receiver.reply = lambda told: (
        200,
        json.dumps({"token": told["answer"]["token"], "answer": "deny", "reason": "not in this house"}).encode(),
    )
    async with serve(HOOK_KEY=SECRET) as served:
        result = await served.call("shell_run", command="touch made.txt", wait_s=60)
        assert "not in this house" in result.content[0].text
        assert desk.latest()[0].state is State.DENIED


async def test_the_command_line_takes_the_token(serve, world, receiver):
    async with serve(HOOK_KEY=SECRET) as served:
        call = asyncio.create_task(served.run("touch made.txt", wait_s=60))
        token = (await receiver.message())["answer"]["token"]
        done = subprocess.run(
            [sys.executable, "-m", "execkit_mcp", "approve", token, "--yes"],
            env=world.environment(HOOK_KEY=SECRET), capture_output=True, text=True, timeout=30, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert (await call)["status"] == "completed"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        b'{"token": 3, "answer": "approve"}',
        b'{"token": "x", "answer": "yes"}',
    ],
)
def test_an_answer_that_is_none_is_refused(desk, body):
    assert answer_by_token(desk, body)[0] == 400


async def test_a_redirect_is_not_followed_and_a_failure_goes_on_the_record(serve, world, receiver, desk):
    receiver.reply = lambda _told: (302, b"")
    async with serve(HOOK_KEY=SECRET) as served:
        body = await served.run("touch made.txt", wait_s=0)
        for _ in range(3):
            await receiver.message()
        async with asyncio.timeout(20):
            while True:
                failed = [entry for entry in recorded(world) if entry["kind"] == "webhook.failed"]
                if failed:
                    break
                await asyncio.sleep(0.05)
        assert failed[0]["data"]["approval_id"] == body["approval_id"]
        assert "302" in failed[0]["data"]["reason"]
        assert {headers["Host"] for headers, _ in receiver.posts} == {receiver.url[7:-3]}
        assert desk.get(body["approval_id"]).state is State.PENDING


async def test_a_question_that_waits_already_is_sent_once(serve, world, receiver):
    async with serve(HOOK_KEY=SECRET) as served:
        first = await served.run("touch made.txt", wait_s=0)
        assert (await served.run("touch made.txt", wait_s=0))["approval_id"] == first["approval_id"]
        await served.run("touch other.txt", wait_s=0)
        await receiver.message()
        await receiver.message()
        assert len({json.loads(body)["id"] for _, body in receiver.posts}) == len(receiver.posts) == 2


@pytest.mark.parametrize("key", ["", "short"])
def test_a_webhook_without_a_good_secret_does_not_start(world, receiver, key):
    done = subprocess.run(
        world.serve_command(),
        env=world.environment(HOOK_KEY=key), capture_output=True, text=True, timeout=30, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2
    assert "config.yaml:1:" in done.stderr
    assert "HOOK_KEY" in done.stderr


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/x",
        "https://user@example.com/",
        "ftp://example.com",
        "https://",
        "http://127.0.0.1.example.com/",
    ],
)
def test_a_webhook_s_address_is_https_or_this_machine(world, url):
    from execkit_mcp.config.settings import load_settings
    from execkit_mcp.errors import ConfigError

    config = world.folder / "config.yaml"
    config.write_text(f"approvals: {{webhook: {{url: '{url}', secret_env: HOOK_KEY}}}}\n")
    config.chmod(0o600)
    with pytest.raises(ConfigError, match="https"):
        load_settings(config=str(config), environ={"HOME": str(world.folder)})
