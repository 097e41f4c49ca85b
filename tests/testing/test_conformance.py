import os

import pytest

from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.remote_driver import RemoteDriver
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.testing.conformance import CHECKS, NotConformant
from execkit_mcp.transports.local import LocalTransport
from execkit_mcp.transports.ssh.target import target_from
from execkit_mcp.transports.ssh.transport import SshTransport
from tests.ssh.conftest import sshd

__all__ = ["sshd"]

PLAIN = {"env": {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TERM": "dumb"}, "cwd": "/"}
NAMES = {check.name: check for check in CHECKS}


@pytest.mark.parametrize("name", NAMES)
async def test_local_sessions_conform(name):
    transport = LocalTransport()
    driver = await Driver.open(transport, **PLAIN, clock=SystemClock(), entropy=SystemEntropy())
    try:
        assert NAMES[name].applies(driver.capabilities)
        await NAMES[name].run(driver)
    finally:
        await driver.close()
        await transport.close()


@pytest.mark.parametrize("name", NAMES)
async def test_ssh_sessions_conform(name, sshd):
    transport = SshTransport(target_from("t", sshd.options_for()), os.environ)
    driver = await RemoteDriver.open(transport, **PLAIN, clock=SystemClock(), entropy=SystemEntropy())
    try:
        assert NAMES[name].applies(driver.capabilities)
        await NAMES[name].run(driver)
    finally:
        await driver.close()
        await transport.aclose()


async def test_a_transport_that_mixes_its_streams_is_found():
    class Mixed:
        cwd = "/"
        capabilities = frozenset()

        async def run(self, command, *, sink, **_):
            sink("stdout", b"out\nerr\n")

    with pytest.raises((NotConformant, AttributeError)):
        await NAMES["echo on both streams"].run(Mixed())
