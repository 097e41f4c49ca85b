from itertools import islice

import pytest

from execkit_mcp.output import RetainedText, view
from execkit_mcp.output.budget import MARKER_START
from execkit_mcp.output.pattern import PatternRefused


def filled(text: str, limit: int = 1 << 20, step: int = 7) -> RetainedText:
    retained = RetainedText(limit_bytes=limit)
    for at in range(0, len(text), step):
        retained.append(text[at : at + step])
    return retained


LINES = "".join(f"line {n} é漢\n" for n in range(1, 2001))


def test_everything_is_read_back_in_pieces():
    retained = filled(LINES)
    out, offset = "", 0
    while offset < retained.total_bytes:
        piece = retained.read(offset, 100)
        assert piece.offset == offset
        out += piece.text
        offset = piece.next_offset
    assert out == LINES
    assert retained.total_lines == 2000


def test_counts_stay_exact_when_the_middle_falls_out():
    retained = filled(LINES, limit=1000)
    assert retained.total_bytes == len(LINES.encode())
    assert retained.total_lines == 2000
    assert retained.dropped_bytes > 0
    gap = retained.read(retained.head_bytes, 10)
    assert gap.skipped_bytes == retained.dropped_bytes
    assert LINES.encode()[gap.offset : gap.next_offset].decode() == gap.text


def test_what_is_kept_stays_within_the_limit():
    retained = RetainedText(limit_bytes=10_000)
    for _ in range(300):
        retained.append("x" * 999 + "\n")
        assert retained.total_bytes - retained.dropped_bytes <= 10_000
    assert retained.total_bytes == 300_000


def test_an_offset_inside_a_character_moves_to_its_start():
    retained = filled("aé漢b")
    assert retained.read(2, 1).text == "é"
    assert retained.read(4, 1).offset == 3
    assert retained.read(99, 5) == retained.read(retained.total_bytes, 5)


@pytest.mark.parametrize(("count", "text"), [(0, ""), (1, "c\n"), (2, "b\nc\n"), (9, "a\nb\nc\n")])
def test_tail_gives_the_last_lines(count: int, text: str):
    assert filled("a\nb\nc\n").tail(count).text == text


def test_tail_counts_an_unterminated_last_line():
    assert filled("a\nb\nc").tail(2).text == "b\nc"


def test_grep_numbers_the_lines_of_the_whole_text():
    found = filled(LINES).grep(r"^line 1\d00 ")
    assert found.matches == 10
    assert found.text.startswith("1000:line 1000 é漢\n")
    late = filled(LINES, limit=2000).grep("line 2000")
    assert late.text == "2000:line 2000 é漢\n"


def test_grep_counts_all_matches_and_shows_what_fits():
    found = filled(LINES).grep("line", max_chars=100)
    assert found.matches == 2000
    assert len(found.text) <= 100


@pytest.mark.parametrize("limit", [40_000, 1 << 20])
@pytest.mark.parametrize("is_copy", [False, True])
def test_a_text_that_grows_while_it_is_searched_gives_true_lines_and_misses_none_that_stay(limit, is_copy):
    lines = [f"row {n} {'even' if n % 2 == 0 else 'odd'}\n" for n in range(9000)]
    retained = RetainedText(limit_bytes=limit)
    for line in lines[:6000]:
        retained.append(line)
    steps = (retained.with_pending("row last even") if is_copy else retained).grep_steps("even$", 1 << 20)
    rest = iter(lines[6000:])
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found = end.value
            break
        for line in islice(rest, 40):
            retained.append(line)
    rows = found.text.splitlines()
    assert len(rows) == found.matches == len(set(rows))
    for row in rows:
        number, line = row.split(":", 1)
        assert line == ("row last even" if is_copy and number == "6001" else lines[int(number) - 1].strip())
    for offset, data in retained.pieces(0, retained.total_bytes):
        for number, line in enumerate(data.decode().splitlines(), retained.lines_before(offset) + 1):
            if "even" in line and number <= 6000:
                assert f"{number}:{line}" in rows or not retained.starts_line(offset)


@pytest.mark.parametrize(("limit", "before"), [(1 << 20, 5000), (20_000, 5000), (1 << 20, 0)])
def test_the_line_in_progress_is_searched_however_much_comes_meanwhile(limit: int, before: int):
    retained = RetainedText(limit_bytes=limit)
    retained.append("".join(f"row {n}\n" for n in range(before)) + "begun ")
    steps = retained.with_pending("and no end").grep_steps("no end$|^row 9$")
    row = f"{before + 1}:"
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found = end.value.text.splitlines()
            break
        retained.append("and an end\n" * 4000)
    assert found[-1].removeprefix(row) in {"begun and no end", "and no end"}
    assert found[:-1] == (["10:row 9"] if before else [])


@pytest.mark.parametrize("pattern", ["(", r"(a)\1", "(?=a)", "a" * 2000])
def test_a_pattern_that_cannot_be_matched_in_linear_time_is_refused(pattern: str):
    with pytest.raises(PatternRefused):
        filled("a\n").grep(pattern)


def test_a_hostile_pattern_is_no_slower_than_others():
    assert filled("a" * 20_000 + "!\n", step=1000).grep("(a|a)*(a+)+$").matches == 0


def test_what_fits_is_given_whole():
    assert view(filled("a\nb"), 3) == ("a\nb", None)


@pytest.mark.parametrize("limit", [1 << 20, 3000])
@pytest.mark.parametrize("budget", [0, 1, 50, 500, 1000, 20_000])
def test_kept_and_omitted_add_up(limit: int, budget: int):
    retained = filled(LINES, limit=limit)
    text, count = view(retained, budget)
    assert count is not None
    shown = [line for line in text.splitlines(keepends=True) if not line.startswith(MARKER_START)]
    kept = "".join(shown)
    assert len(kept.encode()) + count.omitted_bytes == count.total_bytes == len(LINES.encode())
    assert len(shown) + count.omitted_lines == count.total_lines == 2000
    assert len(kept) <= budget
    assert "shell_read" in text
    assert all(line.startswith("line ") and line.endswith("漢\n") for line in shown) or budget < 50


def test_a_line_longer_than_the_budget_is_cut_and_counted_once():
    text, count = view(filled("x" * 100_000, step=5000), 1000)
    assert count is not None
    assert (count.total_lines, count.omitted_lines) == (1, 0)
    shown = [line for line in text.splitlines() if not line.startswith(MARKER_START)]
    assert count.omitted_bytes + sum(map(len, shown)) == 100_000
    assert "bytes of this line left out" in text


def test_the_marker_names_the_exec_and_the_offset():
    text, count = view(filled(LINES), 1000, exec_id="e7", stream="stderr")
    assert count is not None
    head = text.split(MARKER_START)[0]
    assert f"shell_read(exec_id='e7', stream='stderr', offset={len(head.encode())})]" in text
