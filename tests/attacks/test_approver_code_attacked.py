"""P4: with an approver enrolled, a critical yes needs the device, whatever else an attacker can do."""

import json
import sqlite3
import subprocess
import sys

import pytest
from msgspec.structs import replace

from execkit_mcp.approvals import ApprovalQueue, ApprovalRequest, ApproverSecret, Channel, Scope, State, totp
from execkit_mcp.approvals.approver import enrol
from execkit_mcp.errors import ApprovalDenied, StorageUnavailable
from execkit_mcp.model import HazardHit, PolicyRef, Severity
from execkit_mcp.runtime.desk import ApprovalDesk
from execkit_mcp.storage import open_database
from execkit_mcp.storage.sqlite import FILE_NAME
from execkit_mcp.testing import FakeClock, FakeEntropy

pytestmark = pytest.mark.promise("P4")

NOW = 1_800_000_000.0
HARMLESS = ApprovalRequest(
    canonical="rm -r build",
    target="local",
    cwd="/srv",
    policy=PolicyRef(name="p", digest="d1"),
    requester="mcp:client",
    created_s=NOW,
    expires_s=NOW + 3000,
)
CRITICAL = replace(HARMLESS, hazards=(HazardHit(id="disk", severity=Severity.CRITICAL, message="m"),))


class Place:
    """A queue whose approver is enrolled."""

    def __init__(self, folder, wanted="critical"):
        self.folder = folder
        self.clock = FakeClock(epoch_s=NOW)
        self.secret = enrol(folder, wanted=wanted, entropy=FakeEntropy())
        self.database = open_database(folder)
        self.queue = self.opened()
        self.asked = self.queue.submit(CRITICAL)

    def opened(self):
        return ApprovalQueue(
            self.database, clock=self.clock, entropy=FakeEntropy("2"), approver=ApproverSecret.of(self.folder)
        )

    def code(self, steps=0):
        return totp.code_at(self.secret, totp.step_of(self.clock.epoch_s()) + steps)

    def approve(self, code, **more):
        return self.queue.decide(self.asked.id, approve=True, by=Channel.CLI, code=code, **more)


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.database.close()


@pytest.mark.parametrize("code", [None, "", "000000", "12345", "1234567", "abcdef", "١٢٣٤٥٦", "' OR 1=1", "9" * 9999])
def test_no_code_and_no_wrong_code_approves(place, code):
    assert code != place.code()
    with pytest.raises(ApprovalDenied):
        place.approve(code)
    assert place.queue.get(place.asked.id).state is State.PENDING


def test_the_code_approves_and_the_command_runs(place):
    place.approve(place.code())
    assert place.queue.redeem(place.asked.id, CRITICAL).state is State.REDEEMED


def test_a_no_and_a_harmless_command_need_no_code(place):
    other = place.queue.submit(HARMLESS)
    place.queue.decide(other.id, approve=True, by=Channel.CLI)
    place.queue.redeem(other.id, HARMLESS)
    place.queue.decide(place.asked.id, approve=False, by=Channel.ELICIT)


def test_a_code_counts_once(place):
    second = place.queue.submit(replace(CRITICAL, canonical="dd"))
    place.approve(place.code())
    with pytest.raises(ApprovalDenied, match="used already"):
        place.queue.decide(second.id, approve=True, by=Channel.CLI, code=place.code())
    with pytest.raises(ApprovalDenied):  # nor does the one before it
        place.queue.decide(second.id, approve=True, by=Channel.CLI, code=place.code(-1))
    place.clock.advance(30)
    place.queue.decide(second.id, approve=True, by=Channel.CLI, code=place.code())


def test_a_clock_that_goes_back_brings_no_used_code_back(place):
    place.clock.advance(300)
    old = place.code()
    place.approve(old)
    second = place.queue.submit(replace(CRITICAL, canonical="dd", created_s=NOW, expires_s=NOW + 9000))
    place.clock.jump(-30)
    for steps in (-1, 0, 1):
        with pytest.raises(ApprovalDenied):
            place.queue.decide(second.id, approve=True, by=Channel.CLI, code=place.code(steps))


@pytest.mark.parametrize("steps", [-40, -2, 2, 40])
def test_a_code_of_another_time_is_worth_nothing(place, steps):
    with pytest.raises(ApprovalDenied):
        place.approve(place.code(steps))


def test_guessing_is_stopped_and_even_the_right_code_waits(place):
    for _ in range(5):
        with pytest.raises(ApprovalDenied):
            place.approve("000000")
    with pytest.raises(ApprovalDenied, match="Too many wrong codes") as told:
        place.approve(place.code())
    assert 0 < told.value.details["retry_after_s"] <= 300
    place.clock.advance(301)
    place.approve(place.code())


def test_a_row_written_by_hand_is_not_enough(place):
    raw = sqlite3.connect(place.folder / FILE_NAME)
    raw.execute(
        "UPDATE approvals SET state = 'approved', decided_s = ?, expires_s = ?, decided_by = 'cli'", (NOW, NOW + 3000)
    )
    raw.commit()
    raw.close()
    with pytest.raises(ApprovalDenied, match="without the approver's code"):
        place.queue.redeem(place.asked.id, CRITICAL)


