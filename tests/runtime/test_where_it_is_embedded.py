"""A program that embeds the SDK brings its own limits and signal settings: each works, or is named in the error."""

import contextlib
import itertools
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp.errors import TransportUnavailable
from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.transports.keeper import shell_files

PROGRAM = """
import os, resource, signal, sys, threading, time
{before}
import execkit_mcp
from execkit_mcp import Policy
with execkit_mcp.create(policy=Policy.default_deny(allow=["echo"]), state_dir="state", workspace=".") as session:
    print(session.exec("echo here").stdout, end="")
"""
REAPER = """
def reap():
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            time.sleep(0.001)
threading.Thread(target=reap, daemon=True).start()
"""
HABITS = {
    "SIGCHLD is ignored": "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "many signals are ignored": "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 13, 15, 17)]",
    "every signal is blocked": "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))",
    "every child is reaped by somebody else": REAPER,
    "few descriptors": "_, hard = resource.getrlimit(7); resource.setrlimit(7, (64, hard))",
    "standard input is closed": "os.close(0)",
    "no environment": "os.environ.clear()",
}


def run(folder, before, fence="auto"):
    before = f"os.environ['EXECKIT_FENCE'] = {fence!r}\n{before}"
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{before}", before)],
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def limit_that_leaves(count):
    """How many descriptors a process like this one may have so that ``count`` more can be opened."""
    used = {int(path.name) for path in Path("/proc/self/fd").iterdir()}
    free = (number for number in itertools.count() if number not in used)
    return next(itertools.islice(free, count, None))


@pytest.mark.parametrize("fence", ["auto", "off"])
@pytest.mark.parametrize("habit", HABITS)
def test_a_command_runs_whatever_the_program_around_it_does(tmp_path, habit, fence):
    done = run(tmp_path, HABITS[habit], fence)
    assert done.stdout == "here\n", done.stderr


def test_too_few_descriptors_are_named_as_the_reason(tmp_path):
    done = run(tmp_path, "resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))")
    assert "a process may have 300 open files here (ulimit -Hn), 512 are needed" in done.stderr


def test_a_shell_that_ends_at_once_each_time_is_an_error_and_no_endless_wait(tmp_path):
    before = """
import execkit_mcp.transports.local as local
local.find_bash = lambda: "/bin/true"
"""
    done = run(tmp_path, before, "off")
    assert "transport.unavailable: The shell did not start: it ended at once, 4 times (exit code 0)" in done.stderr


@pytest.mark.parametrize(
    ("soft", "hard", "files"),
    [(256, 4096, 1024), (20_000, 20_000, 20_000), (-1, -1, 65_536), (64, 512, 512), (1 << 20, 1 << 20, 65_536)],
)
def test_a_shell_gets_enough_descriptors_and_not_an_endless_number(soft, hard, files):
    assert shell_files(soft, hard) == files


async def test_when_descriptors_run_out_the_error_says_so_and_open_sessions_go_on(world):
    (world.state.parent / "limits.yaml").write_text("limits: {sessions: 500}\n")
    (world.state.parent / "limits.yaml").chmod(0o600)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    places = {"workspace": str(world.workspace), "state_dir": str(world.state)}
    config = str(world.state.parent / "limits.yaml")
    async with open_kit(policy=str(world.policy), config=config, **places, environ={"EXECKIT_FENCE": "off"}) as kit:
        await kit.open_session(requester="a", name="first")
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit_that_leaves(90), hard))
        try:
            with contextlib.suppress(TransportUnavailable):
                for number in range(100):
                    await kit.open_session(requester="a", name=f"s{number}")
            told = []
            for number in range(25):  # what a failed opening had made is given back
                try:
                    await kit.open_session(requester="a", name=f"more{number}")
                except TransportUnavailable as error:
                    told.append(str(error))
            assert len(told) > 15
            assert all("Too many open files" in each and "ulimit -n" in each for each in told), told
            assert (await kit.run(RunRequest(command="echo on", session="first"), requester="a")).stdout == "on\n"
            for name in ("first", "s0"):  # the audit log may take a descriptor more now
                await kit.close_session(name, requester="a")
            await kit.open_session(requester="a", name="again")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
