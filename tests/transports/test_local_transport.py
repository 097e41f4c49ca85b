import asyncio
import os

import pytest

from execkit_mcp.errors import TransportUnavailable, TransportUnknown
from execkit_mcp.transports import local
from execkit_mcp.transports.base import Role, ShellPlan, ShellReport
from execkit_mcp.transports.registry import create_transport, transport_names


@pytest.fixture
async def transport():
    made = local.LocalTransport()
    yield made
    await made.close()


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def read(channel, role):
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(channel.fds[role], lambda: ready.done() or ready.set_result(None))
    await asyncio.wait_for(ready, 10)
    loop.remove_reader(channel.fds[role])
    return os.read(channel.fds[role], 65536)


async def test_a_channel_carries_bytes_and_the_environment_is_only_what_was_given(transport):
    channel = await transport.open(ShellPlan(env={"ONLY": "this"}, cwd="/"))
    os.write(channel.fds[Role.SCRIPT], b"/usr/bin/env >&251; echo oops >&252; exit 3\n")
    assert b"ONLY=this" in await read(channel, Role.STDOUT)
    assert await read(channel, Role.STDERR) == b"oops\n"
    reports = asyncio.Queue()
    channel.listen(reports.put_nowait)
    report = await asyncio.wait_for(reports.get(), 10)
    assert (report.kind, report.code) == ("exited", 3)
    await channel.close()


async def test_no_stray_descriptor_reaches_the_shell(transport, tmp_path):
    with (tmp_path / "stray").open("w") as stray:
        os.set_inheritable(stray.fileno(), True)
        channel = await transport.open(ShellPlan(env={}, cwd="/"))
        os.write(channel.fds[Role.SCRIPT], b"echo /dev/fd/* >&251\n")
        listed = {int(path.rsplit(b"/", 1)[1]) for path in (await read(channel, Role.STDOUT)).split()}
    assert {0, 1, 2, 248, 249, 250, 251, 252} <= listed
    assert listed - {0, 1, 2, 3, 10, 11, 248, 249, 250, 251, 252, 255} == set()
    await channel.close()


async def test_a_missing_bash_is_named(transport, monkeypatch):
    monkeypatch.setattr(local, "_TRUSTED_BASH", ("/nonexistent/bash",))
    with pytest.raises(TransportUnavailable, match="bash"):
        await transport.open(ShellPlan(env={}, cwd="/"))
    with pytest.raises(TransportUnavailable, match="bash"):
        transport.check()


async def test_a_missing_folder_is_one_clear_error(transport, tmp_path):
    with pytest.raises(TransportUnavailable, match="nonexistent"):
        await transport.open(ShellPlan(env={}, cwd=str(tmp_path / "nonexistent")))


async def test_closing_a_channel_ends_its_daemons(transport):
    channel = await transport.open(ShellPlan(env={"PATH": "/usr/bin:/bin"}, cwd="/"))
    os.write(channel.fds[Role.SCRIPT], b"setsid -f sleep 66; echo done >&251\n")
    assert await read(channel, Role.STDOUT) == b"done\n"
    children = channel.children()
    assert children
    await channel.close()
    for _ in range(2000):
        if not any(_is_alive(pid) for pid in children):
            return
        await asyncio.sleep(0.001)
    pytest.fail("a daemon outlived its session")


def test_the_registry_knows_local_and_refuses_others():
    assert "local" in transport_names()
    assert create_transport("local").name == "local"
    with pytest.raises(TransportUnknown):
        create_transport("carrier-pigeon")


async def test_a_close_that_is_cancelled_as_the_shell_goes_is_cancelled(transport):
    channel = await transport.open(ShellPlan(env={}, cwd="/"))
    closing = asyncio.create_task(channel.close())
    await asyncio.sleep(0)
    channel.report(ShellReport(kind="exited", code=0))
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
