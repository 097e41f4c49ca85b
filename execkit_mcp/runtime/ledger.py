"""The ledger: every exec by id, its full redacted output readable until it ages out.

What ages out: the oldest finished execs when there are too many, when a session keeps too many bytes, or after a
day; and, when its session is closed, output that lies on disk. Counts are remembered for longer than output.
"""

from collections import OrderedDict
from itertools import islice
from typing import Final

from msgspec import Struct

from execkit_mcp.errors import CommandInvalid, ExecExpired, ExecNotFound
from execkit_mcp.model import Clock
from execkit_mcp.runtime.exec import Exec

_WALK_S: Final = 60.0
_OWNERS: Final = 1000


class LedgerLimits(Struct, frozen=True, kw_only=True):
    """How much is kept.

    Attributes:
        execs: finished commands of one owner, and as many background jobs.
        session_bytes: output of the finished execs of one session.
        age_s: seconds after the end of an exec.
        counts: execs of one owner whose output has aged out and whose counts are still known.
    """

    execs: int = 200
    session_bytes: int = 256 << 20
    age_s: float = 86_400.0
    counts: int = 2000


_Counts = tuple[tuple[str, int, int], ...]
"""Bytes and lines of each stream that something was written to."""


class _Shelf:
    """One owner's execs by id."""

    def __init__(self, clock: Clock, limits: LedgerLimits | None = None) -> None:
        self._clock = clock
        self._limits = limits or LedgerLimits()
        self._execs: OrderedDict[str, Exec] = OrderedDict()
        self._running: list[Exec] = []
        self._job_count = 0
        self._next_walk_s = 0.0
        self._expired: OrderedDict[str, tuple[str, str, _Counts]] = OrderedDict()
        self._spent: OrderedDict[tuple[str, str], str] = OrderedDict()  # owner and key of what has aged out

    def add(self, exec_: Exec) -> None:
        """Enter a new exec."""
        self._execs[exec_.exec_id] = exec_
        self._running.append(exec_)
        self._job_count += exec_.pid is not None
        self._let_go()

    def repeated(self, key: str, call: tuple[object, ...], owner: str) -> Exec | None:
        """The exec that ``owner`` asked for with the same idempotency key; None if there is none yet.

        Raises:
            CommandInvalid: the key was given with another call.
            ExecExpired: that exec has aged out; it does not run again for that.
        """
        for each in reversed(self._execs.values()):
            if each.key is not None and each.key[0] == key and each.owner == owner:
                if each.key[1] != call:
                    raise CommandInvalid(
                        f"idempotency_key {key!r} was used for another call.",
                        hint="Use a new key for each command; repeat a key only to repeat the very same call.",
                    )
                return each
        spent = self._spent.get((owner, key))
        return None if spent is None else self.get(spent, owner)

    def get(self, exec_id: str, owner: str) -> Exec:
        """The exec of that id, if ``owner`` asked for it.

        Raises:
            ExecNotFound: there is none, or it is somebody else's.
            ExecExpired: its output has aged out; ``details`` has its counts.
        """
        self._let_go()
        found = self._execs.get(exec_id)
        if found is not None and found.owner == owner:
            return found
        old = self._expired.get(exec_id)
        if old is not None and old[0] == owner:
            raise ExecExpired(
                f"The output of exec {exec_id!r} has aged out.",
                hint="Run the command again, or write its output to a file.",
                details={
                    "status": old[1],
                    **dict.fromkeys(("stdout", "stderr"), _count(0, 0)),
                    **{name: _count(size, lines) for name, size, lines in old[2]},
                },
            )
        raise ExecNotFound(
            f"No exec {exec_id!r} is known.", hint="shell_info lists running execs; use an exec_id from a result."
        )

    def knows(self, exec_id: str) -> bool:
        """Whether an exec of that id is or was here."""
        return exec_id in self._execs or exec_id in self._expired

    def running(self, owner: str) -> tuple[Exec, ...]:
        """Execs of ``owner`` that still run."""
        return tuple(each for each in self._execs.values() if each.is_running and each.owner == owner)

    def session_closed(self, session: str, owner: str) -> None:
        """Let go of what a closed session has on disk; what is in memory ages as usual."""
        for each in tuple(self._execs.values()):
            if (each.session, each.owner) == (session, owner) and each.is_spilled:
                self._expire(each)

    @property
    def is_running(self) -> bool:
        """Whether something on it has not ended yet."""
        return any(each.is_running for each in self._execs.values())

    def close(self) -> None:
        """Let go of everything."""
        for each in tuple(self._execs.values()):
            self._expire(each)

    def _let_go(self) -> None:
        limits, now_s = self._limits, self._clock.monotonic_s()
        commands = len(self._execs) - self._job_count
        for is_job, count in ((False, commands), (True, self._job_count)):  # a loop's jobs push no command out
            if count > limits.execs:
                finished = (e for e in self._execs.values() if not e.is_running and (e.pid is not None) is is_job)
                for each in tuple(islice(finished, count - limits.execs)):
                    self._expire(each)
        ended = [each for each in self._running if not each.is_running]
        if ended:
            self._running = [each for each in self._running if each.is_running]
        if now_s >= self._next_walk_s or any(each.is_spilled for each in ended):
            self._next_walk_s = now_s + _WALK_S
            self._walk(now_s)

    def _walk(self, now_s: float) -> None:
        """From the newest to the oldest: what is too old, or too much for its session, goes."""
        kept: dict[tuple[str, str], int] = {}
        seen: set[int] = set()
        for each in reversed([each for each in self._execs.values() if not each.is_running]):
            key = (each.owner, each.session)
            if id(each.chains) not in seen:
                seen.add(id(each.chains))
                kept[key] = kept.get(key, 0) + each.kept_bytes
            if now_s - each.ended_s > self._limits.age_s or kept[key] > self._limits.session_bytes:
                self._expire(each)

    def _expire(self, old: Exec) -> None:
        del self._execs[old.exec_id]
        self._job_count -= old.pid is not None
        counts = tuple(
            (name, chain.retained.total_bytes, chain.retained.total_lines) for name, chain in old.chains.items()
        )
        self._expired[old.exec_id] = (old.owner, old.status.value, counts)
        if not (old.is_shared and any(each.chains is old.chains for each in self._execs.values())):
            old.discard()
        if old.key is not None:
            self._spent[old.owner, old.key[0]] = old.exec_id
        while len(self._spent) > self._limits.counts:
            self._spent.popitem(last=False)
        while len(self._expired) > self._limits.counts:
            self._expired.popitem(last=False)


