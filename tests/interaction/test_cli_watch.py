"""``execkit-mcp watch`` on a real terminal, against a real server."""

import asyncio
import os
import subprocess
import sys

import pexpect
import pytest

from execkit_mcp.approvals import State
from execkit_mcp.runtime.desk import ApprovalDesk


@pytest.fixture
def desk(world):
    opened = ApprovalDesk.open(state_dir=world.state, audit_dir=world.state)
    yield opened
    opened.close()


@pytest.fixture
def watch(world):
    started = []

    def start(*words):
        child = pexpect.spawn(
            sys.executable,
            ["-m", "execkit_mcp", "watch", *words],
            env=world.environment(TERM="xterm", LANG="C.UTF-8"),
            encoding="utf-8",
            dimensions=(50, 120),
            timeout=20,
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


async def see(child, text):
    await asyncio.to_thread(child.expect_exact, text)


async def test_a_question_is_answered_and_its_command_seen_live(serve, world, desk, watch):
    async with serve() as served:
        await served.run("echo before")
        call = asyncio.create_task(served.run("touch made.txt", wait_s=60, reason="to have it"))
        child = watch()
        await see(child, "1 approval waiting")
        await see(child, "to have it")
        child.send("a")
        assert (await call)["status"] == "completed"
        await see(child, "Approved: apr_")
        [found] = desk.latest()
        assert (found.state, found.decided_by) == (State.REDEEMED, "watch")
        child.send("v")
        await see(child, "live  main on local")
        child.send("\r")
        await see(child, "echo before")
        await served.run("echo seen while it runs")
        await see(child, "seen while it runs")
        child.send("q")
        await asyncio.to_thread(child.expect, pexpect.EOF)
    assert (world.workspace / "made.txt").exists()


async def test_a_no_with_a_reason_from_the_keyboard(serve, world, watch):
    async with serve() as served:
        call = asyncio.create_task(served.call("shell_run", command="touch made.txt", wait_s=60))
        child = watch()
        await see(child, "touch made.txt")
        child.send("d")
        await see(child, "why not")
        child.send("use mkdir\r")
        assert "use mkdir" in (await call).content[0].text
        child.send("q")
        await asyncio.to_thread(child.expect, pexpect.EOF)
        assert "\x1b[?1049l" in child.before  # the terminal is put back


def test_without_a_terminal_it_prints_what_waits(world, desk):
    done = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "watch", "--once"],
        env=world.environment(), capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "No approval waits.\n")


def test_nobody_watches_from_inside_a_session(world):
    done = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "watch", "--once"],
        env=world.environment(EXECKIT_SESSION="main"), capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "inside an execkit session" in done.stderr
    assert os.environ.get("EXECKIT_SESSION") is None
