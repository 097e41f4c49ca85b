"""Properties of the pure chain: whatever is done to the bytes of a log, it shows."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execkit_mcp.audit.chain import (
    HEAD_BYTES,
    OPENED,
    Broken,
    Head,
    Segment,
    genesis,
    key_id,
    parse_line,
    seal,
    verify,
)

EMPTY = hashlib.sha256(b"").hexdigest()
KINDS = ("decision", "exec.started", "exec.finished")


def build(log="ab" * 16, *, entries=6, per_segment=4, key=None, text="x"):
    """The segments (as lists of lines) and the head of a whole log."""
    prev, seq, number, end, segments = genesis(log), 0, 0, 0, []
    while seq < entries:
        if not segments or len(segments[-1]) == per_segment:
            number, end = number + 1, 0
            segments.append([])
            kind = OPENED
            data = {"log": log, "segment": number, "key": key_id(key), "torn_bytes": 0, "torn_sha256": EMPTY}
        else:
            kind, data = KINDS[seq % 3], {"text": f"{text}{seq}", "n": seq}
        seq += 1
        line, prev = seal(seq=seq, time="2030-01-01T00:00:00Z", kind=kind, data=data, prev=prev, key=key)
        segments[-1].append(line)
        end += len(line)
    return segments, Head(log=log, seq=seq, hash=prev, segment=number, end=end).to_bytes(key)


def check(segments, head, key=None):
    files = (
        Segment(name=f"audit-{n:06d}.jsonl", number=n, lines=b"".join(lines).splitlines(keepends=True))
        for n, lines in enumerate(segments, 1)
    )
    return verify(files, head, key=key)


WHOLE, HEAD = build()
FLAT = [(s, i) for s, lines in enumerate(WHOLE) for i in range(len(lines))]
SIZE = sum(len(line) for lines in WHOLE for line in lines)


def flat_bytes():
    return b"".join(line for lines in WHOLE for line in lines)


def cut_up(data):
    """``data`` in segments as long as those of WHOLE."""
    first = sum(len(line) for line in WHOLE[0])
    return [[data[:first]], [data[first:]]]


def test_a_whole_log_is_intact():
    report = check(WHOLE, HEAD)
    assert report.is_intact
    assert report.entries == 6
    assert report.notes == ()


@given(at=st.integers(0, SIZE - 1), flip=st.integers(1, 255))
@settings(max_examples=400, deadline=None)
def test_any_edit_of_one_byte_of_the_log_is_found(at, flip):
    data = bytearray(flat_bytes())
    data[at] ^= flip
    assert not check(cut_up(bytes(data)), HEAD).is_intact


@given(at=st.integers(0, HEAD_BYTES - 1), flip=st.integers(1, 255))
@settings(max_examples=200, deadline=None)
def test_any_edit_of_one_byte_of_the_head_is_found(at, flip):
    data = bytearray(HEAD)
    data[at] ^= flip
    assert not check(WHOLE, bytes(data)).is_intact


@given(where=st.sampled_from(FLAT))
def test_any_line_cut_out_is_found(where):
    segments = [[line for i, line in enumerate(lines) if (s, i) != where] for s, lines in enumerate(WHOLE)]
    assert not check(segments, HEAD).is_intact


@given(first=st.sampled_from(FLAT), second=st.sampled_from(FLAT))
def test_any_two_lines_swapped_are_found(first, second):
    segments = [list(lines) for lines in WHOLE]
    (a, b), (c, d) = first, second
    segments[a][b], segments[c][d] = segments[c][d], segments[a][b]
    assert check(segments, HEAD).is_intact == (first == second)


@given(source=st.sampled_from(FLAT), target=st.sampled_from(FLAT))
def test_any_line_put_in_again_is_found(source, target):
    segments = [list(lines) for lines in WHOLE]
    segments[target[0]].insert(target[1], WHOLE[source[0]][source[1]])
    assert not check(segments, HEAD).is_intact


@given(kept=st.integers(0, SIZE - 1))
@settings(max_examples=300, deadline=None)
def test_a_log_cut_anywhere_is_found(kept):
    assert not check(cut_up(flat_bytes()[:kept]), HEAD).is_intact


def test_a_whole_segment_cut_from_the_end_is_found():
    report = check(WHOLE[:1], HEAD)
    assert "the end was cut" in str(report.problem)
    assert report.entries == 4


def test_a_segment_cut_from_the_front_or_the_middle_is_found():
    segments, head = build(entries=12)
    for gone in range(3):
        files = [Segment(name=str(n), number=n, lines=lines) for n, lines in enumerate(segments, 1) if n != gone + 1]
        assert not verify(files, head).is_intact


def test_the_whole_log_replaced_by_another_is_found():
    other, other_head = build(log="cd" * 16)
    assert check(other, other_head).is_intact
    assert not check(other, HEAD).is_intact
    assert not check(WHOLE, other_head).is_intact


def test_a_missing_head_is_found():
    assert "head file is missing" in str(check(WHOLE, None).problem)


def test_a_line_of_another_log_does_not_fit():
    other, _ = build(log="cd" * 16)
    segments = [list(lines) for lines in WHOLE]
    segments[0][2] = other[0][2]
    assert check(segments, HEAD).problem.line == 3


def test_the_first_bad_line_is_named_with_what_held_before():
    segments = [list(lines) for lines in WHOLE]
    segments[1][1] = segments[1][1].replace(b"x5", b"y5")
    report = check(segments, HEAD)
    assert (report.problem.file, report.problem.line, report.entries) == ("audit-000002.jsonl", 2, 5)
    assert "audit-000002.jsonl:2: the entry was edited" in str(report.problem)


def test_a_rewritten_log_without_its_head_is_found_and_with_its_head_only_by_the_key():
    forged, forged_head = build(text="forged")
    assert not check(forged, HEAD).is_intact
    assert check(forged, forged_head).is_intact  # what the docstring says that no key means
    key = b"k" * 32
    whole, head = build(key=key)
    assert check(whole, head, key).is_intact
    assert not check(forged, forged_head, key).is_intact
    assert not check(whole, head, b"other" * 8).is_intact
    assert not check(whole, head).is_intact


def test_a_torn_last_line_is_a_note_not_a_break():
    segments = [list(lines) for lines in WHOLE]
    segments[1].append(b'{"data":{"te')
    report = check(segments, HEAD)
    assert report.is_intact
    assert "torn line of 12 bytes" in report.notes[0]


def test_an_entry_behind_a_torn_line_is_found():
    line, _ = seal(seq=7, time="t", kind="k", data={}, prev="", key=None)
    segments = [list(lines) for lines in WHOLE]
    segments[1] += [b'{"data":{"te', line]
    assert not check(segments, HEAD).is_intact


def test_an_entry_that_the_head_does_not_count_yet_is_noted():
    longer, _ = build(entries=7)
    report = check(longer, HEAD)
    assert report.is_intact
    assert "1 entries stand behind the head" in report.notes[0]


@pytest.mark.parametrize("line", [b"", b"\n", b"{}\n", b"null\n", b'","hash":"' + b"0" * 64 + b'"}\n', b"\xff" * 200])
def test_a_line_that_is_no_entry_is_refused(line):
    with pytest.raises(Broken):
        parse_line(line, None)


@pytest.mark.parametrize("body", [b"{}", b"[1]", b"3", b'{"data":1,"kind":"","prev":"","seq":1,"time":""}', b"\xff}"])
def test_a_rightly_hashed_line_that_is_no_entry_is_refused(body):
    digest = hashlib.sha256(body[:-1] + b"}").hexdigest().encode()
    with pytest.raises(Broken):
        parse_line(body[:-1] + b',"hash":"' + digest + b'"}\n', None)


@given(
    data=st.dictionaries(
        st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()), max_size=5
    )
)
def test_what_was_sealed_is_read_back(data):
    line, digest = seal(seq=3, time="t", kind="k", data=data, prev="p", key=b"k")
    entry = parse_line(line, b"k")
    assert entry.data == data
    assert entry.hash == digest
    assert line.count(b"\n") == 1


@pytest.mark.parametrize("text", ["a", "\u00e9\u202e\u2028", "\udcff\x7f\x00", '\n"hash":"'])
def test_a_line_is_ascii_and_gives_back_what_was_sealed(text):
    line, _ = seal(seq=1, time="t", kind="k", data={"b": {text: [text]}, "a": 1.5}, prev="p", key=None)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert list(parse_line(line, None).data.items()) == [("a", 1.5), ("b", {text: [text]})]


@pytest.mark.parametrize("data", [{"x": object()}, {"x": "\u00e9", "y": float("nan")}, {"x": "\udcff", "y": b"bytes"}])
def test_what_is_not_json_cannot_be_sealed(data):
    with pytest.raises((ValueError, TypeError)):
        seal(seq=1, time="t", kind="k", data=data, prev="p", key=None)
