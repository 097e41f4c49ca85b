"""P5: a durable job survives its server and nothing else does; it is its owner's; no number of it is ever trusted."""

import asyncio
import fcntl
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from execkit_mcp.errors import CommandInvalid, ExecNotFound
from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest
from execkit_mcp.storage.durable import job_folders
from tests.processes import alive

pytestmark = pytest.mark.promise("P5")

LIMIT_S = 20


@pytest.fixture(autouse=True)
def _allowed(world):
    world.policy.write_text(world.policy.read_text().replace("background: allow", "background: allow, durable: allow"))


@pytest.fixture
def server(world):
    def start(**environ):
        return open_kit(
            policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ=environ
        )

    return start


async def run(kit, command, **options):
    request = RunRequest(command=command, **{"durable": True, **options})
    return await asyncio.wait_for(kit.run(request, requester="a"), LIMIT_S)


async def read(kit, exec_id, **options):
    return await kit.read(ReadRequest(exec_id=exec_id, **{"wait_s": LIMIT_S, **options}), requester="a")


def until(is_so, limit_s=LIMIT_S):
    deadline = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < deadline
        os.sched_yield()


def new_mark():
    return f"61.{time.monotonic_ns() % 10**9}"


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_whatever_ends_the_server_the_durable_job_goes_on_and_everything_else_ends(raw, way):
    kept, lost = new_mark(), new_mark()
    first = raw()
    job = first.ask("shell_run", command=f"echo on; sleep {kept}; :", durable=True)
    first.ask("shell_run", command=f"sleep {lost} & (sleep {lost} &)")
    first.call(5, "shell_run", command=f"sleep {lost}", session="main")
    until(lambda: len(alive(lost)) == 3 and len(alive(kept)) >= 2)
    first.process.send_signal(way)
    until(lambda: not alive(lost), 3.5)
    first.process.wait(5)
    assert len(alive(kept)) >= 2
    second = raw()
    rows = second.ask("shell_info")["execs"]
    assert [(row["exec_id"], row["status"]) for row in rows] == [(job["exec_id"], "running")]
    assert second.ask("shell_read", exec_id=job["exec_id"])["text"] == "on\n"
    second.ask("shell_send", exec_id=job["exec_id"], signal="KILL", wait_s=10)
    assert second.ask("shell_read", exec_id=job["exec_id"], wait_s=10)["exit_code"] == 137
    until(lambda: not alive(kept))


def test_killing_both_keepers_of_the_server_ends_its_shells_and_spares_the_durable_job(raw):
    kept, lost = new_mark(), new_mark()
    server = raw()
    job = server.ask("shell_run", command=f"sleep {kept}; :", durable=True)
    server.ask("shell_run", command=f"sleep {lost} &")
    until(lambda: len(alive(lost)) == 1 and len(alive(kept)) >= 2)
    keepers = [pid for pid in alive("transports/keeper.py") if f"\0{server.process.pid}\0" in _cmdline(pid)]
    for pid in keepers:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not alive(lost))
    assert server.ask("shell_read", exec_id=job["exec_id"], wait_s=1)["status"] == "running"
    assert len(alive(kept)) >= 2
    server.ask("shell_send", exec_id=job["exec_id"], signal="KILL", wait_s=10)


def resident_kb(pid):
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmRSS:")[2].split()[0])


