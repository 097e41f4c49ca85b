import json
import os
import subprocess
import sys

import pytest

from execkit_mcp.approvals import ApprovalQueue, ApprovalRequest, State
from execkit_mcp.audit import verify_folder
from execkit_mcp.model import PolicyRef
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.storage import open_database

RUN = """
import argparse, sys
from execkit_mcp.cli import approvals, audit
from execkit_mcp.errors import ExecKitError
parser = argparse.ArgumentParser(prog="execkit-mcp")
subparsers = parser.add_subparsers()
approvals.add_to(subparsers)
audit.add_to(subparsers)
args = parser.parse_args()
try:
    code = args.run(args)
except ExecKitError as error:
    print(error, file=sys.stderr)
    code = {"approval": 3, "policy": 3, "config": 2}.get(error.code.split(".")[0], 1)
heavy = {"asyncio", "mcp", "pydantic"} & set(sys.modules)
assert not heavy, heavy
sys.exit(code)
"""


def command_line(*args, **environment):
    clean = {name: value for name, value in os.environ.items() if name != "EXECKIT_SESSION"}
    return subprocess.run(
        [sys.executable, "-c", RUN, *args],
        capture_output=True,
        text=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        check=False,
        env=clean | environment,
    )


@pytest.fixture
def queue(tmp_path):
    database = open_database(tmp_path)
    yield ApprovalQueue(database, clock=SystemClock(), entropy=SystemEntropy())
    database.close()


@pytest.fixture
def asked(queue):
    now_s = SystemClock().epoch_s()
    return queue.submit(
        ApprovalRequest(
            canonical="rm -r bu\u200bild",
            target="local",
            cwd="/srv/app",
            policy=PolicyRef(name="p", digest="d"),
            requester="client/main",
            created_s=now_s,
            expires_s=now_s + 300,
            agent_reason="tidy up",
        )
    )


def test_what_waits_is_listed_with_everything_a_person_needs(asked, tmp_path):
    ran = command_line("approvals", "--state-dir", str(tmp_path))
    assert ran.returncode == 0
    for part in (asked.id, "rm -r bu", "U+200B", "/srv/app", "local", "tidy up"):
        assert part in ran.stdout


def test_the_list_as_json_is_an_object_a_line(asked, tmp_path):
    [line] = command_line("approvals", "--json", "--state-dir", str(tmp_path)).stdout.splitlines()
    assert json.loads(line)["id"] == asked.id


def test_an_empty_queue_says_so(tmp_path):
    assert command_line("approvals", "--state-dir", str(tmp_path)).stdout == "No approval waits.\n"


def test_approve_shows_what_it_approves_and_puts_it_on_the_record(asked, queue, tmp_path):
    ran = command_line("approve", asked.id, "--state-dir", str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    shown = ran.stdout.index("U+200B")
    assert shown < ran.stdout.index("Approved, for one run")
    assert queue.get(asked.id).state is State.APPROVED
    assert queue.get(asked.id).decided_by == "cli"
    assert verify_folder(tmp_path).is_intact
    assert '"approval.decided"' in (tmp_path / "audit-000001.jsonl").read_text()


def test_deny_takes_a_reason(asked, queue, tmp_path):
    ran = command_line("deny", asked.id, "--reason", "not now", "--state-dir", str(tmp_path))
    assert ran.returncode == 0
    found = queue.get(asked.id)
    assert (found.state, found.reason) == (State.DENIED, "not now")
    listed = command_line("approvals", "--all", "--state-dir", str(tmp_path)).stdout
    assert "denied" in listed
    assert "not now" in listed


def test_a_second_answer_or_an_unknown_id_is_a_clear_error(asked, tmp_path):
    command_line("deny", asked.id, "--state-dir", str(tmp_path))
    ran = command_line("approve", asked.id, "--state-dir", str(tmp_path))
    assert (ran.returncode, "denied already over cli" in ran.stderr) == (3, True)
    ran = command_line("approve", "apr_0123456789abcdef", "--state-dir", str(tmp_path))
    assert (ran.returncode, "There is no approval" in ran.stderr) == (3, True)


def test_nobody_approves_from_inside_a_session(asked, queue, tmp_path):
    ran = command_line("approve", asked.id, "--state-dir", str(tmp_path), EXECKIT_SESSION="main")
    assert ran.returncode == 3
    assert "inside an execkit session" in ran.stderr
    hidden = subprocess.run(
        [
            "/bin/sh",
            "-c",
            'unset EXECKIT_SESSION; "$0" "$@"; exit $?',
            *(sys.executable, "-c", RUN, "approve", asked.id, "--state-dir", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env=dict(os.environ) | {"EXECKIT_SESSION": "main"},
    )
    assert hidden.returncode == 3
    assert queue.get(asked.id).state is State.PENDING


def test_no_answer_counts_when_the_record_cannot_be_written(asked, queue, tmp_path):
    (tmp_path / "audit.head").mkdir()
    ran = command_line("approve", asked.id, "--state-dir", str(tmp_path))
    assert ran.returncode == 1
    assert queue.get(asked.id).state is State.PENDING


def test_a_terminal_that_shows_only_ascii_still_shows_everything(asked, tmp_path):
    ran = command_line("approvals", "--state-dir", str(tmp_path), PYTHONIOENCODING="ascii")
    assert ran.returncode == 0
    assert "\\u27e8U+200B\\u27e9" in ran.stdout


def test_an_unusable_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    ran = command_line("approvals", "--state-dir", str(tmp_path / "file" / "x"))
    assert ran.returncode == 1
    assert "storage.unavailable" in ran.stderr
