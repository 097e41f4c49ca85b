import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execkit_mcp.output import RetainedText, marked, view
from execkit_mcp.output.budget import MARKER_START
from execkit_mcp.output.signs import BENIGN, BLOCKS, ERRORS, WARNINGS, block_at, error_hits, error_signs, opening_hits

PLAIN = "".join(f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)} compiles a file of its own\n" for n in range(3000))


def shown(text: str, budget: int = 4000) -> str:
    retained = RetainedText()
    retained.append(text)
    out, _ = view(retained, budget, exec_id="x_1")
    return out


@pytest.mark.parametrize("rule", BLOCKS, ids=lambda rule: rule.name)
def test_the_example_of_a_block_is_found_whole_and_its_counter_example_is_not(rule):
    lines = [line.encode() for line in rule.example.splitlines(keepends=True)]
    (opening,) = list(opening_hits(rule.example.encode()))[:1]
    index = rule.example.encode()[:opening].count(b"\n")
    assert block_at(lines, index) == (0, len(lines))
    assert block_at([rule.counter.encode()], 0) is None


@pytest.mark.parametrize("sign", [*ERRORS, *WARNINGS, *BENIGN], ids=lambda sign: sign.example)
def test_a_sign_is_seen_in_its_example_only(sign):
    assert re.search(sign.pattern, sign.example)
    assert not re.search(sign.pattern, sign.counter)


def test_a_line_that_says_there_are_no_errors_is_no_error():
    assert list(error_hits(b"0 errors, 0 failures\nerror: 5\n")) == [21]