def _count(total_bytes: int, total_lines: int) -> dict[str, int]:
    return {"total_bytes": total_bytes, "total_lines": total_lines}


class Ledger:
    """Execs by id, each owner's apart: nothing that one does makes another's age out."""

    def __init__(self, clock: Clock, limits: LedgerLimits | None = None) -> None:
        self._clock = clock
        self._limits = limits
        self._shelves: OrderedDict[str, _Shelf] = OrderedDict()

    def add(self, exec_: Exec) -> None:
        """Enter a new exec."""
        owner = exec_.owner
        if owner not in self._shelves:
            self._make_room()
            self._shelves[owner] = _Shelf(self._clock, self._limits)
        self._shelves.move_to_end(owner)
        self._shelves[owner].add(exec_)

    def repeated(self, key: str, call: tuple[object, ...], owner: str) -> Exec | None:
        """The exec that ``owner`` asked for with the same idempotency key; None if there is none yet.

        Raises:
            CommandInvalid: the key was given with another call.
            ExecExpired: that exec has aged out; it does not run again for that.
        """
        return self._of(owner).repeated(key, call, owner)

    def get(self, exec_id: str, owner: str) -> Exec:
        """The exec of that id, if ``owner`` asked for it.

        Raises:
            ExecNotFound: there is none, or it is somebody else's.
            ExecExpired: its output has aged out; ``details`` has its counts.
        """
        return self._of(owner).get(exec_id, owner)

    def knows(self, exec_id: str) -> bool:
        """Whether an exec of that id is or was here."""
        return any(shelf.knows(exec_id) for shelf in self._shelves.values())

    def running(self, owner: str) -> tuple[Exec, ...]:
        """Execs of ``owner`` that still run."""
        return self._of(owner).running(owner)

    def session_closed(self, session: str, owner: str) -> None:
        """Let go of what a closed session has on disk; what is in memory ages as usual."""
        self._of(owner).session_closed(session, owner)

    def close(self) -> None:
        """Let go of everything."""
        for shelf in self._shelves.values():
            shelf.close()

    def _of(self, owner: str) -> _Shelf:
        return self._shelves.get(owner) or _Shelf(self._clock, self._limits)

    def _make_room(self) -> None:
        """Forget whoever has run nothing for the longest time, once there are too many."""
        if len(self._shelves) >= _OWNERS:
            idle = next((owner for owner, shelf in self._shelves.items() if not shelf.is_running), None)
            if idle is not None:
                self._shelves.pop(idle).close()
