"""P4 and P7: floods, full disks, damaged files and forged ids: nothing runs, and the error says what to do."""

import asyncio
import resource
import sqlite3
import subprocess
import sys
import time

import pytest
from msgspec.structs import replace

from execkit_mcp.approvals import ApprovalQueue, ApprovalRequest, Channel, State
from execkit_mcp.approvals.flood import MAX_NEW_EACH, MAX_PENDING_EACH
from execkit_mcp.errors import ApprovalDenied, StorageUnavailable
from execkit_mcp.model import PolicyRef
from execkit_mcp.runtime.desk import ApprovalDesk
from execkit_mcp.storage import open_database
from execkit_mcp.storage.sqlite import FILE_NAME
from execkit_mcp.testing import FakeClock, FakeEntropy

pytestmark = pytest.mark.promise("P4")

NOW = 1_800_000_000.0
SEEN = ApprovalRequest(
    canonical="rm -r build",
    target="local",
    cwd="/srv",
    policy=PolicyRef(name="p", digest="d1"),
    requester="mcp:client",
    created_s=NOW,
    expires_s=NOW + 300,
    effects=("write(/srv/build/**)", "read(/srv/build/**)"),
    message="Rule look asks a person about rm. A person looks at this.",
    rule="look",
    recent=("ls -l  [exit 0]",) * 6,
)


def command(world, *words, **limits):
    def limited():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))

    return subprocess.run(
        [sys.executable, "-m", "execkit_mcp", *words],
        # what is cut short must be ours, not the interpreter's cache, which every later test would read
        env={**world.environment(), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        preexec_fn=limited if limits else None,
    )  # fmt: skip


async def test_of_a_thousand_questions_of_one_agent_a_person_sees_few(serve, world):
    async with serve() as served:
        codes = []
        for number in range(1000):
            result = await served.call("shell_run", command=f"touch made{number}", wait_s=0)
            body = result.structured_content
            codes.append(body["error"]["code"] if "error" in body else body["status"])
            last = result
        assert codes.count("approval_pending") <= MAX_PENDING_EACH
        assert set(codes) == {"approval_pending", "approval.denied"}
        assert "Too many approvals" in last.content[0].text
        assert "Wait" in last.content[0].text
        assert (await served.run("echo still here"))["status"] == "completed"
    assert list(world.workspace.iterdir()) == []


def test_answering_them_does_not_open_the_gate_to_more(tmp_path):
    database = open_database(tmp_path)
    clock = FakeClock(epoch_s=NOW)
    queue = ApprovalQueue(database, clock=clock, entropy=FakeEntropy())
    for number in range(MAX_NEW_EACH):
        asked = queue.submit(replace(SEEN, canonical=f"rm {number}"))
        queue.decide(asked.id, approve=False, by=Channel.CLI)
    with pytest.raises(ApprovalDenied, match="within 60 s") as told:
        queue.submit(replace(SEEN, canonical="rm more"))
    assert told.value.details["retry_after_s"] == 60
    queue.submit(replace(SEEN, requester="mcp:other"))  # another agent is not kept waiting
    clock.advance(61)
    queue.submit(replace(SEEN, created_s=clock.epoch_s(), expires_s=clock.epoch_s() + 300))
    database.close()


async def test_on_a_full_disk_no_answer_counts_and_nothing_runs(serve, world):
    async with serve() as served:
        body = await served.run("touch made.txt", wait_s=0)
        approval_id = body["approval_id"]
        done = command(world, "approve", approval_id, "--yes", RLIMIT_FSIZE=4096)
        assert done.returncode == 1
        assert "storage.unavailable" in done.stderr or "audit.write_failed" in done.stderr
        assert "room" in done.stderr
        again = await served.run("touch made.txt", approval_id=approval_id, wait_s=0)
        assert again["status"] == "approval_pending"
        assert command(world, "approve", approval_id, "--yes").returncode == 0  # when there is room again
        assert (await served.run("touch made.txt", approval_id=approval_id))["status"] == "completed"


def test_a_database_without_room_refuses_the_question(tmp_path):
    database = open_database(tmp_path)
    queue = ApprovalQueue(database, clock=FakeClock(epoch_s=NOW), entropy=FakeEntropy())
    [(pages,)] = database.rows("PRAGMA page_count")
    database.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageUnavailable, match="full") as told:
        queue.submit(replace(SEEN, agent_reason="x" * 100_000))
    assert "disk has room" in told.value.hint
    assert queue.pending() == ()
    database.close()


