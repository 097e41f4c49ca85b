"""`make bench`: figures side by side in one run, so that the machine's noise falls on all of them alike."""

import asyncio
import codecs
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import budget
from mcp import Client
from mcp.client.stdio import StdioServerParameters

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "400"))
DATA = Path(os.environ.get("EXECKIT_TEST_DATA", ROOT.parent / "shared" / "data"))

POLICY = """\
version: 1
name: bench
rules:
  - allow: ["true", ":", ls, cat, echo]
"""


def row(name: str, samples_ms: list[float], note: str = "") -> None:
    """Print one line of the table."""
    samples_ms = sorted(samples_ms)
    p95 = samples_ms[int(len(samples_ms) * 0.95)]
    print(f"{name:44} {statistics.median(samples_ms):9.3f} {p95:9.3f} {samples_ms[0]:9.3f}  {note}")


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds that ``work`` took."""
    start = time.perf_counter()
    await work()
    return (time.perf_counter() - start) * 1e3


async def mcp_round_trips(folder: Path) -> None:
    """`shell_run true` against the stock SDK's no-op tool, calls interleaved, both protocol eras."""
    policy = folder / "bench.yaml"
    policy.write_text(POLICY)
    environment = {"PYTHONPATH": str(ROOT), "EXECKIT_STATE_DIR": str(folder / "state")}
    ours = StdioServerParameters(
        command=sys.executable,
        args=["-m", "execkit_mcp", "serve", "--policy", str(policy), "--workspace", str(folder)],
        env=environment,
    )
    stock = StdioServerParameters(command=sys.executable, args=[str(HERE / "stock_server.py")], env=environment)
    for mode in ("auto", "legacy"):
        async with AsyncExitStack() as stack:
            a = await stack.enter_async_context(Client(stock, mode=mode))
            b = await stack.enter_async_context(Client(ours, mode=mode))
            await a.list_tools()
            await b.list_tools()
            first = await b.call_tool("shell_run", {"command": "true"})
            assert (first.structured_content or {})["exit_code"] == 0, first
            samples: dict[str, list[float]] = {"stock": [], "ours": []}
            for _ in range(ROUNDS):
                samples["stock"].append(await timed(lambda: a.call_tool("noop", {})))
                samples["ours"].append(await timed(lambda: b.call_tool("shell_run", {"command": "true"})))
        row(f"MCP stdio, stock SDK no-op tool ({mode})", samples["stock"])
        gap = statistics.median(samples["ours"]) - statistics.median(samples["stock"])
        row(f"MCP stdio, shell_run true ({mode})", samples["ours"], f"{gap:+.3f} ms; bar: +1.5 ms")


async def sdk_round_trips(folder: Path) -> None:
    """The SDK's exec against a fresh `bash -c` for each command."""
    from execkit_mcp import aio
    from execkit_mcp.runtime.sdk_policy import Policy

    async with aio.create(
        policy=Policy.default_deny(allow=[":"]), state_dir=str(folder / "sdk"), workspace=str(folder)
    ) as session:
        await session.exec(":")
        samples: dict[str, list[float]] = {"ours": [], "bash": []}
        for _ in range(ROUNDS):
            samples["ours"].append(await timed(lambda: session.exec(":")))
            start = time.perf_counter()
            subprocess.run(["bash", "-c", ":"], check=True)
            samples["bash"].append((time.perf_counter() - start) * 1e3)
    row("SDK exec of : (policy, redaction, audit fsync)", samples["ours"])
    row("bash -c :", samples["bash"])


def decisions() -> None:
    """Parse, judge and render everyday commands."""
    from execkit_mcp.policy import Context, judge
    from execkit_mcp.runtime.policies import load_policy

    source = DATA / "policy" / "everyday.jsonl"
    if not source.exists():
        print(f"decisions: no corpus at {source}")
        return
    texts = [json.loads(line)["command"] for line in source.read_text().splitlines()]
    policy = load_policy("read-only")
    context = Context(cwd="/srv/app", home="/home/op", workspace="/srv/app")
    for text in texts[:200]:
        judge(text, policy, context)
    samples = []
    for text in texts:
        start = time.perf_counter()
        judge(text, policy, context)
        samples.append((time.perf_counter() - start) * 1e3)
    row(f"policy decision, {len(texts)} everyday commands", samples)


def redaction() -> None:
    """Megabytes a second through clean-up, redaction and retention."""
    from execkit_mcp.output.chain import OutputChain
    from execkit_mcp.redaction import Redactor

    line = "2026-11-21T10:00:00Z INFO worker-3 request path=/api/v1/items status=200 bytes=5123 took=12ms\n"
    data = (line * 40_000).encode()
    for name, redactor in (("no known values", Redactor(key=b"k" * 32, known=())),):
        chain = OutputChain(redactor=redactor, limit_bytes=1 << 20)
        start = time.perf_counter()
        for at in range(0, len(data), 1 << 18):
            chain.push(data[at : at + (1 << 18)])
        chain.settle()
        took = time.perf_counter() - start
        print(f"output chain, log lines, {name}: {len(data) / took / 1e6:.0f} MB/s")


def retention(folder: Path) -> None:
    """100 MB into the ledger, in memory and on disk, against `cat` into a pipe that is decoded."""
    from execkit_mcp.output import RetainedText
    from execkit_mcp.storage.spill import SpillFolder

    line = "2026-11-21T10:00:00Z INFO worker-3 request path=/api/v1/items status=200 bytes=5123 took=12ms\n"
    text = (line * (2 * (1 << 18) // len(line)))[: 1 << 18]
    rounds = 100_000_000 // len(text)
    source = folder / "source.txt"
    source.write_text(text * rounds)
    spill = SpillFolder(folder)
    for turn in range(2):  # the first turn warms the page cache
        start = time.perf_counter()
        with subprocess.Popen(["cat", str(source)], stdout=subprocess.PIPE) as cat:
            assert cat.stdout is not None
            decode = codecs.getincrementaldecoder("utf-8")().decode
            while data := cat.stdout.read1(1 << 18):
                decode(data)
        plain = time.perf_counter() - start
        for name, limit, store in (
            ("memory, 1 MiB kept", 1 << 20, None),
            ("disk, 1 MiB kept", 1 << 20, spill.store(f"a{turn}")),
            ("disk, all kept", 1 << 28, spill.store(f"b{turn}")),
        ):
            retained = RetainedText(limit_bytes=limit, store=store)
            start = time.perf_counter()
            for _ in range(rounds):
                retained.append(text)
            took = time.perf_counter() - start
            assert retained.total_bytes == rounds * len(text)
            if turn:
                print(f"100 MB retained, {name}: {took * 1e3:.0f} ms; cat and decode: {plain * 1e3:.0f} ms")
            retained.discard()
    spill.close()


def main() -> None:
    """Run everything and print one table."""
    with tempfile.TemporaryDirectory(prefix="execkit-bench-") as name:
        folder = Path(name)
        print(f"{'':44} {'median':>9} {'p95':>9} {'min':>9}  ms, {ROUNDS} rounds")
        asyncio.run(mcp_round_trips(folder))
        asyncio.run(sdk_round_trips(folder))
        decisions()
        redaction()
        retention(folder)
        print()
        budget.main()


if __name__ == "__main__":
    main()
