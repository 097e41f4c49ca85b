# ruff: noqa: E501 - a pattern or a row stands in one piece
import base64

from hypothesis import given, settings
from hypothesis import strategies as st

from execkit_mcp.redaction import KnownValue, Redactor
from execkit_mcp.redaction.shape import ALNUM, BASE64, assemble, fill
from execkit_mcp.redaction.shapes import SHAPES

STRONG = "aB3" + assemble((fill(ALNUM, 20),), "property") + "Z7"
WEAK = "correct-horse"
BODY = "".join(assemble((fill(BASE64, 64),), str(n)) + "\n" for n in range(3))
BLOB = base64.b64encode(f"A=1\nDB={STRONG}\nC=3\n".encode() * 3).decode()
PIECES = st.sampled_from(
    [
        *(assemble(shape.example, "p") for shape in SHAPES[::6]),
        STRONG, STRONG[:9], STRONG[9:], STRONG[::-1], WEAK, WEAK[:5], WEAK[5:], "\n", "\n", " ", "\t", "plain text", "\x1b[1m",
        "-----BEGIN PRIVATE " + "KEY-----\n", BODY, BODY[:30], "-----END PRIVATE " + "KEY-----\n", "password=", "x: y\n", "é",
        "\n".join(STRONG[at : at + 8] for at in range(0, len(STRONG), 8)), " ".join(STRONG), BLOB[:76] + "\n" + BLOB[76:], "\r\n",
        "\udcff", "'", '"',
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14), st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_any_split_of_the_text_gives_the_same_output(pieces, sizes):
    text = "".join(pieces)
    redactor = Redactor(key=b"k", known=[KnownValue(name="a", value=STRONG), KnownValue(name="b", value=WEAK)])
    whole, counts = redactor.text(text)
    stream = redactor.stream()
    out, at, turn = "", 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        out += stream.push(text[at : at + size])
        stream.preview()
        at += size
        turn += 1
    out += stream.finish()
    assert out == whole
    assert dict(stream.counts) == counts
    assert STRONG not in out
    assert out.count("[REDACTED:") == sum(counts.values())


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="abc xyz\n.,012", max_size=300))
def test_text_without_secrets_passes_unchanged(text):
    assert Redactor(key=b"k").text(text) == (text, {})


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs")), min_size=12, max_size=40).filter(
        lambda v: len(v.strip()) >= 12 and len(v.splitlines()) == 1
    )
)
def test_a_known_value_never_survives_as_it_is(value):
    clean, _ = Redactor(key=b"k", known=[KnownValue(name="a", value=value)]).text(f"<{value}>\n")
    assert value not in clean
