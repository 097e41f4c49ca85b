"""Stubborn programs: how many sessions keep their state, and how soon the next command can run."""

import importlib.util
import time
from pathlib import Path

from report import Report, against

from execkit_mcp.runtime.driver import Driver
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.transports.local import LocalTransport

SECTION = "Interrupts"
_SPEC = importlib.util.spec_from_file_location(
    "stubborn", Path(__file__).resolve().parents[1] / "interaction" / "stubborn.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
stubborn = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(stubborn)
TIMEOUT_S = 0.15


async def measure(report: Report, rounds: int) -> None:
    """Interrupt every kind of program ``rounds`` times."""
    transport = LocalTransport()
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TERM": "xterm"}
    soon: list[float] = []
    kept = total = 0
    lost: list[str] = []
    kinds = (*stubborn.KINDS, *stubborn.SCREENS)
    for kind in kinds * rounds:
        driver = await Driver.open(transport, env=env, cwd="/tmp", clock=SystemClock(), entropy=SystemEntropy())
        await driver.run("cd /usr; kept=yes", sink=lambda _stream, _data: None)
        start = time.perf_counter()
        completion = await driver.run(kind.command, sink=lambda _stream, _data: None, tty=kind.tty, timeout_s=TIMEOUT_S)
        took = (time.perf_counter() - start - TIMEOUT_S) * 1e3
        out = bytearray()
        await driver.run('echo "$kept $PWD"', sink=lambda _stream, data, out=out: out.extend(data))
        total += 1
        if out == b"yes /usr\n":
            kept += 1
        else:
            lost.append(kind.name)
        if completion.interrupted_with == ("SIGINT",):
            soon.append(took)
        await driver.close()
    await transport.close()
    names = against(100 * kept / total, 99, "%", is_least=True)
    names += f"; lost: {', '.join(sorted(set(lost)))}" if lost else ""
    report.add(SECTION, f"state kept, {len(kinds)} kinds of program, {rounds} times each", f"{kept} of {total}", names)
    p95 = sorted(soon)[int(len(soon) * 0.95)]
    told = f"p95: {against(p95, 20, 'ms')}"
    report.times(SECTION, f"resync where SIGINT suffices ({len(soon)} runs)", soon, told)
