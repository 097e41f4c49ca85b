"""P4: a one-time token answers one approval, once."""

import json

import pytest

from execkit_mcp.approvals import ApprovalRequest, Channel, State
from execkit_mcp.errors import ApprovalExpired
from execkit_mcp.model import PolicyRef
from execkit_mcp.runtime.desk import ApprovalDesk
from execkit_mcp.runtime.token_answer import answer_by_token

pytestmark = pytest.mark.promise("P4")


@pytest.fixture
def desk(tmp_path):
    opened = ApprovalDesk.open(state_dir=tmp_path, audit_dir=tmp_path)
    yield opened
    opened.close()


def ask(desk, canonical="rm -r build", ttl_s=300):
    now_s = desk.now_s()
    return desk.queue.submit(
        ApprovalRequest(
            canonical=canonical,
            target="local",
            cwd="/srv",
            policy=PolicyRef(name="p", digest="d"),
            requester="mcp:client",
            created_s=now_s,
            expires_s=now_s + ttl_s,
        )
    )


def send(desk, token, answer):
    return answer_by_token(desk, json.dumps({"token": token, "answer": answer}).encode())


def test_a_used_token_does_not_even_take_its_own_yes_back(desk):
    asked = ask(desk)
    token = desk.tokens.issue(asked.id)
    assert send(desk, token, "approve")[0] == 200
    assert send(desk, token, "deny")[0] == 409  # a no of the same second would beat the yes
    assert desk.get(asked.id).state is State.APPROVED


def test_a_token_is_good_for_its_own_approval_alone(desk):
    first, second = ask(desk), ask(desk, "rm -r other")
    token = desk.tokens.issue(first.id)
    assert send(desk, token, "approve")[1] == {"approval_id": first.id, "state": "approved"}
    assert desk.get(second.id).state is State.PENDING


@pytest.mark.parametrize("forged", ["", "apt_", "apt_" + "0" * 64, "' OR 1=1 --", "apr_0123456789abcdef", "x" * 9999])
def test_a_forged_token_is_worth_nothing(desk, forged):
    asked = ask(desk)
    desk.tokens.issue(asked.id)
    assert send(desk, forged, "approve")[0] == 409
    with pytest.raises(ApprovalExpired, match="unknown or was used"):
        desk.tokens.use(forged)
    assert desk.get(asked.id).state is State.PENDING


def test_a_token_of_an_approval_that_was_answered_elsewhere_or_ran_out_is_worth_nothing(desk):
    late = ask(desk, "rm late", ttl_s=-1)
    assert send(desk, desk.tokens.issue(late.id), "approve")[0] == 409
    asked = ask(desk)
    token = desk.tokens.issue(asked.id)
    desk.deny(asked.id, by=Channel.CLI, who="anna")
    assert send(desk, token, "approve")[0] == 409
