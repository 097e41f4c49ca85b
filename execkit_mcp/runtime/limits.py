"""Which open sessions have gone beyond a limit, and what is said of it: decided here, acted on by ``kit``.

Memory is what the processes of a session hold for themselves (resident, without files that they share), summed from
/proc at intervals: a session can be over its limit for that long. There is no need for a cgroup, which a user cannot
make on most machines.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

__all__ = ["IDLE", "LimitFacts", "Overrun", "SessionLimits", "Usage", "overruns", "usage_of_trees"]

IDLE = "limits.idle_s"
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_MEBIBYTE = 1 << 20


class SessionLimits(Struct, frozen=True, kw_only=True):
    """What the operator set; None: no limit.

    Attributes:
        idle_s: seconds without a command, a job or a read of its output.
        memory_bytes: memory of one session's processes.
        total_memory_bytes: memory of all sessions' processes together.
    """

    idle_s: float | None = None
    memory_bytes: int | None = None
    total_memory_bytes: int | None = None

    @property
    def needs_usage(self) -> bool:
        """Whether processes must be looked at."""
        return self.memory_bytes is not None or self.total_memory_bytes is not None


class Usage(Struct, frozen=True, kw_only=True):
    """What a session's processes hold at the moment."""

    memory_bytes: int = 0
    processes: int = 0


class LimitFacts(Struct, frozen=True, kw_only=True):
    """What is known of one session; ``key`` names it; ``is_memory_held``: the kernel bounds its memory."""

    key: tuple[str, str]
    used_s: float
    is_busy: bool
    usage: Usage = Usage()
    most_processes: int | None = None
    is_memory_held: bool = False


class Overrun(Struct, frozen=True, kw_only=True):
    """A session that must be closed: the limit by its name in the settings or the policy, and a sentence."""

    key: tuple[str, str]
    limit: str
    reason: str


def overruns(sessions: Iterable[LimitFacts], limits: SessionLimits, now_s: float) -> list[Overrun]:
    """Each session at most once; where all of them together hold too much, the greatest first."""
    sessions = tuple(sessions)
    found: dict[tuple[str, str], Overrun] = {}
    for each in sessions:
        told = _of_one(each, limits, now_s)
        if told is not None:
            found[each.key] = Overrun(key=each.key, limit=told[0], reason=told[1])
    if limits.total_memory_bytes is not None:
        left = [each for each in sessions if each.key not in found]
        for each in _greatest(left, limits.total_memory_bytes):
            found[each.key] = Overrun(
                key=each.key,
                limit="limits.total_memory_mb",
                reason=f"all sessions together held more than {_mb(limits.total_memory_bytes)}"
                f" and this one the most, {_mb(each.usage.memory_bytes)}",
            )
    return list(found.values())


def _of_one(each: LimitFacts, limits: SessionLimits, now_s: float) -> tuple[str, str] | None:
    if limits.idle_s is not None and not each.is_busy and now_s - each.used_s >= limits.idle_s:
        return IDLE, f"it was not used for {limits.idle_s:g} s"
    memory, most = each.usage.memory_bytes, limits.memory_bytes
    if most is not None and memory > most and not each.is_memory_held:
        return (
            "limits.memory_mb",
            f"its processes held {_mb(memory)}, more than the {_mb(most)} that a session may hold",
        )
    if each.most_processes is not None and each.usage.processes > each.most_processes:
        return (
            "limits.processes of the policy",
            f"it had {each.usage.processes} processes, more than the {each.most_processes} that a session may have",
        )
    return None


def _greatest(sessions: Sequence[LimitFacts], most: int) -> Iterable[LimitFacts]:
    total = sum(each.usage.memory_bytes for each in sessions)
    for each in sorted(sessions, key=lambda one: one.usage.memory_bytes, reverse=True):
        if total <= most:
            return
        total -= each.usage.memory_bytes
        yield each


def _mb(size: int) -> str:
    return f"{size / _MEBIBYTE:.0f} MB"


def usage_of_trees(roots: Collection[int]) -> Mapping[int, Usage]:
    """What each of the processes ``roots`` and everything below it holds, from one walk over /proc."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are all that is needed
        if name.isdigit():
            try:
                parents[int(name)] = int(Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split(None, 2)[1])
            except OSError:
                continue
    owner: dict[int, int] = {root: root for root in roots if root in parents}
    for pid in parents:
        trail = []
        at = pid
        while at not in owner and at in parents:
            owner[at] = 0  # also where a number was given away anew meanwhile, and the walk would go round
            trail.append(at)
            at = parents[at]
        for each in trail:
            owner[each] = owner.get(at, 0)
    memory: dict[int, int] = {}
    count: dict[int, int] = {}
    for pid, root in owner.items():
        if root:
            count[root] = count.get(root, 0) + (pid != root)
            memory[root] = memory.get(root, 0) + _own_bytes(pid)
    return {root: Usage(memory_bytes=memory[root], processes=count[root]) for root in memory}


def _own_bytes(pid: int) -> int:
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_bytes().split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE_BYTES
