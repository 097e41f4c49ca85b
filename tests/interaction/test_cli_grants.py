"""``approve`` with a reach, ``grants``, ``approver`` and ``--always`` as a person types them."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pexpect
import pytest
from msgspec.structs import replace

from execkit_mcp import ApprovalRequired, create
from execkit_mcp.approvals import ApprovalRequest, Channel, Scope, State
from execkit_mcp.cli.person import moment, span
from execkit_mcp.errors import CommandInvalid
from execkit_mcp.runtime.desk import ApprovalDesk
from execkit_mcp.runtime.policies import load_policy


def command(world, *words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "execkit_mcp", *words],
        env=world.environment(**environment), capture_output=True, text=True, timeout=60, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture
def desk(world):
    opened = ApprovalDesk.open(state_dir=world.state, audit_dir=world.state)
    yield opened
    opened.close()


@pytest.fixture
def asked(world, desk):
    now_s = desk.now_s()
    return desk.queue.submit(
        ApprovalRequest(
            canonical="touch made.txt",
            target="local",
            cwd=str(world.workspace),
            policy=load_policy(str(world.policy)).ref,
            requester="mcp:client",
            created_s=now_s,
            expires_s=now_s + 300,
            session="main",
            session_key="1-1/a",
        )
    )


@pytest.mark.parametrize(
    ("words", "told", "listed"),
    [
        (["--session"], "Approved while its session is open", "holds while session main is open"),
        (["--for", "30m", "--uses", "2"], "at most 2 runs", "used 0 of 2 times"),
        (["--until", "2h"], None, None),
        (["--until", "23:59"], "Approved until", "holds until"),
    ],
)
def test_a_reach_gives_a_grant_that_is_listed_and_revoked(world, asked, words, told, listed):
    done = command(world, "approve", asked.id, *words)
    if told is None:
        assert (done.returncode, "is not a time" in done.stderr) == (2, True)
        return
    assert done.returncode == 0, done.stderr
    assert told in done.stdout
    shown = command(world, "grants", "list")
    assert listed in shown.stdout
    [row] = map(
        json.loads, command(world, "grants", "--state-dir", str(world.state), "list", "--json").stdout.splitlines()
    )
    assert (row["canonical"], row["is_live"]) == ("touch made.txt", True)
    gone = command(world, "grants", "revoke", row["id"])
    assert (gone.returncode, gone.stdout) == (0, f"Revoked: {row['id']}\n")
    assert command(world, "grants", "list").stdout == "No grant holds.\n"
    assert "revoked" in command(world, "grants", "list", "--all").stdout
    assert command(world, "grants", "revoke", row["id"]).returncode == 3


def test_always_prints_the_narrowest_rule_with_its_test_and_decides_nothing(world, desk, asked, tmp_path):
    world.policy.write_text(
        world.policy.read_text().replace("  - {id: look, ask: [touch, mkdir], reason: A person looks at this.}\n", "")
    )
    reference = load_policy(str(world.policy)).ref
    now_s = desk.now_s()
    request = ApprovalRequest(
        canonical="mkdir made", target="local", cwd=str(world.workspace), policy=reference, requester="mcp:client",
        created_s=now_s, expires_s=now_s + 300,
    )  # fmt: skip
    waiting = desk.queue.submit(request)
    done = command(
        world,
        "approve",
        waiting.id,
        "--always",
        EXECKIT_POLICY=str(world.policy),
        EXECKIT_WORKSPACE=str(world.workspace),
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "allow:" in done.stdout
    assert '"expect": "allow"' in done.stdout
    assert "still waits" in done.stderr
    assert desk.get(waiting.id).state is State.PENDING
    desk.deny(waiting.id, by=Channel.CLI, who="anna")
    late = command(world, "approve", waiting.id, "--always", EXECKIT_POLICY=str(world.policy))
    assert late.stderr.strip() == "Nothing was decided."
    refused = command(world, "approve", asked.id, "--always", EXECKIT_POLICY=str(world.policy))
    assert (refused.returncode, "not the one that the configuration names" in refused.stdout) == (1, True)


def test_an_edit_shows_what_the_policy_says_of_it(world, desk, asked):
    where = {"EXECKIT_POLICY": str(world.policy), "EXECKIT_WORKSPACE": str(world.workspace)}
    done = command(world, "approve", asked.id, "--edit", "rm -r x", **where)
    assert (done.returncode, "policy denies the edited text" in done.stderr) == (3, True)
    assert desk.get(asked.id).state is State.PENDING
    done = command(world, "approve", asked.id, "--edit", "touch other.txt", **where)
    assert "ask" in done.stdout
    assert "Approved with another text" in done.stdout
    assert desk.get(asked.id).edited == "touch other.txt"


def test_an_edit_that_no_session_could_run_is_not_approved(world, desk, asked):
    text = world.policy.read_text()
    world.policy.write_text(text + "defaults: {unparsed: ask}\n" if "defaults:" not in text else text)
    where = {"EXECKIT_POLICY": str(world.policy), "EXECKIT_WORKSPACE": str(world.workspace)}
    waiting = desk.queue.submit(replace(asked.request, policy=load_policy(str(world.policy)).ref))
    for known in (where, {}):  # whether the policy that asked is known here or not
        done = command(world, "approve", waiting.id, "--edit", "touch 'open", **known)
        assert (done.returncode, "unterminated single quote" in done.stderr) == (3, True), done.stderr
        assert desk.get(waiting.id).state is State.PENDING


def test_ending_the_input_is_no_answer(world, desk, asked):
    child = pexpect.spawn(
        sys.executable,
        ["-m", "execkit_mcp", "approve", asked.id],
        env=world.environment(),
        encoding="utf-8",
        timeout=30,
    )
    child.expect("y/N")
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, "Not approved; it still waits." in child.before) == (1, True), child.before
    assert desk.get(asked.id).state is State.PENDING


@pytest.mark.parametrize("words", [["--edit", "ls"], ["--session"], ["--for", "5m"], ["--until", "23:59"]])
def test_a_token_answers_what_was_posted_and_nothing_is_decided_where_more_is_wanted(world, desk, asked, words):
    token = desk.tokens.issue(asked.id)
    done = command(world, "approve", token, *words)
    assert (done.returncode, "as it was posted" in done.stderr) == (2, True), done.stderr
    assert desk.get(asked.id).state is State.PENDING
    assert command(world, "approve", token).returncode == 0


@pytest.mark.parametrize(
    "words", [["--uses", "3"], ["--session", "--uses", "0"], ["--for", "8d"], ["--for", "soon"], ["--until", "99:99"],
              ["--edit", "[REDACTED:known:abcdef]"], ["--edit", " "], ["--edit", ""]]
)  # fmt: skip
def test_a_reach_that_makes_no_sense_is_refused_and_nothing_is_decided(world, desk, asked, words):
    done = command(world, "approve", asked.id, *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert desk.get(asked.id).state is State.PENDING


def test_the_approver_is_enrolled_once_and_the_secret_shown_once(world):
    first = command(world, "approver", "enrol")
    assert first.returncode == 0, first.stderr
    assert "otpauth://totp/" in first.stdout
    again = command(world, "approver", "enrol")
    assert (again.returncode, "already" in again.stderr) == (3, True)
    told = command(world, "approver", "status")
    assert "critical command needs a code" in told.stdout
    secret = next(line.split(": ")[1] for line in first.stdout.splitlines() if line.startswith("secret"))
    assert secret not in told.stdout + command(world, "audit", "show").stdout
    assert "approver.enrolled" in command(world, "audit", "show", "--json").stdout


@pytest.mark.parametrize(
    "words", [("grants", "revoke", "--all"), ("approver", "enrol"), ("deny", "apr_0123456789abcdef")]
)
def test_nothing_of_this_is_done_from_inside_a_session(world, words):
    done = command(world, *words, EXECKIT_SESSION="main")
    assert (done.returncode, "inside an execkit session" in done.stderr) == (3, True)


def test_times_are_written_as_people_write_them():
    assert (span("45s"), span("30m"), span("2h"), span("1d")) == (45, 1800, 7200, 86_400)
    for wrong in ("", "5", "m", "-1m", "0m", "1w", "1.5h", "٣m"):
        with pytest.raises(CommandInvalid):
            span(wrong)
    now_s = 1_800_000_000.0
    assert now_s < moment("00:00", now_s) <= now_s + 86_400
    assert moment("2030-01-31T18:00+00:00", now_s) == 1_896_112_800.0


def test_run_waits_for_the_person_who_answers_beside_it(world, desk):
    started = subprocess.Popen(
        [
            sys.executable, "-m", "execkit_mcp", "run", "--policy", str(world.policy), "--workspace",
            str(world.workspace), "--wait", "60", "--", "touch made.txt",
        ],
        env=world.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    line = started.stderr.readline()
    assert "waiting for a person" in line
    desk.approve(line.split()[-1], by=Channel.CLI, who="anna")
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 0, errors
    assert (world.workspace / "made.txt").exists()


def test_the_sdk_waits_for_the_person_as_well(world, desk):
    where = {"workspace": str(world.workspace), "state_dir": str(world.state)}
    with ThreadPoolExecutor(1) as pool, create(policy=str(world.policy), **where) as session:
        run = pool.submit(session.exec, "touch made.txt", approval_wait_s=60)
        while not (waiting := desk.pending()):
            assert not run.done()
        desk.approve(waiting[0].id, by=Channel.CLI, who="anna", scope=Scope.session())
        assert run.result(60).exit_code == 0
        assert session.exec("touch made.txt").exit_code == 0
        with pytest.raises(ApprovalRequired):
            session.exec("mkdir other", approval_wait_s=0.05)
