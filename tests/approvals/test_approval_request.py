import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from execkit_mcp.approvals import ApprovalRequest, Stdin
from execkit_mcp.approvals.request import SHOWN_STDIN_CHARACTERS
from execkit_mcp.model import (
    ApprovalTerms,
    Decision,
    Effect,
    EffectKind,
    HazardHit,
    JudgedCommand,
    PolicyRef,
    ReasonCode,
    Severity,
    Verdict,
)

TEXT = st.text(st.characters(exclude_categories=()), max_size=12)  # lone surrogates too
BASE = ApprovalRequest(
    canonical="rm -r build",
    target="local",
    cwd="/srv",
    policy=PolicyRef(name="p", digest="d1"),
    requester="client/main",
    created_s=100.0,
    expires_s=400.0,
)


def hazard(severity):
    return HazardHit(id="x", severity=severity, message="m")


def bound(values):
    canonical, target, cwd, digest, requester, run_as, stdin, is_tty = values
    return replace(
        BASE,
        canonical=canonical,
        target=target,
        cwd=cwd,
        policy=PolicyRef(name="p", digest=digest),
        requester=requester,
        run_as=run_as,
        stdin=None if stdin is None else Stdin.of(stdin),
        is_tty=is_tty,
    )


BINDINGS = st.tuples(TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, st.none() | TEXT, st.booleans())


@given(first=BINDINGS, second=BINDINGS)
def test_two_requests_share_a_digest_only_if_everything_bound_is_the_same(first, second):
    assert (bound(first).digest() == bound(second).digest()) == (first == second)
    told = bound(first).differences(bound(second).marks(b"k"), b"k")
    assert bool(told) == (first != second)


@given(parts=st.lists(st.text("ab:1\0\n", max_size=4), min_size=3, max_size=3))
def test_moving_text_between_fields_changes_the_digest(parts):
    one = replace(BASE, canonical=parts[0] + parts[1], target=parts[2])
    two = replace(BASE, canonical=parts[0], target=parts[1] + parts[2])
    assert (one.digest() == two.digest()) == (parts[1] == "")


def test_what_is_only_shown_is_not_bound():
    shown = replace(BASE, agent_reason="please", rule="r", message="m", created_s=1.0, expires_s=2.0)
    assert shown.digest() == BASE.digest()


@given(values=BINDINGS, reason=TEXT)
def test_a_request_survives_storage(values, reason):
    request = replace(bound(values), agent_reason=reason, effects=("a", "b"), hazards=(hazard(Severity.HIGH),))
    assert request.dumps().isascii()
    assert ApprovalRequest.loads(request.dumps()) == request


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"policy": 3}'])
def test_what_is_no_request_is_not_read_as_one(text):
    with pytest.raises((ValueError, KeyError, TypeError)):
        ApprovalRequest.loads(text)


def test_long_standard_input_is_bound_whole_and_shown_in_part():
    whole, other = Stdin.of("x" * 5000 + "a"), Stdin.of("x" * 5000 + "b")
    assert whole.head == other.head
    assert not whole.is_whole
    shown = replace(BASE, stdin=whole).shown_by(lambda text: text.replace("xa", "[gone]"))
    assert (shown.stdin.text, shown.stdin.sha256, shown.stdin.is_whole) == ("", "", False)
    assert replace(BASE, stdin=whole).digest() != replace(BASE, stdin=other).digest()


@pytest.mark.parametrize(
    ("channel", "severity", "expected"),
    [
        ("both", Severity.HIGH, False),
        ("elicit", Severity.MEDIUM, False),
        ("out_of_band", Severity.MEDIUM, True),
        ("both", Severity.CRITICAL, True),
        ("elicit", Severity.CRITICAL, True),
    ],
)
def test_critical_hazards_are_out_of_band_whatever_the_channel(channel, severity, expected):
    request = replace(BASE, channel=channel, hazards=(hazard(severity),))
    assert request.is_out_of_band_only is expected


def test_a_request_is_made_from_a_decision():
    effect = Effect(EffectKind.WRITE, "/srv/build")
    command = JudgedCommand(
        argv=("rm",),
        program="rm",
        effects=(effect, effect),
        verdict=Verdict.ASK,
        rule="r",
        source="",
        reason_code=ReasonCode.RULE,
        message="m",
    )
    decision = Decision(
        verdict=Verdict.ASK,
        canonical="rm -r build",
        rule="r",
        reason_code=ReasonCode.RULE,
        message="because",
        hint="",
        policy=PolicyRef(name="p", digest="d"),
        commands=(command,),
        approval=ApprovalTerms(channel="out_of_band", ttl_s=60),
    )
    request = ApprovalRequest.from_decision(
        decision, target="local", cwd="/srv", requester="me", now_s=10.0, stdin="text", is_tty=True
    )
    assert request.effects == ("write(/srv/build)",)
    assert (request.created_s, request.expires_s, request.channel) == (10.0, 70.0, "out_of_band")
    with pytest.raises(ValueError, match="did not parse"):
        ApprovalRequest.from_decision(replace(decision, canonical=None), target="", cwd="", requester="", now_s=0)


def test_a_secret_that_the_cut_would_halve_is_replaced_as_a_whole():
    secret = "hunter2" * 3
    stdin = Stdin.of("x" * (SHOWN_STDIN_CHARACTERS - 5) + secret)
    shown = replace(BASE, stdin=stdin).shown_by(lambda text: text.replace(secret, "[gone]"))
    assert "hunt" not in shown.dumps()