def test_a_damaged_queue_is_a_clear_error_for_the_person_too(world):
    world.state.mkdir(mode=0o700)
    path = world.state / FILE_NAME
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 8192)
    path.chmod(0o600)
    for words in (("approvals",), ("approve", "apr_0123456789abcdef"), ("grants", "list"), ("watch", "--once")):
        done = command(world, *words)
        assert done.returncode == 1, words
        assert "storage.unavailable" in done.stderr
        assert f"move {path} away" in done.stderr
    done = subprocess.run(
        world.serve_command(),
        # what is cut short must be ours, not the interpreter's cache, which every later test would read
        env={**world.environment(), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 1
    assert "storage.unavailable" in done.stderr


async def test_one_damaged_row_stops_its_own_command_and_no_other(serve, world):
    async with serve() as served:
        bad = await served.run("touch bad.txt", wait_s=0)
        good = await served.run("touch good.txt", wait_s=0)
        raw = sqlite3.connect(world.state / FILE_NAME)
        raw.execute("UPDATE approvals SET request = replace(request, 'bad', 'bed') WHERE id = ?", (bad["approval_id"],))
        raw.commit()
        raw.close()
        listed = command(world, "approvals")
        assert good["approval_id"] in listed.stdout
        assert bad["approval_id"] not in listed.stdout
        assert "1 approvals in the database are not as they were written" in listed.stderr
        assert command(world, "approve", bad["approval_id"], "--yes").returncode == 1
        result = await served.call("shell_run", command="touch bad.txt", approval_id=bad["approval_id"])
        assert result.structured_content["error"]["code"] == "storage.unavailable"
        assert command(world, "approve", good["approval_id"], "--yes").returncode == 0
        assert (await served.run("touch good.txt", approval_id=good["approval_id"]))["status"] == "completed"
    assert [path.name for path in world.workspace.iterdir()] == ["good.txt"]


@pytest.mark.parametrize("change", ["cwd", "policy", "replay", "foreign", "forged"])
async def test_an_id_that_does_not_fit_starts_nothing(serve, world, change):
    (world.workspace / "sub").mkdir()
    async with serve() as served:
        approval_id = (await served.run("touch made.txt", wait_s=0))["approval_id"]
        assert command(world, "approve", approval_id, "--yes").returncode == 0
        arguments = {"command": "touch made.txt", "approval_id": approval_id}
        if change == "cwd":
            await served.run("cd sub")
        elif change == "replay":
            await served.run(**arguments)
            (world.workspace / "made.txt").unlink()
        elif change == "forged":
            arguments["approval_id"] = "apr_0000000000000000"
        if change == "policy":
            text = world.policy.read_text()
            world.policy.write_text(text.replace("GREETING", "GREETINGS"))
    async with serve() as served:
        if change == "cwd":
            await served.run("cd sub")
        if change == "foreign":
            done = command(
                world, "run", "--policy", str(world.policy), "--workspace", str(world.workspace),
                "--approval", approval_id, "--", "touch", "made.txt",
            )  # fmt: skip
            assert done.returncode == 3
            assert "another requester" in done.stderr
        else:
            result = await served.call("shell_run", **arguments)
            assert result.structured_content["error"]["code"] == "approval.expired"
    assert not list(world.workspace.rglob("made.txt"))


async def test_two_approvers_at_once_give_one_answer(serve, world):
    desk = ApprovalDesk.open(state_dir=world.state, audit_dir=world.state)
    async with serve() as served:
        approval_id = (await served.run("touch made.txt", wait_s=0))["approval_id"]
        told = await asyncio.gather(*(asyncio.to_thread(command, world, "approve", approval_id) for _ in range(3)))
        assert sorted(done.returncode for done in told) == [0, 3, 3]
        assert sum("was approved already over cli" in done.stderr for done in told) == 2
        assert desk.get(approval_id).state is State.APPROVED
        assert (await served.run("touch made.txt", approval_id=approval_id))["status"] == "completed"
    desk.close()


def test_among_ten_thousand_approvals_a_list_takes_less_than_a_tenth_of_a_second(tmp_path):
    database = open_database(tmp_path)
    clock = FakeClock(epoch_s=NOW)
    queue = ApprovalQueue(database, clock=clock, entropy=FakeEntropy())
    queue.submit(SEEN)
    with database.transaction() as transaction:
        [row] = transaction.rows("SELECT * FROM approvals")
        names = [str(name) for _, name, *_ in transaction.rows("PRAGMA table_info(approvals)")]
        for number in range(9_999):
            cells = dict(zip(names, row, strict=True)) | {"id": f"apr_{number:016x}", "created_s": NOW + number / 100}
            cells |= (
                {} if number < 1000 else {"state": "denied", "decided_s": NOW, "decided_who": "anna", "reason": "no"}
            )
            cells["seal"] = _sealed(queue, cells)
            marks = ", ".join("?" * len(cells))
            transaction.change(f"INSERT INTO approvals ({', '.join(cells)}) VALUES ({marks})", list(cells.values()))
    assert _cpu_s(queue.latest, 100) <= 0.1
    assert _cpu_s(queue.pending, 1001) <= 0.1
    assert _cpu_s(lambda: (queue.damaged(),), 1) <= 0.1
    assert _cpu_s(lambda: queue.latest(10_000), 10_000) <= 0.3  # all of them, on a machine that others use as well
    assert queue.damaged() == 0
    database.close()


def _cpu_s(act, count):
    took = []
    for _ in range(5):
        since = time.process_time()
        assert len(act()) == count
        took.append(time.process_time() - since)
    return min(took)


def _sealed(queue, cells):
    from execkit_mcp.approvals.rows import seal_of

    return seal_of(
        queue._key, cells["id"], cells["digest"], cells["request"], marks=cells["marks"], detail=cells["detail"]
    )
