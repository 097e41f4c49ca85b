"""Most output is plain text and is cleaned as bytes; what comes out is what the long way gives, however it is cut."""

import random

import pytest

from execkit_mcp.output import chain
from execkit_mcp.output.decode import Decoder
from execkit_mcp.output.terminal import Terminal, plain_bytes
from execkit_mcp.redaction import Redactor

PIECES = (
    b"plain text ", b"\n", b"\n\n", b"\r\n", b"\r", b"\t", b"\x1b[31m", b"\x1b[0;1;38:2:1:2:3m", b"\x1b[K", b"\x1b[0K",
    b"\x1b[1K", b"\x1b[", b"\x1b", b"\x1b]0;title\x07", b"\x1b(B", b"\x08", b"\x0c", b"\0", b"\x7f", b"\xc2\x85",
    b"\xc2\x9b31m", b"\xc2\xa0", b"\xc2", b"\xe2\x82", b"\xac", b"\xf0\x9f\x98\x80", "é漢".encode(), b"\xff", b"\x85",
    b"\xed\xa0\x80", "\ufffd".encode(), b"m", b"0", b"[", b"\xe2\x1b[0m\x82\xac", b"\x1b[5D", b"\x1b[2Gx",
)  # fmt: skip


def _long_way(chunks: list[bytes]) -> tuple[str, int]:
    decoder, terminal = Decoder(), Terminal()
    text = "".join(terminal.push(decoder.push(chunk)) for chunk in chunks)
    return text + terminal.push(decoder.finish()) + terminal.finish(), decoder.replaced


def _short_way(chunks: list[bytes]) -> tuple[str, int]:
    flow = chain._Flow(Redactor(key=b"k" * 32))
    text = "".join(flow.read(chunk) for chunk in chunks)
    return text + flow.terminal.push(flow.decoder.finish()) + flow.terminal.finish(), flow.decoder.replaced


@pytest.mark.parametrize("seed", range(8))
def test_both_ways_give_the_same(seed: int):
    chance = random.Random(seed)
    for _ in range(1500):
        data = b"".join(chance.choices(PIECES, k=chance.randrange(1, 14)))
        cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(4)))
        chunks = [data[at:to] for at, to in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        assert _short_way(chunks) == _long_way(chunks) == _long_way([data]), chunks


@pytest.mark.parametrize(
    ("data", "plain"),
    [
        (b"as it is\n", b"as it is\n"),
        (b"\x1b[1;31mred\x1b[m\x1b[K\r\n", b"red\n"),
        ("é\u00a0°\n".encode(), "é\u00a0°\n".encode()),
        (b"10%\r20%", None),
        (b"\x1b[2J", None),
        (b"half a colour \x1b[3", None),
        (b"\xc2\x9b31m", None),
        (b"bell\x07", None),
    ],
)
def test_what_is_plain(data: bytes, plain: bytes | None):
    assert plain_bytes(data) == plain
