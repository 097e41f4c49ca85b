"""What bash says of its jobs is taken out, wherever a stream is cut, and nothing else is."""

import time

import pytest

from execkit_mcp.protocol.job_notices import JobNotices, Stream

LOOP = "for i in 1 2; do sleep 1; done"
PRINTED = b"for i in 1 2;\ndo\n    sleep 1;\ndone"


def told(pieces, *jobs, awaits_start=False):
    notices = JobNotices()
    for pid, text in jobs:
        notices.started(pid, text)
    stream = Stream(notices)
    return b"".join(stream.push(piece, awaits_start=awaits_start) for piece in pieces) + stream.flush()


NOTICES = [
    ("[1]+  Done                    sleep 5\n", "sleep 5"),
    ("[12]-  Exit 3                  ( exit 3 )\n", "(exit 3)"),
    ("[3]   Terminated              sleep 5 | cat\n", "sleep 5 | cat"),
    ("[1]+  Segmentation fault      (core dumped) ./x\n", "./x"),
    ("[1]+  Done                    sleep 5  (wd: ~/x)\n", "sleep 5"),
    ("[1]+  Done                    sleep 5 1>&2\n", "sleep 5 >&2"),
    ("[1]+  Done                    " + PRINTED.decode() + "\n", LOOP),
]


@pytest.mark.parametrize(("notice", "text"), NOTICES, ids=[row[0][:30] for row in NOTICES])
def test_a_notice_is_taken_out_however_the_stream_is_cut(notice, text):
    data = b"before [x] \n" + notice.encode() + b"after\n[1] \n"
    wanted = b"before [x] \nafter\n[1] \n"
    assert told([data], (7, text)) == wanted
    assert told([bytes([byte]) for byte in data], (7, text)) == wanted
    for cut in range(len(data)):
        assert told([data[:cut], data[cut:]], (7, text)) == wanted


def test_the_blank_line_before_a_stopped_job_goes_with_its_notice_and_its_end_is_taken_out_later():
    notice = b"\n[1]+  Stopped                 sleep 5\n"
    ended = b"[1]+  Done                    sleep 5\n"
    for text, wanted in (
        (b"a\n" + notice + b"b\n" + ended, b"a\nb\n"),
        (notice + b"b\n", b"b\n"),
        (b"a" + notice + b"b\n", b"a\nb\n"),  # it ends a line that was not ended
        (b"a\n\n\nb\n\n", b"a\n\n\nb\n\n"),
    ):
        assert told([text], (7, "sleep 5")) == wanted
        assert told([bytes([byte]) for byte in text], (7, "sleep 5")) == wanted


def test_a_notice_is_taken_out_once_a_job():
    line = b"[1]+  Done                    sleep 5\n"
    assert told([line, line], (7, "sleep 5")) == line
    assert told([line, line], (7, "sleep 5"), (8, "sleep 5")) == b""


@pytest.mark.parametrize(
    "data",
    [
        b"[1]+  Done                    sleep 6\n",
        b"[1]+  Done sleeping 5\n",
        b"[1] 4712\n",
        b"[warn] x\n",
        b"[1]+",
        b"[",
        b"[1]+  Done                    sleep 5 and more\n",
    ],
)
def test_what_bash_cannot_have_said_stays(data):
    assert told([data], (4711, "sleep 5")) == data
    assert told([data]) == data


def test_the_number_of_a_new_job_is_taken_out_when_the_shell_has_told_it():
    notices = JobNotices()
    stream = Stream(notices)
    assert stream.push(b"x[1] 4711\nout", awaits_start=True) == b"x"
    assert stream.held == b"[1] 4711\nout"
    notices.started(4711, "sleep 5")
    assert stream.push(b"", awaits_start=True) == b"out"
    assert stream.push(b"[1] 4711\n", awaits_start=True) == b""
    assert stream.flush() == b"[1] 4711\n"  # whoever says it again is not bash


def test_a_start_that_nobody_tells_of_is_taken_out_if_the_process_is_the_shells():
    for is_child, wanted in ((True, b"x\n"), (False, b"[1] 4711\nx\n")):
        stream = Stream(JobNotices(lambda _, answer=is_child: answer))
        assert stream.push(b"[1] 4711\nx\n", awaits_start=True) + stream.flush() == wanted


def test_nothing_is_held_for_ever_and_nothing_is_lost():
    assert told([b"[1]+  Done                    " + b"x" * 100_000], (1, "x" * 200_000)).endswith(b"x" * 1000)
    data = b"[1] " + b"1" * 200_000
    assert told([data], (1, "x"), awaits_start=True) == data


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("sleep 5", b"[1] [[[ [2]+ x [[\n" * 100_000),
        ("sleep 5", b"[1]+  Done  sleep 4\n" * 50_000),
        ("sleep 5", b"[1]+  Done  sleep" + b"\n" * 1_000_000),
        ("a " * 20_000 + "b", b"[1]+  " + b"a " * 500_000),
        ("a " * 20_000 + "b", b"[1]+  a a a " * 50_000),
    ],
    ids=["brackets", "near misses", "empty lines", "long", "many"],
)
def test_a_flood_of_lookalikes_is_passed_on_as_fast_as_it_comes(text, data):
    notices = JobNotices()
    for pid in range(500):
        notices.started(pid + 7, text)
    for pid in range(100):
        notices.started(pid + 1000, f"a{pid} b")
    stream = Stream(notices)
    started_s = time.process_time()
    assert stream.push(data) + stream.flush() == data
    assert time.process_time() - started_s < 1


def test_a_job_that_is_over_is_not_spoken_of():
    notices = JobNotices()
    notices.started(7, "sleep 5")
    notices.ended(7)
    assert notices.is_idle
    line = b"[1]+  Done                    sleep 5\n"
    assert Stream(notices).push(line) == line
