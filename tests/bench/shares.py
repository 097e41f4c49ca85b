"""The audit log's share of a command's time: the same command with the log and without it, in turn.

Alone, and in many sessions at once, where syncs are shared. A builtin such as ``:`` is the worst there is: the shell
forks nothing, and the log is most of what is left. What agents run starts programs.
"""

import asyncio
import contextlib
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from report import Report, against

from execkit_mcp.audit.chain import Head
from execkit_mcp.audit.writer import AuditLog
from execkit_mcp.kit import ExecKit, open_kit
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sdk_policy import Policy

SECTION = "The audit log's share of a command"
AT_ONCE = 16
BUILTINS = (":", "true", "pwd", "echo hello")
PROGRAMS = (
    "ls -la",
    "cat a.txt",
    "wc -l a.txt",
    "head -20 a.txt | sort",
    "sed -n 1,20p a.txt",
    "grep -rn def .",
    "find . -name '*.py'",
    "git status",
    "git log --oneline -5",
    "cp a.txt b.txt",
)
_MOST = 20
_POLICY = """\
version: 1
name: shares
paths: {write: ["${workspace}/**"]}
rules:
  - allow: [":", "true", pwd, echo, ls, cat, wc, head, sort, sed, grep, find, git status, git log]
  - allow: [cp]
    effects: {write: paths}
"""


@contextlib.contextmanager
def no_audit() -> Iterator[None]:
    """Whatever is put on the record is not written."""
    enter = AuditLog.enter
    AuditLog.enter = lambda *_, **__: Head(log="", seq=0, hash="0" * 64, segment=1, end=0)
    try:
        yield
    finally:
        AuditLog.enter = enter


def _prepared(folder: Path) -> str:
    """A small repository to look at."""
    folder.mkdir()
    (folder / "a.txt").write_text("a line of text\n" * 300)
    for number in range(30):
        (folder / f"module{number}.py").write_text("def work():\n    return 1\n" * 50)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "All"]):
        who = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    return str(folder)


async def _share(kit: ExecKit, names: list[str], command: str, rounds: int) -> float:
    """The share of ``command`` in these sessions at once, between 0 and 1."""
    samples: dict[str, list[float]] = {"with": [], "without": []}

    async def one(name: str, told: list[float]) -> None:
        start = time.perf_counter()
        result = await kit.run(RunRequest(command=command, session=name), requester="bench")
        told.append((time.perf_counter() - start) * 1e3)
        assert result.exit_code == 0, result

    for turn in range(rounds + 3):
        for which, told in samples.items():
            with contextlib.nullcontext() if which == "with" else no_audit():
                await asyncio.gather(*(one(name, told) for name in names))
        if turn < 3:
            for told in samples.values():
                told.clear()
    return 1 - statistics.median(samples["without"]) / statistics.median(samples["with"])


async def measure(report: Report, folder: Path, rounds: int) -> None:
    """Fill the report's section."""
    workspace = _prepared(folder / "workspace")
    path = folder / "shares.yaml"
    path.write_text(_POLICY)
    path.chmod(0o600)
    policy = Policy.load(path).compiled
    async with open_kit(policy=policy, state_dir=str(folder / "shares"), workspace=workspace) as kit:
        names = [f"s{number}" for number in range(AT_ONCE)]
        for name in names:
            await kit.open_session(requester="bench", name=name)
        for where, these, times in (
            ("alone", names[:1], rounds),
            (f"in {AT_ONCE} sessions at once", names, rounds // 5),
        ):
            for what, commands in (("builtins", BUILTINS), ("programs", PROGRAMS)):
                shares = {command: await _share(kit, these, command, times) * 100 for command in commands}
                middle = statistics.median(shares.values())
                each = ", ".join(f"`{command}` {share:.0f}" for command, share in shares.items())
                report.add(SECTION, f"{what}, {where}", f"{middle:.0f} %", f"{against(middle, _MOST, '%')} ({each})")
