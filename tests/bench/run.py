"""`make bench`: figures side by side in one run, so that the machine's noise falls on all of them alike."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import approving
import budget
import clicking
import dispatch
import fencing
import flood
import interrupts
import protocol
import sandboxes
import scale
import secrets_found
import shares
import starting
import watching
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from report import Report, against

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "400"))
IN_A_ROW = 20
INTERRUPT_ROUNDS = 3
MCP = "A call over MCP (stdio)"
COUNTS = (100, 500, 1_000)
DATA = Path(os.environ.get("EXECKIT_TEST_DATA", ROOT.parent / "shared" / "data"))

POLICY = """\
version: 1
name: bench
rules:
  - allow: ["true", ":", ls, cat, echo]
"""


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds that ``work`` took."""
    start = time.perf_counter()
    await work()
    return (time.perf_counter() - start) * 1e3


async def mcp_round_trips(report: Report, folder: Path) -> None:
    """`shell_run true` against the stock SDK's no-op tool, calls interleaved, both protocol eras."""
    policy = folder / "bench.yaml"
    policy.write_text(POLICY)
    environment = {"PYTHONPATH": str(ROOT), "EXECKIT_STATE_DIR": str(folder / "state")}
    ours = StdioServerParameters(
        command=sys.executable,
        args=["-m", "execkit_mcp", "serve", "--policy", str(policy), "--workspace", str(folder)],
        env=environment,
    )
    stock, low = (
        StdioServerParameters(command=sys.executable, args=[str(HERE / name)], env=environment)
        for name in ("stock_server.py", "stock_lowlevel.py")
    )
    for mode in ("auto", "legacy"):
        async with AsyncExitStack() as stack:
            a = await stack.enter_async_context(Client(stock, mode=mode))
            b = await stack.enter_async_context(Client(ours, mode=mode))
            c = await stack.enter_async_context(Client(low, mode=mode))
            await c.list_tools()
            await a.list_tools()
            await b.list_tools()
            first = await b.call_tool("shell_run", {"command": "true"})
            assert (first.structured_content or {})["exit_code"] == 0, first
            samples: dict[str, list[float]] = {"stock": [], "low": [], "ours": []}
            for _ in range(ROUNDS):
                samples["stock"].append(await timed(lambda: a.call_tool("noop", {})))
                samples["low"].append(await timed(lambda: c.call_tool("noop", {})))
                samples["ours"].append(await timed(lambda: b.call_tool("shell_run", {"command": "true"})))
            in_a_row: dict[str, list[float]] = {"low": [], "ours": []}
            for _ in range(ROUNDS // IN_A_ROW):
                for _ in range(IN_A_ROW):
                    in_a_row["low"].append(await timed(lambda: c.call_tool("noop", {})))
                for _ in range(IN_A_ROW):
                    in_a_row["ours"].append(await timed(lambda: b.call_tool("shell_run", {"command": "true"})))
        report.times(MCP, f"the stock SDK's no-op tool, high level ({mode})", samples["stock"])
        for how, taken in ((mode, samples), (f"{mode}, {IN_A_ROW} in a row", in_a_row)):
            floor, ours_ms = statistics.median(taken["low"]), statistics.median(taken["ours"])
            report.times(MCP, f"the stock SDK's no-op tool, low level ({how})", taken["low"])
            note = f"{ours_ms - floor:+.2f} ms, {ours_ms / floor:.2f} x low level"
            if taken is samples:
                note += f"; {against(ours_ms / floor, 1.5, 'x')}"
            report.times(MCP, f"shell_run true ({how})", taken["ours"], note)


def decisions(report: Report) -> None:
    """Parse, judge and render everyday commands."""
    source = DATA / "policy" / "everyday.jsonl"
    if not source.exists():
        print(f"decisions: no corpus at {source}")
        return
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, str(HERE / "decisions.py"), str(source)], capture_output=True, text=True, check=True
        )
        samples = sorted(each / 1e3 for each in json.loads(done.stdout))
        note = f"p99 {samples[int(len(samples) * 0.99)]:.3f} ms"
        report.times("Policy", f"one decision, {len(samples)} everyday commands", samples, note, limit=0.1)


def _remote(report: Report) -> None:
    import remote

    asyncio.run(remote.measure(report, ROUNDS))


def _starting(report: Report, folder: Path) -> None:
    with Path(os.devnull).open("w") as hidden:
        asyncio.run(starting.measure(report, folder, hidden))


def parts(report: Report, folder: Path) -> dict[str, Callable[[], object]]:
    """What is measured, in this order."""
    return {
        "dispatch": lambda: asyncio.run(dispatch.measure(report, folder, ROUNDS)),
        "shares": lambda: asyncio.run(shares.measure(report, folder, ROUNDS // 8)),
        "watching": lambda: asyncio.run(watching.measure(report, folder, ROUNDS // 2)),
        "clicking": lambda: asyncio.run(clicking.measure(report, folder, 30)),
        "approving": lambda: approving.measure(report, folder, 15),
        "mcp": lambda: asyncio.run(mcp_round_trips(report, folder)),
        "protocol": lambda: protocol.measure(report, folder, ROUNDS),
        "starting": lambda: _starting(report, folder),
        "decisions": lambda: decisions(report),
        "sandboxes": lambda: asyncio.run(sandboxes.measure(report, folder)),
        "fencing": lambda: asyncio.run(fencing.measure(report, folder, 40)),
        "secrets": secrets_found.main,
        "flood": lambda: asyncio.run(flood.measure(report, folder)),
        "open": lambda: asyncio.run(scale.measure_open(report)),
        **{f"scale {count}": partial(_scale, report, count) for count in COUNTS},
        "interrupts": lambda: asyncio.run(interrupts.measure(report, INTERRUPT_ROUNDS)),
        "remote": lambda: _remote(report),
        "budget": budget.main,
    }


def _scale(report: Report, count: int) -> None:
    asyncio.run(scale.measure(report, count))


def main() -> int:
    """Run everything, or the parts that are named, and print one table; a whole run is written to the docs as well.

    A part that fails is said to have failed, and the others are measured all the same.
    """
    report, failed = Report(), []
    with tempfile.TemporaryDirectory(prefix="execkit-bench-") as name:
        chosen = parts(report, Path(name))
        for part in sys.argv[1:] or chosen:
            try:
                chosen[part]()
            except Exception as error:  # noqa: BLE001 - told at the end
                traceback.print_exc()
                failed.append(f"{part}: {type(error).__name__}: {error}")
    for line in failed:
        report.add("Not measured", line[:200], "failed")
    if len(sys.argv) == 1:
        report.write()
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
