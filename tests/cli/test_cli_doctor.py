"""``execkit-mcp doctor``: what is wrong is found, named, and said how to mend; what is right is left alone."""

import json
import os

import pytest

from execkit_mcp.cli.checks import CHECKS, Subject, examine
from execkit_mcp.cli.main import run as command_line
from execkit_mcp.config.settings import load_settings


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("XDG_", "EXECKIT_", "CLAUDE", "CODEX"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def report(capsys):
    def run(*options, code=0):
        capsys.readouterr()
        assert command_line(["doctor", "--json", *options]) == code
        return json.loads(capsys.readouterr().out)

    return run


def levels(body, check):
    return [each["level"] for each in body["checks"] if each["check"] == check]


def failed(body):
    return {each["check"]: each for each in body["checks"] if each["level"] == "failed"}


def test_a_fresh_machine_is_well_and_nothing_is_written(home, report):
    body = report()
    assert body["ok"] is True
    assert {each["check"] for each in body["checks"]} == set(CHECKS)
    assert list(home.iterdir()) == []


def test_every_setting_is_shown_with_its_value_and_where_it_came_from(home, report, monkeypatch):
    folder = home / ".config" / "execkit-mcp"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("policy: ci\nlimits: {sessions: 3}\ntargets:\n  box: {transport: ssh}\n")
    (folder / "config.yaml").chmod(0o600)
    monkeypatch.setenv("EXECKIT_MAX_SESSIONS", "5")
    settings = report("--workspace", "/srv")["settings"]
    assert settings["policy"] == {"value": "ci", "origin": f"{folder}/config.yaml:1:1"}
    assert settings["limits.sessions"] == {"value": 5, "origin": "$EXECKIT_MAX_SESSIONS"}
    assert settings["workspace"] == {"value": "/srv", "origin": "--workspace"}
    assert settings["approvals.ttl_s"] == {"value": 300.0, "origin": "default"}
    assert settings["target"] == {"value": "local", "origin": "default"}
    assert settings["targets.box"]["origin"].startswith(f"{folder}/config.yaml:")
    assert set(load_settings().origins) <= set(settings)


@pytest.mark.parametrize(
    ("text", "check", "says"),
    [
        ("polcy: ci\n", "configuration", "polcy"),
        ("policy: ./bad.yaml\n", "policy", "rulez"),
        ("policy: no-such\n", "policy", "no-such"),
        ("secrets: {files: [/no/such]}\n", "redaction", "/no/such"),
    ],
)
def test_what_is_wrong_in_the_configuration_is_named(home, report, text, check, says):
    (home / "bad.yaml").write_text("version: 1\nname: bad\nrulez: []\n")
    (home / "bad.yaml").chmod(0o600)
    (home / "c.yaml").write_text(text)
    (home / "c.yaml").chmod(0o600)
    body = report("--config", "c.yaml", code=1)
    found = failed(body)
    assert body["ok"] is False
    assert set(found) == {check}
    assert says in found[check]["message"]
    assert found[check]["remedy"]


def test_a_state_folder_that_others_can_write_fails(home, report):
    state = home / "state"
    state.mkdir()
    state.chmod(0o777)
    found = failed(report("--state-dir", str(state), code=1))
    assert f"chmod 700 {state}" in found["state"]["remedy"]
    state.chmod(0o700)
    (state / "x").touch(mode=0o644)
    assert "x" in failed(report("--state-dir", str(state), code=1))["state"]["message"]
    (state / "x").chmod(0o600)
    assert report("--state-dir", str(state))["ok"]


def test_a_record_that_was_changed_fails(home, report):
    state = home / "state"
    assert command_line(["run", "--policy", "read-only", "--state-dir", str(state), "--", "true"]) == 0
    assert levels(report("--state-dir", str(state)), "record") == ["ok"]
    (segment,) = state.glob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"allow", b"Allow"))
    assert "broken" in failed(report("--state-dir", str(state), code=1))["record"]["message"]


def test_other_processes_on_the_same_state_folder_are_named(home, report):
    import subprocess

    state = home / "state"
    state.mkdir(mode=0o700)
    (state / "held").touch(mode=0o600)
    with (
        (state / "held").open("wb") as held,
        subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=held) as other,
    ):
        (found,) = [each for each in report("--state-dir", str(state))["checks"] if each["check"] == "servers"]
        other.communicate(timeout=30)
    assert str(other.pid) in found["message"]


def test_a_client_whose_command_is_gone_is_told_to_be_set_up_again(home, report):
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text('{"mcpServers": {"execkit": {"command": "/gone/execkit-mcp"}}}')
    (found,) = [each for each in report()["checks"] if "Cursor" in each["message"]]
    assert found["level"] == "warning"
    assert found["remedy"] == "Run: execkit-mcp setup cursor"
    (home / ".cursor" / "mcp.json").write_text("{")
    assert report()["ok"], "a client's broken file is no fault of this program"


def test_inside_a_session_nobody_may_approve(home, report, monkeypatch):
    monkeypatch.setenv("EXECKIT_SESSION", "main")
    assert "inside an execkit session" in failed(report(code=1))["approvals"]["message"]


def test_a_check_that_breaks_does_not_hide_the_others(home, monkeypatch):
    def broken(_subject):
        raise OSError("no such luck")
        yield

    monkeypatch.setitem(CHECKS, "record", broken)
    findings = examine(Subject(config=None, policy=None, workspace=None, state_dir=None))
    assert [each.message for each in findings if each.level == "failed"] == ["no such luck"]
    assert {each.check for each in findings} == set(CHECKS)


def test_people_get_signs_and_remedies(home, capsys):
    assert command_line(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "✓ Python 3." in out
    assert "→ Connect one: execkit-mcp setup CLIENT" in out
    assert "Nothing failed." in out
    assert "\x1b" not in out


def test_what_separates_agent_and_approver_is_said_of_the_fence_that_holds_here(home, report, monkeypatch):
    def said():
        return " ".join(row["message"] for row in report()["checks"] if row["check"] == "approvals")

    monkeypatch.setenv("EXECKIT_FENCE", "process")
    assert "in a fence (process) that hides the state folder" in said()
    monkeypatch.setenv("EXECKIT_FENCE", "off")
    assert "No fence hides the state folder" in said()


def test_a_state_folder_that_cannot_be_read_and_a_damaged_database_are_named(home, report):
    state = home / "state"
    state.mkdir(mode=0o700)
    (state / "execkit.db").write_bytes(b"junk")
    (state / "execkit.db").chmod(0o600)
    found = failed(report("--state-dir", str(state), code=1))
    assert set(found) == {"state"}
    assert "is damaged" in found["state"]["message"]
    assert "Move" in found["state"]["remedy"]
    (home / "file").write_text("x")
    found = failed(report("--state-dir", str(home / "file"), code=1))
    assert {"state", "record"} <= set(found)
    for name in ("state", "record"):
        assert str(home / "file") in found[name]["message"]
        assert "--state-dir" in found[name]["remedy"]


def test_values_are_shown_as_they_would_be_written(home, capsys):
    command_line(["doctor"])
    rows = [line.split() for line in capsys.readouterr().out.partition("settings\n")[2].splitlines() if line]
    shown = {words[0]: words[1:] for words in rows}
    assert shown["approvals.channels"] == ["elicit,", "out_of_band", "default"]
    assert shown["limits.total_memory_mb"] == ["none", "default"]
    assert shown["audit.recordings"] == ["on", "default"]
    assert shown["approvals.ttl_s"] == ["300", "default"]
