"""P5: when the server ends, however it ends, nothing that was started in its sessions is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.promise("P5")

_SERVER = """
import asyncio, secrets, sys, time
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.transports.local import LocalTransport

class Clock:
    monotonic_s = staticmethod(time.monotonic)

class Entropy:
    token_hex = staticmethod(secrets.token_hex)

async def main():
    driver = await Driver.open(LocalTransport(), env={"PATH": "/usr/bin:/bin", "TAG": sys.argv[1]},
                               cwd="/", clock=Clock(), entropy=Entropy())
    await driver.run("setsid sleep 61 & (setsid -f sleep 62 &) ; (trap '' HUP TERM; sleep 63) & sleep 64 &",
                     sink=lambda *_: None)
    print("ready", flush=True)
    if sys.argv[2] == "eof":
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        return
    await driver.run("sleep 65", sink=lambda *_: None)

asyncio.run(main())
"""


def tagged(tag):
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if f"TAG={tag}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


def wait_until(is_so, limit_s):
    deadline = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < deadline
        os.sched_yield()


@pytest.mark.parametrize(("way", "limit_s"), [("SIGKILL", 3.0), ("SIGTERM", 1.5), ("eof", 1.5)])
def test_nothing_is_left_after(way, limit_s):
    tag = f"{os.getpid()}-{way}-{time.monotonic_ns()}"
    root = str(Path(__file__).resolve().parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, tag, way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": root, "PATH": "/usr/bin:/bin"},
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        assert server.stdout.readline() == b"ready\n"
        try:
            wait_until(lambda: len(tagged(tag)) >= 5, 5)  # one that is just being exec'd has no environment yet
        except AssertionError:
            server.kill()
            raise
        if way == "eof":
            server.stdin.close()
        else:
            server.send_signal(signal.Signals[way])
        server.wait(10)
        wait_until(lambda: not tagged(tag), limit_s)
