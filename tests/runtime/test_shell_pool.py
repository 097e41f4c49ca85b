"""A shell from the pool cannot be told from one that was started for its session."""

import asyncio
import os
import re
import signal
from pathlib import Path

import pytest

from execkit_mcp.errors import TransportError
from execkit_mcp.runtime.pool import ShellPool
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.transports.local import LocalTransport

LIMIT_S = 20
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TERM": "dumb"}
# Everything that a script can ask a shell about itself, but for what is another number in any two shells.
FACTS = r"""
builtin declare -p | grep -vE '^declare [-a-zA-Z]+ (BASHPID|PPID|EPOCH[A-Z]+|S?RANDOM|SECONDS|BASH_ARGV0|_)(=|$)'
builtin declare -F; builtin alias; builtin shopt; builtin set -o; builtin trap; builtin pwd; builtin dirs -l
builtin umask; builtin jobs; env | sort | grep -v '^_='
builtin echo "$((SECONDS < 60)) $? $- ${PIPESTATUS[@]}"; builtin ulimit -a
ls /proc/self/fd; stty size </dev/tty
"""


@pytest.fixture
async def pool():
    transport = LocalTransport()
    made = ShellPool(transport, clock=SystemClock(), entropy=SystemEntropy())
    yield made
    await made.close()
    await transport.close()


async def says(driver, command):
    out = bytearray()
    await asyncio.wait_for(driver.run(command, sink=lambda _stream, data: out.extend(data)), LIMIT_S)
    return out.decode()


async def opened(pool, cwd, *, name="one", cols=120):
    return await asyncio.wait_for(pool.open(ENV, {"EXECKIT_SESSION": name}, str(cwd), cols, 40), LIMIT_S)


async def warm(pool, cwd):
    pool.keep_warm(ENV, ["EXECKIT_SESSION"], str(cwd), 120, 40)
    await pool._refill
    return pool._spare.pid


def without_nonces(text):
    """The trap of each shell carries a mark of its own."""
    return re.sub(r"(?<=\\03[56])[0-9a-f]+", "", text)


async def test_a_shell_from_the_pool_knows_nothing_that_a_fresh_one_does_not(pool, tmp_path):
    cwd = tmp_path / "it's a folder"
    cwd.mkdir()
    fresh = await opened(pool, cwd)
    pid = await warm(pool, tmp_path)
    kept = await opened(pool, cwd)
    assert kept.pid == pid
    assert without_nonces(await says(kept, FACTS)) == without_nonces(await says(fresh, FACTS))
    for driver in (fresh, kept):
        await driver.close()


async def test_after_exit_the_shell_that_replaces_it_is_the_sessions_too(pool, tmp_path):
    await warm(pool, "/")
    kept = await opened(pool, tmp_path, name="mine")
    await says(kept, "exec sleep 0")
    assert await says(kept, "echo $EXECKIT_SESSION; pwd") == f"mine\n{tmp_path}\n"
    await kept.close()


def environment_at_start(pid):
    return {entry.partition(b"=")[0] for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")}


async def test_what_proc_shows_of_a_spare_marks_it_as_a_session_from_its_start(pool, tmp_path):
    assert b"EXECKIT_SESSION" in environment_at_start(await warm(pool, tmp_path))


async def test_two_sessions_never_get_the_same_shell(pool, tmp_path):
    await warm(pool, tmp_path)
    drivers = await asyncio.gather(*[opened(pool, tmp_path, name=f"s{number}") for number in range(8)])
    assert len({driver.pid for driver in drivers}) == len(drivers)
    names = await asyncio.gather(*[says(driver, "echo $EXECKIT_SESSION") for driver in drivers])
    assert names == [f"s{number}\n" for number in range(8)]
    for driver in drivers:
        await driver.close()


async def test_a_spare_of_another_kind_is_not_used(pool, tmp_path):
    pid = await warm(pool, tmp_path)
    wide = await opened(pool, tmp_path, cols=200)
    assert wide.pid != pid
    assert await says(wide, "stty size </dev/tty") == "40 200\n"
    await wide.close()


async def test_a_spare_that_died_while_it_waited_is_replaced(pool, tmp_path):
    pid = await warm(pool, tmp_path)
    os.kill(pid, signal.SIGKILL)
    driver = await opened(pool, tmp_path)
    assert driver.pid != pid
    assert await says(driver, "echo $EXECKIT_SESSION") == "one\n"
    await driver.close()


async def test_a_folder_that_went_away_is_the_error_that_a_fresh_shell_gives(pool, tmp_path):
    gone = tmp_path / "gone"
    with pytest.raises(TransportError) as cold:
        await opened(pool, gone)
    await warm(pool, tmp_path)
    with pytest.raises(TransportError) as kept:
        await opened(pool, gone)
    assert str(kept.value) == str(cold.value)


async def test_closing_the_pool_ends_the_spare(pool, tmp_path):
    pid = await warm(pool, tmp_path)
    await pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_caller_who_goes_away_while_he_is_given_a_spare_leaves_no_shell(pool, tmp_path):
    pid = await warm(pool, tmp_path)
    call = asyncio.create_task(opened(pool, tmp_path))
    while pool._spare is not None:  # noqa: ASYNC110 - the next turn of the loop is what matters
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
