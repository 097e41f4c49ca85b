import time

import pytest

from execkit_mcp.output import terminal
from execkit_mcp.output.decode import Decoder
from execkit_mcp.output.terminal import MAX_LINE, Terminal

SCREEN = [
    ("plain", "hello\n", "hello\n"),
    ("crlf", "a\r\nb\r\n", "a\nb\n"),
    ("double cr", "a\r\r\n", "a\n"),
    ("colour", "\x1b[1;31mred\x1b[0m\n", "red\n"),
    ("progress", "10%\r20%\r100%\n", "100%\n"),
    ("shorter rewrite", "longer line\rshort\n", "short" + "r line\n"),
    ("rewrite and erase", "longer line\rshort\x1b[K\n", "short\n"),
    ("a progress line that is erased", "10%\r\x1b[K\nnext\n", "\nnext\n"),
    ("a colour between cr and lf", "red\r\x1b[0m\n", "red\n"),
    ("erase whole line", "secret\x1b[2K\rok\n", "ok\n"),
    ("erase to start", "abcdef\x1b[3D\x1b[1K\n", "    ef\n"),
    ("backspace", "abd\bc\n", "abc\n"),
    ("backspaces at the start", "\b\b\bab\n", "ab\n"),
    ("cursor left", "abXX\x1b[2Dcd\n", "abcd\n"),
    ("cursor right", "a\x1b[3Cb\n", "a   b\n"),
    ("column", "abcd\x1b[2GX\n", "aXcd\n"),
    ("delete characters", "abcdef\r\x1b[2P\n", "cdef\n"),
    ("insert characters", "cd\r\x1b[2@ab\n", "abcd\n"),
    ("erase characters", "abcd\r\x1b[2X\n", "  cd\n"),
    ("title", "\x1b]0;title\x07ok\n", "ok\n"),
    ("title with st", "\x1b]2;title\x1b\\ok\n", "ok\n"),
    ("dcs", "\x1bPq#0;1\x1b\\ok\n", "ok\n"),
    ("apc pm sos", "\x1b_a\x1b\\\x1b^b\x1b\\\x1bXc\x1b\\ok\n", "ok\n"),
    ("charset", "\x1b(Bok\x1b)0\n", "ok\n"),
    ("two characters", "\x1b7ok\x1b8\x1b=\n", "ok\n"),
    ("8-bit csi", "\x9b31mred\x9b0m\n", "red\n"),
    ("8-bit osc", "\x9d0;t\x9cok\n", "ok\n"),
    ("bell and others", "a\x07b\x0ec\x0f\n", "abc\n"),
    ("tab stays", "a\tb\n", "a\tb\n"),
    ("form feed ends the line", "a\x0cb\n", "a\nb\n"),
    ("nel", "a\x85b\n", "a\nb\n"),
    ("private mode", "\x1b[?25lok\x1b[?2004h\n", "ok\n"),
    ("unterminated title ends with its line", "\x1b]0;tit\nnext\n", "0;tit\nnext\n"),
    ("unterminated csi", "\x1b[31\nnext\n", "31\nnext\n"),
    ("escape at the end", "abc\x1b", "abc"),
    ("huge count", "ab\x1b[999999999999Dx\n", "xb\n"),
    ("wide text", "漢字\rx\n", "x字\n"),
    ("grep colours", "\x1b[01;31m\x1b[Kfoo\x1b[m\x1b[Kbar\n", "foobar\n"),
    ("goto", "one\x1b[5;1Htwo\n", "one\ntwo\n"),
]


@pytest.mark.parametrize(("name", "raw", "shown"), SCREEN, ids=[row[0] for row in SCREEN])
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_a_line_is_what_a_terminal_would_show(name: str, raw: str, shown: str, size: int):
    terminal = Terminal()
    out = "".join(terminal.push(raw[at : at + size]) for at in range(0, len(raw), size))
    assert out + terminal.finish() == shown


def test_an_unfinished_line_can_be_looked_at_and_still_be_rewritten():
    terminal = Terminal()
    assert terminal.push("50%\r") == ""
    assert terminal.pending() == "50%"
    terminal.push("99%")
    assert terminal.pending() == "99%"
    assert terminal.push("\n") == "99%\n"


def test_a_line_without_an_end_is_held_in_bounded_memory():
    terminal = Terminal()
    given = 0
    for _ in range(200):
        given += len(terminal.push("x" * 65536))
        assert len(terminal.pending()) < MAX_LINE + 65536
    assert given + len(terminal.finish()) == 200 * 65536


def test_an_endless_escape_sequence_is_held_in_bounded_memory():
    terminal = Terminal()
    shown = terminal.push("\x1b]0;")
    for _ in range(100):
        shown += terminal.push("y" * 1000)
    shown += terminal.push("\nnext\n")
    assert shown.endswith("\nnext\n")
    assert shown.count("y") == 100_000


@pytest.mark.parametrize(
    ("data", "text", "replaced"),
    [
        (b"ok", "ok", 0),
        (b"\xff\xfe", "\ufffd\ufffd", 2),
        (b"a\0b", "a\ufffdb", 1),
        ("\ufffd".encode(), "\ufffd", 0),
        (b"\xe2\x82", "\ufffd", 1),
        ("é漢😀".encode(), "é漢😀", 0),
        (b"\xed\xa0\x80", b"\xed\xa0\x80".decode("utf-8", "replace"), 3),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_bytes_that_are_no_text_are_replaced_and_counted(data: bytes, text: str, replaced: int, size: int):
    decoder = Decoder()
    out = "".join(decoder.push(data[at : at + size]) for at in range(0, len(data), size)) + decoder.finish()
    assert (out, decoder.replaced) == (text, replaced)


def test_the_quick_look_for_control_characters_finds_what_the_pattern_finds():
    for code in (*range(0x120), 0xD800, 0xFFFD, 0x1F600):
        for text in (chr(code), f"ab{chr(code)}é\n\t"):
            assert terminal._has_control(text) == bool(terminal._CONTROL.search(text)), (code, text)


def test_a_progress_line_of_megabytes_takes_no_time_by_the_character():
    terminal, chunk = Terminal(), "".join(f"\r{n}%" for n in range(100)) * 160 + "\r"
    start = time.process_time()
    for _ in range(120):
        assert terminal.push(chunk) == ""
    assert time.process_time() - start < 3
    assert terminal.push("100%\n") == "100%\n"
