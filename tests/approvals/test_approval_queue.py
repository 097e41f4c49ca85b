import asyncio

import pytest
from msgspec.structs import replace

from execkit_mcp.approvals import Answer, AnswerKind, ApprovalQueue, ApprovalRequest, Channel, State
from execkit_mcp.approvals.queue import MAX_PENDING_EACH
from execkit_mcp.approvals.waiting import OutOfBand, wait_for_answer
from execkit_mcp.errors import ApprovalDenied, ApprovalExpired, ApprovalRequired, AuditWriteFailed
from execkit_mcp.model import PolicyRef
from execkit_mcp.storage import open_database
from execkit_mcp.testing import FakeClock, FakeEntropy


class Desk:
    """A queue with its clock and folder."""

    def __init__(self, folder):
        self.clock = FakeClock()
        self.folder = folder
        self.entropy = FakeEntropy()
        self.database = open_database(folder)
        self.queue = ApprovalQueue(self.database, clock=self.clock, entropy=self.entropy)

    def request(self, canonical="rm -r build", **changes):
        now = self.clock.epoch_s()
        base = ApprovalRequest(
            canonical=canonical,
            target="local",
            cwd="/srv",
            policy=PolicyRef(name="p", digest="d1"),
            requester="client/main",
            created_s=now,
            expires_s=now + 300,
        )
        return replace(base, **changes)


@pytest.fixture
def desk(tmp_path):
    made = Desk(tmp_path)
    yield made
    made.database.close()


def test_an_approved_request_runs_once(desk):
    asked = desk.queue.submit(desk.request())
    assert desk.queue.pending() == (asked,)
    with pytest.raises(ApprovalRequired):
        desk.queue.redeem(asked.id, desk.request())
    decided = desk.queue.decide(asked.id, approve=True, by=Channel.CLI, who="root")
    assert decided.state is State.APPROVED
    assert desk.queue.pending() == ()
    used = desk.queue.redeem(asked.id, desk.request())
    assert (used.state, used.decided_by, used.decided_who) == (State.REDEEMED, "cli", "root")
    with pytest.raises(ApprovalExpired, match="used already"):
        desk.queue.redeem(asked.id, desk.request())
    assert desk.queue.get(asked.id) == used


def test_a_denial_carries_the_person_s_reason(desk):
    asked = desk.queue.submit(desk.request())
    desk.queue.decide(asked.id, approve=False, by=Channel.ELICIT, reason="not today")
    with pytest.raises(ApprovalDenied, match="not today"):
        desk.queue.redeem(asked.id, desk.request())


def test_the_same_question_is_not_put_twice_while_it_waits(desk):
    first = desk.queue.submit(desk.request())
    desk.clock.advance(5)
    assert desk.queue.submit(desk.request()).id == first.id
    assert desk.queue.submit(desk.request(agent_reason="another")).id != first.id
    desk.queue.decide(first.id, approve=True, by=Channel.CLI)
    assert desk.queue.submit(desk.request()).id != first.id


def test_an_unanswered_request_runs_out_and_that_is_a_no(desk):
    asked = desk.queue.submit(desk.request())
    desk.clock.advance(300)
    assert desk.queue.pending() == ()
    assert desk.queue.get(asked.id).state is State.EXPIRED
    with pytest.raises(ApprovalExpired, match="nobody answered in time"):
        desk.queue.redeem(asked.id, desk.request())
    with pytest.raises(ApprovalExpired, match="ran out"):
        desk.queue.decide(asked.id, approve=True, by=Channel.CLI)


def test_an_approval_is_good_for_its_time_to_live_counted_from_the_answer(desk):
    asked = desk.queue.submit(desk.request())
    desk.clock.advance(299)
    desk.queue.decide(asked.id, approve=True, by=Channel.CLI)
    desk.clock.advance(300)
    with pytest.raises(ApprovalExpired, match="not used in time"):
        desk.queue.redeem(asked.id, desk.request())


def test_requests_survive_a_restart(desk):
    asked = desk.queue.submit(desk.request())
    desk.database.close()
    again = open_database(desk.folder)
    queue = ApprovalQueue(again, clock=desk.clock, entropy=desk.entropy)
    assert queue.pending() == (asked,)
    queue.decide(asked.id, approve=True, by=Channel.CLI)
    queue.redeem(asked.id, desk.request())
    again.close()


def test_one_requester_cannot_flood_the_person(desk):
    for n in range(MAX_PENDING_EACH):
        desk.queue.submit(desk.request(f"rm {n}"))
    with pytest.raises(ApprovalDenied, match="Too many approvals wait"):
        desk.queue.submit(desk.request("rm one more"))
    desk.queue.submit(desk.request("rm other", requester="somebody else"))
    desk.clock.advance(301)
    desk.queue.submit(desk.request("rm one more"))


def test_a_decision_that_cannot_be_recorded_is_not_made(desk):
    asked = desk.queue.submit(desk.request())

    def fail(approval):
        raise AuditWriteFailed("disk full")

    with pytest.raises(AuditWriteFailed):
        desk.queue.decide(asked.id, approve=True, by=Channel.CLI, record=fail)
    assert desk.queue.get(asked.id).state is State.PENDING


def test_the_latest_are_listed_in_the_order_of_asking(desk):
    for n in range(5):
        desk.queue.submit(desk.request(f"rm {n}"))
        desk.clock.advance(1)
    assert [a.request.canonical for a in desk.queue.latest(3)] == ["rm 2", "rm 3", "rm 4"]


async def test_a_waiting_call_wakes_when_another_process_answers(desk):
    asked = desk.queue.submit(desk.request())
    waiting = asyncio.create_task(wait_for_answer(desk.queue, asked.id, timeout_s=10))
    await asyncio.sleep(0)
    other = open_database(desk.folder)
    ApprovalQueue(other, clock=desk.clock, entropy=desk.entropy).decide(asked.id, approve=True, by=Channel.CLI)
    other.close()
    found = await asyncio.wait_for(waiting, 5)
    assert found.state is State.APPROVED


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda d, a: None, Answer(kind=AnswerKind.NOBODY_THERE)),
        (lambda d, a: d.queue.decide(a, approve=True, by=Channel.CLI), Answer(kind=AnswerKind.APPROVED)),
        (
            lambda d, a: d.queue.decide(a, approve=False, by=Channel.CLI, reason="no"),
            Answer(kind=AnswerKind.DENIED, reason="no"),
        ),
        (lambda d, a: d.clock.advance(301), Answer(kind=AnswerKind.DENIED, reason="nobody answered in time")),
    ],
)
async def test_the_out_of_band_approver_brings_what_was_answered(desk, act, expected):
    asked = desk.queue.submit(desk.request())
    act(desk, asked.id)
    assert await OutOfBand(desk.queue, wait_s=0.01).ask(asked) == expected
