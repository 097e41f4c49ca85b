"""Where the record is put on the disk.

By the kernel beside us; where it does not do that, on the event loop while that is quick, in a thread once it is not.
"""

import asyncio
import errno
import fcntl
import os
import resource
import threading
import time

import pytest

from execkit_mcp.audit.writer import Sync
from execkit_mcp.errors import AuditWriteFailed
from execkit_mcp.runtime.background_sync import BackgroundSync
from execkit_mcp.runtime.commit import Commit


class Disk:
    """A log whose syncs take as long as they are told to, here and in a thread."""

    def __init__(self, *, here_s: float, thread_s: float) -> None:
        self.here_s, self.thread_s = here_s, thread_s
        self.synced_seq = 0
        self.wanted = 0
        self.where: list[str] = []

    def sync(self) -> None:
        is_here = threading.current_thread() is threading.main_thread()
        self.where.append("here" if is_here else "thread")
        time.sleep(self.here_s if is_here else self.thread_s)
        self.synced_seq = self.wanted


async def syncs(commit: Commit, disk: Disk, times: int) -> list[str]:
    """Where each of the syncs of two callers took place."""
    begun = len(disk.where)
    for _ in range(times):
        disk.wanted += 1
        await asyncio.gather(commit.wait(disk.wanted), commit.wait(disk.wanted))
    return disk.where[begun:]


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr("execkit_mcp.runtime.commit.SLOW_S", 0.005)  # a busy machine is no slow disk
    commits: list[Commit] = []

    def make(disk: Disk) -> Commit:
        commits.append(Commit(disk, open_beside=lambda: None))
        return commits[-1]

    yield make
    for each in commits:
        each.close()


async def test_two_callers_share_one_sync(made):
    disk = Disk(here_s=0, thread_s=0)
    assert await syncs(made(disk), disk, 20) == ["here"] * 20


async def test_a_slow_disk_stalls_the_loop_for_its_first_sync_only(made):
    disk = Disk(here_s=0.03, thread_s=0.03)
    assert await syncs(made(disk), disk, 80) == ["here"] + ["thread"] * 79


async def test_one_hiccup_changes_nothing(made):
    disk = Disk(here_s=0, thread_s=0)
    commit = made(disk)
    await syncs(commit, disk, 9)
    disk.here_s = 0.05
    await syncs(commit, disk, 1)
    disk.here_s = 0
    assert await syncs(commit, disk, 10) == ["here"] * 10


async def test_a_disk_that_is_quick_again_is_found(made):
    disk = Disk(here_s=0.015, thread_s=0.0065)
    commit = made(disk)
    assert (await syncs(commit, disk, 9))[1:] == ["thread"] * 8
    disk.here_s = 0  # and in a thread the interpreter's lock makes it seem slow for ever
    assert (await syncs(commit, disk, 40))[-10:] == ["here"] * 10


async def test_who_waits_for_a_thread_while_it_is_closed_is_answered(made):
    disk = Disk(here_s=0.03, thread_s=0.03)
    commit = made(disk)
    await syncs(commit, disk, 2)
    disk.wanted += 1
    first = asyncio.ensure_future(commit.wait(disk.wanted))
    await turns()
    disk.wanted += 1
    second = asyncio.ensure_future(commit.wait(disk.wanted))
    await turns()
    disk.wanted -= 1  # the one under way does not cover the second
    commit.close()
    disk.wanted += 1
    async with asyncio.timeout(5):
        await asyncio.gather(first, second)
    assert disk.where[-2:] == ["thread", "here"]


class Log:
    """A log, and a kernel whose syncs end when they are told to."""

    def __init__(self) -> None:
        self.seq = self.synced_seq = 0
        self.eventfd = os.eventfd(0, os.EFD_NONBLOCK)
        self.under_way: list[int] = []
        self.error: OSError | None = None
        self.is_refused = False
        self.here = 0

    def begin_sync(self) -> Sync | None:
        return Sync(descriptor=os.dup(self.eventfd), head=self.seq) if self.seq > self.synced_seq else None

    def end_sync(self, begun: Sync, error: OSError | None) -> None:
        if error is not None:
            raise AuditWriteFailed(str(error))
        self.synced_seq = max(self.synced_seq, begun.head)

    def sync(self) -> None:
        self.here += 1
        self.synced_seq = self.seq

    def fileno(self) -> int:
        return self.eventfd

    def submit(self, _descriptor: int) -> None:
        if self.is_refused:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self.under_way.append(self.seq)

    def end(self, error: OSError | None = None) -> None:
        self.error = error
        os.eventfd_write(self.eventfd, 1)

    def ended(self) -> bool:
        os.eventfd_read(self.eventfd)
        if self.error is not None:
            raise self.error
        return True

    def close(self) -> None:
        os.close(self.eventfd)

    def entered(self) -> int:
        self.seq += 1
        return self.seq


