"""Fifty sessions under random work and random interruptions: every answer is right, and nothing is left over.

``EXECKIT_SOAK=N`` runs N commands (``make fuzz`` sets 20,000); without it some hundreds run.
"""

import asyncio
import contextlib
import gc
import os
import random
from pathlib import Path

from execkit_mcp.kit import open_kit
from execkit_mcp.model import Status
from execkit_mcp.runtime.request import RunRequest

COMMANDS = int(os.environ.get("EXECKIT_SOAK", "600"))
SESSIONS = 50 if COMMANDS > 5_000 else 10
AT_ONCE = 8
SEED = 20_260
GROWTH_BYTES = 24 << 20
STUBBORN = "trap '' INT TERM; while :; do sleep 1; done"


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def family():
    """Every process below this one."""
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found, pending = [], [os.getpid()]
    while pending:
        for child in children.get(pending.pop(), ()):
            found.append(child)
            pending.append(child)
    return found


class Worker:
    """One session, and what its shell must know."""

    def __init__(self, kit, name, chance, workspace):
        self.kit, self.name, self.chance = kit, name, chance
        self.number = 0
        self.colour = None
        self.cwd = str(workspace)
        self.folders = [str(workspace), "/tmp", "/usr"]

    async def run(self, command, **options):
        return await self.kit.run(RunRequest(command=command, session=self.name, **options), requester="soak")

    async def step(self):
        self.number += 1
        await self.chance.choice(self.KINDS)(self)

    async def says(self):
        result = await self.run(f"echo {self.name}-{self.number}")
        assert (result.stdout, result.exit_code, result.stderr) == (f"{self.name}-{self.number}\n", 0, ""), result

    async def counts(self):
        last = self.chance.randint(2, 3_000)
        result = await self.run(f"seq {last}", max_output=100_000)
        assert result.stdout == "".join(f"{number}\n" for number in range(1, last + 1))

    async def remembers(self):
        self.colour = f"c{self.number}"
        await self.run(f"export COLOR={self.colour}")

    async def moves(self):
        self.cwd = self.chance.choice(self.folders)
        result = await self.run(f"cd {self.cwd}")
        assert result.cwd == self.cwd

    async def recalls(self):
        result = await self.run("pwd; printenv COLOR")
        assert result.stdout == f"{self.cwd}\n" + (f"{self.colour}\n" if self.colour else ""), (result, self.colour)

    async def fails(self):
        result = await self.run("false | true | false")
        assert (result.exit_code, result.status) == (1, Status.COMPLETED)

    async def leaves(self):
        code = self.chance.randint(0, 255)
        result = await self.run(f"exit {code}")
        assert result.exit_code == code

    async def times_out(self):
        command = self.chance.choice(["sleep 60", "while :; do :; done", "sleep 60 | wc -c"])
        result = await self.run(command, timeout_s=self.chance.uniform(0.001, 0.05))
        assert result.status is Status.TIMED_OUT, result

    async def is_stubborn(self):
        result = await self.run(f'bash -c "{STUBBORN}"', timeout_s=0.02)
        assert result.status is Status.TIMED_OUT, result

    async def is_cancelled(self):
        call = asyncio.create_task(self.run("sleep 60"))
        await asyncio.sleep(self.chance.choice([0, 0, 0.001, 0.01]))
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call

    async def works_behind(self):
        result = await self.run("sleep 0.05 & echo here")
        assert result.stdout == "here\n", result

    async def is_fed(self):
        text = "line\n" * self.chance.randint(1, 20_000)
        result = await self.run("wc -c", stdin=text)
        assert result.stdout.strip() == str(len(text))

    async def is_refused(self):
        result = await self.run("rm -rf /tmp/soak")
        assert (result.status, result.exit_code) == (Status.DENIED, None)

    KINDS = (
        says, says, says, says, counts, remembers, moves, recalls, recalls, fails, leaves, times_out, is_stubborn,
        is_cancelled, works_behind, is_fed, is_refused,
    )  # fmt: skip


async def quiet(processes):
    """Wait until no more than these processes are left: what was interrupted may take its time to be gone."""
    for _ in range(200):
        if len(family()) <= processes:
            return
        await asyncio.sleep(0.05)


async def test_a_long_run_of_random_work_leaks_nothing_and_loses_nothing(world):
    outside = descriptors(), len(family())
    settings = {"EXECKIT_MAX_SESSIONS": str(SESSIONS)}
    async with open_kit(
        policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state), environ=settings
    ) as kit:
        workers = []
        for number in range(SESSIONS):
            await kit.open_session(requester="soak", name=f"s{number}")
            workers.append(Worker(kit, f"s{number}", random.Random(SEED + number), world.workspace))
        gate = asyncio.Semaphore(AT_ONCE)

        async def work(worker, rounds):
            for _ in range(rounds):
                async with gate:
                    await worker.step()

        rounds = COMMANDS // SESSIONS // 3
        marks = []
        for _ in range(3):
            await asyncio.gather(*[work(worker, rounds) for worker in workers])
            await quiet(outside[1] + SESSIONS + 2)
            for _ in range(2):  # a pair of pipes that a process held is given up with the next command
                await asyncio.gather(*[worker.says() for worker in workers])
                await asyncio.sleep(0.05)
            gc.collect()
            marks.append((descriptors(), len(family()), resident_bytes()))
        first, *_, last = marks
        # A shell whose pipes a process held on to has another pair from then on, and keeps its first one.
        assert last[0] - first[0] <= 2 * SESSIONS, marks
        assert last[1] == outside[1] + SESSIONS + 2, marks  # a shell each, keeper and guardian
        assert last[2] - first[2] < GROWTH_BYTES, marks
    await quiet(outside[1])
    assert (descriptors(), len(family())) == outside
