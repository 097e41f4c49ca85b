import base64
import binascii
import json
import shlex
from urllib.parse import quote

import pytest

from execkit_mcp.redaction import KnownValue, Redactor
from execkit_mcp.redaction.encodings import TABLE
from execkit_mcp.redaction.known import is_strong
from execkit_mcp.redaction.shape import ALNUM, assemble, fill

STRONG = "xY7" + assemble((fill(ALNUM, 22),), "known") + "9q"
ODD = "p@ss w0rd/" + '"quoted"' + "\\'é&%"
WEAK = "postgres" + "-admin"
SHORT = "s3cr" + "7"


def fold(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


FORMS = {
    "raw": str,
    "base64": lambda v: base64.b64encode(v.encode()).decode(),
    "base64 at phase 1": lambda v: base64.b64encode(("x" + v + "yz").encode()).decode(),
    "base64 at phase 2": lambda v: base64.b64encode(("xy" + v + "z").encode()).decode(),
    "base64url": lambda v: base64.urlsafe_b64encode(v.encode()).decode(),
    "hex": lambda v: v.encode().hex(),
    "HEX": lambda v: v.encode().hex().upper(),
    "url": lambda v: quote(v, safe=""),
    "full url": lambda v: "".join(f"%{b:02X}" for b in v.encode()),
    "json": json.dumps,
    "c": lambda v: "".join(f"\\x{b:02x}" for b in v.encode()),
    "shell": shlex.quote,
    "reversed": lambda v: v[::-1],
    "lower": str.lower,
    "upper": str.upper,
    "folded at 8": lambda v: fold(v, 8),
    "folded at 16": lambda v: fold(v, 16),
    "spaced": " ".join,
    "ansi": "\x1b[1m".join,
    "base64 folded": lambda v: fold(base64.b64encode(v.encode()).decode(), 16),
    "hex folded": lambda v: fold(binascii.hexlify(v.encode()).decode(), 8),
    "quoted apart": lambda v: v[:6] + "''" + v[6:],
}


@pytest.mark.parametrize("value", [STRONG, WEAK, ODD], ids=["strong", "weak", "odd"])
@pytest.mark.parametrize("form", FORMS)
def test_a_known_value_is_seen_in_every_published_encoding(value: str, form: str):
    if form == "ansi" or (form == "quoted apart" and value is not STRONG):
        text = "\x1b[1m".join(value)
    else:
        text = FORMS[form](value)
    clean, counts = Redactor(key=b"k", known=[KnownValue(name="a", value=value)]).text(f"see: {text}\nnext line\n")
    assert "known" in counts, clean
    assert value.lower() not in clean.lower()
    core = "".join(c for c in text.lower() if not c.isspace())[4:-5]
    assert core not in "".join(clean.lower().split())
    assert clean.endswith("\nnext line\n")


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_each_row_of_the_table_encodes_something(row):
    assert all(row.encode(STRONG))


def test_parts_of_a_strong_value_do_not_leak():
    assert is_strong(STRONG)
    clean, counts = Redactor(key=b"k", known=[KnownValue(name="a", value=STRONG)]).text(f"cut {STRONG[10:24]}\n")
    assert counts == {"known": 1}
    assert STRONG[12:22] not in clean


def test_parts_of_a_weak_value_are_ordinary_words():
    assert not is_strong(WEAK)
    redactor = Redactor(key=b"k", known=[KnownValue(name="a", value=WEAK)])
    text = "postgres is up, admin is in; post gres - ad min\n"
    assert redactor.text(text) == (text, {})


def test_a_short_value_counts_only_between_word_borders():
    redactor = Redactor(key=b"k", known=[KnownValue(name="a", value=SHORT)])
    clean, counts = redactor.text(f"{SHORT} x{SHORT} {SHORT}y ({SHORT})\n")
    assert counts == {"known": 2}
    assert f"x{SHORT} {SHORT}y" in clean


def test_one_value_has_one_tag_in_all_encodings():
    redactor = Redactor(key=b"k", known=[KnownValue(name="a", value=STRONG)])
    clean, _ = redactor.text(f"{STRONG}\n{STRONG.encode().hex()}\n{STRONG[::-1]}\n")
    assert len(set(clean.split())) == 1


def test_a_value_added_later_is_protected_from_then_on():
    redactor = Redactor(key=b"k")
    stream = redactor.stream()
    assert stream.push(f"{WEAK}\n") == f"{WEAK}\n"
    redactor.add_known("a", WEAK)
    assert WEAK not in stream.push(f"{WEAK}\n")


def test_a_long_value_of_many_lines_is_protected_line_by_line():
    lines = [assemble((fill(ALNUM, 64),), str(n)) for n in range(5)]
    redactor = Redactor(key=b"k", known=[KnownValue(name="a", value="\n".join(lines))])
    clean, _ = redactor.text("head\n" + lines[2] + "\ntail\n")
    assert lines[2][:12] not in clean
