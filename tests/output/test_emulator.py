"""The screen that a program's output leaves, against what xterm would show."""

import random
import time

import pytest

from execkit_mcp.output.emulator import Emulator
from execkit_mcp.output.row import SCROLLBACK_LINES
from execkit_mcp.output.screen import MAX_WAITING, Screen


def screen(text, cols=10, rows=4):
    emulator = Emulator(cols, rows)
    emulator.feed(text)
    return emulator


def lines(emulator):
    return [row.text for row in emulator.rows()]


CASES = [
    ("ab\r\ncd", ["ab", "cd", "", ""]),
    ("0123456789ab", ["0123456789", "ab", "", ""]),
    ("\x1b[2;3Hx", ["", "  x", "", ""]),
    ("abc\x1b[2Dx", ["axc", "", "", ""]),
    ("a\r\nb\r\nc\r\nd\r\ne", ["b", "c", "d", "e"]),
    ("main\x1b[?1049h\x1b[Halt", ["alt", "", "", ""]),
    ("main\x1b[?1049h\x1b[Halt\x1b[?1049l!", ["main!", "", "", ""]),
    ("a\x1b[4b", ["aaaaa", "", "", ""]),
    ("abcdef\x1b[3G\x1b[2P", ["abef", "", "", ""]),
    ("abc\x1b[1G\x1b[2@", ["  abc", "", "", ""]),
    ("abc\x1b[1G\x1b[K", ["", "", "", ""]),
    ("abc\x1b[2J\x1b[Hx", ["x", "", "", ""]),
    ("\x1b(0lqk\x1b(B", ["┌─┐", "", "", ""]),
    ("a\r\nb\r\nc\x1b[1S", ["b", "c", "", ""]),
    ("a\r\nb\r\nc\x1b[1T", ["", "a", "b", "c"]),
    ("\x1b[2;3r\x1b[2Ha\r\nb\r\nc\x1b[r", ["", "b", "c", ""]),
    ("\x1b]0;title\x07x\x1bP+q544e\x1b\\y\x1b_apc\x1b\\z", ["xyz", "", "", ""]),
    ("\x1b[>4;2mx\x1b[=1uy\x1b[1 qz", ["xyz", "", "", ""]),
    ("漢字x", ["漢字x", "", "", ""]),
    ("a\tb", ["a       b", "", "", ""]),
    ("\t\x1b[Zx", ["x", "", "", ""]),
    ("ab\x1b7\x1b[3Hx\x1b8c", ["abc", "", "x", ""]),
    ("x\x1bcy", ["y", "", "", ""]),
    ("0123456789\r\x1b[@\x1b[P", ["012345678", "", "", ""]),
    ("ab\x1b7\x1b[3Hx\x1b8c\x1b[3Hy\x1b8d", ["abd", "", "y", ""]),
    ("ab\x1b7\x1b7\x1bcx\x1b8y", ["y", "", "", ""]),
    ("\x1b(0\x1b7\x1b(Bq\x1b8q", ["─", "", "", ""]),
    ("\x1b[?6h\x1b[3dx", ["", "", "x", ""]),
    ("\x1b[2;3r\x1b[?6h\x1b[9dx", ["", "", "x", ""]),
    ("ab\x1b#8", ["E" * 10] * 4),
    ("\x1b[?7l0123456789ab", ["012345678b", "", "", ""]),
    ("\u26a0\ufe0f Note", ["\u26a0\ufe0f Note", "", "", ""]),
    ("a\u200bb\ufeffc", ["abc", "", "", ""]),
    ("e\u0301 e\u0323\u0308", ["\xe9 \u1eb9\u0308", "", "", ""]),
    ("012345678漢x", ["012345678", "漢x", "", ""]),
    ("012345678e\u0301\r\nx", ["012345678\xe9", "x", "", ""]),
    ("漢字\x1b[2Gx", [" x字", "", "", ""]),
    ("漢字\x1b[3Gx", ["漢x", "", "", ""]),
    ("a\r\nb\x1b[4;1Hc\x1b[1;1H\x1b[M", ["b", "", "c", ""]),
    ("a\x1b[3;1Hb\x1b[1;1H\x1b[M", ["", "b", "", ""]),
    ("a\r\nb\x1b[1;1H\x1b[M\x1b[M", ["", "", "", ""]),
    ("a\x1b[3;4rb", ["b", "", "", ""]),
    ("abc\x1b[rx", ["xbc", "", "", ""]),
    ("\x1b[2;3r\x1b[4Ha\x1b[Bb", ["", "", "", "ab"]),
    ("\x1b[3;4r\x1b[2Ha\x1b[Ab", [" b", "a", "", ""]),
    ("\x1b[?7l0123456789ab\x1b[?7hx", ["012345678x", "", "", ""]),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_screen_shows_what_was_drawn(text, expected):
    assert lines(screen(text)) == expected


@pytest.mark.parametrize(("text", "_"), CASES)
def test_a_character_at_a_time_makes_the_same_screen(text, _):
    from execkit_mcp.protocol.queries import unfinished

    emulator, held = Emulator(10, 4), ""
    for character in text:
        held += character
        cut = unfinished(held)
        emulator.feed(held[:cut])
        held = held[cut:]
    assert lines(emulator) == lines(screen(text))


def test_a_smaller_screen_keeps_what_still_fits_and_the_rest_above():
    emulator = screen("a\r\nb\r\n$ ", rows=6)
    emulator.resize(10, 4)
    assert (lines(emulator), emulator.cursor) == (["a", "b", "$ ", ""], (3, 3))
    emulator.resize(10, 2)
    assert (lines(emulator), emulator.cursor) == (["b", "$ "], (2, 3))
    assert [row.text for row in emulator.scrollback()] == ["a"]


def test_a_smaller_screen_keeps_the_end_of_the_main_one_behind_a_full_screen_program():
    emulator = screen("a\r\nb\r\nc\r\n$ \x1b[?1049h\x1b[2Jfull")
    emulator.resize(10, 2)
    emulator.feed("\x1b[?1049l!")
    assert lines(emulator) == ["c", "$ !"]


def test_a_wider_screen_has_tab_stops_to_its_end():
    emulator = screen("", cols=10)
    emulator.resize(40, 4)
    emulator.feed("\t\t\t\tx")
    assert lines(emulator)[0] == " " * 32 + "x"


def test_marks_without_end_do_not_make_a_cell_grow():
    assert len(lines(screen("a" + "\u0301" * 50_000))[0]) < 20


def test_the_blank_behind_a_prompt_is_shown_while_the_cursor_stands_there():
    assert lines(screen("漢$ ")) == ["漢$ ", "", "", ""]
    assert lines(screen("a   \r\n$ ")) == ["a", "$ ", "", ""]
    assert lines(screen("a  \x1b[3;8H")) == ["a", "", "", ""]
    assert lines(screen("$ \x1b[5C")) == ["$ ", "", "", ""]
    assert lines(screen("     ")) == ["", "", "", ""]


def test_a_row_that_ran_over_the_edge_says_so():
    assert [row.is_wrapped for row in screen("0123456789ab").rows()] == [True, False, False, False]


def test_lines_that_leave_the_screen_are_kept_within_a_bound():
    emulator = screen("".join(f"{n}\r\n" for n in range(2000)))
    kept = [row.text for row in emulator.scrollback()]
    assert len(kept) == SCROLLBACK_LINES
    assert kept[-1] == "1996"


def test_no_sequence_breaks_it_or_makes_it_grow():
    chance = random.Random(7)
    alphabet = ["\x1b[", "\x1b]", "\x1bP", "\x1b", "\x9b", ";", "?", ">", "9999", "1", "0", "1049h", "1049l", "\x1b\\"]
    alphabet += ["6h", "6l", "4h", "7l", "\x1b#8", "\x1b7", "\x1b8", *"EFGIadefi`"]
    alphabet += ["漢", "\u0301", *"ABCDHJKLMPSTXZ@bhlmnrsugcqx\r\n\b\t\x0e\x07\x00\x7f"]
    emulator = Emulator(20, 6)
    for _ in range(3000):
        emulator.feed("".join(chance.choices(alphabet, k=chance.randrange(1, 30))))
        if chance.random() < 0.05:
            emulator.resize(chance.randrange(20, 60), chance.randrange(5, 20))
        cols, rows = emulator.size
        assert 1 <= emulator.cursor[0] <= rows
        assert 1 <= emulator.cursor[1] <= cols
    assert len(emulator.rows()) == emulator.size[1]
    assert len(emulator._grid.buffer) <= emulator.size[1]


def test_a_flood_of_plain_lines_is_not_drawn_but_its_end_is_exact():
    kept = Screen(80, 24)
    for block in range(400):
        kept.push("".join(f"line {block} {n}\r\n" for n in range(200)), 0.0)
    assert not kept.is_drawn
    assert kept._waiting <= MAX_WAITING
    assert kept.rows()[-2].text == "line 399 199"
    assert kept.rows()[0].text == "line 399 177"
    assert not kept.is_partial


def test_a_flood_of_drawing_is_cut_and_says_so():
    kept = Screen(80, 24)
    for block in range(200):
        kept.push("".join(f"\x1b[{n % 24 + 1};1Hcell {block} {n}\x1b[K" for n in range(500)), 0.0)
    assert kept.is_partial
    assert kept._waiting <= MAX_WAITING + 20_000
    assert any("cell 199" in row.text for row in kept.rows())


@pytest.mark.parametrize("dear", ["\x1b#8", "\x1b[2J", "\x0bz", "\x1bM", "\x1b[9999T", "\x1b[9999I", "\x1bc"])
def test_what_is_dear_to_draw_is_not_drawn_for_seconds(dear):
    kept = Screen(200, 60)
    kept.push(dear * (MAX_WAITING // len(dear)), 0.0)
    began_s = time.thread_time()
    kept.rows()
    assert time.thread_time() - began_s < 3
    assert kept.is_partial


def test_what_a_flood_skips_does_not_lose_the_alternate_screen():
    kept = Screen(80, 24)
    kept.push("before\x1b[?1049h" + "x\n" * 100_000, 0.0)
    kept.push("\x1b[?1049l", 0.0)
    assert kept.rows()[0].text == "before"
