"""`execkit-mcp run`, `targets`, help and exit codes, as a user types them."""

import json
import subprocess
import sys

import pytest


def cli(world, *words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "execkit_mcp", *words],
        env=world.environment(**environment), cwd=world.workspace,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def run(world, *words, **environment):
    return cli(world, "run", "--policy", str(world.policy), *words, **environment)


def test_the_commands_own_exit_code_is_passed_on(world):
    done = run(world, "--", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert done.stderr.startswith("err\n")


def test_several_words_are_a_program_and_its_words(world):
    (world.workspace / "a b").write_text("x\n")
    assert run(world, "--", "cat", "a b").stdout == "x\n"


def test_a_refusal_exits_3_and_says_why(world):
    done = run(world, "--", "rm -rf x")
    assert done.returncode == 3
    assert "never" in done.stderr or "Nothing is deleted here." in done.stderr


def test_an_approval_is_named_given_and_used(world):
    done = run(world, "--", "touch x")
    assert done.returncode == 3
    approval_id = next(word for word in done.stderr.split() if word.startswith("apr_"))
    assert cli(world, "approve", approval_id).returncode == 0
    assert run(world, "--approval", approval_id, "--", "touch x").returncode == 0
    assert (world.workspace / "x").exists()
    assert run(world, "--approval", approval_id, "--", "touch x").returncode == 3


def test_a_timeout_exits_124(world):
    assert run(world, "--timeout", "0.3", "--", "sleep 30").returncode == 124


def test_json_is_the_exec_result(world):
    body = json.loads(run(world, "--json", "--", "echo hi").stdout)
    assert body["status"] == "completed"
    assert body["stdout"] == "hi\n"
    assert {"status", "exit_code", "stdout", "stderr", "duration_ms", "cwd", "session", "exec_id"} <= set(body)


def test_targets_say_what_is_there(world):
    rows = json.loads(cli(world, "targets", "--json").stdout)
    assert rows[0]["name"] == "local"
    assert rows[0]["available"] is True
    assert rows[0]["fence"].keys() >= {"level", "exec_gate", "network"}
    assert f"fence: {rows[0]['fence']['level']}, exec gate" in cli(world, "targets").stdout


COMMANDS = ["serve", "run", "targets", "policy", "redact", "approvals", "approve", "deny", "audit"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_carries_an_example(world, command):
    done = cli(world, command, "--help")
    assert done.returncode == 0
    assert "example" in done.stdout
    assert "execkit-mcp" in done.stdout


BAD = [
    (["run", "--policy", "nonesuch", "--", "true"], 2, "config.not_found"),
    (["run", "--policy", "./missing.yaml", "--", "true"], 2, "config.not_found"),
    (["run", "--target", "mars", "--", "true"], 2, "transport.unknown"),
    (["run", "--config", "missing.yaml", "--", "true"], 2, "config.not_found"),
    (["frobnicate"], 2, "invalid choice"),
    (["serve", "--read-only", "--policy", "locked"], 2, "contradict"),
    (["run", "--workspace", "/no/such/folder", "--", "true"], 2, "no workspace folder /no/such/folder"),
    (["serve", "--workspace", "/no/such/folder"], 2, "no workspace folder /no/such/folder"),
    (["serve", "--policy", "zzz"], 2, 'policy "zzz". Shipped'),
]


@pytest.mark.parametrize(("words", "code", "text"), BAD)
def test_a_wrong_call_has_its_exit_code_and_one_clear_line(world, words, code, text):
    done = cli(world, *words)
    assert done.returncode == code, done.stderr
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_an_unwritable_state_folder_is_named_and_nothing_runs(world):
    blocker = world.folder / "file"
    blocker.write_text("")
    done = run(world, "--state-dir", str(blocker / "state"), "--", "echo ran")
    assert done.returncode == 1
    assert "storage.unavailable" in done.stderr
    assert str(blocker) in done.stderr
    assert "ran" not in done.stdout


def test_a_policy_with_a_mistake_does_not_load(world):
    world.policy.write_text("version: 1\nname: x\nruels: []\n")
    done = run(world, "--", "true")
    assert done.returncode == 2
    assert f"{world.policy}:3:1" in done.stderr
    assert "rules" in done.stderr


def test_what_a_terminal_cannot_show_is_shown_as_its_code(world):
    done = run(world, "--", "echo '\u2603'", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout) == (0, "\\u2603\n"), done.stderr
    examined = cli(world, "doctor", PYTHONIOENCODING="ascii")
    assert ("\\u2713" in examined.stdout, "Traceback" in examined.stderr) == (True, False)
