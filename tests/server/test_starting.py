"""A start: what refuses it is told before the client is greeted; what the greeting does not need is loaded after it."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest

from execkit_mcp.server.serve import _Stop

LIMIT_S = 60
OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "early", "version": "1"}},
}
NOT_NEEDED_TO_GREET = {"execkit_mcp.kit", "execkit_mcp.redaction", "execkit_mcp.transports", "mcp", "pydantic", "anyio"}


def start(world, *flags, input_=OPENING):
    """A server that is given its client's opening and the end of input."""
    return subprocess.run(
        [*world.serve_command(), *flags], input=json.dumps(input_) + "\n", env=world.environment(),
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip


def a_policy_that_is_none(world):
    world.policy.write_text("version: 1\nname: test\nrules: [{allowed: [ls]}]\n")


def a_policy_whose_test_fails(world):
    world.policy.write_text(world.policy.read_text() + "tests:\n  - {run: rm x, expect: allow}\n")


def a_state_folder_that_is_a_file(world):
    world.state.write_text("")


def a_record_that_was_changed(world):
    assert start(world).returncode == 0
    (world.state / "audit.head").write_text("{}")


def a_workspace_that_is_gone(world):
    world.workspace.rmdir()


def a_webhook_without_its_secret(world):
    folder = world.folder / "config" / "execkit-mcp"
    folder.mkdir(parents=True)
    hook = "{url: 'https://hook.example/', secret_env: NOT_SET}"
    (folder / "config.yaml").write_text(f"approvals: {{webhook: {hook}}}\n")


@pytest.mark.parametrize(
    ("spoil", "code", "told"),
    [
        (a_policy_that_is_none, 2, "policy.document_invalid"),
        (a_policy_whose_test_fails, 2, "policy.example_failed"),
        (a_state_folder_that_is_a_file, 1, "storage.unavailable"),
        (a_record_that_was_changed, 1, "audit.chain_broken"),
        (a_workspace_that_is_gone, 2, "config.not_found"),
        (a_webhook_without_its_secret, 2, "config.invalid"),
    ],
)
def test_a_start_that_is_refused_greets_nobody_and_says_why(world, spoil, code, told):
    spoil(world)
    done = start(world)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"execkit-mcp: {told}: ")


def test_a_start_that_is_not_refused_greets(world):
    done = start(world)
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "execkit-mcp"
    assert done.returncode == 0


def test_what_the_greeting_does_not_need_is_not_loaded_before_it():
    code = "import execkit_mcp.cli.main, execkit_mcp.server.serve, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT_S, check=True)
    assert not NOT_NEEDED_TO_GREET & set(done.stdout.split())


async def test_a_signal_that_came_while_something_was_loaded_is_heard_before_more_is():
    loop, stop = asyncio.get_running_loop(), _Stop()
    assert not await stop.is_asked()
    loop.add_signal_handler(signal.SIGUSR1, stop)
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert await stop.is_asked()
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)


def test_a_server_that_is_told_to_end_while_it_starts_ends_in_order(world):
    with subprocess.Popen(
        world.serve_command(), env=world.environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        server.stdin.write(json.dumps(OPENING) + "\n")
        server.stdin.flush()
        assert "result" in json.loads(server.stdout.readline())
        server.send_signal(signal.SIGTERM)
        assert server.wait(LIMIT_S) == 0
    assert list(world.state.glob("audit-*.seal"))


def test_a_configuration_that_cannot_be_read_is_named_with_what_to_do(world):
    there = world.folder / "config.yaml"
    there.symlink_to(there)
    done = start(world, "--config", str(there))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{there} cannot be read: " in done.stderr
    assert "may read it, or name another" in done.stderr