@pytest.mark.parametrize("rule", BLOCKS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_block_in_the_middle_of_a_long_log_is_kept_whole(rule, place):
    lines = PLAIN.splitlines(keepends=True)
    at = int(len(lines) * place)
    out = shown("".join([*lines[:at], rule.example, *lines[at:]]))
    assert rule.example in out


LONG = "".join(
    f"[{n:05}] {PLAIN[n % 60 * 28 : n % 60 * 28 + 2]} compiles {n * 7919 % 9973} files\n" for n in range(60_000)
)


@pytest.mark.parametrize("rule", BLOCKS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("budget", [4000, 20_000])
def test_a_block_in_the_middle_of_tens_of_thousands_of_lines_is_kept_whole(rule, budget):
    at = LONG.index("[30000]")
    assert rule.example in shown(LONG[:at] + rule.example + LONG[at:], budget)


@pytest.mark.parametrize("sign", ERRORS, ids=lambda sign: sign.example)
def test_an_error_in_the_middle_of_tens_of_thousands_of_lines_is_kept_with_its_surroundings(sign):
    at = LONG.index("[30000]")
    out = shown(LONG[:at] + sign.example + "\n" + LONG[at:])
    assert re.search(r"\[29999\] .*\n" + re.escape(sign.example) + r"\n\[30000\] .*\n", out)


def test_an_error_in_the_middle_of_one_line_of_megabytes_is_kept():
    assert "error 4711" in shown("plain words " * 150_000 + "error 4711 " + "plain words " * 150_000)


def test_of_lines_that_were_not_looked_at_no_likeness_is_told():
    alike = "".join(f"{n} handled a request\n" for n in range(90_000))
    markers = [line for line in shown(alike).splitlines() if line.startswith(MARKER_START)]
    (big,) = [line for line in markers if "50000" in line or re.search(r"[456]\d{4} lines", line)]
    assert "like lines shown" not in big
    assert all("all like lines shown" in line for line in markers if line != big)


def test_a_gap_tells_how_many_errors_are_in_it_although_it_was_not_taken_apart():
    at, end = LONG.index("[28000]"), LONG.index("[31000]")
    out = shown(LONG[:at] + LONG[at:end].replace("files\n", "files: error\n") + LONG[end:])
    assert sum(int(found) for found in re.findall(r", (\d+) with errors", out)) + out.count("files: error") == 3000
    few = shown(LONG[:at] + "error of one shape\n" * 50 + LONG[at:])
    assert sum(int(found) for found in re.findall(r", (\d+) with errors", few)) + few.count("of one shape") == 50


@pytest.mark.parametrize("limit", [900, 3000, 20_000])
@given(data=st.data())
def test_every_line_is_counted_once_wherever_it_stands(limit, data):
    words = ["plain", "ERROR é😀", "Traceback (most recent call last):", "  File a", "E: no", "warn", "x" * 300, ""]
    lines = data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=120))
    text = "\n".join(lines) + data.draw(st.sampled_from(["", "\n"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("execkit_mcp.output.budget._ANALYSED_BYTES", 500)
        patch.setattr("execkit_mcp.output.budget._ANALYSED_LINES", 8)
        patch.setattr("execkit_mcp.output.retained._PIECE_BYTES", 97)
        retained = RetainedText(limit_bytes=limit)
        for at in range(0, len(text), 53):
            retained.append(text[at : at + 53])
        out, count = view(retained, 1000)
    assert len(out) <= 1000
    if count is None:
        assert out == text
        return
    assert (count.total_bytes, count.total_lines) == (len(text.encode()), text.count("\n") + (not text.endswith("\n")))
    markers = [line for line in out.splitlines() if line.startswith(MARKER_START)]
    left_out = sum(int(found[1]) for line in markers if (found := re.search(r"(\d+) lines? left out", line)))
    assert left_out == count.omitted_lines
    for line in out.split("\n"):
        assert line in text or line.startswith(MARKER_START)


def test_lines_that_say_that_all_is_well_take_little_time(monkeypatch):
    looked = []
    monkeypatch.setattr(marked, "error_signs", lambda data: (looked.append(1) or each for each in error_signs(data)))
    retained = RetainedText(limit_bytes=8 << 20)
    retained.append("0 errors, 0 failed\n" * 50_000 + "0 errors, error: found\nerror: one\n" + "0 errors\n" * 600_000)
    out, count = view(retained, 20_000)
    assert "error: one" in out
    assert count is not None
    assert count.total_lines == 650_002
    assert len(looked) < 70_000


def test_a_deep_stack_in_the_middle_is_kept_whole_if_it_fits():
    frames = "".join(f'  File "a{n}.py", line {n}, in f\n    call_of_depth({n})\n' for n in range(55))
    trace = f"Traceback (most recent call last):\n{frames}RecursionError: too deep\n"
    lines = PLAIN.splitlines(keepends=True)
    assert trace in shown("".join([*lines[:1500], trace, *lines[1500:]]))


def test_a_stack_that_does_not_fit_is_kept_with_its_beginning_and_its_end():
    frames = "".join(f'  File "a{n}.py", line {n}, in f\n    call_of_depth({n})\n' for n in range(190))
    trace = f"Traceback (most recent call last):\n{frames}RecursionError: too deep\n"
    lines = PLAIN.splitlines(keepends=True)
    out = shown("".join([*lines[:1500], trace, *lines[1500:]]))
    assert 'Traceback (most recent call last):\n  File "a0.py"' in out
    assert "call_of_depth(189)\nRecursionError: too deep\n" in out


def test_repeated_lines_are_folded_with_their_count():
    out = shown("start\n" + "waiting for the database\n" * 5000 + "ready\n")
    assert out.startswith("start\nwaiting for the database\n")
    assert out.endswith("waiting for the database\nready\n")
    assert re.search(r"\[… 49\d\d lines left out, all like lines shown: shell_read\(exec_id='x_1', offset=\d+\)\]", out)
    assert len(out) < 1000


def test_lines_that_differ_in_numbers_times_and_ids_are_folded():
    rows = [
        f"2026-01-02T03:04:{n % 60:02} INFO req={n * 2654435761 % 2**32:08x} took {n % 97} ms\n" for n in range(5000)
    ]
    assert len(shown("".join(rows))) < 2500


def test_progress_is_brought_to_its_last_state():
    rows = [f"Downloading [{'=' * (n // 10)}>{' ' * (50 - n // 10)}] {n / 5:.1f}%\n" for n in range(501)]
    out = shown("begin\n" + "".join(rows) + "done\n")
    assert rows[-1] in out
    assert len(out) < 2000


def test_what_is_only_numbers_is_not_folded():
    out = shown("".join(f"{n}\n" for n in range(10_000)))
    assert len(out) > 3500
    assert out.count(MARKER_START) == 1


def test_errors_of_every_shape_are_kept_before_more_of_the_same():
    rows = [f"error: cannot open the file of user {n}\n" for n in range(2000)]
    rows[777] = "error: the disk is on fire\n"
    out = shown("".join(rows))
    assert "the disk is on fire" in out
    assert "with errors" in out


def test_a_rare_line_among_many_alike_is_kept():
    rows = [f"10.0.0.{n % 256} GET /items/{n} 200\n" for n in range(5000)]
    rows[2500] = "configuration reloaded by operator\n"
    assert "configuration reloaded by operator\n" in shown("".join(rows))


def test_the_surroundings_of_an_error_are_kept():
    lines = PLAIN.splitlines(keepends=True)
    lines[1500] = "ld: cannot find -lfoo\n"
    assert "".join(lines[1497:1503]) in shown("".join(lines))


@pytest.mark.parametrize(
    "text",
    ["\n" * 500_000, "ERROR x\n" * 60_000, "((((((((" * 60_000, "goroutine 1 [\n" + "((((" * 100_000,
     "____ ____ " * 50_000, "Traceback (most recent call last):\n" * 10_000],
    ids=["line ends", "errors", "brackets", "one long line of a block", "rules", "tracebacks"],
)  # fmt: skip
def test_hostile_output_costs_no_more_than_its_length(text):
    retained = RetainedText()
    retained.append(text)
    start = time.process_time()
    out, count = view(retained, 20_000)
    assert time.process_time() - start < 3
    assert len(out) <= 20_000
    assert count is not None
