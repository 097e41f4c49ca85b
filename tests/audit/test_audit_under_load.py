"""The record and the event loop: shared syncs, a lock that somebody holds, a disk that is slow or full."""

import asyncio
import errno
import fcntl
import json
import os
import time
from contextlib import asynccontextmanager, closing, contextmanager

import pytest

from execkit_mcp import aio
from execkit_mcp.audit import AuditLog, verify_folder
from execkit_mcp.audit.folder import HEAD_NAME
from execkit_mcp.errors import AuditWriteFailed, SessionBusy
from execkit_mcp.kit import open_kit
from execkit_mcp.model import Status
from execkit_mcp.runtime.background_sync import BackgroundSync
from execkit_mcp.runtime.commit import Commit
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sdk_policy import Policy
from execkit_mcp.runtime.system import SystemClock, SystemEntropy

POLICY = """\
version: 1
name: test
paths: {write: ["${workspace}/**"]}
rules:
  - allow: [echo, sleep, ":"]
"""


@pytest.fixture
def disk_of_ours(monkeypatch):
    """No syncs by the kernel beside us: the test's own ``os.fdatasync`` is the disk."""
    monkeypatch.setattr("execkit_mcp.runtime.commit.BackgroundSync.open", lambda: None)


def policy(folder):
    path = folder / "policy.yaml"
    path.write_text(POLICY)
    path.chmod(0o600)
    return Policy.load(path)


def opened(folder):
    return aio.create(policy=policy(folder), state_dir=str(folder / "state"), workspace=str(folder))


@asynccontextmanager
async def kit_with(folder, count):
    async with open_kit(policy=policy(folder).compiled, state_dir=str(folder / "state"), workspace=str(folder)) as kit:
        for number in range(count):
            await kit.open_session(requester="me", name=f"s{number}")
        yield kit


