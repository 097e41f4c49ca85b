import re
import time

import pytest

from execkit_mcp.output import RetainedText, view
from execkit_mcp.output.budget import MARKER_START
from execkit_mcp.output.signs import BENIGN, BLOCKS, ERRORS, WARNINGS, block_at, error_hits, opening_hits

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
