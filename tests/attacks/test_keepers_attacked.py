"""P5: a command that kills or stops the processes which hold the shells leaves nothing behind and hangs nobody."""

import asyncio
import contextlib
import os
import secrets
import signal
import time
from pathlib import Path

import pytest

from execkit_mcp.runtime.driver import Driver
from execkit_mcp.transports import keeper
from execkit_mcp.transports.local import LocalTransport

pytestmark = pytest.mark.promise("P5")

LIMIT_S = 10
STRAYS = "setsid sleep 71 & (setsid -f sleep 72 &) ; (trap '' HUP TERM; sleep 73) & sleep 74 &"


class _Clock:
    monotonic_s = staticmethod(time.monotonic)
    epoch_s = staticmethod(time.time)


class _Entropy:
    token_hex = staticmethod(secrets.token_hex)
    token_bytes = staticmethod(secrets.token_bytes)


def tagged(tag):
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and f"TAG={tag}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


async def until(is_so, limit_s=LIMIT_S):
    deadline = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0)


def only_child(pid):
    [child] = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


class _Shells:
    def __init__(self, folder):
        self.tag = secrets.token_hex(8)
        self.transport = LocalTransport()
        self.folder = str(folder)

    @property
    def guardian(self):
        return self.transport.keeper_pid

    @property
    def keeper(self):
        return only_child(self.guardian)

    async def open(self):
        return await Driver.open(
            self.transport,
            env={"PATH": "/usr/bin:/bin", "TAG": self.tag},
            cwd=self.folder,
            clock=_Clock(),
            entropy=_Entropy(),
        )


async def run(driver, command):
    return await asyncio.wait_for(driver.run(command, sink=lambda *_: None), LIMIT_S)


@pytest.fixture
async def shells(tmp_path):
    held = _Shells(tmp_path)
    yield held
    await held.transport.close()


@pytest.mark.parametrize(
    "blows",
    [
        [("keeper", signal.SIGKILL)],
        [("guardian", signal.SIGKILL)],
        [("guardian", signal.SIGSTOP), ("keeper", signal.SIGKILL), ("guardian", signal.SIGCONT)],
        [("guardian", signal.SIGSTOP), ("keeper", signal.SIGSTOP), ("guardian", signal.SIGKILL)],
    ],
    ids=lambda blows: "+".join(f"{who}-{number.name}" for who, number in blows),
)
async def test_the_session_is_lost_nothing_is_left_and_the_next_one_opens(shells, blows):
    driver = await shells.open()
    await run(driver, STRAYS)
    running = asyncio.ensure_future(run(driver, "sleep 75"))
    await until(lambda: driver.is_busy and len(tagged(shells.tag)) >= 6)
    pids = {"keeper": shells.keeper, "guardian": shells.guardian}
    for who, number in blows:
        os.kill(pids[who], number)
    assert (await running).is_lost
    assert not driver.is_open
    await until(lambda: not tagged(shells.tag), 3)
    again = await asyncio.wait_for(shells.open(), LIMIT_S)
    assert (await run(again, "true")).exit_code == 0
    await driver.close()
    await again.close()


async def test_a_stopped_keeper_goes_on(shells):
    driver = await shells.open()
    os.kill(shells.keeper, signal.SIGSTOP)
    assert (await run(driver, "kill -9 $$")).is_shell_replaced
    other = await asyncio.wait_for(shells.open(), LIMIT_S)
    assert (await run(other, "true")).exit_code == 0
    await driver.close()
    await other.close()


async def test_stopped_keepers_do_not_hold_up_the_end(shells):
    driver = await shells.open()
    await run(driver, STRAYS)
    for pid in (shells.guardian, shells.keeper):
        os.kill(pid, signal.SIGSTOP)
    await asyncio.wait_for(driver.close(), LIMIT_S)
    await asyncio.wait_for(shells.transport.close(), LIMIT_S)
    assert not tagged(shells.tag)


@pytest.fixture
def serving(raw):
    server = raw()
    server.ask("shell_run", command="bash -c 'setsid -f sleep 76'; sleep 77 &")
    guardian = only_child(server.process.pid)
    return server, guardian, only_child(guardian)


async def test_when_both_are_killed_at_one_blow_the_server_ends_what_is_left(serving):
    server, guardian, holder = serving
    below = keeper.processes_below(holder)
    assert len(below) >= 3
    for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that neither sees the other die
        for pid in (guardian, holder):
            os.kill(pid, number)
    await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below), 3)
    assert server.ask("shell_run", command="echo again")["stdout"] == "again\n"


async def test_stopped_keepers_end_everything_when_the_server_is_killed(serving):
    server, guardian, holder = serving
    below = keeper.processes_below(guardian)
    for pid in (guardian, holder):
        os.kill(pid, signal.SIGSTOP)
    server.process.kill()
    await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below), 3)
