"""``execkit-mcp policy`` as a process: answers, exit codes, and what it must not import."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def policy(tmp_path):
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PYTHONPATH": str(ROOT),
    }

    def run(*arguments: str, stdin: bytes = b"", options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *options, "-m", "execkit_mcp", "policy", *arguments],
            input=stdin,
            capture_output=True,
            env=environ,
            cwd=tmp_path,
            timeout=30,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("version: 1\nname: mine\nrules: [{id: r, allow: [echo]}, {id: q, ask: [ls]}]\n")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("command", "code", "verdict"),
    [("echo a", 0, "allow"), ("ls", 3, "ask"), ("rm x", 3, "deny"), ("echo $(", 3, "deny")],
)
def test_check_prints_the_verdict_and_exits_with_it(policy, file, command, code, verdict):
    done = policy("check", "--policy", str(file), "--", command)
    assert (done.returncode, done.stdout.split(":")[0]) == (code, verdict)


def test_check_takes_words_as_one_quoted_command(policy, file):
    done = policy("check", "--policy", str(file), "--json", "--", "echo", "a b", ";", "rm")
    assert done.returncode == 0
    assert json.loads(done.stdout)["commands"][0]["argv"] == ["echo", "a b", ";", "rm"]


def test_check_json_answers_every_line_and_names_lines_that_are_no_request(policy, file):
    lines = [
        b'{"command": "echo a", "cwd": "/srv", "home": "/home/x"}',
        b"not json",
        b"",
        b'{"command": 5}',
        b'["echo"]',
        b'{"command": "echo a", "cwd": "srv"}',
        b'{"command": "echo \xff"}',
        b'{"command": "' + b"a" * (1 << 20) + b'"}',
        b'{"command": "\\ud800"}',
        b'{"command": "rm x", "other": 1}',
    ]
    done = policy("check", "--policy", str(file), "--json", stdin=b"\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    got = [answer.get("verdict") or answer["error"]["code"] for answer in answers]
    invalid = "command.invalid"
    assert got == ["allow", invalid, invalid, invalid, invalid, invalid, "command.too_large", "deny", "deny"]
    assert "Line 2 of standard input is not JSON" in answers[1]["error"]["message"]
    assert done.returncode == 2
    assert set(answers[0]) >= {
        "verdict",
        "canonical",
        "rule",
        "reason_code",
        "message",
        "hint",
        "hazards",
        "commands",
        "policy",
    }


def test_check_json_answers_a_line_before_the_next_is_written(file, tmp_path):
    environ = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-m", "execkit_mcp", "policy", "check", "--policy", str(file), "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environ,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for command, verdict in (("echo a", "allow"), ("rm a", "deny")):
            process.stdin.write(json.dumps({"command": command}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == verdict
        process.stdin.close()
        assert process.wait(timeout=10) == 0


def test_explain_names_the_rule_and_never_fails_on_a_denial(policy, file):
    done = policy("explain", "--policy", str(file), "--", "rm -rf build")
    assert done.returncode == 0
    assert "deny" in done.stdout
    done = policy("explain", "--policy", str(file), "--json", "--", "ls")
    assert json.loads(done.stdout)["rule"] == "q"


def test_test_prints_failing_tests_and_exits_1(policy, file):
    assert policy("test", str(file)).returncode == 0
    with file.open("a") as end:
        end.write('tests:\n  - {run: "echo a", expect: deny}\n  - {run: "echo a", expect: allow}\n')
    done = policy("test", str(file))
    assert done.returncode == 1
    assert "mine.yaml:5" in done.stdout
    assert "expected deny, got allow" in done.stdout
    assert "mine: 1 of 2 tests hold" in done.stdout
    assert policy("check", "--policy", str(file), "--", "echo a").returncode == 2


def test_the_shipped_policies_hold_their_own_tests(policy):
    done = policy("test")
    assert done.returncode == 0, done.stdout


def test_a_broken_document_is_reported_line_by_line_with_exit_code_2(policy, file):
    file.write_text("version: 1\nname: mine\nrulse: []\nlimits: {time_s: 0}\n")
    done = policy("check", "--policy", "./mine.yaml", "--", "ls")
    assert (done.returncode, done.stdout) == (2, "")
    assert "mine.yaml:3:1: unknown key" in done.stderr
    assert "mine.yaml:4:18: limits.time_s" in done.stderr


@pytest.mark.parametrize("arguments", [("check", "--policy", "nope", "--", "ls"), ("check",), ("nonsense",), ()])
def test_wrong_usage_exits_with_2(policy, arguments):
    assert policy(*arguments).returncode == 2


def test_schema_prints_the_json_schema(policy):
    assert json.loads(policy("schema").stdout)["properties"]["version"]["const"] == 1


@pytest.mark.parametrize("part", ["check", "explain", "test", "schema"])
def test_help_carries_an_example(policy, part):
    done = policy(part, "--help")
    assert done.returncode == 0
    assert f"execkit-mcp policy {part}" in done.stdout.split("example")[-1]


def test_checking_imports_nothing_that_is_slow_and_not_needed(policy):
    done = policy("check", "--policy", "locked", "--", "ls", options=("-X", "importtime"))
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if line.startswith("import time")}
    assert "execkit_mcp.policy.engine" in imported
    assert not imported & {
        "asyncio",
        "mcp",
        "pydantic",
        "sqlite3",
        "detect_secrets",
        "subprocess",
        "ssl",
        "difflib",
    }


def test_a_policy_file_in_the_place_of_a_command_is_pointed_to_its_test(policy, file):
    done = policy("check", "--policy", str(file), str(file))
    assert f"policy test {file}" in done.stderr
    assert "policy test" not in policy("check", "--policy", str(file), "--", "ls x.yaml").stderr


def test_an_unknown_option_names_the_help_of_its_own_command(policy):
    done = policy("explain", "--polcy", "ci", "--", "ls")
    assert done.returncode == 2
    assert "unrecognized arguments: --polcy" in done.stderr
    assert "execkit-mcp policy explain --help" in done.stderr
