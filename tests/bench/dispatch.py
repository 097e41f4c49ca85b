"""One command in an open session: execkit against what one would use in its place, one sample of each in turn."""

import asyncio
import os
import pty
import statistics
import subprocess
import termios
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from pexpect import replwrap
from report import Report, against
from shares import no_audit

from execkit_mcp import aio
from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.sdk_policy import Policy
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.transports.local import LocalTransport

SECTION = "One command (`:`) in an open session"
SLOW_EVERY = 20
AT_ONCE = 16
IN_A_ROW = 20
RAW = "raw PTY, echo of a marker"
UNRECORDED = "execkit SDK, no audit log, no recording"
NO_RECORDING = "execkit SDK, no recording"
NOT_SYNCED = "execkit SDK, audit not synced"
OURS = "execkit SDK: policy, redaction, audit"
FRESH = "bash -c, a new shell each time"
SWE_REX = "SWE-ReX local runtime"
_MOST_TIMES_RAW = {OURS: 4.0, NOT_SYNCED: 2.5}
_LEAST_TIMES_FASTER = {FRESH: 3.0, SWE_REX: 200.0}


class RawTerminal:
    """bash on a PTY, asked for a marker: the floor that nothing can beat."""

    def __init__(self) -> None:
        self.number = 0
        self.master, slave = pty.openpty()
        modes = termios.tcgetattr(slave)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        argv = ["bash", "--norc", "--noprofile", "--noediting"]
        self.process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)

    def ask(self) -> None:
        """One round trip."""
        self.number += 1
        marker = f"<{self.number}>".encode()
        os.write(self.master, b": ; echo '" + marker + b"'\n")
        seen = b""
        while marker not in seen:
            seen += os.read(self.master, 4096)

    def close(self) -> None:
        """End the shell."""
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def _fresh_shell() -> None:
    subprocess.run(["bash", "-c", ":"], check=True)


async def _swe_rex(stack: AsyncExitStack) -> Callable[[], Awaitable[object]] | None:
    """SWE-ReX's local runtime, where it installs."""
    try:
        import logging

        from swerex.runtime.abstract import BashAction, CreateBashSessionRequest
        from swerex.runtime.local import LocalRuntime
    except ImportError:
        return None
    logging.disable(logging.WARNING)
    runtime = LocalRuntime()
    await runtime.create_session(CreateBashSessionRequest(startup_timeout=10))
    stack.push_async_callback(runtime.close)
    return lambda: runtime.run_in_session(BashAction(command=":"))


async def _unrecorded(stack: AsyncExitStack, folder: Path) -> aio.Session:
    config = folder / "unrecorded.yaml"
    config.write_text("audit: {recordings: off}\n")
    config.chmod(0o600)
    policy = Policy.default_deny(allow=[":"])
    opened = aio.create(policy=policy, config=str(config), state_dir=str(folder / "bare"), workspace=str(folder))
    return await stack.enter_async_context(opened)


async def _without_audit(session: aio.Session) -> None:
    with no_audit():
        await session.exec(":")


async def measure(report: Report, folder: Path, rounds: int) -> None:
    """Fill the report's first section."""
    sync = os.fdatasync
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(
            aio.create(policy=Policy.default_deny(allow=[":"]), state_dir=str(folder / "sdk"), workspace=str(folder))
        )
        unrecorded = await _unrecorded(stack, folder)
        transport = LocalTransport()
        stack.push_async_callback(transport.close)
        driver = await Driver.open(
            transport, env={"PATH": "/usr/bin:/bin"}, cwd="/", clock=SystemClock(), entropy=SystemEntropy()
        )
        stack.push_async_callback(driver.close)
        terminal = RawTerminal()
        stack.callback(terminal.close)
        expect = replwrap.bash()
        expect.child.delaybeforesend = None
        rex = await _swe_rex(stack)

        async def without_sync() -> None:
            os.fdatasync = lambda _fd: None
            try:
                await session.exec(":")
            finally:
                os.fdatasync = sync

        async def now(work: Callable[[], object]) -> None:
            work()

        contenders: dict[str, Callable[[], Awaitable[object]]] = {
            RAW: lambda: now(terminal.ask),
            "execkit, the driver alone": lambda: driver.run(":", sink=lambda _stream, _data: None),
            "pexpect replwrap, no delay": lambda: now(lambda: expect.run_command(":")),
            UNRECORDED: lambda: _without_audit(unrecorded),
            NO_RECORDING: lambda: unrecorded.exec(":"),
            NOT_SYNCED: without_sync,
            OURS: lambda: session.exec(":"),
            FRESH: lambda: now(_fresh_shell),
        }
        if rex is not None:
            contenders[SWE_REX] = rex
        samples: dict[str, list[float]] = {name: [] for name in contenders}
        for turn in range(rounds + 10):
            for name, work in contenders.items():
                if name.startswith("SWE") and turn % SLOW_EVERY:
                    continue
                start = time.perf_counter()
                await work()
                if turn >= 10:
                    samples[name].append((time.perf_counter() - start) * 1e3)
        in_a_row = await _in_a_row(contenders, rounds)
        expect.child.close(force=True)
    _tell(report, samples)
    for name, told in in_a_row.items():
        ratio = statistics.median(told) / statistics.median(in_a_row[RAW])
        report.times(SECTION, f"{IN_A_ROW} in a row: {name}", told, f"{ratio:.1f} x raw PTY")
    if rex is None:
        report.add(SECTION, "SWE-ReX local runtime", "not installed", "pip install swe-rex")
    await asyncio.sleep(0)


async def _in_a_row(contenders: dict[str, Callable[[], Awaitable[object]]], rounds: int) -> dict[str, list[float]]:
    """Some of them again, each several times before the next: what is in the processor's caches stays there."""
    taken: dict[str, list[float]] = {RAW: [], OURS: [], FRESH: []}
    for _ in range(rounds // IN_A_ROW):
        for name, told in taken.items():
            for _ in range(IN_A_ROW):
                start = time.perf_counter()
                await contenders[name]()
                told.append((time.perf_counter() - start) * 1e3)
    return taken


def _tell(report: Report, samples: dict[str, list[float]]) -> None:
    medians = {name: statistics.median(values) for name, values in samples.items()}
    floor, ours = medians[RAW], medians[OURS]
    for name, values in samples.items():
        ratio = medians[name] / floor
        limit = _MOST_TIMES_RAW.get(name)
        told = "" if limit is None else f"; {against(ratio, limit, 'x')}"
        report.times(SECTION, name, values, f"{ratio:.1f} x raw PTY{told}", bar=True)
    for name, least in _LEAST_TIMES_FASTER.items():
        if name in medians:
            ratio = medians[name] / ours
            report.add(SECTION, f"faster than: {name}", f"{ratio:.1f} x", against(ratio, least, "x", is_least=True))
