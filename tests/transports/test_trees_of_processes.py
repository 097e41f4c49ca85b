"""What lives below a process: found by the kernel's lists of its threads' children, and by a walk without them."""

import subprocess
import sys
import time

import pytest

from execkit_mcp.transports import keeper

FAMILY = """
import os, subprocess, sys, threading, time
subprocess.Popen(["sleep", "60"])
def from_a_thread():
    subprocess.Popen(["sh", "-c", "sleep 61 & sleep 62 & wait"])
    time.sleep(60)
threading.Thread(target=from_a_thread, daemon=True).start()
if os.fork() == 0:
    os.setsid()
    os.fork()
    time.sleep(60)
time.sleep(0.3)
print("ready", flush=True)
time.sleep(60)
"""
_MEMBERS = 1 + 3 + 2


@pytest.fixture
def family():
    with subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        yield process.pid
        keeper.end_trees({process.pid})


@pytest.fixture(params=["lists", "walk"])
def how(request, monkeypatch):
    if request.param == "walk":
        monkeypatch.setattr(keeper, "_children_of", lambda _pid: None)
    return request.param


def test_the_lists_and_the_walk_find_the_same(family):
    below = keeper._below({family})
    assert len(below) == _MEMBERS
    assert below == set(keeper.processes_below(family))


def test_all_of_it_is_ended(family, how):
    below = keeper._below({family})
    keeper.end_trees({family})
    until = time.monotonic() + 5
    while living := {pid for pid in below if _state(pid) not in "ZX"}:
        assert time.monotonic() < until, (how, living)
        time.sleep(0.01)


def test_a_root_may_be_spared(family, how):
    below = keeper._below({family})
    keeper.end_trees({family}, are_roots_spared=True)
    until = time.monotonic() + 5
    while any(_state(pid) not in "ZX" for pid in below):
        assert time.monotonic() < until, how
        time.sleep(0.01)
    assert _state(family) in "SR"


def _state(pid: int) -> str:
    fields = keeper.Path(f"/proc/{pid}/stat")
    try:
        return fields.read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"