async def turns(times: int = 5) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


@pytest.fixture
async def log():
    log = Log()
    log.commit = Commit(log, open_beside=lambda: log)
    yield log
    log.commit.close()


async def test_who_asks_while_a_sync_is_under_way_gets_the_next(log):
    first = asyncio.ensure_future(log.commit.wait(log.entered()))
    await turns()
    second, third = (asyncio.ensure_future(log.commit.wait(log.entered())) for _ in range(2))
    await turns()
    assert log.under_way == [1]
    log.end()
    await first
    await turns()
    assert log.under_way == [1, 3]
    assert not second.done()
    log.end()
    await asyncio.gather(second, third)
    assert log.under_way == [1, 3]


async def test_who_asks_late_for_what_was_there_already_is_answered_with_the_others(log):
    early, late = log.entered(), log.entered()
    first = asyncio.ensure_future(log.commit.wait(early))
    await turns()
    second = asyncio.ensure_future(log.commit.wait(late))
    await turns()
    log.end()
    await asyncio.gather(first, second)
    assert log.under_way == [2]


@pytest.mark.promise("P6")
async def test_a_sync_that_fails_is_told_to_those_who_waited_for_it_and_the_next_is_tried(log):
    first = asyncio.ensure_future(log.commit.wait(log.entered()))
    await turns()
    second = asyncio.ensure_future(log.commit.wait(log.entered()))
    await turns()
    log.end(OSError(errno.EIO, "Input/output error"))
    with pytest.raises(AuditWriteFailed, match="Input/output error"):
        await first
    await turns()
    assert not second.done()
    log.end()
    await second


async def test_a_caller_that_has_gone_holds_up_nobody(log):
    first, second = (asyncio.ensure_future(log.commit.wait(log.entered())) for _ in range(2))
    await turns()
    first.cancel()
    await turns()
    log.end()
    await second


async def test_where_the_kernel_refuses_it_is_done_here_from_then_on(log):
    log.is_refused = True
    for _ in range(3):
        await log.commit.wait(log.entered())
    assert (log.under_way, log.here, log.synced_seq) == ([], 3, 3)


async def test_closing_waits_for_a_sync_whose_descriptor_is_above_those_of_select(log):
    os.close(log.eventfd)
    low = os.eventfd(0, os.EFD_NONBLOCK)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard > 2000, "this process may not have enough descriptors for the test"
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    log.eventfd = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 1500)
    os.close(low)
    waiting = asyncio.ensure_future(log.commit.wait(log.entered()))
    await turns()
    log.end()
    log.commit.close()
    await waiting
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_who_waits_while_it_is_closed_is_answered(log):
    first = asyncio.ensure_future(log.commit.wait(log.entered()))
    await turns()
    second = asyncio.ensure_future(log.commit.wait(log.entered()))
    await turns()
    log.end()
    log.commit.close()
    async with asyncio.timeout(5):
        await asyncio.gather(first, second, log.commit.wait(log.entered()))
    assert (log.under_way, log.synced_seq) == ([1], 3)


async def test_the_kernel_puts_a_file_on_the_disk_and_says_when(tmp_path):
    beside = BackgroundSync.open()
    if beside is None:
        pytest.skip("this kernel has no io_submit(2): every sync is done here or in a thread")
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    ended = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_reader(beside.fileno(), lambda: ended.set_result(beside.ended()))
    os.write(descriptor, b"x" * 4096)
    assert not beside.ended()
    beside.submit(descriptor)
    os.close(descriptor)
    async with asyncio.timeout(10):
        assert await ended
    assert not beside.ended()
    asyncio.get_running_loop().remove_reader(beside.fileno())
    ours, theirs = os.pipe()
    with pytest.raises(OSError, match="Invalid argument"):
        beside.submit(theirs)
    beside.close()
    for each in (ours, theirs):
        os.close(each)
