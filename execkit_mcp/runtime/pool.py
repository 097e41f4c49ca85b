"""A shell kept ready: this module is the warm pool that makes opening a session a matter of one command.

Starting bash takes most of the time that opening a session takes. So one shell stands ready for the kind of session
that was asked for last; a session that wants the same kind takes it over, and another is started behind its back. A
spare belongs to nobody and has run nothing but its own start; what a session names (its name, its folder) is set when
it is taken, and leaves no trace that a fresh shell would not have. The variables that name it are in its first
environment all the same: that is what ``/proc`` shows of it for good, and how an approver sees where he stands.
"""

import asyncio
import contextlib
import shlex
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from execkit_mcp.errors import ExecKitError
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.transports.base import ShellPlan, Transport

_UNNAMED = "-"


class ShellPool:
    """Opens shells; keeps one spare once ``keep_warm`` was called."""

    def __init__(self, transport: Transport, *, clock: Clock, entropy: Entropy) -> None:
        self._transport = transport
        self._clock = clock
        self._entropy = entropy
        self._is_warm = False
        self._spare: Driver | None = None
        self._spare_plan: ShellPlan | None = None
        self._refill: asyncio.Task[None] | None = None

    def keep_warm(  # noqa: PLR0917 - what a shell plan is made of
        self,
        env: Mapping[str, str],
        names: Iterable[str],
        cwd: str,
        cols: int,
        rows: int,
        fence: FencePlan | None = None,
    ) -> None:
        """From now on keep a spare, the first one for this kind of session; call on the event loop."""
        self._is_warm = True
        named = dict.fromkeys(names, _UNNAMED)
        self._start_spare(ShellPlan(env={**env, **named}, cwd=cwd, cols=cols, rows=rows, fence=fence))

    async def open(  # noqa: PLR0917 - what a shell plan is made of
        self,
        env: Mapping[str, str],
        named: Mapping[str, str],
        cwd: str,
        cols: int,
        rows: int,
        fence: FencePlan | None = None,
    ) -> Driver:
        """A shell with the environment ``env`` and the variables ``named`` of this session; raises TransportError."""
        plan = ShellPlan(env={**env, **dict.fromkeys(named, _UNNAMED)}, cwd=cwd, cols=cols, rows=rows, fence=fence)
        spare = await self._take(plan)
        if spare is not None:
            is_settled = False
            try:
                with contextlib.suppress(ExecKitError):  # it died while it waited: start another
                    is_settled = await _settle(spare, named, cwd)
            finally:  # also if the caller went away meanwhile
                if not is_settled:
                    await spare.close()
            if is_settled:
                self._start_spare(plan)
                return spare
        driver = await self._fresh(replace(plan, env={**env, **named}))
        self._start_spare(plan)
        return driver

    async def close(self) -> None:
        """End the spare."""
        self._is_warm = False
        if self._refill is not None:
            self._refill.cancel()
            await asyncio.gather(self._refill, return_exceptions=True)
        if self._spare is not None:
            await self._spare.close()
            self._spare = None

    async def _fresh(self, plan: ShellPlan) -> Driver:
        return await Driver.open(
            self._transport,
            env=plan.env,
            cwd=plan.cwd,
            clock=self._clock,
            entropy=self._entropy,
            cols=plan.cols,
            rows=plan.rows,
            fence=plan.fence,
        )

    async def _take(self, plan: ShellPlan) -> Driver | None:
        """The spare, if there is one of this kind; one of another kind ends."""
        spare, kept = self._spare, self._spare_plan
        self._spare = None
        if spare is None or kept is None:
            return None
        if spare.is_open and _kind(kept) == _kind(plan):
            return spare
        await spare.close()
        return None

    def _start_spare(self, plan: ShellPlan) -> None:
        if not self._is_warm or self._spare is not None or (self._refill is not None and not self._refill.done()):
            return
        self._refill = asyncio.get_running_loop().create_task(self._keep(plan))

    async def _keep(self, plan: ShellPlan) -> None:
        with contextlib.suppress(ExecKitError):  # whoever opens the next session hears of it
            driver = await self._fresh(plan)
            if not self._is_warm or self._spare is not None:
                await driver.close()
            else:
                self._spare, self._spare_plan = driver, plan


def _kind(plan: ShellPlan) -> tuple[object, ...]:
    """What two shells must have in common to stand in for each other: all but the folder."""
    return (plan.env, plan.cols, plan.rows, plan.fence)


async def _settle(driver: Driver, named: Mapping[str, str], cwd: str) -> bool:
    """Make a spare the shell of a session, as if it had been started for it; False if it cannot enter the folder."""
    exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in named.items())
    text = (
        f"\\builtin cd -P -- {shlex.quote(cwd)} && \\builtin unset OLDPWD "
        f"&& \\builtin export OLDPWD {exports} && SECONDS=0"
    )
    completion = await driver.run(text, sink=lambda _stream, _data: None)
    driver.adopt(env=named, cwd=cwd)
    return completion.exit_code == 0
