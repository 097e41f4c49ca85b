"""What the server makes of lines that are no messages, and of clients that do not read."""

import array
import fcntl
import json
import os
import signal
import subprocess
import termios
import time

import pytest

from execkit_mcp.server.lines import MAX_LINE_BYTES
from execkit_mcp.server.stdio import refuse

LIMIT_S = 10
FULL_PIPE_BYTES = 48_000  # of 64 KiB: a message begins on a page of its own
CALL = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"shell_run","arguments":{"command":"%s"}}}'


@pytest.mark.parametrize(
    ("line", "code", "id_", "is_for_us"),
    [
        (b"{nonsense", -32700, None, False),
        (b'\xff{"id":1}', -32700, None, False),
        (b"[" * 100_000, -32700, None, False),
        (None, -32600, None, False),
        (b"null", -32600, None, False),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None, False),
        ((CALL % r"echo \ud800").encode(), -32600, 7, False),
        (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, "a", False),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None, False),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', -32600, None, False),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None, False),
        (b'{"jsonrpc":"2.0","id":3}', -32600, None, False),
        (b'{"jsonrpc":"2.0","id":3,"result":null}', -32600, 3, True),
        (b'{"jsonrpc":"2.0","id":3,"error":"no"}', -32600, 3, True),
    ],
)
def test_a_line_that_is_no_message_is_an_error_for_whoever_waits(line, code, id_, is_for_us):
    refusal = refuse(line)
    assert (refusal.error.error.code, refusal.error.id, refusal.is_for_us) == (code, id_, is_for_us)


def test_the_server_answers_bad_lines_once_each_and_goes_on(raw):
    server = raw()
    server.write((CALL % r"echo \ud800").encode())
    assert server.read()["id"] == 7
    server.write(b'{"x":"' + b"a" * (2 * MAX_LINE_BYTES) + b'"}')
    server.write(b"[1]")
    first, second = server.read(), server.read()
    assert "longer" in first["error"]["message"]
    assert (second["id"], second["error"]["code"]) == (None, -32600)
    assert server.ask("shell_run", command="echo ok")["stdout"] == "ok\n"


@pytest.mark.parametrize("answer", [None, [], "accept", {}, {"action": "yes"}, {"action": "accept", "content": 1}])
def test_a_bad_answer_of_the_client_is_nobodys_and_ends_the_wait(raw, answer):
    server = raw(elicitation={})
    server.call(5, "shell_run", command="touch x")
    asked = server.read(method="elicitation/create")
    server.write({"id": asked["id"], "result": answer})
    assert server.read(5)["result"]["structuredContent"]["status"] == "approval_pending"


def test_a_folder_whose_name_is_no_text_is_shown_with_replacements(raw, world):
    (world.workspace / os.fsdecode(b"de\xffl")).mkdir()
    server = raw()
    assert server.ask("shell_run", command="cd ./de*")["cwd"].endswith("/de\ufffdl")
    assert server.ask("shell_info")["sessions"][0]["cwd"].endswith("/de\ufffdl")
    assert server.ask("shell_run", command="touch x")["status"] == "approval_pending"
    assert server.ask("shell_explain", command="touch x")["verdict"] == "ask"


def test_a_client_that_does_not_read_does_not_hold_up_the_end(raw):
    server = raw()
    assert server.ask("shell_run", command="echo ok")["stdout"] == "ok\n"
    for number in range(100, 130):
        server.write({"id": number, "method": "tools/list"})
    unread = array.array("i", [0])
    deadline = time.monotonic() + LIMIT_S
    while unread[0] < FULL_PIPE_BYTES:
        assert time.monotonic() < deadline
        fcntl.ioctl(server.process.stdout.fileno(), termios.FIONREAD, unread)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(LIMIT_S) == 0


def test_a_client_that_cannot_be_answered_any_more_is_gone(raw):
    server = raw()
    server.process.stdout.close()
    server.write({"id": 1, "method": "ping"})
    assert server.process.wait(LIMIT_S) == 0


def test_without_a_client_the_server_ends(world):
    done = subprocess.run(
        world.serve_command(),
        env=world.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_messages_may_come_from_a_file(world):
    path = world.folder / "messages"
    path.write_text(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n")
    with path.open() as file:
        done = subprocess.run(
            world.serve_command(),
            env=world.environment(),
            stdin=file,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    assert done.returncode == 0


def test_after_a_cancelled_call_the_session_takes_the_next_command(raw):
    server = raw()
    server.ask("shell_run", command="true")
    for _ in range(5):
        server.call(5, "shell_run", command="sleep 60")
        server.write({"method": "notifications/cancelled", "params": {"requestId": 5}})
        assert server.ask("shell_run", command="echo usable")["stdout"] == "usable\n"
