from hypothesis import given
from hypothesis import strategies as st

from execkit_mcp.protocol.framing import RecordParser

NONCE = "0123456789abcdef"


def record(*fields):
    return b"\x1e" + NONCE.encode() + b"R\0" + b"\0".join(fields) + b"\0\x1d" + NONCE.encode() + b"\n"


@given(
    st.lists(st.one_of(st.just(record(b"0", b"/w", b"")), st.binary(max_size=30)), max_size=6),
    st.lists(st.integers(0, 200), max_size=5),
)
def test_any_split_of_the_stream_gives_the_same_records(parts, cuts):
    stream = b"".join(parts)
    whole = RecordParser().push(stream, {NONCE})
    parser, pieces, at = RecordParser(), [], 0
    for cut in [*sorted(cuts), len(stream)]:
        pieces += parser.push(stream[at:cut], {NONCE})
        at = max(at, cut)
    assert pieces == whole


@given(st.binary(max_size=100))
def test_garbage_before_a_record_does_not_hide_it(noise):
    parsed = RecordParser().push(noise.replace(b"\x1e", b"") + record(b"7", b"/", b""), {NONCE})
    assert [item.fields for item in parsed] == [(b"7", b"/", b"")]


def test_an_unknown_nonce_is_no_record():
    assert RecordParser().push(record(b"0"), {"f" * 16}) == []
