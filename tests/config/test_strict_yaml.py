"""YAML is read by the 1.2 core schema, and whatever two readers could read differently is refused."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execkit_mcp.config import strict_yaml
from execkit_mcp.config.strict_yaml import MAX_BYTES, MAX_DEPTH, parse
from execkit_mcp.errors import ConfigError, PolicyInvalid
from execkit_mcp.model.source import Scalar, Table, plain

VALUES = [
    ("no", "no"),
    ("on", "on"),
    ("y", "y"),
    ("off", "off"),
    ("true", True),
    ("False", False),
    ("null", None),
    ("~", None),
    ("~/.ssh", "~/.ssh"),
    ("12", 12),
    ("-3", -3),
    ("+3", 3),
    ("0", 0),
    ("1.5", 1.5),
    (".5", 0.5),
    ("1e3", 1000.0),
    ('"017"', "017"),
    ("'1:30'", "1:30"),
    ("2001-12-14", "2001-12-14"),
    ("10.0.0.0/8:443", "10.0.0.0/8:443"),
    ("localhost:80", "localhost:80"),
    ("=", "="),
]


@pytest.mark.parametrize(("written", "value"), VALUES)
def test_scalars_follow_the_core_schema(written, value):
    read = plain(parse(f"a: {written}\n".encode(), "f.yaml"))
    assert read == {"a": value}
    assert type(read["a"]) is type(value)


BAD = [
    ("a: 1:30", 'f:1:4: 1:30 is sexagesimal; write 90 for the number, or quote it for the text: "1:30"'),
    ("a: 017", 'f:1:4: 017 is octal; write 15 for the number, or quote it for the text: "017"'),
    ("a: 0o17", 'f:1:4: 0o17 is octal; write 15 for the number, or quote it for the text: "0o17"'),
    ("a: 0x1f", "f:1:4: 0x1f is hexadecimal; write 31"),
    ("a: 0b11", "f:1:4: 0b11 is binary; write 3"),
    ("a: 1_000", "f:1:4: 1_000 is a number with underscores; write 1000"),
    ("a: 08", "f:1:4: 08 is a number with a leading zero; write 8"),
    ("a: .inf", "f:1:4: .inf is not a finite number; quote it"),
    ("a: 1e999", "f:1:4: 1e999… is too large"),
    ("a: &x 1", "f:1:4: anchors are refused: remove &x"),
    ("a: &x 1\nb: *x", "f:2:4: aliases are refused: write the value out"),
    ("a: *.pem", 'quote text that begins with "*"'),
    ("b: {<<: {c: 1}}", "f:1:5: merge keys (<<) are refused"),
    ("a: !!str 1", "f:1:4: tags are refused: remove !!str"),
    ("a: !python/object:os.system x", "f:1:4: tags are refused"),
    ("a: 1\nb: 2\na: 3", 'f:3:1: the key "a" stands twice; the first is at f:1:1'),
    ('a: {b: 1, "b": 2}', 'f:1:11: the key "b" stands twice; the first is at f:1:5'),
    ("---\na: 1\n---\nb: 1", "f:3:1: a second document begins here"),
    ("%YAML 1.1\n---\na: 1", "f:1:1: % directives are refused"),
    ("[a]: 1", "f:1:1: a key must be text, not a list"),
    ("1: 2", 'f:1:1: a key must be text; quote it: "1"'),
    ("true: x", 'f:1:1: a key must be text; quote it: "true"'),
    (
        "a: b: c",
        'f:1:5: not YAML: mapping values are not allowed in this context; quote text that holds ": "',
    ),
    ("a:\n\t- b", "f:2:1: not YAML"),
    ('a: "x', "f:1:6: not YAML: found unexpected end of stream"),
    ("", "f:1:1: the file is empty"),
    ("# only a comment\n", "f:1:1: the file is empty"),
    ("a: x\u202ey", "f:1:5: the character U+202E is not shown as what it is"),
    ("a: x\u200by", "f:1:5: the character U+200B"),
    ("a: 1\nb: x\x00y", "f:2:5: the character U+0000"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_what_two_readers_could_read_differently_is_refused_with_its_place(text, message):
    with pytest.raises(ConfigError) as caught:
        parse(text.encode(), "f")
    assert message in caught.value.message


def test_every_problem_of_a_file_is_reported_at_once():
    with pytest.raises(PolicyInvalid) as caught:
        parse(b"a: 017\nb: &x 1\nc: !!str 1\nc: 2\n", "f", error=PolicyInvalid)
    assert [line.split(": ")[0] for line in caught.value.message.split("\n")] == [
        "f:1:4",
        "f:2:4",
        "f:3:4",
        "f:4:1",
    ]
    problems = caught.value.details["problems"]
    assert isinstance(problems, list)
    assert problems[3]["line"] == 4


def test_bytes_that_are_not_utf_8_are_refused_with_their_place():
    with pytest.raises(ConfigError, match=r"f:2:4: not UTF-8 \(byte 0xff\)"):
        parse(b"a: 1\nb: \xff\n", "f")


def test_a_byte_order_mark_and_windows_line_ends_are_harmless():
    assert plain(parse(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n", "f")) == {"a": 1, "b": 2}


def test_columns_count_characters_not_bytes():
    tree = parse("é: {ü: [ö, x]}".encode(), "f")
    assert isinstance(tree, Table)
    inner = tree.entries[0].value
    assert isinstance(inner, Table)
    assert inner.entries[0].place.column == 5


def test_a_file_over_one_mebibyte_is_refused():
    with pytest.raises(ConfigError, match="the file is over 1048576 bytes"):
        parse(b"#" * (MAX_BYTES + 1), "f")


@pytest.mark.parametrize("opening", ["[", "{a: "])
def test_nesting_is_bounded(opening):
    with pytest.raises(ConfigError, match=f"nested over {MAX_DEPTH} levels"):
        parse((opening * 5000).encode(), "f")


def test_the_slower_parser_without_libyaml_reads_the_same(monkeypatch):
    text = b"a: [1, no, {b: '017'}]\nc: |\n  two\n  lines\n"
    fast = parse(text, "f")
    monkeypatch.setattr(strict_yaml, "_LOADER", strict_yaml.yaml.SafeLoader)
    assert parse(text, "f") == fast


@given(st.text(max_size=60))
def test_any_text_either_loads_or_is_a_configuration_error(text):
    with contextlib.suppress(ConfigError):
        plain(parse(text.encode("utf-8", "surrogatepass"), "f"))


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40))
def test_quoted_text_is_always_that_text(text):
    quoted = "'" + text.replace("'", "''") + "'"
    tree = parse(f"a: {quoted}".encode(), "f")
    assert isinstance(tree, Table)
    value = tree.entries[0].value
    assert isinstance(value, Scalar)
    assert value.value == text
