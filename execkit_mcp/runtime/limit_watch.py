"""Looks at the open sessions from time to time, and has those closed that are beyond a limit (``limits``)."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from execkit_mcp.config.settings import Settings
from execkit_mcp.errors import ExecKitError
from execkit_mcp.model import Clock
from execkit_mcp.runtime.limits import IDLE, LimitFacts, Overrun, SessionLimits, Usage, overruns, usage_of_trees
from execkit_mcp.runtime.quotas import MINUTES, Quotas
from execkit_mcp.runtime.session import Session
from execkit_mcp.runtime.sessions import Sessions
from execkit_mcp.transports import keeper

_WATCH_S: Final = 1.0
_DISK_WATCH_S: Final = 0.2


class LimitWatch:
    """Runs while there are limits to keep; ``end`` closes a session."""

    def __init__(
        self,
        settings: Settings,
        sessions: Sessions,
        clock: Clock,
        end: Callable[[Session, Overrun], Awaitable[None]],
        quotas: Quotas,
    ) -> None:
        self._quotas = quotas
        self._limits = SessionLimits(
            idle_s=settings.idle_s,
            memory_bytes=_bytes(settings.memory_mb),
            total_memory_bytes=_bytes(settings.total_memory_mb),
        )
        self._sessions = sessions
        self._clock = clock
        self._end = end
        self._task: asyncio.Task[None] | None = None
        self._disk_task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def opened(self, session: Session) -> None:
        """A session was opened: it is told if one of its name was closed for a limit, and watched if there is one."""
        why = self._sessions.take_reason(session.name, session.facts.owner)
        if why is not None:
            session.notes.append(
                f"This is a new session: the one of that name was closed because {why.reason} ({why.limit})."
                " Its folder, variables and jobs are gone."
            )
        is_bounded = (
            self._limits != SessionLimits()
            or self._quotas.is_counting
            or session.facts.policy.document.limits.processes is not None
        )
        if is_bounded and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._keep())
        if session.bounds is not None and session.bounds.disk_bytes is not None and self._disk_task is None:
            self._disk_task = asyncio.get_running_loop().create_task(self._keep_disks())

    async def _keep(self) -> None:
        idle_s = self._limits.idle_s
        pace_s = _WATCH_S if idle_s is None else min(_WATCH_S, idle_s / 4)
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pace_s):
                    await self._closing.wait()
                return
            with contextlib.suppress(ExecKitError):  # the record cannot be written: nothing runs any more anyhow
                await self.enforce()

    async def _keep_disks(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DISK_WATCH_S):
                    await self._closing.wait()
                return
            await self.enforce_disks()

    async def enforce_disks(self) -> None:
        """End the commands of sandboxes whose files take too much room and take more all the time.

        An interrupt is for whoever heeds it, and each tenth of a second is another hundred megabytes: so what the shell
        has started is frozen and killed at once, what hides in the background too.
        """
        for session in self._sessions.all():
            bounds, exec_ = session.bounds, session.current
            if bounds is None or bounds.disk_bytes is None:
                continue
            is_at_work = exec_ is not None or _has_processes(session.pid)
            if not is_at_work and not bounds.is_stale:
                continue
            bounds.is_stale = is_at_work
            before = bounds.used_bytes
            bounds.used_bytes = await asyncio.to_thread(bounds.usage_bytes)
            if bounds.used_bytes <= max(bounds.disk_bytes, before if exec_ is None else bounds.used_before):
                continue
            if session.current is not exec_ or not (exec_ is None or bounds.over_disk(bounds.used_bytes)):
                continue
            await asyncio.to_thread(keeper.end_trees, {session.pid}, are_roots_spared=True)
            if exec_ is not None:
                session.interrupt(exec_)  # the shell itself may write
            elif is_at_work:
                session.notes.append(bounds.background_ended)

    async def enforce(self) -> None:
        """Close the sessions that are beyond a limit; whoever asks for them next is told why."""
        sessions = {(each.facts.owner, each.name): each for each in self._sessions.all() if each.is_open}
        bounds = {key: each.facts.policy.document.limits.processes for key, each in sessions.items()}
        usage: Mapping[int, Usage] = {}
        if self._limits.needs_usage or any(bound is not None for bound in bounds.values()):
            usage = await asyncio.to_thread(usage_of_trees, {each.pid for each in sessions.values()})
        facts = [
            LimitFacts(
                key=key,
                used_s=each.used_s,
                is_busy=each.is_busy,
                usage=usage.get(each.pid, Usage()),
                most_processes=None if "pids" in _held(each) else bounds[key],
                is_memory_held="memory" in _held(each),
            )
            for key, each in sessions.items()
        ]
        for why in overruns(facts, self._limits, self._clock.monotonic_s()):
            session = sessions[why.key]
            if why.limit == IDLE and (session.is_busy or self._sessions.find(session.name, why.key[0]) is not session):
                continue  # closing the ones before took its time
            self._sessions.closed_for(why)
            await self._end(session, why)
        for session in self._quotas.overdrawn(self._sessions.all()):
            why = Overrun(
                key=(session.facts.owner, session.name),
                limit=MINUTES,
                reason="the minutes of running commands that one caller has a day are used up",
            )
            self._sessions.closed_for(why)
            await self._end(session, why)

    async def aclose(self) -> None:
        """Look no more; a session that is being closed is closed to its end."""
        self._closing.set()
        tasks = [task for task in (self._task, self._disk_task) if task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)


def _has_processes(shell: int) -> bool:
    """Whether anything lives below a shell; what loses its parent comes to the shell."""
    try:
        return bool(shell) and bool(Path(f"/proc/{shell}/task/{shell}/children").read_bytes())
    except OSError:  # it is gone, or a kernel without CONFIG_PROC_CHILDREN
        return False


def _bytes(megabytes: int | None) -> int | None:
    return None if megabytes is None else megabytes << 20


def _held(session: Session) -> frozenset[str]:
    """What the kernel bounds already, killing a process or refusing a fork instead of closing the session."""
    return session.bounds.holds if session.bounds is not None else frozenset()
