"""The fence: what it adds to opening a session, to a builtin and to an execve, beside wrappers around each command."""

import shutil
import time
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

from report import Report, against

from execkit_mcp.fence import probe as probing
from execkit_mcp.kit import ExecKit, open_kit
from execkit_mcp.runtime.request import RunRequest

SECTION = "The fence (a session's own time; medians, interleaved)"
OPENING = "Opening a local session, from a warm server"
WRAPPED = "A wrapper around each command, beside the fence (whole process)"
EXECS = 50
LOOP = "for i in {1..50}; do /usr/bin/true; done"
POLICY = """\
version: 1
name: bench
programs: {{default: [/usr/bin, /bin], srt: {srt}}}
paths: {{write: ["${{workspace}}/**"]}}
rules:
  - allow: ["true", ":", echo]
  - {{id: wrappers, effects: trusted, allow: [bwrap, srt]}}
"""
BWRAP = "bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent /usr/bin/true"


async def ran(kit: ExecKit, command: str) -> float:
    """Milliseconds that the command took in its session."""
    result = await kit.run(RunRequest(command=command), requester="b")
    assert result.exit_code == 0, result
    return result.duration_ms


async def opened(kit: ExecKit, number: int) -> float:
    """Milliseconds until a further session is open."""
    start = time.perf_counter()
    await kit.open_session(target="local", name=f"s{number}", requester="b")
    took = (time.perf_counter() - start) * 1e3
    await kit.close_session(f"s{number}", requester="b")
    return took


async def measure(report: Report, folder: Path, rounds: int) -> None:
    """Measure it all, each kind in turn, so that the machine's noise falls on all alike."""
    (folder / "fenced").mkdir()
    policy = folder / "fenced.yaml"
    policy.write_text(POLICY.format(srt=shutil.which("srt") or "/usr/bin/srt"))
    full = probing.probe()
    kinds = {"outside": "off", "gate on": "process", "gate off": "process", "namespaces": "namespaces"}
    async with AsyncExitStack() as stack:
        kits: dict[str, ExecKit] = {}
        for kind, level in kinds.items():
            kit = open_kit(
                policy=str(policy), workspace=str(folder / "fenced"), state_dir=str(folder / f"state {kind}"),
                environ={"EXECKIT_FENCE": level},
            )  # fmt: skip
            found = probing.masked(full, frozenset({"exec_gate"})) if kind == "gate off" else full
            probing.probe = lambda found=found: found
            kits[kind] = await stack.enter_async_context(kit)
            await ran(kits[kind], ":")
        probing.probe = lambda: full
        builtins, execs, opens = ({kind: [] for kind in kits} for _ in range(3))
        for number in range(rounds):
            for kind, kit in kits.items():
                builtins[kind].append(await ran(kit, ":"))
                execs[kind].append(await ran(kit, LOOP) / EXECS)
                if kind != "gate off" and number < 20:
                    opens[kind].append(await opened(kit, number))
        base = {name: median(samples["outside"]) for name, samples in (("b", builtins), ("e", execs), ("o", opens))}
        for kind in kits:
            ratio = median(builtins[kind]) / base["b"]
            report.times(SECTION, f"a builtin, {kind}", builtins[kind], f"x {ratio:.2f}")
        for kind, limit in (("outside", 1.0), ("gate off", 1.1), ("gate on", 1.35), ("namespaces", 1.35)):
            ratio = median(execs[kind]) / base["e"]
            note = f"x {ratio:.2f}" + ("" if kind == "outside" else f"; {against(ratio, limit, 'x')}")
            report.times(SECTION, f"fork and exec of /usr/bin/true, {kind}", execs[kind], note)
        for kind in ("outside", "gate on", "namespaces"):
            ratio = median(opens[kind]) / base["o"]
            note = f"x {ratio:.2f}" + ("" if kind == "outside" else f"; {against(ratio, 2, 'x')}")
            report.times(OPENING, f"{kind}", opens[kind], note)
        added = max(median(execs["gate on"]) - base["e"], 0.001)
        plain = median([await ran(kits["outside"], "/usr/bin/true") for _ in range(20)])
        for name, command, limit in (("bwrap", BWRAP, 3.0), ("srt", "srt true", 100.0)):
            if shutil.which(name) is None:
                report.add(WRAPPED, name, "not installed")
                continue
            samples = [await ran(kits["outside"], command) for _ in range(8)]
            more = (median(samples) - plain) / added
            note = f"adds x {more:.0f} of what the fence adds; {against(more, limit, 'x', is_least=True)}"
            report.times(WRAPPED, name, samples, note)
