import contextlib
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from execkit_mcp.redaction.shape import ALNUM, assemble, fill

COMMAND = [sys.executable, "-m", "execkit_mcp", "redact"]
TOKEN = "gh" + "p_" + assemble((fill(ALNUM, 36),), "cli")
VALUE = "Zq8" + assemble((fill(ALNUM, 24),), "cli") + "w3"


def redact(data: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *options], input=data, capture_output=True, timeout=30, check=False)


def read_some(pipe, timeout_s: float = 10.0) -> bytes:
    ready, _, _ = select.select([pipe], [], [], timeout_s)
    return os.read(pipe.fileno(), 65536) if ready else b""


def test_only_the_secret_is_replaced():
    done = redact(f"before {TOKEN} after\n".encode())
    assert done.returncode == 0
    assert done.stdout.startswith(b"before [REDACTED:github_token:")
    assert done.stdout.endswith(b"] after\n")


def test_bytes_that_are_no_text_and_escape_codes_pass_unchanged():
    data = b"\xff\xfe\x00 caf\xc3\xa9 \xc3\n\x1b[31mred\x1b[0m\r10%\r20%\n\x9b"
    assert redact(data).stdout == data


def test_escape_codes_are_seen_through():
    done = redact(f"\x1b[1m{TOKEN[:8]}\x1b[0m{TOKEN[8:]}\x1b[0m\n".encode())
    assert TOKEN[10:].encode() not in done.stdout
    assert done.stdout.startswith(b"\x1b[1m[REDACTED:")


def test_known_values_come_from_a_file(tmp_path: Path):
    file = tmp_path / "known"
    file.write_text(f"{VALUE}\n\n")
    done = redact(f"{VALUE} {VALUE[::-1]}\n".encode(), "--known-file", str(file))
    first, second = done.stdout.split()
    assert first == second
    assert first.startswith(b"[REDACTED:known:")


def test_a_missing_file_of_known_values_is_an_error(tmp_path: Path):
    done = redact(b"", "--known-file", str(tmp_path / "none"))
    assert done.returncode == 2
    assert b"config.not_found" in done.stderr
    assert b"Traceback" not in done.stderr


def test_tags_differ_between_runs():
    data = f"{TOKEN}\n".encode()
    assert len({redact(data).stdout for _ in range(4)}) > 1


def test_a_line_goes_out_at_once_and_an_unfinished_one_after_a_silence():
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        process.stdin.write(b"first line\n")
        assert read_some(process.stdout) == b"first line\n"
        start = time.perf_counter()
        process.stdin.write(b"Name: ")
        assert read_some(process.stdout) == b"Name: "
        assert time.perf_counter() - start < 5
        process.stdin.write(b"alice\n")
        assert read_some(process.stdout) == b"alice\n"
        process.stdin.close()
        assert process.wait(10) == 0


def test_each_json_line_is_a_text_of_its_own():
    lines = [
        {"text": f"a {TOKEN}"},
        {"text": "b"},
        {"text": f"c {VALUE}", "known": [VALUE]},
        {"text": f"d {VALUE}"},
    ]
    done = redact("\n".join(map(json.dumps, lines)).encode(), "--json")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["redactions"] for answer in answers] == [{"github_token": 1}, {}, {"known": 1}, {}]
    assert answers[1]["text"] == "b"
    assert answers[3]["text"] == f"d {VALUE}"
    assert done.returncode == 0


@pytest.mark.parametrize(
    "bad", ["{", "[]", '{"text": 5}', '{"text": "x", "known": "y"}', '{"text": "x", "more": 1}', "\\xff"]
)
def test_a_malformed_json_line_is_named_after_the_good_ones_were_answered(bad: str):
    done = redact(f'{{"text": "ok"}}\n{bad}\n'.encode(), "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout) == {"text": "ok", "redactions": {}}
    assert b"line 2" in done.stderr
    assert b"Traceback" not in done.stderr


def test_lone_surrogates_in_json_are_no_reason_to_fail():
    done = redact(b'{"text": "a\\ud800b", "known": ["\\ud800secret\\udfff"]}\n', "--json")
    assert json.loads(done.stdout)["text"] == "a\ud800b"


def test_a_reader_that_leaves_ends_the_run_quietly():
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"x\n" * 200_000)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        assert process.wait(10) == 1
        assert process.stderr.read() == b""


def test_neither_the_sdk_nor_an_event_loop_is_imported():
    code = (
        "import sys, execkit_mcp.cli.redact as r, argparse\n"
        "r._redactor(b'k', []).text('x')\n"
        "print(sorted({'mcp', 'asyncio', 'pydantic', 'detect_secrets'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
