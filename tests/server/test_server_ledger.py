"""Long output through the real server: bounded memory, exact counts, private files that do not stay."""

import asyncio
import stat
import time
from pathlib import Path

import pytest

FLOOD = "python3 -c \"import sys; w = sys.stdout.write; [w(f'line {n} of the flood\\n') for n in range(1500000)]\""
FLOOD_BYTES = sum(len(f"line {n} of the flood\n") for n in range(1_500_000))


def spilled(state: Path) -> list[Path]:
    return sorted(path for path in state.glob("ledger/server-*/x_*"))


async def test_a_flood_is_counted_exactly_kept_private_and_removed(serve, world):
    async with serve() as served:
        body = await served.run(FLOOD, wait_s=60)
        assert body["status"] == "completed", body
        count = body["truncated"]["stdout"]
        assert (count["total_lines"], count["total_bytes"]) == (1_500_000, FLOOD_BYTES)
        (path,) = spilled(world.state)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert path.stat().st_size <= 8 << 20
        exec_id = body["exec_id"]
        found = (await served.call("shell_read", exec_id=exec_id, grep="^line 1499999 ")).structured_content
        assert found["text"] == "1500000:line 1499999 of the flood\n"
        assert "were not searched" in found["warnings"][0]
        beyond = (await served.call("shell_read", exec_id=exec_id, offset=10**12)).structured_content
        assert (beyond["text"], beyond["eof"], beyond["offset"]) == ("", True, FLOOD_BYTES)
        gap = (await served.call("shell_read", exec_id=exec_id, offset=FLOOD_BYTES // 2)).structured_content
        assert "no longer kept" in gap["warnings"][0]
        wrong = await served.call("shell_read", exec_id=exec_id, grep="(")
        assert wrong.is_error
        await served.call("shell_close", session="main")
        assert not spilled(world.state)
        gone = (await served.call("shell_read", exec_id=exec_id)).structured_content["error"]
        assert gone["code"] == "exec.expired"
        assert gone["details"]["stdout"] == {"total_bytes": FLOOD_BYTES, "total_lines": 1_500_000}
        await served.run("seq 1 100000")
        assert spilled(world.state)
    assert not list(world.state.glob("ledger/server-*"))


async def test_a_search_of_millions_of_lines_keeps_nobody_waiting(serve):
    async with serve() as served:
        exec_id = (await served.run("python3 -c \"print('y\\n' * 1000000)\"", wait_s=60))["exec_id"]
        await served.call("shell_open", name="other")
        searching = asyncio.create_task(served.call("shell_read", exec_id=exec_id, grep="y$"))
        await asyncio.sleep(0)
        waits = []
        while not searching.done():
            start = time.monotonic()
            await served.run("echo on", session="other")
            waits.append(time.monotonic() - start)
        assert (await searching).structured_content["matches"] == 1_000_000
        assert len(waits) > 3
        assert max(waits) < 2


@pytest.mark.parametrize("pattern", ["server ready", "^server ready$", r"line 29999\nserver ready"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_what_is_waited_for_is_found_however_much_comes_before_it(serve, pattern, stream):
    code = f"import sys, time; say = lambda text: print(text, file=sys.{stream}, flush=True);"
    code += " [say(f'a chatty service: line {n}') for n in range(30000)]; time.sleep(0.2); say('server ready');"
    async with serve() as served:
        exec_id = (await served.run(f'python3 -c "{code} time.sleep(60)"', wait_s=0))["exec_id"]
        start = time.monotonic()
        read = await served.call("shell_read", exec_id=exec_id, stream=stream, wait_for=pattern, wait_s=30, tail=1)
        assert time.monotonic() - start < 20
        assert read.structured_content["text"] == "server ready\n"


async def test_what_a_killed_server_left_is_gone_when_the_next_one_starts(serve, world):
    folder = world.state / "ledger" / "server-gone"
    folder.mkdir(parents=True)
    (folder / "x_1.stdout").write_text("left behind")
    async with serve() as served:
        await served.run("seq 1 100000")
        assert not folder.exists()
        async with serve() as second:
            await second.run("seq 1 100000")
            assert len(spilled(world.state)) == 2
        assert len(spilled(world.state)) == 1


async def test_a_ledger_that_cannot_be_written_ends_no_command(serve, world):
    world.state.mkdir(mode=0o700)
    (world.state / "ledger").write_text("a file stands in the way")
    async with serve() as served:
        body = await served.run("seq 1 100000")
        assert body["exit_code"] == 0
        assert body["truncated"]["stdout"]["total_lines"] == 100_000
        assert any("only its ends are kept; counts are exact" in line for line in body["warnings"])
        assert (await served.run("echo next"))["stdout"] == "next\n"
