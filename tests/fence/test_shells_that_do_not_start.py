"""A fenced shell that does not start (killed on its way, nothing left to start it with) harms no other."""

import asyncio
import contextlib
import os
import resource
import select
import signal
import socket
import struct
import time
from pathlib import Path
from unittest import mock

import pytest

from execkit_mcp.errors import TransportError
from execkit_mcp.fence import namespaces
from execkit_mcp.transports import keeper

SPEC = {
    "fence": {"gate": {"writable": []}, "unshare": ["mount"], "landlock": None, "seccomp": None},
    "rows": 24,
    "cols": 80,
}


def _children(pid):
    return {int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def _keeper():
    """The process id of the keeper of this process: the child of its guardian."""
    (guardian,) = (
        pid for pid in _children(os.getpid()) if b"transports/keeper.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    (found,) = _children(guardian)
    return found


def _highest(pid):
    return max(int(each.name) for each in Path(f"/proc/{pid}/fd").iterdir())


@pytest.fixture
def on_its_way(monkeypatch):
    """A keeper without a loop, a shell of it that has ended already, and the shell's end of the link."""
    told = []
    monkeypatch.setattr(keeper._Keeper, "_report", lambda _self, message, fds=(): told.append((message, fds)))
    holder = object.__new__(keeper._Keeper)
    holder._link, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    holder._poll, holder._board = select.poll(), None
    holder._pending, holder._gates, holder._gate_of, holder._shells = {}, {}, {}, set()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pending = holder._pending[ours.fileno()] = keeper._Pending(1, child, ours, SPEC)
    holder._poll.register(holder._link)
    holder._poll.register(ours)
    with holder._link, other, ours, theirs:
        yield holder, pending, theirs, told


def test_a_shell_that_was_killed_before_it_had_a_terminal_was_not_started(on_its_way):
    holder, pending, theirs, told = on_its_way
    theirs.close()
    holder._progress(pending.link.fileno())
    assert [message["event"] for message, _ in told] == ["failed"]
    assert not holder._pending


def test_a_shell_that_was_killed_behind_its_filter_was_not_started(on_its_way):
    holder, pending, theirs, told = on_its_way
    read, write = os.pipe()
    socket.send_fds(theirs, [b"gate"], [write])
    os.close(write)
    holder._progress(pending.link.fileno())
    assert [message["event"] for message, _ in told] == ["failed"]
    assert os.read(read, 1) == b""  # what it sent is closed
    os.close(read)
    assert (holder._gates, holder._pending) == ({}, {})


def test_what_was_ready_is_not_taken_for_what_has_its_number_now(on_its_way, monkeypatch):
    holder, pending, _, _ = on_its_way
    on_the_way, listener, ended, taken = pending.link.fileno(), 1000, 1001, []
    ready = [(ended, select.POLLIN), (on_the_way, select.POLLIN), (listener, select.POLLHUP)]
    holder._poll, holder._others, holder._ended, holder._looked_s = mock.Mock(), [], ended, float("inf")
    holder._poll.poll.return_value = ready
    holder._gates[listener] = object()
    monkeypatch.setattr(keeper.os, "read", lambda _fd, _size: b"")
    monkeypatch.setattr(holder, "_reap", holder._gates.clear)  # its shell has ended, and the number is free
    monkeypatch.setattr(holder, "_progress", lambda _fd: holder._gates.update({listener: object()}))
    monkeypatch.setattr(holder, "_notified", lambda fd, event: taken.append((fd, event)))
    assert holder._turn()
    assert (len(holder._gates), taken) == (1, [])


def test_of_a_process_in_whose_place_another_goes_on_no_end_is_told(on_its_way):
    holder, pending, theirs, told = on_its_way
    read, write = os.pipe()
    pending.terminal = [read]
    os.close(write)
    first = pending.pid = os.fork()
    if first == 0:
        os._exit(0)
    holder._shells = {first}
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    holder._reap()
    theirs.send(b"pid" + struct.pack("i", 7))
    holder._progress(pending.link.fileno())
    pending.end = {"event": "exit", "pid": 7, "code": 3}
    theirs.close()
    holder._progress(pending.link.fileno())
    assert [(message["event"], message["pid"]) for message, _ in told] == [("spawned", 7), ("exit", 7)]


def test_a_shell_says_nothing_before_it_is_known_whose_it_is(monkeypatch):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        write = os.write

        def slow(fd, data):
            time.sleep(0.3 if data.startswith(b"pid") else 0)  # the machine has others to run
            return write(fd, data)

        try:
            monkeypatch.setattr(namespaces.os, "write", slow)
            monkeypatch.setattr(namespaces.kernel, "call", lambda *_arguments: os.fork())
            namespaces.become_first_process(theirs.fileno())
            write(theirs.fileno(), b"gate")
        finally:
            os._exit(0)
    with ours, theirs:
        assert [ours.recv(4096)[:4].rstrip(b"\0")[:3], ours.recv(4096)] == [b"pid", b"gate"]
    os.waitpid(child, 0)


async def test_a_shell_that_is_killed_as_it_starts_is_told_and_the_others_go_on(fenced):
    async with fenced() as f:
        assert (await f.run("echo one")).stdout == "one\n"
        holder = _keeper()
        for number in range(4):
            before = _children(holder)
            opening = asyncio.ensure_future(f.kit.open_session(requester="agent", name=f"s{number}"))
            async with asyncio.timeout(20):
                while not opening.done() and not _children(holder) - before:  # noqa: ASYNC110 - the moment it is there
                    await asyncio.sleep(0)
                for pid in _children(holder) - before:
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(TransportError):  # it may have been quicker
                    await opening
        assert (await f.run("echo two")).stdout == "two\n"


async def test_where_no_descriptor_is_left_no_shell_starts_and_the_others_go_on(fenced):
    async with fenced() as f:
        assert (await f.run("echo one")).stdout == "one\n"
        holder = _keeper()
        limit = resource.prlimit(holder, resource.RLIMIT_NOFILE)
        used = _highest(holder) + 1
        for spare in (0, 3, 7):
            resource.prlimit(holder, resource.RLIMIT_NOFILE, (used + spare, limit[1]))
            with contextlib.suppress(TransportError):
                await f.kit.open_session(requester="agent", name=f"more-{spare}")
            resource.prlimit(holder, resource.RLIMIT_NOFILE, limit)
            assert (await f.run("echo two")).stdout == "two\n"
        await f.kit.open_session(requester="agent", name="again")
        assert (await f.run("echo three", session="again")).stdout == "three\n"
