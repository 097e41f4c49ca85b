"""What the server's parent ignored or blocked, a session does not: a deaf shell could not be ended by a signal."""

import ctypes
import os
import signal

import pytest

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest

RT_SIGACTION = {"x86_64": 13, "aarch64": 134}.get(os.uname().machine)
IGNORED = (signal.SIGUSR1, 32, 33, 34, 40, 64)  # 32 and 33 are the C library's own (signal(7))
SHOW = "grep -E '^Sig(Blk|Ign):' /proc/self/status"


def _set_action(number, action):
    before = ctypes.create_string_buffer(32)
    assert ctypes.CDLL(None).syscall(RT_SIGACTION, number, action, before, 8) == 0
    return before


@pytest.fixture
def ignoring():
    """This process, and so whatever it starts, ignores some signals and blocks one."""
    ignore = ctypes.create_string_buffer(int(signal.SIG_IGN).to_bytes(8, "little").ljust(32, b"\0"), 32)
    before = {number: _set_action(number, ignore) for number in IGNORED}
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    yield
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR2})
    for number, action in before.items():
        _set_action(number, action)


@pytest.mark.skipif(RT_SIGACTION is None, reason="the number of rt_sigaction is not known here")
@pytest.mark.parametrize("durable", [False, True])
async def test_no_signal_is_ignored_or_blocked_in_a_session(ignoring, world, durable):
    world.policy.write_text(world.policy.read_text().replace("background: allow", "background: allow, durable: allow"))
    where = {"policy": str(world.policy), "workspace": str(world.workspace), "state_dir": str(world.state)}
    async with open_kit(environ={}, **where) as kit:
        result = await kit.run(RunRequest(command=SHOW, durable=durable), requester="a")
        text = (
            (await kit.read(ReadRequest(exec_id=result.exec_id, wait_s=20), requester="a")).text
            if durable
            else result.stdout
        )
    assert [line.split()[1].strip("0") for line in text.splitlines()] == ["", ""]
