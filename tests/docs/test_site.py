"""The documentation site builds without a broken link, and its reference is written from the code."""

import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp.cli.main import COMMANDS
from execkit_mcp.policy.hazards import FAMILIES
from execkit_mcp.server.tools import TOOLS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    done = subprocess.run(
        [sys.executable, str(ROOT / ".packaging" / "site.py"), "--pages", str(folder)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_builds_and_no_link_is_broken(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / ".packaging" / "site.py"), str(tmp_path / "site")],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    built = {path.name for path in (tmp_path / "site").rglob("*.html")}
    assert {"index.html", "policies.html", "threat-model.html", "tools.html", "errors.html", "clients.html"} <= built


def test_the_reference_names_every_command_tool_and_hazard(pages):
    commands = (pages / "reference" / "commands.md").read_text()
    assert all(f"## {command}\n" in commands for command in COMMANDS)
    tools = (pages / "reference" / "tools.md").read_text()
    for spec in TOOLS:
        assert f"## {spec.name}\n" in tools
        assert all(f"| `{argument}` |" in tools for argument in spec.arguments.model_fields)
    hazards = (pages / "reference" / "hazards.md").read_text()
    assert all(f"`{row.id}`" in hazards for rows in FAMILIES.values() for row in rows)


def test_the_reference_names_the_error_codes_of_the_contract(pages):
    text = (pages / "reference" / "errors.md").read_text()
    for code in (
        "exec.not_found", "exec.expired", "config.invalid", "config.not_found", "config.permissions",
        "policy.document_invalid", "policy.denied", "approval.expired", "session.busy", "command.too_large",
        "transport.unknown", "storage.unavailable", "audit.write_failed", "audit.chain_broken",
    ):  # fmt: skip
        assert f"`{code}`" in text, code


def test_the_threat_model_gives_each_promise_mechanism_limit_and_tests(pages):
    text = (pages / "threat-model.md").read_text()
    for number in range(1, 8):
        section = text.partition(f"### P{number}\n")[2].partition("###")[0]
        for part in ("*Mechanism.*", "*Limit.*", "*Attacked by*", "`test_"):
            assert part in section, (number, part)
