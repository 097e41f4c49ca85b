"""Memory, processes and processor time of a session, bounded and counted by the kernel; this module is that mechanism.

A group is made for each session below (or beside) the group that we run in, in the hierarchies of version 1 or in the
one of version 2, whichever has the controllers and lets us write. What cannot be bounded is left out and said so; the
files that tell what happened (how often a process was killed for memory, how often a fork was refused) are what a
result's words rest on.
"""

import contextlib
import itertools
import os
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

__all__ = ["CONTROLLERS", "Bounds", "Counts", "Group", "Places", "find_places"]

CONTROLLERS: Final = ("memory", "pids", "cpu")
_PERIOD_US: Final = 100_000
_MEBIBYTE: Final = 1 << 20
_PREFIX: Final = "execkit-"
_numbers = itertools.count(1)


class Bounds(Struct, frozen=True, kw_only=True):
    """What a session may use; None: no bound."""

    memory_mb: int | None = None
    processes: int | None = None
    cpu_percent: int | None = None

    @property
    def needed(self) -> frozenset[str]:
        """The controllers that these bounds take."""
        pairs = zip(CONTROLLERS, (self.memory_mb, self.processes, self.cpu_percent), strict=True)
        return frozenset(name for name, bound in pairs if bound is not None)


class Counts(Struct, frozen=True, kw_only=True):
    """What has happened in a group since it was made; differences tell what happened during a command.

    Attributes:
        killed: processes that were killed because memory had run out.
        forks_refused: how often a process could not be started.
        throttled_us: how long it was made to wait for the processor, in microseconds.
    """

    killed: int = 0
    forks_refused: int = 0
    throttled_us: int = 0


class Places(Struct, frozen=True, kw_only=True):
    """Where groups can be made: the folder of each controller, and whether that is version 2."""

    folders: Mapping[str, str]
    is_unified: bool = False


def find_places(*, proc: str = "/proc/self") -> Places:
    """Where this process may make groups; without folders if it may not."""
    mounts = _mounts(Path(proc, "mountinfo"))
    own = _own_groups(Path(proc, "cgroup"))
    folders: dict[str, str] = {}
    for name in CONTROLLERS:
        if name in mounts and name in own and (found := _writable(mounts[name] + own[name], _V1_FILES[name])):
            folders[name] = found
    if folders:
        return Places(folders=folders)
    if "" in mounts and "" in own:
        base = mounts[""] + own[""].rstrip("/")
        for candidate in dict.fromkeys((base, str(Path(base).parent))):
            has = {name for name in CONTROLLERS if _writable(candidate, _V2_FILES[name])}
            if candidate.startswith(mounts[""]) and has:
                return Places(folders=dict.fromkeys(sorted(has), candidate), is_unified=True)
    return Places(folders={})


_V1_FILES: Final = {"memory": "memory.limit_in_bytes", "pids": "pids.max", "cpu": "cpu.cfs_quota_us"}
_V2_FILES: Final = {"memory": "memory.max", "pids": "pids.max", "cpu": "cpu.max"}


def _mounts(mountinfo: Path) -> dict[str, str]:
    """Mount points by controller; version 2 under the empty name."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in mountinfo.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            head, _, tail = line.partition(" - ")
            kind, _source, options = tail.split(" ", 2)
            place = head.split(" ")[4]
            if kind == "cgroup2":
                found.setdefault("", place)
            elif kind == "cgroup":
                for name in options.split(","):
                    if name in CONTROLLERS:
                        found.setdefault(name, place)
    return found


def _own_groups(file: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in file.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            _, names, path = line.split(":", 2)
            for name in names.split(","):
                found[name] = path if path != "/" else ""
    return found


def _writable(folder: str, file: str) -> str:
    """``folder`` if a group can be made in it that has ``file``; asked by making one."""
    probe = Path(folder, f"{_PREFIX}probe-{os.getpid()}")
    try:
        probe.mkdir()
    except OSError:
        return ""
    try:
        return folder if os.access(probe / file, os.W_OK) else ""
    finally:
        with contextlib.suppress(OSError):
            probe.rmdir()


class Group:
    """The group of one session."""

    def __init__(self, places: Places, bounds: Bounds) -> None:
        """Make it; raises OSError where the kernel refuses a bound."""
        name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        self._is_unified = places.is_unified
        self._folders = {
            controller: Path(places.folders[controller], name)
            for controller in CONTROLLERS
            if controller in bounds.needed and controller in places.folders
        }
        self.holds = frozenset(self._folders)
        try:
            for folder in self._distinct():
                folder.mkdir()
            for controller, folder in self._folders.items():
                for file, text in self._settings(controller, bounds):
                    _put(folder / file, text)
        except OSError:
            self.remove()
            raise

    def _settings(self, controller: str, bounds: Bounds) -> Iterable[tuple[str, str]]:
        if controller == "memory":
            assert bounds.memory_mb is not None
            most = str(bounds.memory_mb * _MEBIBYTE)
            yield ("memory.max" if self._is_unified else "memory.limit_in_bytes"), most
            swap = self._folders["memory"] / ("memory.swap.max" if self._is_unified else "memory.memsw.limit_in_bytes")
            if swap.exists():
                yield swap.name, "0" if self._is_unified else most
        elif controller == "pids":
            yield "pids.max", str(bounds.processes)
        else:
            assert bounds.cpu_percent is not None
            quota = bounds.cpu_percent * _PERIOD_US // 100
            if self._is_unified:
                yield "cpu.max", f"{quota} {_PERIOD_US}"
            else:
                yield "cpu.cfs_period_us", str(_PERIOD_US)
                yield "cpu.cfs_quota_us", str(quota)

    def _distinct(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(self._folders.values()))

    def add(self, pid: int) -> None:
        """Put a process into it, with whatever it starts from now on; raises OSError."""
        for folder in self._distinct():
            _put(folder / "cgroup.procs", str(pid))

    def counts(self) -> Counts:
        """What has happened until now."""
        memory, pids, cpu = (self._folders.get(name) for name in CONTROLLERS)
        killed = _number(memory, "memory.events" if self._is_unified else "memory.oom_control", "oom_kill")
        throttled = (
            _number(cpu, "cpu.stat", "throttled_usec")
            if self._is_unified
            else _number(cpu, "cpu.stat", "throttled_time") // 1000
        )
        return Counts(killed=killed, forks_refused=_number(pids, "pids.events", "max"), throttled_us=throttled)

    def remove(self) -> None:
        """Kill what is left in it and take it away."""
        for folder in self._distinct():
            with contextlib.suppress(OSError):
                for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split():
                    with contextlib.suppress(OSError):
                        os.kill(int(pid), signal.SIGKILL)
            with contextlib.suppress(OSError):
                folder.rmdir()


def _put(file: Path, text: str) -> None:
    fd = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _number(folder: Path | None, file: str, key: str) -> int:
    if folder is None:
        return 0
    with contextlib.suppress(OSError, ValueError):
        for line in (folder / file).read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    return 0
