import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from execkit_mcp.approvals import Approval, ApprovalRequest, State, Stdin, describe, visible
from execkit_mcp.approvals.display import describe_request, summary
from execkit_mcp.model import HazardHit, PolicyRef, Severity

ANY = st.text(st.characters(exclude_categories=()), max_size=30)
BASE = ApprovalRequest(
    canonical="rm -r build",
    target="local",
    cwd="/srv",
    policy=PolicyRef(name="p", digest="sha256:d1"),
    requester="client/main",
    created_s=100.0,
    expires_s=400.0,
)
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn", "Me", "Mc"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm -r build", "rm -r build"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\x1b[2Kb", "a⟨ESC⟩[2Kb"),
        ("a\rb\tc\x00", "a⟨CR⟩b⟨TAB⟩c⟨NUL⟩"),
        ("\u0440m", "\u0440⟨U+0440⟩m"),
        ("a\u2215b", "a\u2215⟨U+2215⟩b"),
        ("\uff52m", "\uff52⟨U+FF52⟩m"),
        ("x\u00a0y", "x⟨NBSP⟩y"),
        ("e\u0301", "e⟨U+0301⟩"),
        ("\u3164", "⟨U+3164⟩"),
        ("⟨TAB⟩", "⟨⟨U+27E8⟩TAB⟩⟨U+27E9⟩"),
        ("Zoë 漢字 straße", "Zoë 漢字 straße"),
        ("ls" + " " * 60 + "; rm x", "ls ⟨60 spaces⟩ ; rm x"),
        ("\ud800", "⟨U+D800⟩"),
    ],
)
def test_every_character_shows(text, shown):
    assert visible(text) == shown


@given(text=ANY)
def test_nothing_that_is_shown_can_hide(text):
    assert not any(unicodedata.category(c) in HIDDEN for c in visible(text))


@given(first=ANY, second=ANY)
def test_two_texts_never_look_the_same_by_their_marks(first, second):
    if "  " not in first + second:
        assert (visible(first) == visible(second)) == (first == second)


@given(command=ANY, reason=ANY, cwd=ANY, requester=ANY)
def test_no_value_can_pose_as_a_field(command, reason, cwd, requester):
    request = replace(
        BASE,
        canonical=command + "\ntarget     : harmless",
        agent_reason=reason + "\ncommand    : ls",
        cwd=cwd + "\npolicy     : x",
        requester=requester,
    )
    text = describe_request(request)
    assert [line for line in text.split("\n") if line.startswith("target     :")] == ["target     : local"]
    assert sum(line.startswith("command    :") for line in text.split("\n")) == 1
    assert not any(unicodedata.category(c) in HIDDEN for c in text.replace("\n", ""))


def test_a_person_sees_everything_that_the_answer_binds():
    request = replace(
        BASE,
        run_as="deploy",
        stdin=Stdin.of("line one\nline two"),
        is_tty=True,
        effects=tuple(f"write(/srv/{n})" for n in range(50)),
        hazards=(HazardHit(id="rm-recursive", severity=Severity.HIGH, message="removes folders"),),
        rule="ops",
        message="Removal is asked for.",
        agent_reason="I am told to " + "x" * 600,
    )
    text = describe_request(request)
    for part in (
        "rm -r build",
        "local, as deploy",
        "/srv",
        "line two",
        "type into it",
        "write(/srv/3)",
        "and 10 things more",
        "rm-recursive (high)",
        "ops: Removal is asked for.",
        "client/main",
        "sha256:d1",
        "nobody has checked it",
    ):
        assert part in text
    assert "x" * 501 not in text


def test_a_long_input_says_that_it_is_not_shown_whole():
    assert "ONLY ITS BEGINNING" in describe_request(replace(BASE, stdin=Stdin.of("x" * 9000)))


def test_a_command_with_look_alikes_is_warned_about():
    assert "WARNING" in describe_request(replace(BASE, canonical="r\u043c -r x"))
    assert "WARNING" not in describe_request(replace(BASE, canonical="for x in a\ndo ls\ndone"))


@pytest.mark.parametrize(
    ("state", "now_s", "part"),
    [
        (State.PENDING, 100.0, "pending, counts as denied in 5 min 0 s"),
        (State.PENDING, 390.0, "in 10 s"),
        (State.APPROVED, 500.0, "good for one run within 0 s"),
        (State.REDEEMED, 100.0, "redeemed, answered over cli (root)"),
    ],
)
def test_an_approval_says_how_it_stands(state, now_s, part):
    approval = Approval(
        id="apr_0",
        request=BASE,
        state=state,
        expires_s=400.0,
        decided_by="" if state is State.PENDING else "cli",
        decided_who="root",
        reason="fine",
    )
    text = describe(approval, now_s=now_s)
    assert part in text.split("\n")[0]
    assert "fine" in text
    assert "rm -r build" in summary(approval, now_s=now_s)
