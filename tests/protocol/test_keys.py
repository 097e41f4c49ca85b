"""Keys by name: what xterm sends, other spellings, and the nearest name for a wrong one."""

import pytest

from execkit_mcp.errors import CommandInvalid
from execkit_mcp.protocol.keys import NAMES, encode, key_name


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("Enter", "enter"), ("return", "enter"),
        ("ESC", "escape"), ("C-c", "ctrl-c"), ("ctrl+c", "ctrl-c"),
        ("^C", "ctrl-c"),
        ("pgdn", "page-down"), ("ArrowUp", "up"), ("page_up", "page-up"), ("M-x", "alt-x"), ("ctrl-[", "escape"),
        ("<Down>", "down"), ("F12", "f12"),
    ],
)  # fmt: skip
def test_other_spellings_are_understood(asked, name):
    assert key_name(asked) == name


@pytest.mark.parametrize(("asked", "near"), [("entr", "enter"), ("ctrl-cc", "ctrl-c"), ("pagedwn", "page-down")])
def test_a_wrong_name_gets_the_nearest(asked, near):
    with pytest.raises(CommandInvalid) as refused:
        key_name(asked)
    assert refused.value.code == "command.invalid"
    assert near in refused.value.hint
    assert near in refused.value.details["nearest"]


def test_cursor_keys_change_with_the_programs_mode():
    assert encode("up") == b"\x1b[A"
    assert encode("up", is_application_cursor=True) == b"\x1bOA"
    assert encode("f5", is_application_cursor=True) == b"\x1b[15~"


def test_no_two_keys_of_a_kind_send_the_same():
    same = {"tab", "ctrl-i", "enter", "ctrl-m", "escape", "backspace"}
    sent = [encode(name) for name in NAMES if name not in same]
    assert len(sent) == len(set(sent))
