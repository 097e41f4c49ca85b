"""P4: a grant covers the very same run, for as long and as often as it was given, and nothing else."""

import sqlite3
import subprocess
import sys

import pytest
from msgspec.structs import replace

from execkit_mcp.approvals import ApprovalQueue, ApprovalRequest, Channel, Scope, Stdin
from execkit_mcp.errors import ApprovalExpired, CommandInvalid
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
    requester="mcp:client",
    created_s=NOW,
    expires_s=NOW + 300,
    session="main",
    session_key="1-1/a",
    effects=("write(/srv/build/**)",),
)
RACER = """
import sys
from pathlib import Path
from execkit_mcp.approvals import ApprovalQueue, ApprovalRequest
from execkit_mcp.storage import open_database
from execkit_mcp.testing import FakeClock, FakeEntropy
folder, request = sys.argv[1:]
queue = ApprovalQueue(open_database(Path(folder)), clock=FakeClock(), entropy=FakeEntropy())
print("ready", flush=True)
sys.stdin.readline()
print(sum(queue.use_grant(ApprovalRequest.loads(request)) is not None for _ in range(4)))
"""


@pytest.fixture
def clock():
    return FakeClock(epoch_s=NOW)


@pytest.fixture
def queue(tmp_path, clock):
    database = open_database(tmp_path)
    yield ApprovalQueue(database, clock=clock, entropy=FakeEntropy())
    database.close()


def grant(queue, scope, request=SEEN):
    asked = queue.submit(request)
    queue.decide(asked.id, approve=True, by=Channel.CLI, who="anna", scope=scope)
    [given] = queue.grants.listed()
    return given


@pytest.mark.parametrize(
    "changes",
    [
        {"canonical": "rm -r build src"},
        {"target": "prod-1"},
        {"cwd": "/"},
        {"run_as": "root"},
        {"policy": PolicyRef(name="p", digest="d2")},
        {"requester": "mcp:other"},
        {"stdin": Stdin.of("x")},
        {"is_tty": True},
        {"is_durable": True},
        {"typed_into": "exec x_1"},
        {"effects": ("write(/**)",)},
        {"hazards": (HazardHit(id="x", severity=Severity.CRITICAL, message="m"),)},
        {"session_key": "1-1/b"},
        {"session_key": ""},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_session_s_grant_covers_nothing_but_the_same_run_in_that_session(queue, changes):
    grant(queue, Scope.session())
    assert queue.use_grant(replace(SEEN, **changes)) is None
    assert queue.use_grant(SEEN) is not None


def test_a_grant_until_a_time_holds_in_another_session_of_the_same_requester(queue, clock):
    grant(queue, Scope.until(NOW + 60))
    assert queue.use_grant(replace(SEEN, session="two", session_key="1-1/z")) is not None
    clock.advance(60)
    assert queue.use_grant(SEEN) is None


@pytest.mark.parametrize("jump", [-3600, 3 * 86_400])
def test_a_clock_that_jumps_never_makes_a_grant_last_longer(queue, clock, jump):
    grant(queue, Scope.session())
    clock.jump(jump)
    assert queue.use_grant(SEEN) is None


def test_of_several_processes_a_grant_of_five_uses_gives_five(queue, tmp_path):
    grant(queue, Scope.until(NOW + 600, uses=5))
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), SEEN.dumps()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    assert sum(int(racer.communicate(timeout=30)[0]) for racer in racers) == 5


def test_the_approval_s_own_run_counts_as_a_use(queue):
    given = grant(queue, Scope.session(uses=1))
    queue.redeem(given.approval_id, SEEN)
    assert queue.use_grant(SEEN) is None


def test_a_revoked_grant_is_worth_nothing_and_is_not_revoked_twice(queue):
    given = grant(queue, Scope.session())
    queue.grants.revoke(given.id, by="cli", who="anna")
    assert queue.use_grant(SEEN) is None
    with pytest.raises(ApprovalExpired, match="already"):
        queue.grants.revoke(given.id, by="cli", who="anna")


@pytest.mark.parametrize("forged", ["", "grt_", "grt_0000000000000000", "%", "' OR 1=1 --", "grt_\ud800", "x" * 9999])
def test_a_forged_grant_id_is_a_clear_error(queue, forged):
    with pytest.raises(ApprovalExpired, match="There is no grant"):
        queue.grants.revoke(forged, by="cli", who="anna")


def test_a_revocation_that_cannot_be_recorded_is_not_made(queue):
    given = grant(queue, Scope.session())

    def fail(_):
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - any
        queue.grants.revoke(given.id, by="cli", who="anna", record=fail)
    assert queue.use_grant(SEEN) is not None


@pytest.mark.parametrize(
    "change",
    ["expires_s = expires_s + 1e9", "max_uses = NULL", "scope = 'until'", "digest = 'x'", "request = '{}'"],
)
def test_a_grant_that_was_changed_in_the_database_is_never_used(queue, tmp_path, change):
    grant(queue, Scope.session(uses=3))
    raw = sqlite3.connect(tmp_path / FILE_NAME)
    raw.execute(f"UPDATE grants SET {change}")
    raw.commit()
    raw.close()
    assert queue.use_grant(SEEN) is None
    assert queue.grants.listed() == ()


def test_a_no_in_the_same_second_takes_the_grant_back(queue, clock):
    asked = queue.submit(SEEN)
    queue.decide(asked.id, approve=True, by=Channel.WEB, scope=Scope.session())
    clock.advance(0.5)
    queue.decide(asked.id, approve=False, by=Channel.CLI)
    assert queue.use_grant(SEEN) is None


def test_a_closed_session_takes_its_grants_along(queue):
    grant(queue, Scope.session())
    queue.grants.session_closed(SEEN.session_key)
    assert queue.use_grant(SEEN) is None
    assert [each.revoked_by for each in queue.grants.listed(with_ended=True)] == ["its session was closed"]


@pytest.mark.parametrize(
    ("requester", "session", "is_alive", "expected"),
    [
        ("mcp:client", "main", False, True),
        ("mcp:client", "main", True, False),  # its server lives: it is not ours
        ("mcp:other", "main", False, False),
        ("mcp:client", "other", False, False),
    ],
)
def test_a_grant_is_handed_on_only_to_the_same_session_of_a_server_that_is_gone(
    queue, requester, session, is_alive, expected
):
    grant(queue, Scope.session())
    queue.grants.adopt(requester=requester, session=session, session_key="2-2/n", is_alive=lambda _: is_alive)
    assert (queue.use_grant(replace(SEEN, session_key="2-2/n")) is not None) is expected


@pytest.mark.parametrize("until", [NOW - 1, NOW, NOW + 8 * 86_400, float("nan"), float("inf")])
def test_a_grant_has_an_end_that_makes_sense(queue, until):
    asked = queue.submit(SEEN)
    with pytest.raises(CommandInvalid):
        queue.decide(asked.id, approve=True, by=Channel.CLI, scope=Scope.until(until))
    with pytest.raises(CommandInvalid):
        queue.decide(asked.id, approve=True, by=Channel.CLI, scope=Scope.session(uses=0))


def test_the_content_of_what_is_overwritten_binds_one_run_and_not_a_grant(queue):
    first, second = replace(SEEN, replaced="a"), replace(SEEN, replaced="b")
    asked = queue.submit(first)
    queue.decide(asked.id, approve=True, by=Channel.CLI, scope=Scope.session())
    with pytest.raises(ApprovalExpired, match="file to overwrite"):
        queue.redeem(asked.id, second)
    assert queue.use_grant(second) is not None
