"""The README cannot rot: transcript, policy, Python, commands and lists are checked against the program."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp import Blocked
from execkit_mcp.cli.main import COMMANDS
from execkit_mcp.runtime.policies import load_policy, shipped_names

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def block(language: str) -> str:
    return re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)[1]


def test_the_transcript_is_what_the_demo_prints():
    done = subprocess.run(
        [sys.executable, str(ROOT / "poc" / "transcript.py"), "--check"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, "run: python poc/transcript.py\n" + done.stdout + done.stderr
    assert "Every promise held." in README


def test_the_ten_line_policy_has_ten_lines_and_passes_its_own_tests(tmp_path):
    text = block("yaml")
    assert text.count("\n") == 10
    path = tmp_path / "look.yaml"
    path.write_text(text)
    path.chmod(0o644)
    assert load_policy(str(path)).ref.name == "look-and-restart"


def test_the_python_example_runs(world, monkeypatch, capsys):
    monkeypatch.chdir(world.workspace)
    monkeypatch.setenv("EXECKIT_STATE_DIR", str(world.state))
    (world.workspace / "a.log").write_text("from the log\n")
    exec(compile(block("python"), "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert "from the log" in out
    assert Blocked.__name__ in block("python")


def test_every_command_is_listed():
    rows = re.findall(r"^\| `([^`]+)`(?:, `([^`]+)`)?(?:, `([^`]+)`)? \|", README, re.MULTILINE)
    listed = {part.split()[0] for row in rows for part in row if part}
    assert set(COMMANDS) <= listed


def test_every_shipped_policy_is_named():
    for name in shipped_names():
        assert f"`{name}`" in README


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_commands_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
