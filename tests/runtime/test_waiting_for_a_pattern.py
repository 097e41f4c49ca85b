"""A pattern that is waited for is looked for in all that is kept, and the looking always comes to an end."""

import pytest

from execkit_mcp.output import RetainedText
from execkit_mcp.runtime.reading import Awaited

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
