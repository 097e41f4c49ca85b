"""Many sessions in one server: how long each takes to open, what it costs, and what the others cost it."""

import asyncio
import contextlib
import os
import tempfile
import time
from pathlib import Path

from report import Report, against

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime import first_stage
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sdk_policy import Policy

SECTION = "Many sessions in one server"


def family() -> list[int]:
    """This process and every process below it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [os.getpid()]
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def proportional_kb(pids: list[int]) -> int:
    """PSS of the processes together (proc(5), smaps_rollup)."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total


async def measure(report: Report, count: int) -> None:
    """Open ``count`` sessions, use one among them, use all at once, close them."""
    with tempfile.TemporaryDirectory(prefix="execkit-bench-") as folder:
        os.mkdir(f"{folder}/work")  # noqa: PTH102 - before anything is measured
        async with open_kit(
            policy=Policy.default_deny(allow=[":"]).compiled,
            state_dir=f"{folder}/state",
            workspace=f"{folder}/work",
            environ={"EXECKIT_MAX_SESSIONS": str(count)},
        ) as kit:
            empty = proportional_kb(family())
            await kit.open_session(requester="bench", name="first")
            await asyncio.to_thread(first_stage._DONE.wait, 60)  # what all sessions share is loaded a moment later
            await kit.close_session("first", requester="bench")
            before = proportional_kb(family())
            opened: list[float] = []
            for number in range(count):
                start = time.perf_counter()
                await kit.open_session(requester="bench", name=f"s{number}")
                opened.append((time.perf_counter() - start) * 1e3)
            report.times(SECTION, f"{count}: shell_open", opened)
            each_kb = (proportional_kb(family()) - before) / count
            told = f"{against(each_kb / 1000, 0.5, 'MB')}; what all share (keeper, redactor): {before - empty} KB"
            report.add(SECTION, f"{count}: memory", f"{each_kb:.0f} KB PSS a session", told)

            async def run(number: int) -> float:
                start = time.perf_counter()
                result = await kit.run(RunRequest(command=":", session=f"s{number}"), requester="bench")
                assert result.exit_code == 0
                return (time.perf_counter() - start) * 1e3

            alone = [await run(number % count) for number in range(0, 300 * 7, 7)]
            report.times(SECTION, f"{count}: a command in one, the others idle", alone)
            start = time.perf_counter()
            await asyncio.gather(*map(run, range(count)))
            took = time.perf_counter() - start
            report.add(SECTION, f"{count}: a command in each at once", f"{count / took:.0f} commands/s")
            start = time.perf_counter()
        report.add(SECTION, f"{count}: close all", f"{(time.perf_counter() - start) * 1e3:.0f} ms")


async def measure_open(report: Report) -> None:
    """``shell_open`` with and without a shell that stands ready."""
    for is_warm in (False, True):
        with tempfile.TemporaryDirectory(prefix="execkit-bench-") as folder:
            async with open_kit(
                policy=Policy.default_deny(allow=[":"]).compiled, state_dir=folder, workspace=folder, environ={}
            ) as kit:
                if is_warm:
                    kit.prewarm()
                await asyncio.sleep(0.3)
                samples: list[float] = []
                for number in range(40):
                    start = time.perf_counter()
                    await kit.open_session(requester="bench", name=f"s{number}")
                    samples.append((time.perf_counter() - start) * 1e3)
                    await asyncio.sleep(0.03)
                    await kit.close_session(f"s{number}", requester="bench")
            report.times(SECTION, "shell_open, a shell kept ready" if is_warm else "shell_open, cold", samples)
