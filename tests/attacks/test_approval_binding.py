"""P4: only a human approves, and only what he saw; once."""

import sqlite3
import subprocess
import sys

import pytest
from msgspec.structs import replace

from execkit_mcp.approvals import ApprovalQueue, ApprovalRequest, Channel, State, Stdin
from execkit_mcp.errors import ApprovalDenied, ApprovalExpired, StorageUnavailable
from execkit_mcp.model import HazardHit, PolicyRef, Severity
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
    requester="client/main",
    created_s=NOW,
    expires_s=NOW + 300,
)
RACER = """
import sys
from pathlib import Path
from execkit_mcp.approvals import ApprovalQueue, ApprovalRequest, Channel
from execkit_mcp.errors import ApprovalExpired
from execkit_mcp.storage import open_database
from execkit_mcp.testing import FakeClock, FakeEntropy
folder, act, approval_id, request = sys.argv[1:]
queue = ApprovalQueue(open_database(Path(folder)), clock=FakeClock(), entropy=FakeEntropy())
print("ready", flush=True)
sys.stdin.readline()
try:
    if act == "redeem":
        queue.redeem(approval_id, ApprovalRequest.loads(request))
    else:
        queue.decide(approval_id, approve=act == "approve", by=Channel.CLI)
    print("won")
except ApprovalExpired:
    print("lost")
"""


@pytest.fixture
def clock():
    return FakeClock(epoch_s=NOW)


@pytest.fixture
def queue(tmp_path, clock):
    database = open_database(tmp_path)
    yield ApprovalQueue(database, clock=clock, entropy=FakeEntropy())
    database.close()


@pytest.fixture
def approved(queue):
    asked = queue.submit(SEEN)
    return queue.decide(asked.id, approve=True, by=Channel.CLI)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"canonical": "rm -r /"}, "command"),
        ({"target": "prod-1"}, "target"),
        ({"run_as": "root"}, "user"),
        ({"cwd": "/"}, "folder"),
        ({"policy": PolicyRef(name="p", digest="d2")}, "policy"),
        ({"requester": "client/other"}, "requester"),
        ({"stdin": Stdin.of("evil")}, "standard input"),
        ({"is_tty": True}, "terminal"),
        ({"effects": ("write(/etc/**)",)}, "effect"),
        ({"replaced": "sha256:other"}, "file to overwrite"),
    ],
)
def test_an_approval_for_one_thing_is_worth_nothing_for_another(queue, approved, changes, named):
    with pytest.raises(ApprovalExpired, match=f"given for another {named}"):
        queue.redeem(approved.id, replace(SEEN, **changes))
    queue.redeem(approved.id, SEEN)  # and is still good for what was seen


def race(folder, acts, approval_id):
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(folder), act, approval_id, SEEN.dumps()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for act in acts
    ]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    return [racer.communicate(timeout=20)[0].strip() for racer in racers]


def test_of_several_processes_one_uses_an_approval(queue, approved, tmp_path):
    assert sorted(race(tmp_path, ["redeem"] * 4, approved.id)) == ["lost"] * 3 + ["won"]


@pytest.mark.parametrize("act", ["approve", "deny"])
def test_of_several_equal_answers_the_first_counts(queue, tmp_path, act):
    asked = queue.submit(SEEN)
    assert sorted(race(tmp_path, [act] * 4, asked.id)) == ["lost"] * 3 + ["won"]


def test_of_answers_in_the_same_second_a_no_beats_every_yes(queue, tmp_path):
    asked = queue.submit(SEEN)
    results = race(tmp_path, ["approve", "deny", "approve", "deny"], asked.id)
    assert [results[1], results[3]].count("won") == 1
    assert queue.get(asked.id).state is State.DENIED


@pytest.mark.parametrize("first", [True, False])
def test_an_answer_cannot_be_changed(queue, clock, first):
    asked = queue.submit(SEEN)
    queue.decide(asked.id, approve=first, by=Channel.CLI)
    clock.advance(1)
    with pytest.raises(ApprovalExpired, match="already"):
        queue.decide(asked.id, approve=not first, by=Channel.CLI)


@pytest.mark.parametrize(
    "forged",
    ["", "apr_", "apr_0000000000000000", "%", "apr_%", "' OR 1=1 --", "APR_", "apr_\ud800", "x" * 100_000],
)
def test_a_forged_id_is_worth_nothing(queue, approved, forged):
    with pytest.raises(ApprovalExpired, match="There is no approval"):
        queue.redeem(forged, SEEN)
    with pytest.raises(ApprovalExpired, match="There is no approval"):
        queue.decide(forged, approve=True, by=Channel.CLI)
    assert queue.get(forged) is None


def test_a_critical_hazard_cannot_be_approved_in_the_client_s_dialogue(queue):
    hazard = HazardHit(id="disk", severity=Severity.CRITICAL, message="m")
    asked = queue.submit(replace(SEEN, hazards=(hazard,)))
    with pytest.raises(ApprovalDenied, match="client's dialogue"):
        queue.decide(asked.id, approve=True, by=Channel.ELICIT)
    assert queue.get(asked.id).state is State.PENDING
    queue.decide(asked.id, approve=False, by=Channel.ELICIT)  # a no is good from anywhere


@pytest.mark.parametrize("jump", [-3600, 3600])
def test_a_clock_that_jumps_never_makes_an_approval_last_longer(queue, clock, approved, jump):
    clock.jump(jump)
    with pytest.raises(ApprovalExpired):
        queue.redeem(approved.id, SEEN)


def test_a_request_changed_in_the_database_is_refused(queue, approved, tmp_path):
    raw = sqlite3.connect(tmp_path / FILE_NAME)
    raw.execute("UPDATE approvals SET request = replace(request, 'build', '/')")
    raw.commit()
    raw.close()
    for use in (lambda: queue.redeem(approved.id, SEEN), lambda: queue.get(approved.id)):
        with pytest.raises(StorageUnavailable, match="not what was written"):
            use()


def test_the_same_command_with_another_story_is_another_question(queue):
    harmless = queue.submit(replace(SEEN, agent_reason="clean up"))
    assert queue.submit(replace(SEEN, agent_reason="something else")).id != harmless.id
