"""A pattern that is waited for is looked for in all that is kept, and the looking always comes to an end."""

import pytest

from execkit_mcp.output import RetainedText
from execkit_mcp.runtime.reading import MAX_MATCHED_CHARS, Awaited

LINE = "0123456789\n"


@pytest.mark.parametrize("limit_bytes", [0, 1, 1000, 100_000, 1 << 20, 3 << 20])
@pytest.mark.parametrize("step", [11, 5_000, 300_000, 2_000_000])
def test_it_ends_where_the_middle_fell_out_and_finds_what_comes_at_the_end(limit_bytes, step):
    text = RetainedText(limit_bytes=limit_bytes)
    awaited = Awaited("^the end$", after=0)
    total = min(step * 40, 5_000_000)
    for at in range(0, total, step):
        text.append((LINE * (step // len(LINE) + 1))[:step])
        if at % (step * 10) == 0:
            assert not awaited.is_in(text)
    assert not awaited.is_in(text)
    text.append("\nthe end\n")
    assert awaited.is_in(text) is (limit_bytes >= len(b"the end\n") * 2)


def test_a_match_before_the_gap_is_found_and_one_that_fell_out_is_not():
    text = RetainedText(limit_bytes=200_000)
    text.append("at the start\n" + LINE * 100_000)
    assert Awaited("at the start", after=0).is_in(text)
    assert not Awaited("at the start", after=20).is_in(text)


def test_a_match_of_two_lines_that_come_apart_is_found_behind_a_long_line_too():
    text = RetainedText()
    awaited = Awaited(r"^ready\nset$", after=0)
    text.append("begin\n" + "#" * 5000 + "\nready\n")
    assert not awaited.is_in(text)
    text.append("set\n")
    assert awaited.is_in(text)
    once = Awaited(r"#ready\nset$", after=0)
    text = RetainedText()
    text.append("begin\n" + "#" * 5000 + "ready\n")
    assert not once.is_in(text)
    text.append("set\n")
    assert once.is_in(text)


def test_a_line_in_progress_is_searched_across_the_borders_of_what_is_searched_at_once():
    text = RetainedText()
    text.append("begun ")
    assert Awaited("the end", after=0).is_in(text.with_pending("#" * (MAX_MATCHED_CHARS - 9) + "the end"))


def test_what_stood_before_is_not_found_when_the_line_in_progress_is_erased():
    text = RetainedText()
    text.append("abc")
    awaited = Awaited("d", after=5)
    assert not awaited.is_in(text)
    text.append("de or more")
    assert not awaited.is_in(text)
    text.append(", indeed")
    assert awaited.is_in(text)
