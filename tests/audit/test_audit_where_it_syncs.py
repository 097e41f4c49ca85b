"""Where the record is put on the disk: on the event loop while that is quick, in a thread once it is not."""

import asyncio
import threading
import time

import pytest

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
        commits.append(Commit(disk))
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
