"""Groups of the kernel bound a session where they can be made, in either version; where they cannot, nothing breaks."""

import subprocess

import pytest

from execkit_mcp.fence.cgroups import Bounds, Counts, Group, Places, find_places
from execkit_mcp.protocol.completion import Completion
from execkit_mcp.runtime.bounds import SessionBounds, ended_by


def test_a_machine_without_groups_has_no_places(tmp_path):
    for text in ("", "25 1 0:2 / /proc rw - proc proc rw\n"):
        (tmp_path / "mountinfo").write_text(text)
        (tmp_path / "cgroup").write_text("0::/\n")
        assert find_places(proc=str(tmp_path)) == Places(folders={})
    bounds = SessionBounds(Bounds(memory_mb=10), places=Places(folders={}))
    bounds.attach(1)
    bounds.begins()
    assert bounds.judged(Completion(exit_code=0)) == Completion(exit_code=0)
    assert bounds.holds == frozenset()
    bounds.close()


def test_version_two_is_found_beside_us_where_our_own_group_has_processes(tmp_path):
    """A folder stands in for the kernel's: it has the files of a group in the parent, none in our own."""
    root = tmp_path / "sys"
    (root / "user/ours").mkdir(parents=True)
    (tmp_path / "mountinfo").write_text(f"30 1 0:26 / {root} rw - cgroup2 cgroup2 rw\n")
    (tmp_path / "cgroup").write_text("0::/user/ours\n")
    assert find_places(proc=str(tmp_path)).folders == {}  # a plain folder has no controllers


def test_the_files_of_version_two_are_written_as_the_kernel_reads_them(tmp_path, monkeypatch):
    import pathlib

    places = Places(folders=dict.fromkeys(("memory", "pids", "cpu"), str(tmp_path)), is_unified=True)
    real = pathlib.Path.mkdir

    def mkdir(self, *arguments, **keywords):
        real(self, *arguments, **keywords)
        for name in ("memory.max", "memory.swap.max", "pids.max", "cpu.max", "cgroup.procs"):
            (self / name).write_text("")
        (self / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
        (self / "pids.events").write_text("max 5\n")
        (self / "cpu.stat").write_text("usage_usec 9\nthrottled_usec 70\n")

    monkeypatch.setattr(pathlib.Path, "mkdir", mkdir)
    group = Group(places, Bounds(memory_mb=64, processes=9, cpu_percent=150))
    (folder,) = tmp_path.iterdir()
    written = {name: (folder / name).read_text() for name in ("memory.max", "memory.swap.max", "pids.max", "cpu.max")}
    assert written == {
        "memory.max": str(64 << 20), "memory.swap.max": "0", "pids.max": "9", "cpu.max": "150000 100000"
    }  # fmt: skip
    assert group.counts() == Counts(killed=2, forks_refused=5, throttled_us=70)


@pytest.mark.skipif(not find_places().folders, reason="this machine lets us make no groups")
def test_what_the_kernel_refused_is_counted():
    places = find_places()
    bounds = Bounds(memory_mb=40, processes=12)
    group = Group(places, bounds)
    try:
        shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        group.add(shell.pid)
        shell.communicate("python3 -c 'x = bytearray(200 << 20)'; for i in {1..20}; do sleep 0.5 & done; wait\n")
        counts = group.counts()
    finally:
        group.remove()
    assert (counts.killed >= 1) == ("memory" in group.holds)
    assert (counts.forks_refused >= 1) == ("pids" in group.holds)


@pytest.mark.parametrize(
    ("completion", "counts", "limit", "words"),
    [
        (Completion(exit_code=0), Counts(), [], ""),
        (Completion(exit_code=137), Counts(killed=1), ["limits.memory_mb"], "more than 64 MB"),
        (Completion(exit_code=137), Counts(), [], ""),
        (Completion(exit_code=1), Counts(forks_refused=3), ["limits.processes"], "3 processes could not be started"),
        (Completion(exit_code=0), Counts(forks_refused=1), [""], "1 process could not be started"),
        (Completion(exit_code=153), Counts(), ["limits.file_mb"], "beyond 8 MB"),
        (Completion(exit_code=130, is_timed_out=True), Counts(), ["limits.time_s"], ""),
        (
            Completion(exit_code=130, is_timed_out=True, duration_ms=1000),
            Counts(throttled_us=900_000),
            ["limits.time_s"],
            "held to 50 %",
        ),
    ],
)
def test_the_limit_that_ended_a_command_is_named(completion, counts, limit, words):
    bounds = Bounds(memory_mb=64, processes=5, cpu_percent=50)
    found = ended_by(completion, counts, bounds, file_mb=8)
    assert [each.limit for each in found] == limit
    assert words in " ".join(each.sentence for each in found)