def lives(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"


def _cmdline(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


async def test_another_caller_neither_sees_reads_nor_ends_it(server):
    async with server() as kit:
        job = await run(kit, "sleep 61")
        assert not kit.info(requester="b")["execs"]
        for call in (
            lambda: kit.read(ReadRequest(exec_id=job.exec_id), requester="b"),
            lambda: kit.send(SendRequest(exec_id=job.exec_id, signal="KILL"), requester="b"),
        ):
            with pytest.raises(ExecNotFound):
                await call()
        assert (await read(kit, job.exec_id, wait_s=0)).status == "running"
        await kit.send(SendRequest(exec_id=job.exec_id, signal="KILL", wait_s=10), requester="a")


async def test_a_secret_that_only_the_first_server_knew_comes_back_from_no_later_one(server, world):
    token = "Wq" + "3nBv" * 6
    async with server(DEPLOY_TOKEN=token) as kit:
        job = await run(
            kit, f"sleep 0.3; printf {token[:9]}; sleep 0.2; echo {token[9:]}; echo {token} | base64; echo end"
        )
        assert token not in str(job)
    async with server() as kit:
        reading = await read(kit, job.exec_id, wait_for="end")
        reading = await read(kit, job.exec_id)
        assert reading.text.count("REDACTED") == 2
        assert reading.text.endswith("end\n")
    for path in world.state.rglob("*"):
        if path.is_file():
            assert token.encode() not in path.read_bytes(), path


async def test_a_flood_fills_neither_the_disk_nor_the_memory(server, world):
    text = world.policy.read_text()
    world.policy.write_text(text.replace("durable: allow", f"durable: allow, output_bytes: {1 << 20}"))
    async with server() as kit:
        job = await run(kit, "bash -c 'while :; do echo 0123456789; done'")
        for _ in range(1000):
            if (await read(kit, job.exec_id, wait_s=0.05, wait_for="nothing")).total_bytes > 8 << 20:
                break
        (folder,) = job_folders(world.state)
        assert sum(path.stat().st_size for path in folder.path.iterdir()) < 3 << 20
        assert resident_kb(folder.holder()) < 100_000
        reading = await read(kit, job.exec_id, wait_s=0, tail=3)
        assert set(reading.text.splitlines()) <= {"0123456789", "012345678", "01234567"} | {
            "0123456789"[:n] for n in range(9)
        }
        await kit.send(SendRequest(exec_id=job.exec_id, signal="KILL", wait_s=10), requester="a")
        assert (await read(kit, job.exec_id)).exit_code == 137


async def test_what_it_leaves_behind_ends_with_it_however_it_hides(server):
    mark = new_mark()
    daemon = (
        f"import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ntime.sleep(60)  # {mark}"
    )
    async with server() as kit:
        job = await run(kit, f"python3 -c '{daemon}'; sleep {mark} & sleep 0.3; echo end")
        assert (await read(kit, job.exec_id)).text == "end\n"
        until(lambda: not alive(mark))


async def test_if_its_runner_is_killed_the_job_is_ended_and_told_as_lost(server, world):
    mark = new_mark()
    async with server() as kit:
        job = await run(kit, f"(sleep {mark} &) ; sleep {mark}; :")
        until(lambda: len(alive(mark)) >= 3)
        (folder,) = job_folders(world.state)
        os.kill(folder.holder(), signal.SIGKILL)
        until(lambda: not alive(mark))
        reading = await read(kit, job.exec_id)
        assert (reading.status, reading.exit_code) == ("lost", None)
        with pytest.raises(CommandInvalid):
            await kit.send(SendRequest(exec_id=job.exec_id, signal="TERM"), requester="a")


async def test_no_number_that_was_written_down_is_signalled(server, world):
    """A reused number, or one that somebody wrote into the folder: only what is below the lock's holder is touched."""
    victim = await asyncio.create_subprocess_exec("sleep", "61", start_new_session=True)
    async with server() as kit:
        job = await run(kit, "sleep 61")
        (folder,) = job_folders(world.state)
        state = json.loads((folder.path / "state.json").read_text())
        (folder.path / "state.json").write_text(json.dumps({**state, "pid": victim.pid}))
        for name in ("TERM", "KILL"):
            await kit.send(SendRequest(exec_id=job.exec_id, signal=name, wait_s=0), requester="a")
        until(lambda: folder.holder() is None)
        assert lives(victim.pid)
        (folder.path / "state.json").write_text(json.dumps({**state, "pid": victim.pid}))  # and now nobody holds it
        with pytest.raises(CommandInvalid):
            await kit.send(SendRequest(exec_id=job.exec_id, signal="KILL", wait_s=0), requester="a")
        assert lives(victim.pid)
    victim.kill()
    assert await victim.wait() == -9


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"streams": {"stdout": {"blocks": 7}}}', '{"streams": 7, "pending": 7}']
)
async def test_a_state_that_was_tampered_with_is_no_fault_of_ours(server, world, text):
    async with server() as kit:
        job = await run(kit, "echo x")
        await read(kit, job.exec_id)
        (folder,) = job_folders(world.state)
        until(lambda: folder.holder() is None)
        (folder.path / "state.json").write_text(text)
        assert (await read(kit, job.exec_id, wait_s=0)).status == "lost"
        assert kit.info(requester="a")["execs"][0]["status"] == "lost"
        (folder.path / "job.json").write_text(text)
        assert not kit.info(requester="a")["execs"]


