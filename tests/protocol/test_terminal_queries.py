"""What programs ask the terminal, and what it answers."""

import re

import pytest

from execkit_mcp.protocol.queries import MAX_SEQUENCE, Modes, answer, questions, unfinished


def answers(text, modes=None):
    modes = modes or Modes()
    return [answer(each, cursor=(3, 7), size=(80, 24), modes=modes) for each in questions(text, modes)]


ASKED = [
    ("\x1b[c", "\x1b[?62;22c"),
    ("\x1b[0c", "\x1b[?62;22c"),
    ("\x1bZ", "\x1b[?62;22c"),
    ("\x1b[>c", "\x1b[>1;10;0c"),
    ("\x1b[5n", "\x1b[0n"),
    ("\x1b[6n", "\x1b[3;7R"),
    ("\x1b[?6n", "\x1b[?3;7R"),
    ("\x1b[>q", "\x1bP>|execkit\x1b\\"),
    ("\x1b[>0q", "\x1bP>|execkit\x1b\\"),
    ("\x1b]11;?\x07", "\x1b]11;rgb:0000/0000/0000\x1b\\"),
    ("\x1b]10;?\x1b\\", "\x1b]10;rgb:e5e5/e5e5/e5e5\x1b\\"),
    ("\x1b[?2004$p", "\x1b[?2004;2$y"),
    ("\x1b[?25$p", "\x1b[?25;1$y"),
    ("\x1b[?31337$p", "\x1b[?31337;0$y"),
    ("\x1b[4$p", "\x1b[4;2$y"),
    ("\x1b[?u", "\x1b[?0u"),
    ("\x1b[18t", "\x1b[8;24;80t"),
    ("\x1b[14t", "\x1b[4;384;640t"),
    ("\x1bP+q544e\x1b\\", "\x1bP1+r544E=787465726D2D323536636F6C6F72\x1b\\"),
    ("\x1bP+q6b62\x1b\\", "\x1bP0+r\x1b\\"),
    ("\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\"),
    ("\x1bP$qzz\x1b\\", "\x1bP0$r\x1b\\"),
    ("\x1b[x", "\x1b[2;1;1;128;128;1;0x"),
]


@pytest.mark.parametrize(("text", "expected"), ASKED)
def test_a_question_is_answered(text, expected):
    assert answers(f"before{text}after") == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "\x05",
        "\x1b[21t",
        "\x1b[20t",
        "\x1b]52;c;?\x07",
        "\x1b]0;evil\x07",
        "\x1b]11;red\x07",
        "\x1b[m",
        "\x1b]60;?\x07",
    ],
)
def test_what_would_return_a_programs_text_is_not_answered(text):
    assert answers(text) == []


def test_modes_are_followed():
    modes = Modes()
    assert answers("\x1b[?1;2004h\x1b[?1$p", modes) == ["\x1b[?1;1$y"]
    assert modes.is_bracketed_paste
    assert answers("\x1b[?1049h\x1b[?1049$p", modes) == ["\x1b[?1049;1$y"]
    answers("\x1bc", modes)
    assert modes == Modes()


@pytest.mark.parametrize("whole", [text for text, _ in ASKED])
def test_a_question_that_a_border_cuts_is_put_together(whole):
    for at in range(1, len(whole)):
        assert unfinished("abc" + whole[:at]) == 3
    assert unfinished("abc" + whole) == len("abc" + whole)


def test_an_endless_sequence_is_not_waited_for():
    assert unfinished("\x1b]0;" + "x" * (MAX_SEQUENCE + 10)) == MAX_SEQUENCE + 14


PLAIN = re.compile(r"(?:\x1b[\[P\]][0-9;?>|$!+=:/a-zA-Z]*(?:\x1b\\)?)+")


def test_answers_hold_nothing_that_ends_a_line_or_that_the_program_chose():
    for text, _ in ASKED:
        (told,) = answers(text)
        assert PLAIN.fullmatch(told), told
        assert "\r" not in told
        assert "\n" not in told
