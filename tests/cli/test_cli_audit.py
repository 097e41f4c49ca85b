import json
import subprocess
import sys

import pytest

from execkit_mcp.audit import AuditLog
from execkit_mcp.testing import FakeClock, FakeEntropy

RUN = """
import argparse, sys
from execkit_mcp.cli import audit
from execkit_mcp.errors import ExecKitError
parser = argparse.ArgumentParser(prog="execkit-mcp")
audit.add_to(parser.add_subparsers())
args = parser.parse_args()
try:
    sys.exit(args.run(args))
except ExecKitError as error:
    print(error, file=sys.stderr)
    sys.exit(1)
"""


def command_line(*args):
    return subprocess.run(
        [sys.executable, "-c", RUN, "audit", *args], capture_output=True, text=True, timeout=30, check=False
    )


@pytest.fixture
def state(tmp_path):
    log = AuditLog.open(tmp_path, clock=FakeClock(), entropy=FakeEntropy())
    for n in range(3):
        log.append("decision", {"n": n, "text": "evil\x1b[2J"})
    log.close()
    return tmp_path


def test_an_intact_record_exits_0_and_prints_its_head(state):
    ran = command_line("verify", "--state-dir", str(state))
    assert ran.returncode == 0
    assert ran.stdout.startswith("intact: 4 entries")
    report = json.loads(command_line("verify", "--json", "--state-dir", str(state)).stdout)
    assert report["intact"] is True
    assert report["head"] in ran.stdout


def test_a_broken_record_exits_1_and_names_the_first_bad_entry(state):
    path = state / "audit-000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"n":1', b'"n":9'))
    ran = command_line("verify", "--state-dir", str(state))
    assert ran.returncode == 1
    assert "audit.chain_broken" in ran.stderr
    assert "audit-000001.jsonl:3" in ran.stderr
    ran = command_line("verify", "--json", "--state-dir", str(state))
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["problem"]["code"] == "audit.chain_broken"
    ran = command_line("show", "--state-dir", str(state))
    assert ran.returncode == 1
    assert len(ran.stdout.splitlines()) == 3


def test_show_prints_entries_without_their_escapes_working(state):
    ran = command_line("show", "--last", "2", "--state-dir", str(state))
    assert ran.returncode == 0
    assert "\x1b" not in ran.stdout
    assert [line.split()[0] for line in ran.stdout.splitlines()] == ["3", "4"]
    lines = command_line("show", "--json", "--state-dir", str(state)).stdout.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == [1, 2, 3, 4]


def test_where_there_is_no_record_verify_says_so(tmp_path):
    ran = command_line("verify", "--state-dir", str(tmp_path))
    assert ran.returncode == 1
    assert "no audit log" in ran.stderr


def test_last_wants_a_number_above_zero(state):
    assert command_line("show", "--last", "0", "--state-dir", str(state)).returncode == 2


def test_a_record_with_a_key_needs_the_key(tmp_path):
    (tmp_path / "key").write_text("k" * 32)
    log = AuditLog.open(tmp_path / "state", clock=FakeClock(), entropy=FakeEntropy(), key=b"k" * 32)
    log.close()
    where = ("--state-dir", str(tmp_path / "state"))
    assert command_line("verify", *where).returncode == 1
    assert command_line("verify", *where, "--audit-key", str(tmp_path / "key")).returncode == 0


@pytest.mark.parametrize("words", [["verify"], ["show"], ["recordings"]])
def test_what_cannot_be_read_is_not_said_to_be_gone(tmp_path, words):
    (tmp_path / "file").write_text("x")
    ran = command_line(*words, "--state-dir", str(tmp_path / "file"))
    assert ran.returncode == 1
    assert "cannot be read: Not a directory" in ran.stderr
    assert "--state-dir" in ran.stderr


def test_where_there_are_no_recordings_it_is_said(tmp_path):
    assert command_line("recordings", "--state-dir", str(tmp_path)).stdout == "No recording is kept.\n"
    assert command_line("recordings", "--json", "--state-dir", str(tmp_path)).stdout == ""


def test_where_there_is_no_key_it_is_said_when_one_is_made(tmp_path):
    assert "made with its first entry" in command_line("key", "--state-dir", str(tmp_path)).stderr
