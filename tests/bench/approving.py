"""Ten thousand approvals, pending and past, as the command line, the inbox and the page list them."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from report import Report

from execkit_mcp.approvals.display import summary
from execkit_mcp.approvals.queue import ApprovalQueue
from execkit_mcp.approvals.request import ApprovalRequest
from execkit_mcp.approvals.rows import seal_of
from execkit_mcp.model import PolicyRef
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.storage import open_database

SECTION = "Ten thousand approvals"
COUNT = 10_000
PENDING_EVERY = 100
BAR_MS = 100
_COLUMNS = (
    "id, digest, requester, state, request, created_s, expires_s, marks, detail, seal, decided_s, decided_by,"
    " decided_who, reason, scope"
)


def _request(number: int, now_s: float) -> ApprovalRequest:
    return ApprovalRequest(
        canonical=f"/usr/bin/rm -r -- build/target-{number}",
        target="local",
        cwd="/home/user/project",
        policy=PolicyRef(name="workstation", digest="0" * 64),
        requester="stdio/agent",
        created_s=now_s - COUNT + number,
        expires_s=now_s + 3600,
        session="main",
        session_key="4711/0123456789abcdef",
        run_as="user",
        agent_reason="clean up before the build",
        message="rm -r removes a tree",
        rule="workstation#12",
        effects=(f"write /home/user/project/build/target-{number}",),
        recent=("git status  [exit 0]", "make  [exit 2]"),
    )


def fill(queue: ApprovalQueue, count: int, now_s: float) -> None:
    """Put approvals into the queue as ``submit`` writes them, all in one transaction."""
    key = queue._key
    with queue._database.transaction() as transaction:
        for number in range(count):
            asked = _request(number, now_s)
            approval_id, digest = f"apr_{number:016x}", asked.digest(key)
            slim, detail = asked.split()
            marks = json.dumps(asked.marks(key), separators=(",", ":"))
            is_pending = number % PENDING_EVERY == 0
            state = "pending" if is_pending else ("denied", "redeemed")[number % 2]
            decided = (None, "", "", "") if is_pending else (now_s, "cli", "user", "")
            transaction.change(
                f"INSERT INTO approvals ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'once')",
                (
                    approval_id,
                    digest,
                    ascii(asked.requester),
                    state,
                    slim,
                    asked.created_s,
                    asked.expires_s,
                    marks,
                    detail,
                    seal_of(key, approval_id, digest, slim, marks=marks, detail=detail),
                    *decided,
                ),
            )


def measure(report: Report, folder: Path, rounds: int) -> None:
    """Fill the section."""
    clock = SystemClock()
    queue = ApprovalQueue(open_database(folder / "many"), clock=clock, entropy=SystemEntropy())
    fill(queue, COUNT, clock.epoch_s())

    def lines() -> int:
        now_s = clock.epoch_s()
        return len([summary(each, now_s=now_s) for each in queue.latest(COUNT)])

    def timed(work: Callable[[], int], expected: int) -> list[float]:
        samples = []
        for _ in range(rounds):
            start = time.perf_counter()
            found = work()
            samples.append((time.perf_counter() - start) * 1e3)
            assert found == expected, found
        return samples

    report.times(
        SECTION,
        "all of them, as objects",
        timed(lambda: len(queue.latest(COUNT)), COUNT),
        limit=BAR_MS,
    )
    report.times(SECTION, "all of them, as the lines of `approvals --all`", timed(lines, COUNT))
    report.times(
        SECTION, "the inbox: those that wait", timed(lambda: len(queue.pending()), COUNT // PENDING_EVERY), limit=BAR_MS
    )
    report.times(SECTION, "the newest 100", timed(lambda: len(queue.latest(100)), 100), limit=BAR_MS)
