"""Who can read what is typed: looked up in the kernel, whatever the processes did to hide."""

import asyncio
import time

import pytest

from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.transports.local import LocalTransport

LIMIT_S = 15
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TERM": "dumb"}


@pytest.fixture
async def sees(tmp_path):
    transport = LocalTransport()
    driver = await Driver.open(transport, env=ENV, cwd=str(tmp_path), clock=SystemClock(), entropy=SystemEntropy())
    tasks = []

    async def run(command, wanted):
        """Run on the terminal, and return its state once ``wanted`` holds of it."""
        tasks.append(asyncio.ensure_future(driver.run(command, sink=lambda *_: None, tty=True)))
        until = time.monotonic() + LIMIT_S
        while True:
            state = driver.terminal()
            if state is not None and wanted({process.path.rpartition("/")[2] for process in state.front}, state):
                return state
            assert time.monotonic() < until, state
            await asyncio.sleep(0.01)

    yield run
    driver.interrupt()
    await asyncio.gather(*tasks, return_exceptions=True)
    await driver.close()
    await transport.close()


async def test_a_process_outside_the_terminals_session_that_holds_it_is_in_front(sees):
    state = await sees("setsid cat & sleep 30", lambda names, _: {"cat", "sleep"} <= names)
    assert len({process.pid for process in state.front}) >= 2


async def test_a_process_that_opened_the_terminal_and_then_left_its_session_is_in_front(sees, tmp_path):
    (tmp_path / "hide.py").write_text(
        "import os, time\nheld = os.open('/dev/tty', os.O_RDWR)\nif os.fork() == 0:\n    os.setsid()\n"
        "    os.dup2(os.open('/dev/null', os.O_RDWR), 0)\n    os.dup2(0, 1)\n    os.dup2(0, 2)\n    time.sleep(30)\n"
    )
    # it may leave its session only when the next command has begun
    await sees(
        "python3 hide.py; sleep 30", lambda names, _: "sleep" in names and any("python" in each for each in names)
    )


async def test_a_child_of_a_thread_is_found(sees):
    run = "threading.Thread(target=lambda: subprocess.run(['cat']))"
    code = f"import subprocess, threading; t = {run}; t.start(); t.join()"
    await sees(f'python3 -c "{code}"', lambda names, _: "cat" in names)


async def test_a_background_job_is_behind(sees):
    state = await sees("cat & sleep 30", lambda names, state: "sleep" in names and bool(state.behind))
    assert [process.path.rpartition("/")[2] for process in state.behind] == ["cat"]


async def test_another_root_or_namespace_is_seen(sees):
    state = await sees("unshare --mount sleep 30 2>/dev/null || sleep 30", lambda names, _: names == {"sleep"})
    (process,) = state.front
    assert process.is_confined == await _can_unshare()


async def _can_unshare():
    done = await asyncio.create_subprocess_exec("unshare", "--mount", "true", stderr=asyncio.subprocess.DEVNULL)
    return await done.wait() == 0


async def test_echo_lines_and_special_characters_are_read(sees):
    state = await sees("stty -echo erase k; sleep 30", lambda names, state: "sleep" in names and not state.has_echo)
    assert state.is_reading_password
    assert not state.is_plain


async def test_a_name_that_a_process_gives_itself_is_not_its_file(sees):
    state = await sees("bash -c 'exec -a cat sleep 30'", lambda names, _: "sleep" in names)
    assert state.front[0].argv[0] == "cat"
    assert state.front[0].path == "/usr/bin/sleep"