def test_the_proof_of_one_approval_fits_no_other(place):
    second = place.queue.submit(replace(CRITICAL, canonical="dd"))
    place.approve(place.code())
    raw = sqlite3.connect(place.folder / FILE_NAME)
    raw.execute(
        "UPDATE approvals SET state = 'approved', decided_s = ?, expires_s = ?,"
        " proof = (SELECT proof FROM approvals WHERE id = ?) WHERE id = ?",
        (NOW, NOW + 3000, place.asked.id, second.id),
    )
    raw.commit()
    raw.close()
    with pytest.raises(ApprovalDenied, match="without the approver's code"):
        place.queue.redeem(second.id, replace(CRITICAL, canonical="dd"))


@pytest.mark.parametrize("act", ["remove", "replace"])
def test_taking_the_secret_away_makes_no_yes_count_in_a_server_that_has_seen_it(place, act):
    path = place.folder / "approver.json"
    path.unlink()
    if act == "replace":
        own = enrol(place.folder, wanted="critical", entropy=FakeEntropy("attacker"))
        code = totp.code_at(own, totp.step_of(NOW))
    else:
        code = None
    place.opened().decide(place.asked.id, approve=True, by=Channel.CLI, code=code)  # the attacker's own process
    with pytest.raises(ApprovalDenied, match="without the approver's code"):
        place.queue.redeem(place.asked.id, CRITICAL)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"totp": "A", "for": "critical"}', '{"totp": 3}'])
def test_a_damaged_secret_closes(place, content):
    (place.folder / "approver.json").write_text(content)
    with pytest.raises(StorageUnavailable, match="cannot be read"):
        place.opened()


def test_a_server_that_was_started_before_sees_the_enrolment(tmp_path):
    database = open_database(tmp_path)
    clock = FakeClock(epoch_s=NOW)
    queue = ApprovalQueue(database, clock=clock, entropy=FakeEntropy(), approver=ApproverSecret.of(tmp_path))
    asked = queue.submit(CRITICAL)
    secret = enrol(tmp_path, wanted="all", entropy=FakeEntropy())
    with pytest.raises(ApprovalDenied, match="needs the code"):
        queue.decide(asked.id, approve=True, by=Channel.CLI)
    queue.decide(asked.id, approve=True, by=Channel.CLI, code=totp.code_at(secret, totp.step_of(NOW)))
    database.close()


def test_a_grant_carries_the_proof_or_does_not_count(place):
    place.approve(place.code(), scope=Scope.session())
    assert place.queue.use_grant(CRITICAL) is not None
    raw = sqlite3.connect(place.folder / FILE_NAME)
    raw.execute("UPDATE grants SET proof = ''")
    raw.commit()
    raw.close()
    assert place.queue.use_grant(CRITICAL) is None


def test_nobody_enrols_over_an_enrolled_approver(place):
    with pytest.raises(ApprovalDenied, match="already"):
        enrol(place.folder, wanted="critical", entropy=FakeEntropy("attacker"))


async def test_a_shell_of_the_same_user_outside_every_session_cannot_approve(serve, world):
    """The agent's client has a shell of its own: the same uid, no session above it."""
    world.policy.write_text(world.policy.read_text().replace("ask: [touch, mkdir],", "ask: [touch, mkdir, chmod],"))
    shell = {name: value for name, value in world.environment().items() if name != "EXECKIT_SESSION"}

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "execkit_mcp", *words],
            env=shell, capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    shown = run("approver", "enrol", "--for", "all")
    assert shown.returncode == 0, shown.stderr
    text = next(line.split(": ")[1] for line in shown.stdout.splitlines() if line.startswith("secret"))
    secret = totp.secret_from_text(text)
    assert f"secret={text}" in shown.stdout
    async with serve(answer="allow once") as served:
        body = await served.run("touch made.txt", wait_s=0)
        assert body["status"] == "approval_pending"  # the client's dialogue has no code, so it is not asked
        assert served.questions == []
        refused = run("approve", body["approval_id"], "--yes")
        assert (refused.returncode, "code" in refused.stderr) == (3, True)
        assert run("approver", "remove", "--code", "000000").returncode == 3
        assert not (world.workspace / "made.txt").exists()
        desk = ApprovalDesk.open(state_dir=world.state, audit_dir=world.state)
        code = totp.code_at(secret, totp.step_of(desk.now_s()))
        desk.close()
        assert run("approve", body["approval_id"], "--code", code).returncode == 0
        assert (await served.run("touch made.txt", approval_id=body["approval_id"]))["status"] == "completed"
        # and what a trusted program reads of it does not come back
        told = await served.run(f"bash -c 'cat {world.state}/approver.json'", max_output=1000)
        assert text not in json.dumps(told)
    assert (world.state / "approver.json").stat().st_mode & 0o777 == 0o600
