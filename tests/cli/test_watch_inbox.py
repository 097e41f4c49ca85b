from msgspec.structs import replace

from execkit_mcp.approvals import Approval, ApprovalRequest, ScopeKind, State
from execkit_mcp.cli.watch import keys_of
from execkit_mcp.cli.watch_inbox import HELD_S, Inbox, wrapped
from execkit_mcp.model import PolicyRef

NOW = 1000.0
REQUEST = ApprovalRequest(
    canonical="rm -r build",
    target="local",
    cwd="/srv",
    policy=PolicyRef(name="p", digest="d"),
    requester="mcp:client",
    created_s=NOW,
    expires_s=NOW + 300,
)


def approval(number, **changes):
    request = replace(REQUEST, **changes)
    return Approval(id=f"apr_{number:016x}", request=request, state=State.PENDING, expires_s=NOW + 300)


def inbox(*approvals, needs_code=lambda _: False, rows=40):
    made = Inbox(needs_code)
    made.refresh(approvals, NOW)
    made.lines(80, rows, NOW)
    return made


def typed(made, text):
    for key in text:
        assert made.press(key, NOW) is None
    return made.press("enter", NOW)


def test_one_key_allows_the_selected_command_once():
    made = inbox(approval(1), approval(2, canonical="ls"))
    made.press("down", NOW)
    made.lines(80, 40, NOW)
    answer = made.press("a", NOW)
    assert (answer.approval_id, answer.is_yes, answer.scope.kind) == (approval(2).id, True, ScopeKind.ONCE)


def test_the_other_answers():
    assert inbox(approval(1)).press("s", NOW).scope.kind is ScopeKind.SESSION
    made = inbox(approval(1))
    made.press("u", NOW)
    assert typed(made, "30m").scope.until_s == NOW + 1800
    made.press("u", NOW)
    assert typed(made, "soon") is None
    assert "span of time" in made.lines(80, 40, NOW)[-1]
    made.press("d", NOW)
    answer = typed(made, "not now")
    assert (answer.is_yes, answer.reason) == (False, "not now")
    made.press("e", NOW)
    made.press("clear", NOW)
    assert typed(made, "ls -l").edited == "ls -l"
    made.press("d", NOW)
    assert made.press("escape", NOW) is None
    assert not made.is_typing


def test_a_critical_one_asks_for_the_code():
    made = inbox(approval(1), needs_code=lambda _: True)
    assert made.press("s", NOW) is None
    answer = typed(made, "123456")
    assert (answer.code, answer.scope.kind) == ("123456", ScopeKind.SESSION)
    made.press("d", NOW)
    assert typed(made, "no").is_yes is False  # a no needs none


def test_a_yes_needs_the_whole_question_to_have_been_on_the_screen():
    made = inbox(approval(1, canonical="echo " + "x" * 2000), rows=12)
    assert made.press("a", NOW) is None
    assert "press space" in made.lines(80, 12, NOW)[-1]
    assert made.press("d", NOW) is None
    made.press("escape", NOW)
    for _ in range(40):
        made.press(" ", NOW)
        made.lines(80, 12, NOW)
    assert made.press("a", NOW).is_yes


def test_a_question_that_slips_under_the_finger_is_not_answered():
    made = inbox(approval(1), approval(2, canonical="dd if=/dev/zero"))
    made.refresh([approval(2, canonical="dd if=/dev/zero")], NOW + 1)
    made.lines(80, 40, NOW + 1)
    assert made.press("a", NOW + 1 + HELD_S / 2) is None
    assert "changed just now" in made.lines(80, 40, NOW + 1)[-1]
    assert made.press("a", NOW + 1 + HELD_S).approval_id == approval(2).id


def test_text_that_was_begun_for_one_question_never_answers_another():
    made = inbox(approval(1), approval(2))
    made.press("d", NOW)
    made.press("x", NOW)
    made.refresh([approval(2)], NOW + 5)
    assert not made.is_typing
    assert made.press("enter", NOW + 9) is None


def test_nothing_that_an_agent_wrote_reaches_the_terminal_as_a_control():
    evil = "x\x1b]0;title\x07\u202e\nq"
    made = inbox(approval(1, canonical=evil, agent_reason=evil, cwd=evil, requester=evil, recent=(evil,), diff=evil))
    made.press("e", NOW)
    text = "".join(made.lines(80, 60, NOW))
    assert not any(ord(character) < 32 or character in "\x7f\u202e" for character in text)


def test_the_screen_is_as_large_as_the_terminal():
    made = inbox(*(approval(n) for n in range(30)))
    for cols, rows in ((20, 5), (80, 24), (200, 60)):
        lines = made.lines(cols, rows, NOW)
        assert len(lines) == rows
        assert all(len(line) <= cols for line in lines[:-1])
    assert "no approvals waiting" in inbox().lines(80, 24, NOW)[0]


def test_long_lines_are_wrapped_and_nothing_is_left_out():
    assert wrapped("abcdef\ng", 4) == ["abcd", "ef", "g"]
    assert wrapped("漢字漢字", 4) == ["漢字", "漢字"]


def test_keys_are_what_a_terminal_sends():
    assert list(keys_of(b"a\x1b")) == ["a", "escape"]
    assert list(keys_of(b"\x1b[A")) == ["up"]
    assert list(keys_of("dé\r".encode())) == ["d", "é", "enter"]
    assert list(keys_of(b"\x1b[99;5~a")) == []
