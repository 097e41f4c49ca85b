"""The guide in ``policies/README.md`` says what is so: each policy in it loads, each command in it runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp.runtime.policies import load_document, load_policy, shipped_names

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "policies" / "README.md").read_text()
POLICIES = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
CONSOLES = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
COMMANDS = [line.removeprefix("$ ") for block in CONSOLES for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture
def run(tmp_path):
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PYTHONPATH": str(ROOT),
    }
    (tmp_path / "team.yaml").write_text(POLICIES[0])
    (tmp_path / "team.yaml").chmod(0o600)
    (tmp_path / "commands.txt").write_text("ls\nrm x\n")

    def execkit(line):
        words = shlex.split(line.partition(" > ")[0])
        assert words[0] == "execkit-mcp"
        return subprocess.run(
            [sys.executable, "-m", "execkit_mcp", *words[1:]],
            capture_output=True,
            text=True,
            env=environ,
            cwd=tmp_path,
            timeout=60,
            check=False,
        )

    return execkit


def test_the_guide_has_examples():
    assert len(POLICIES) == 2
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("text", POLICIES, ids=["smallest", "more"])
def test_each_policy_of_the_guide_loads_and_its_tests_hold(text, tmp_path):
    path = tmp_path / "team.yaml"
    path.write_text(text)
    path.chmod(0o600)
    assert load_policy(str(path)).document.tests


def test_each_command_of_the_guide_runs_and_prints_what_the_guide_shows(run):
    run("execkit-mcp run --policy read-only -- ls")  # so that there is a record
    for line in COMMANDS:
        done = run(line)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        assert done.stdout, line
    shown = [line for block in CONSOLES for line in block.splitlines() if not line.startswith("$ ")]
    assert shown == run("execkit-mcp policy test ./team.yaml").stdout.splitlines()


def test_the_table_names_every_shipped_policy_with_what_it_does_by_default():
    rows = re.findall(r"^\| `([a-z0-9-]+)`.*\| (asks|denied) \|$", GUIDE, re.MULTILINE)
    assert {name for name, _ in rows} == set(shipped_names())
    for name, unmatched in rows:
        verdict = load_document(name).defaults.decision.word
        assert {"asks": "ask", "denied": "deny"}[unmatched] == verdict