async def test_a_link_in_the_place_of_its_files_is_not_followed(server, world):
    secret = world.folder / "secret"
    secret.write_text("SECRET12")
    async with server() as kit:
        job = await run(kit, "echo 12345678")
        await read(kit, job.exec_id)
        (folder,) = job_folders(world.state)
        (folder.path / "stdout").unlink()
        (folder.path / "stdout").symlink_to(secret)
        assert (await read(kit, job.exec_id, wait_s=0)).text == ""
        state = folder.path / "state.json"
        secret.write_text(state.read_text())
        state.unlink()
        state.symlink_to(secret)
        until(lambda: folder.holder() is None)
        assert (await read(kit, job.exec_id, wait_s=0)).status == "lost"


async def test_a_server_that_starts_removes_no_job_that_runs_and_keeps_what_is_new(server, world):
    async with server() as kit:
        ended = await run(kit, "echo x")
        await read(kit, ended.exec_id)
        running = await run(kit, "sleep 61")
    old = {"x_000000000001": 8 * 86_400, "x_000000000002": 86_400}
    for name, age_s in old.items():
        folder = world.state / "durable" / name
        folder.mkdir()
        (folder / "job.json").write_text(json.dumps({"owner": "a"}))
        (folder / "state.json").write_text("{}")
        os.utime(folder / "state.json", (time.time() - age_s,) * 2)
    async with server() as kit:
        found = {row["exec_id"] for row in kit.info(requester="a")["execs"]}
        assert found == {ended.exec_id, running.exec_id, "x_000000000002"}
        await kit.send(SendRequest(exec_id=running.exec_id, signal="KILL", wait_s=10), requester="a")


async def test_too_many_at_once_are_refused(server, monkeypatch):
    monkeypatch.setattr("execkit_mcp.runtime.durable.MOST_RUNNING", 2)
    async with server() as kit:
        jobs = [await run(kit, "sleep 61") for _ in range(2)]
        with pytest.raises(Exception, match="limit"):
            await run(kit, "sleep 61")
        for job in jobs:
            await kit.send(SendRequest(exec_id=job.exec_id, signal="KILL", wait_s=10), requester="a")
        assert (await run(kit, "true")).status.value == "running"


def test_the_lock_tells_its_holder_and_is_let_go_of_with_it(world):
    folder = world.folder / "x_0123456789ab"
    folder.mkdir()
    code = (
        "import sys; from pathlib import Path; from execkit_mcp.storage.durable import take_lock\n"
        f"take_lock(Path({str(folder / 'lock')!r})); print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [os.sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=world.environment()
    )
    assert holder.stdout.readline() == b"held\n"
    from execkit_mcp.storage.durable import holder_of

    assert holder_of(folder / "lock") == holder.pid
    with (folder / "lock").open("r+") as file, pytest.raises(OSError, match="temporarily"):
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    holder.kill()
    holder.communicate()
    assert holder_of(folder / "lock") is None
