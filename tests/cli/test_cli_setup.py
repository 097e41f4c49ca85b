"""``execkit-mcp setup``: each client's file gets the server, keeps everything else, and can lose it again."""

import json
import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from execkit_mcp.cli.clients import CLIENTS, find_client
from execkit_mcp.cli.clients.launcher import Launcher, find_launcher
from execkit_mcp.cli.main import run as command_line
from execkit_mcp.config.edit.jsonc import read as read_json
from execkit_mcp.errors import CommandInvalid, ConfigError

IDS = [client.id for client in CLIENTS]
WITH_HOOK = [client.id for client in CLIENTS if client.hook is not None]
WITH_PROJECT = [client.id for client in CLIENTS if client.project]
HERS = {
    "json": '{\n  // hers\n  "theme": "dark",\n  "mcpServers": {\n    "other": {"command": "x"} // keep\n  }\n}\n',
    "toml": '# hers\nmodel = "x"\n\n[mcp_servers.other] # keep\ncommand = "x"\n',
    "yaml": "# hers\nGOOSE_MODEL: x\nextensions: # keep\n  other:\n    type: stdio\n    cmd: x\n",
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    project = tmp_path / "project"
    project.mkdir()
    for name in [name for name in os.environ if name.startswith(("XDG_", "EXECKIT_", "CLAUDE", "CODEX"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(project)
    monkeypatch.setattr(
        "execkit_mcp.cli.clients.launcher.find_launcher", lambda: Launcher(argv=("/opt/execkit mcp/bin/execkit-mcp",))
    )
    return home


def values(path, form):
    text = path.read_text()
    if form == "json":
        return read_json(text).value
    return tomllib.loads(text) if form == "toml" else yaml.safe_load(text)


def entry(client, path):
    here = values(path, client.form)
    for key in (*client.path, "execkit"):
        here = here[key]
    return here


def argv(found):
    command = found.get("command", found.get("cmd"))
    return command if isinstance(command, list) else [command, *found["args"]]


@pytest.mark.parametrize("name", IDS)
def test_a_client_without_a_file_gets_one_with_an_absolute_command(home, capsys, name):
    client = find_client(name)
    assert command_line(["setup", name]) == 0
    path = client.file("user", Path.cwd())
    assert argv(entry(client, path)) == ["/opt/execkit mcp/bin/execkit-mcp", "serve"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    said = capsys.readouterr().out
    assert f"+++ {path}" in said
    assert client.check in said


@pytest.mark.parametrize("name", IDS)
def test_what_was_in_the_file_stays_and_a_backup_is_kept(home, name):
    client = find_client(name)
    path = client.file("user", Path.cwd())
    path.parent.mkdir(parents=True, exist_ok=True)
    text = HERS[client.form].replace("mcpServers", client.path[0])
    path.write_text(text)
    path.chmod(0o640)
    assert command_line(["setup", name]) == 0
    after = path.read_text()
    for remark in re.findall(r"(?://|#) (?:hers|keep)", text):
        assert remark in after
    before, now = (read_json(text).value if client.form == "json" else None), values(path, client.form)
    assert now[client.path[0]]["other"]
    assert before is None or before["theme"] == now["theme"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (backup,) = path.parent.glob(f"{path.name}.*.bak")
    assert backup.read_text() == text
    assert stat.S_IMODE(backup.stat().st_mode) == 0o640
    assert command_line(["setup", name, "--remove"]) == 0
    assert path.read_text() == text


@pytest.mark.parametrize("name", IDS)
def test_a_second_run_changes_nothing_and_leaves_no_second_backup(home, capsys, name):
    client = find_client(name)
    extra = ["--hook"] if client.hook else []
    command_line(["setup", name, *extra])
    path = client.file("user", Path.cwd())
    before = path.read_bytes()
    capsys.readouterr()
    assert command_line(["setup", name, *extra]) == 0
    assert "nothing to change" in capsys.readouterr().out
    assert path.read_bytes() == before
    assert not list(home.rglob("*.bak"))


@pytest.mark.parametrize("name", IDS)
def test_print_shows_the_change_and_makes_none(home, capsys, name):
    assert command_line(["setup", name, "--print"]) == 0
    assert "execkit" in capsys.readouterr().out
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize("name", WITH_PROJECT)
def test_a_project_has_a_file_of_its_own(home, name):
    client = find_client(name)
    assert command_line(["setup", name, "--scope", "project", "--policy", "read-only"]) == 0
    path = client.file("project", Path.cwd())
    assert path.is_relative_to(Path.cwd())
    assert argv(entry(client, path))[-2:] == ["--policy", "read-only"]
    assert list(home.rglob("*")) == []


def test_a_projects_folder_alone_means_its_file_and_has_to_be_there(home, capsys):
    other = home.parent / "other"
    other.mkdir()
    assert command_line(["setup", "cursor", "--project", str(other)]) == 0
    assert (other / ".cursor/mcp.json").exists()
    assert command_line(["setup", "cursor", "--scope", "project", "--project", str(other / "othr")]) == 2
    assert "There is no project folder" in capsys.readouterr().err
    assert not (other / "othr").exists()
    assert command_line(["setup", "cursor", "--scope", "user", "--project", str(other)]) == 2
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--workspace", "/nowhere/at/all"], "There is no workspace folder"),
        (["--config", "/nowhere.yaml"], "There is no configuration file"),
        (["--url", "http://127.0.0.1:8765/mcp", "--policy", "ci"], "--policy: the server at --url has its own"),
        (["--url", "http://127.0.0.1:8765/mcp", "--read-only"], "--read-only: the server at --url has its own"),
    ],
)
def test_what_the_server_would_not_start_with_or_never_see_is_not_written_down(home, options, told, capsys):
    assert command_line(["setup", "cursor", *options]) == 2
    assert told in capsys.readouterr().err
    assert list(home.rglob("*")) == []


def test_taking_out_says_what_it_did(home, capsys):
    command_line(["setup", "claude-code"])
    capsys.readouterr()
    assert command_line(["setup", "claude-code", "--remove"]) == 0
    assert f"Claude Code: removed {home}/.claude.json, kept the old one" in capsys.readouterr().out
    assert command_line(["setup", "claude-code", "--remove"]) == 0
    assert capsys.readouterr().out == f"Claude Code: nothing to remove; it is not in {home}/.claude.json.\n"


@pytest.mark.parametrize("name", sorted(set(IDS) - set(WITH_PROJECT)))
def test_a_client_without_project_files_says_so(home, name, capsys):
    assert command_line(["setup", name, "--scope", "project"]) == 2
    assert "has no configuration for one project" in capsys.readouterr().err


@pytest.mark.parametrize("name", WITH_HOOK)
def test_a_hook_comes_beside_her_own_and_goes_alone(home, name):
    client = find_client(name)
    path = client.hook_file("user", Path.cwd())
    path.parent.mkdir(parents=True, exist_ok=True)
    list_ = json.dumps([{"command": "hers", "hooks": [{"type": "command", "command": "hers"}]}])
    text = f'{{\n  // hers\n  "hooks": {{\n    "{client.hook.path[-1]}": {list_}\n  }}\n}}\n'
    path.write_text(text)
    assert command_line(["setup", name, "--hook-only", "--policy", "ci"]) == 0
    items = values(path, "json")["hooks"][client.hook.path[-1]]
    assert len(items) == 2
    line = json.dumps(items[1])
    assert f"hook --client {name} --policy ci || exit 2" in line
    for key, value in client.hook.required.items():
        assert values(path, "json")[key] == value
    assert command_line(["setup", name, "--hook-only", "--policy", "read-only"]) == 0
    items = values(path, "json")["hooks"][client.hook.path[-1]]
    assert [("--policy read-only" in json.dumps(item)) for item in items] == [False, True], "the old one is replaced"
    assert command_line(["setup", name, "--hook-only", "--remove"]) == 0
    assert values(path, "json")["hooks"] == read_json(text).value["hooks"]
    assert "// hers" in path.read_text()


@pytest.mark.parametrize("name", sorted(set(IDS) - set(WITH_HOOK)))
def test_a_client_without_hooks_says_so_and_nothing_is_written(home, name, capsys):
    assert command_line(["setup", name, "--hook"]) == 2
    assert "has no hook" in capsys.readouterr().err
    assert list(home.rglob("*")) == []


def test_a_broken_file_is_named_with_its_place_and_left_as_it_is(home, capsys):
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{\n  "mcpServers": {\n')
    assert command_line(["setup", "cursor"]) == 2
    assert f"{path}:3:1" in capsys.readouterr().err
    assert path.read_text() == '{\n  "mcpServers": {\n'
    assert len(list(path.parent.iterdir())) == 1


def test_a_link_to_a_file_elsewhere_stays_a_link(home):
    real = home / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.symlink_to(real)
    assert command_line(["setup", "cursor"]) == 0
    assert path.is_symlink()
    assert "execkit" in json.loads(real.read_text())["mcpServers"]


def test_a_policy_that_does_not_load_is_not_written_down(home, tmp_path, capsys):
    bad = tmp_path / "bad.yaml"
    bad.write_text("version: 1\nname: bad\nrulez: []\n")
    bad.chmod(0o600)
    assert command_line(["setup", "cursor", "--policy", str(bad)]) == 2
    assert "rulez" in capsys.readouterr().err
    assert list(home.rglob("*")) == []


def test_a_policy_file_is_written_down_with_its_whole_path(home, tmp_path):
    good = Path("team.yaml")
    good.write_text("version: 1\nname: team\nrules: [{allow: [ls]}]\n")
    good.chmod(0o600)
    assert command_line(["setup", "cursor", "--policy", "./team.yaml"]) == 0
    found = argv(entry(find_client("cursor"), home / ".cursor" / "mcp.json"))
    assert found[-1] == str(good.absolute())


def test_an_unknown_client_is_told_the_nearest_name(home, capsys):
    assert command_line(["setup", "cursr"]) == 2
    assert 'did you mean "cursor"?' in capsys.readouterr().err
    with pytest.raises(CommandInvalid):
        find_client("emacs")


@pytest.mark.parametrize(("name", "file"), [("codex", "config.toml"), ("claude-code", ".claude.json")])
def test_a_client_that_was_moved_by_its_variable_is_found_there(home, tmp_path, monkeypatch, name, file):
    monkeypatch.setenv(find_client(name).override[0], str(tmp_path / "moved"))
    assert command_line(["setup", name]) == 0
    assert (tmp_path / "moved" / file).is_file()


def test_all_connects_what_is_installed_and_nothing_else(home, tmp_path, monkeypatch, capsys):
    tools = tmp_path / "bin"
    tools.mkdir()
    for program in ("claude", "codex", "goose"):
        (tools / program).write_text("#!/bin/sh\n")
        (tools / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    assert command_line(["setup", "all", "--hook"]) == 0
    capsys.readouterr()
    assert command_line(["setup", "--json"]) == 0
    rows = {row["client"]: row for row in json.loads(capsys.readouterr().out)}
    assert {name for name, row in rows.items() if row["configured"]} == {"claude-code", "codex", "goose"}
    assert {name for name, row in rows.items() if row["hooks"]} == {"claude-code", "codex"}


def test_what_changed_meanwhile_is_not_overwritten(home, monkeypatch):
    from execkit_mcp.cli.clients.change import FileChange

    path = home / "f.json"
    path.write_text("{}")
    change = FileChange(path=path, before="{}", after='{"a": 1}')
    path.write_text('{"b": 2}')
    with pytest.raises(ConfigError):
        change.apply()
    assert path.read_text() == '{"b": 2}'
    assert len(list(home.iterdir())) == 1


def test_the_command_that_is_written_down_works_from_anywhere_with_a_bare_environment():
    launcher = find_launcher()
    assert Path(launcher.argv[0]).is_absolute()
    done = subprocess.run(
        [*launcher.argv, "--version"],
        env=launcher.env,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("execkit-mcp ")
    assert sys.executable.rsplit("/", 1)[0] in launcher.argv[0]


@pytest.mark.parametrize("name", IDS)
def test_a_server_that_listens_is_connected_by_its_address_and_the_token_stays_in_its_variable(home, name):
    client = find_client(name)
    path = client.file("user", Path.cwd())
    assert command_line(["setup", name]) == 0
    address = "http://127.0.0.1:8765/mcp"
    assert command_line(["setup", name, "--url", address, "--token-env", "SHELL_TOKEN"]) == 0
    found = entry(client, path)
    assert address in found.values()
    assert not {"command", "cmd", "args"} & set(found), "of the server that it started nothing is left"
    assert "SHELL_TOKEN" in json.dumps(found)
    assert command_line(["setup", name]) == 0
    assert argv(entry(client, path))[1] == "serve"
    assert address not in path.read_text()


@pytest.mark.parametrize(
    "options",
    [("--url", "ftp://x"), ("--url", "http://user:word@host/"), ("--token-env", "X"),
     ("--url", "http://h/mcp", "--token-env", "a b"), ("--url", "http://h/ mcp")],
)  # fmt: skip
def test_an_address_that_is_none_is_not_written_down(home, options):
    assert command_line(["setup", "cursor", *options]) == 2
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize("name", ["", "a b", "../x", "a.b", "x" * 65, "-x"])
def test_a_name_that_clients_refuse_is_not_written_down(home, capsys, name):
    assert command_line(["setup", "codex", f"--name={name}"]) == 2
    assert "--name" in capsys.readouterr().err
    assert not list(home.rglob("config.toml"))


def test_a_link_to_nothing_is_told_and_left(home, capsys):
    link = home / ".claude.json"
    link.symlink_to("dots/claude.json")
    assert command_line(["setup", "claude-code"]) == 2
    assert "a link to dots/claude.json, where nothing is" in capsys.readouterr().err
    assert link.is_symlink()
