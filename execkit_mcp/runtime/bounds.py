"""One session's bounds as the kernel holds them, and the words for what they did to a command.

A bound that the kernel holds ends a command, never the session: the process that wanted more memory is killed, the
fork or the write that goes too far fails. What happened is counted by the kernel itself; what the counts say of one
command is told in its result, with the limit by its name in the settings or the policy.
"""

import contextlib
import signal
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.fence.cgroups import Bounds, Counts, Group, Places, find_places
from execkit_mcp.protocol.completion import Completion

__all__ = ["Ended", "SessionBounds", "ended_by", "group_places"]

_FILE_TOO_LARGE = 128 + signal.SIGXFSZ
_MOSTLY = 0.5
_MEBIBYTE = 1 << 20


@lru_cache(maxsize=1)
def group_places() -> Places:
    """Where this machine lets us make groups; asked once."""
    return find_places()


class Ended(Struct, frozen=True, kw_only=True):
    """The limit that ended a command, and a sentence; ``limit`` is empty where one was felt and ended nothing.

    Without a sentence where the status says it all.
    """

    limit: str
    sentence: str


def ended_by(completion: Completion, counts: Counts, bounds: Bounds, *, file_mb: int | None) -> tuple[Ended, ...]:
    """What the limits did to a command, given how it ended and what was counted while it ran."""
    found: list[Ended] = []
    if counts.killed:
        found.append(
            Ended(
                limit="limits.memory_mb",
                sentence=f"limits.memory_mb: the session needed more than {bounds.memory_mb} MB, and the kernel killed"
                f" {_times(counts.killed, 'process', 'processes')} of it; what had been written by then is kept.",
            )
        )
    if counts.forks_refused:
        found.append(
            Ended(
                limit="limits.processes" if completion.exit_code else "",
                sentence="limits.processes of the policy: "
                f"{_times(counts.forks_refused, 'process', 'processes')} could not be started, because the session had"
                f" {bounds.processes} (threads count).",
            )
        )
    if file_mb is not None and (completion.exit_code == _FILE_TOO_LARGE or completion.signal == "SIGXFSZ"):
        found.append(
            Ended(
                limit="limits.file_mb",
                sentence=f"limits.file_mb: a file would have grown beyond {file_mb} MB; the rest was not written.",
            )
        )
    if completion.is_timed_out:
        waited = counts.throttled_us / 1e3 > completion.duration_ms * _MOSTLY
        slow = f"limits.cpu_percent: most of the time it waited, held to {bounds.cpu_percent} % of a processor."
        found.append(Ended(limit="limits.time_s", sentence=slow if waited else ""))
    return tuple(found)


def _times(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


class SessionBounds:
    """Bounds on one session, from its first shell to its last.

    Attributes:
        used_bytes: how much of the disk its changes took when that was looked at last.
        used_before: the same, when the command that runs started.
        is_stale: whether a command has run since.
    """

    def __init__(
        self,
        bounds: Bounds,
        *,
        file_mb: int | None = None,
        disk_mb: int | None = None,
        usage_bytes: Callable[[], int] | None = None,
        places: Places | None = None,
    ) -> None:
        self.bounds = bounds
        self.file_mb = file_mb
        self.disk_bytes = None if disk_mb is None or usage_bytes is None else disk_mb * _MEBIBYTE
        self.usage_bytes = usage_bytes or (lambda: 0)
        self.used_bytes = 0
        self.used_before = 0
        self.is_stale = False
        self._before = Counts()
        self._over_disk = ""
        self._group: Group | None = None
        if bounds.needed:
            with contextlib.suppress(OSError):
                self._group = Group(group_places() if places is None else places, bounds)

    @property
    def holds(self) -> frozenset[str]:
        """The controllers whose bounds the kernel holds."""
        return self._group.holds if self._group is not None else frozenset()

    def attach(self, pid: int) -> None:
        """Bound a shell, before it has started anything."""
        if self._group is not None:
            with contextlib.suppress(OSError):  # it has ended
                self._group.add(pid)

    def begins(self) -> None:
        """A command starts."""
        self._over_disk = ""
        self.used_before = self.used_bytes
        self.is_stale = True
        if self._group is not None:
            self._before = self._group.counts()

    def over_disk(self, used_bytes: int) -> bool:
        """The command that runs is ended because its files take too much room; False if that is known already."""
        assert self.disk_bytes is not None
        if self._over_disk:
            return False
        self._over_disk = (
            f"limits.disk_mb: what the sandbox wrote takes {used_bytes / _MEBIBYTE:.0f} MB of the disk, more than the"
            f" {self.disk_bytes // _MEBIBYTE} MB that it may; the command was ended."
        )
        return True

    @property
    def background_ended(self) -> str:
        """What is told of background work that wrote too much."""
        assert self.disk_bytes is not None
        return (
            f"limits.disk_mb: what the sandbox wrote took {self.used_bytes / _MEBIBYTE:.0f} MB of the disk, more than"
            f" the {self.disk_bytes // _MEBIBYTE} MB that it may; what ran in the background was ended."
        )

    def judged(self, completion: Completion) -> Completion:
        """The end of a command with what the limits did to it."""
        counts = Counts()
        if self._group is not None:
            now, before = self._group.counts(), self._before
            counts = Counts(
                killed=now.killed - before.killed,
                forks_refused=now.forks_refused - before.forks_refused,
                throttled_us=now.throttled_us - before.throttled_us,
            )
        found = ended_by(completion, counts, self.bounds, file_mb=self.file_mb)
        if self._over_disk:
            completion = replace(completion, is_cancelled=False)  # nobody asked for it
            found = (Ended(limit="limits.disk_mb", sentence=self._over_disk), *found)
        if not found:
            return completion
        limit = next((each.limit for each in found if each.limit), "")
        told = tuple(each.sentence for each in found if each.sentence)
        return replace(completion, limit=limit, warnings=(*told, *completion.warnings))

    def close(self) -> None:
        """Kill what is left, and take the group away."""
        if self._group is not None:
            self._group.remove()
