# ruff: noqa: E501 - a pattern or a row stands in one piece
from hypothesis import given, settings
from hypothesis import strategies as st

from execkit_mcp.output import OutputChain, RetainedText, view
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
    text, count = view(retained, budget)
    if count is None:
        assert text == everything
        return
    head, tail = text.split("[... ", 1)[0], text.split(" ...]\n", 1)[1]
    sizes = {len(head.encode()), max(0, len(head.encode()) - 1)}  # a line end may stand before the marker
    kept = count.total_bytes - count.omitted_bytes
    assert kept - len(tail.encode()) in sizes
    assert everything.endswith(tail)
    assert 0 <= count.omitted_lines <= count.total_lines == retained.total_lines
    assert kept <= 4 * budget


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="aé漢😀\n", max_size=200), st.integers(0, 300), st.integers(0, 900), st.integers(0, 50))
def test_what_is_read_is_what_was_written_there(text, limit, offset, chars):
    retained = RetainedText(limit_bytes=limit)
    for at in range(0, len(text), 11):
        retained.append(text[at : at + 11])
    piece = retained.read(offset, chars)
    assert text.encode()[piece.offset : piece.next_offset].decode() == piece.text
    assert len(piece.text) <= chars
