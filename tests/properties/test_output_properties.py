# ruff: noqa: E501 - a pattern or a row stands in one piece
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execkit_mcp.output import OutputChain, RetainedText, view
from execkit_mcp.output.budget import MARKER_START
from execkit_mcp.redaction import Redactor

PIECES = st.sampled_from(
    ["a", "bc\n", "\r", "\b", "\x1b[", "\x1b[2K", "\x1b[3D", "\x1b[1;31m", "\x1b]0;t", "\x07", "\x1b\\", "\r\n", "é", "漢",
     "\x9b", "K", "\t", "\0", "m", " ", "\x1b", "0", "\x1b[5C", "\x1b[P", "\x0c", "\x1b[H"]
)  # fmt: skip


def chunks(data: bytes, sizes: list[int]) -> list[bytes]:
    out, at, turn = [], 0, 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        out.append(data[at : at + size])
        at += size
        turn += 1
    return out


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=60), st.lists(st.integers(1, 9), min_size=1, max_size=5), st.binary(max_size=4))
def test_any_split_of_the_bytes_gives_the_same_text(pieces, sizes, noise):
    data = "".join(pieces).encode() + noise
    redactor = Redactor(key=b"k")
    whole = OutputChain(redactor=redactor)
    whole.push(data)
    whole.settle()
    split = OutputChain(redactor=redactor)
    for chunk in chunks(data, sizes):
        split.push(chunk)
        split.snapshot()
    split.settle()
    assert split.retained.read(0, 10_000) == whole.retained.read(0, 10_000)
    assert split.invalid_bytes == whole.invalid_bytes


LOG_LINES = st.sampled_from(
    ["GET /a/b took 5 ms\n", "GET /a/b took 17 ms\n", "same line again\n", "ERROR no such file: x\n", "漢字 é😀 " * 9 + "\n", "\n",
     "Traceback (most recent call last):\n", '  File "a.py", line 1\n', "ValueError: 5\n", "warning: old\n", "x" * 1500 + "\n", "y" * 90, "no end"]
)  # fmt: skip
LOGS = st.lists(st.tuples(LOG_LINES, st.integers(1, 60)), max_size=12).map(
    lambda rows: "".join(line * count for line, count in rows)
)


def assert_adds_up(everything: str, retained: RetainedText, budget: int) -> None:
    text, count = view(retained, budget, exec_id="x_1")
    if count is None:
        assert text == everything
        return
    data = everything.encode()
    first, *rest = text.split(MARKER_START)
    pieces, ends, left_out = [first.encode()], [], 0
    for part in rest:
        marker, piece = part.split("]\n", 1)
        left_out += 0 if "bytes of this line" in marker else int(marker.split(" line")[0])
        ends.append(int(marker.rsplit("offset=", 1)[1].rstrip(")")))
        pieces.append(piece.encode())
    ends.append(len(data))
    kept_bytes = at = 0
    kept_lines: set[int] = set()
    for number, end in enumerate(ends):
        piece = pieces[number]
        if piece and number < len(rest) and data[end - 1 : end] != b"\n":
            piece = piece.removesuffix(b"\n")  # it was put before the marker
        start = end - len(piece)
        assert at <= start, "in order"
        assert data[start:end] == piece, "every kept line is a line of the output"
        at = end
        kept_bytes += len(piece)
        if piece:
            kept_lines.update(range(data.count(b"\n", 0, start), data.count(b"\n", 0, end - 1) + 1))
    total = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    assert (count.total_bytes, count.total_lines) == (len(data), total)
    assert kept_bytes + count.omitted_bytes == count.total_bytes
    assert len(kept_lines) + count.omitted_lines == count.total_lines
    assert left_out == count.omitted_lines
    assert budget < 1000 or len(text) <= budget


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text(alphabet="aé漢😀\n", max_size=40), max_size=30),
    st.integers(0, 400),
    st.integers(0, 400),
)
def test_kept_and_omitted_always_add_up(texts, limit, budget):
    retained = RetainedText(limit_bytes=limit)
    for text in texts:
        retained.append(text)
    everything = "".join(texts)
    assert retained.total_bytes == len(everything.encode())
    assert retained.total_lines == everything.count("\n") + (bool(everything) and not everything.endswith("\n"))
    assert_adds_up(everything, retained, budget)


@settings(max_examples=300, deadline=None)
@given(LOGS, st.sampled_from([500, 3000, 1 << 20]), st.integers(900, 6000))
def test_kept_and_omitted_of_a_digest_always_add_up(text, limit, budget):
    retained = RetainedText(limit_bytes=limit)
    for at in range(0, len(text), 777):
        retained.append(text[at : at + 777])
    assert_adds_up(text, retained, budget)
    assert view(retained, budget) == view(retained, budget)


@settings(max_examples=300, deadline=None)
@given(LOGS, st.sampled_from([500, 3000, 1 << 20]), st.integers(900, 6000), st.integers(1, 4000), st.integers(1, 40))
def test_kept_and_omitted_add_up_when_only_the_ends_are_analysed(text, limit, budget, size, lines):
    retained = RetainedText(limit_bytes=limit)
    for at in range(0, len(text), 777):
        retained.append(text[at : at + 777])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("execkit_mcp.output.budget._ANALYSED_BYTES", size)
        patch.setattr("execkit_mcp.output.budget._ANALYSED_LINES", lines)
        assert_adds_up(text, retained, budget)
        assert_adds_up(text + "pending é", retained.with_pending("pending é"), budget)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="aé漢😀\n", max_size=200), st.integers(0, 300), st.integers(0, 900), st.integers(0, 50))
def test_what_is_read_is_what_was_written_there(text, limit, offset, chars):
    retained = RetainedText(limit_bytes=limit)
    for at in range(0, len(text), 11):
        retained.append(text[at : at + 11])
    piece = retained.read(offset, chars)
    assert text.encode()[piece.offset : piece.next_offset].decode() == piece.text
    assert len(piece.text) <= chars