@contextmanager
def held(folder):
    """Another process has the audit log's lock."""
    descriptor = os.open(folder / "state" / HEAD_NAME, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def entries(folder):
    return [json.loads(line) for line in (folder / "state" / "audit-000001.jsonl").read_bytes().splitlines()]


@asynccontextmanager
async def watched_loop():
    """How long the event loop stood still at most."""
    longest = [0.0]

    async def tick():
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            longest[0] = max(longest[0], time.perf_counter() - before)

    task = asyncio.create_task(tick())
    try:
        yield longest
    finally:
        task.cancel()


async def test_a_lock_that_is_held_stalls_nobody_and_the_command_runs_when_it_is_free(tmp_path):
    async with opened(tmp_path) as session, watched_loop() as longest:
        with held(tmp_path):
            running = asyncio.create_task(session.exec("echo hello"))
            done, _ = await asyncio.wait([running], timeout=0.5)
            assert not done
        assert (await running).stdout == "hello\n"
        assert longest[0] < 0.4


async def test_a_lock_that_is_held_for_ever_is_an_error_and_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("execkit_mcp.runtime.commit.LOCK_WAIT_S", 0.2)
    async with opened(tmp_path) as session:
        with held(tmp_path), pytest.raises(AuditWriteFailed, match="Another process has held the audit log"):
            await session.exec("echo hello > file")
        assert not (tmp_path / "file").exists()
        assert (await session.exec("echo again; echo > file")).stdout == "again\n"
        assert (tmp_path / "file").exists()


async def test_the_end_of_a_command_that_finds_the_log_held_is_entered_later_and_the_result_waits(tmp_path):
    async with opened(tmp_path) as session:
        running = asyncio.create_task(session.exec("sleep 0.3"))
        async with asyncio.timeout(10):
            while not any(entry["kind"] == "exec.started" for entry in entries(tmp_path)):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        with held(tmp_path):
            done, _ = await asyncio.wait([running], timeout=0.8)
            assert not done
        result = await running
    (end,) = (entry for entry in entries(tmp_path) if entry["kind"] == "exec.finished")
    assert (end["seq"], end["hash"]) == (result.audit.seq, result.audit.head)
    assert verify_folder(tmp_path / "state").is_intact


async def test_a_result_comes_when_its_entry_is_on_the_disk(tmp_path, monkeypatch):
    async with opened(tmp_path) as session:
        synced = []
        real = os.fdatasync
        monkeypatch.setattr(os, "fdatasync", lambda fd: (real(fd), synced.append(os.fstat(fd).st_size)))
        result = await session.exec("echo hello")
        lines = (tmp_path / "state" / "audit-000001.jsonl").read_bytes().splitlines(keepends=True)
        assert max(synced) >= sum(map(len, lines[: result.audit.seq]))
        assert json.loads((tmp_path / "state" / HEAD_NAME).read_bytes())["seq"] >= result.audit.seq


@pytest.mark.usefixtures("disk_of_ours")
async def test_commands_that_run_at_once_share_their_syncs(tmp_path, monkeypatch):
    count = 12
    async with kit_with(tmp_path, count) as kit:
        synced = []
        real = os.fdatasync

        def slow(descriptor):
            time.sleep(0.02)
            synced.append(descriptor)
            real(descriptor)

        monkeypatch.setattr(os, "fdatasync", slow)
        for _ in range(2):
            synced.clear()
            results = await asyncio.gather(
                *(kit.run(RunRequest(command=":", session=f"s{n}"), requester="me") for n in range(count))
            )
        monkeypatch.undo()
        assert all(result.status is Status.COMPLETED for result in results)
        assert len({result.audit.seq for result in results}) == count
        assert len(synced) <= count  # two for each command, were they not shared


async def test_commands_that_run_at_once_share_the_syncs_beside_them(tmp_path, monkeypatch):
    count = 12
    async with kit_with(tmp_path, count) as kit:
        submitted = []
        real = BackgroundSync.submit
        monkeypatch.setattr(BackgroundSync, "submit", lambda self, fd: (submitted.append(fd), real(self, fd)))
        head = tmp_path / "state" / HEAD_NAME

        async def run(number):
            result = await kit.run(RunRequest(command=":", session=f"s{number}"), requester="me")
            return result, json.loads(head.read_bytes())["seq"]

        for _ in range(5):
            told = await asyncio.gather(*map(run, range(count)))
            assert all(result.status is Status.COMPLETED for result, _ in told)
            assert all(synced >= result.audit.seq for result, synced in told)  # on the disk before it is seen
        assert 0 < len(submitted) <= 5 * count
    assert verify_folder(tmp_path / "state").is_intact


@pytest.mark.promise("P6")
@pytest.mark.usefixtures("disk_of_ours")
async def test_what_was_seen_while_the_disk_was_at_work_is_put_there_as_well(tmp_path, monkeypatch):
    async with kit_with(tmp_path, 1) as kit:
        real, begun = os.fdatasync, asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow(descriptor):
            loop.call_soon_threadsafe(begun.set)
            time.sleep(0.1)
            real(descriptor)

        monkeypatch.setattr(os, "fdatasync", slow)
        await kit.run(RunRequest(command=":", session="s0"), requester="me")  # now it is known to be slow
        await asyncio.sleep(0.3)
        for number in range(2):
            begun.clear()
            kit._gate.record_seen("seen", {"number": number})
            await begun.wait()
        async with asyncio.timeout(5):
            head = tmp_path / "state" / HEAD_NAME
            while json.loads(head.read_bytes())["seq"] < len(entries(tmp_path)):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        monkeypatch.undo()


@pytest.mark.promise("P6")
async def test_what_the_kernel_could_not_put_on_the_disk_does_not_run(tmp_path, monkeypatch):
    async with kit_with(tmp_path, 2) as kit:
        both = [RunRequest(command="echo", session="s0"), RunRequest(command="echo > file; echo seen", session="s1")]
        await asyncio.gather(*(kit.run(each, requester="me") for each in both))
        (tmp_path / "file").unlink()
        real = BackgroundSync.ended

        def broken(self):
            if real(self):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return False

        monkeypatch.setattr(BackgroundSync, "ended", broken)
        _, told = await asyncio.gather(*(kit.run(each, requester="me") for each in both), return_exceptions=True)
        assert isinstance(told, AuditWriteFailed)
        assert not (tmp_path / "file").exists()
        monkeypatch.undo()
        told = await asyncio.gather(*(kit.run(each, requester="me") for each in both))
        assert [each.stdout for each in told] == ["\n", "seen\n"]
    assert verify_folder(tmp_path / "state").is_intact


@pytest.mark.usefixtures("disk_of_ours")
async def test_a_slow_disk_does_not_stall_the_event_loop(tmp_path, monkeypatch):
    async with opened(tmp_path) as session:
        real = os.fdatasync
        monkeypatch.setattr(os, "fdatasync", lambda fd: (time.sleep(0.3), real(fd)))
        await session.exec(":")  # this is how it is found out
        async with watched_loop() as longest:
            await session.exec(":")
        assert longest[0] < 0.2
        monkeypatch.undo()


@pytest.mark.usefixtures("disk_of_ours")
async def test_while_a_command_waits_for_the_disk_its_session_starts_no_other(tmp_path, monkeypatch):
    async with kit_with(tmp_path, 1) as kit:
        real = os.fdatasync
        monkeypatch.setattr(os, "fdatasync", lambda fd: (time.sleep(0.1), real(fd)))
        request = RunRequest(command="echo hello > file; echo hello", session="s0")
        await kit.run(request, requester="me")
        first = asyncio.create_task(kit.run(request, requester="me"))
        await asyncio.sleep(0.05)
        with pytest.raises(SessionBusy):
            await kit.run(request, requester="me")
        assert (await first).stdout == "hello\n"
        monkeypatch.undo()


@pytest.mark.promise("P6")
@pytest.mark.usefixtures("disk_of_ours")
async def test_what_changes_something_is_on_the_disk_before_it_runs_and_what_reads_before_it_is_seen(
    tmp_path, monkeypatch
):
    async with opened(tmp_path) as session:
        await session.exec(":")
        real, seen = os.fdatasync, []

        def sync(descriptor):
            kinds = [entry["kind"] for entry in entries(tmp_path)[before:]]
            seen.append((kinds, (tmp_path / "file").exists()))
            real(descriptor)

        monkeypatch.setattr(os, "fdatasync", sync)
        for command, due in (
            ("echo > file", [(["exec.started"], False), (["exec.started", "exec.finished"], True)]),
            ("echo 2> /dev/null", [(["exec.started", "exec.finished"], True)]),
        ):
            await asyncio.sleep(0.1)
            before = len(entries(tmp_path))
            seen.clear()
            await session.exec(command)
            assert [each for each in seen if each[0]] == due
        monkeypatch.undo()


@pytest.mark.promise("P6")
async def test_what_reads_for_long_is_on_the_disk_before_it_ends(tmp_path):
    async def on_disk(kind):
        async with asyncio.timeout(10):
            while True:
                synced = json.loads((tmp_path / "state" / HEAD_NAME).read_bytes())["seq"]
                if kind in [entry["kind"] for entry in entries(tmp_path)[:synced]]:  # what it ran may stand behind it
                    return
                await asyncio.sleep(0.02)

    async with kit_with(tmp_path, 1) as kit:
        await on_disk("session.opened")
        running = asyncio.create_task(
            kit.run(RunRequest(command="sleep 30", session="s0", wait_s=None), requester="me")
        )
        await on_disk("exec.started")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


@pytest.mark.promise("P6")
@pytest.mark.usefixtures("disk_of_ours")
async def test_what_was_read_while_the_disk_failed_is_shown_to_nobody_until_it_is_on_the_record(tmp_path, monkeypatch):
    async with kit_with(tmp_path, 1) as kit:
        await kit.run(RunRequest(command=":", session="s0"), requester="me")

        def broken(_):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        monkeypatch.setattr(os, "fdatasync", broken)
        with pytest.raises(AuditWriteFailed, match="Input/output error"):
            await kit.run(RunRequest(command="echo seen", session="s0", idempotency_key="k"), requester="me")
        last = entries(tmp_path)[-1]["data"]["exec_id"]
        with pytest.raises(AuditWriteFailed):
            await kit.read(ReadRequest(exec_id=last), requester="me")
        with pytest.raises(AuditWriteFailed):
            await kit.run(RunRequest(command="echo seen", session="s0", idempotency_key="k"), requester="me")
        with pytest.raises(AuditWriteFailed):
            _ = [each async for each in kit.follow(last, requester="me")]
        with pytest.raises(AuditWriteFailed):
            await kit.run(RunRequest(command="echo more", session="s0"), requester="me")
        monkeypatch.undo()
        assert (await kit.run(RunRequest(command="echo again", session="s0"), requester="me")).stdout == "again\n"
        assert (await kit.read(ReadRequest(exec_id=last), requester="me")).text == "seen\n"
    assert verify_folder(tmp_path / "state").is_intact


@pytest.mark.promise("P6")
@pytest.mark.parametrize("call", ["write", "fdatasync"])
async def test_on_a_full_disk_nothing_runs_the_error_says_so_and_then_it_goes_on(tmp_path, monkeypatch, call):
    async with opened(tmp_path) as session:
        await session.exec(":")

        def full(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(f"execkit_mcp.audit.writer.os.{call}", full)
        for _ in range(2):
            with pytest.raises(AuditWriteFailed, match="No space left on device") as caught:
                await session.exec("echo ran > file")
            assert "has room" in caught.value.hint
        monkeypatch.undo()
        assert not (tmp_path / "file").exists()
        assert (await session.exec("echo again")).stdout == "again\n"
    assert verify_folder(tmp_path / "state").is_intact


@pytest.mark.usefixtures("disk_of_ours")
async def test_a_command_that_was_called_off_while_it_waited_for_the_disk_never_ran(tmp_path, monkeypatch):
    async with kit_with(tmp_path, 1) as kit:
        real = os.fdatasync
        monkeypatch.setattr(os, "fdatasync", lambda fd: (time.sleep(0.1), real(fd)))
        await kit.run(RunRequest(command=":", session="s0"), requester="me")
        task = asyncio.create_task(kit.run(RunRequest(command="echo > file", session="s0"), requester="me"))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        monkeypatch.undo()
        assert (await kit.run(RunRequest(command=":", session="s0"), requester="me")).exit_code == 0
    assert not (tmp_path / "file").exists()
    assert [e["data"]["status"] for e in entries(tmp_path) if e["kind"] == "exec.finished"][1] == "not_started"


async def test_an_answer_that_another_process_records_between_decision_and_start_holds_nothing(tmp_path, monkeypatch):
    with closing(AuditLog.open(tmp_path / "state", clock=SystemClock(), entropy=SystemEntropy())) as other:
        enter = AuditLog.enter

        def overtaken(log, kind, data, **options):
            head = enter(log, kind, data, **options)
            if log is not other and kind == "exec.started":
                other.append("approval.decided", {})
            return head

        monkeypatch.setattr(AuditLog, "enter", overtaken)
        async with asyncio.timeout(20), kit_with(tmp_path, 1) as kit:
            result = await kit.run(RunRequest(command="echo hi", wait_s=5), requester="me")
    assert result.status is Status.COMPLETED


async def test_a_sync_that_fails_in_any_way_ends_the_wait(tmp_path, monkeypatch):
    async with kit_with(tmp_path, 1) as kit:

        def broken(self):
            raise ValueError("not foreseen")

        with monkeypatch.context() as patch:
            patch.setattr(Commit, "_timed_sync", broken)
            with pytest.raises(ValueError, match="not foreseen"):
                async with asyncio.timeout(20):
                    await kit.run(RunRequest(command="echo hi", wait_s=5), requester="me")
