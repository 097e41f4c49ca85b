"""Settings come from flag, variable, file and default, in this order, and each remembers which."""

from pathlib import Path

import pytest

from execkit_mcp.config.locations import config_dir, ensure_state_dir, state_dir
from execkit_mcp.config.settings import load_settings
from execkit_mcp.errors import ConfigError, ConfigNotFound, ConfigPermissions, StorageUnavailable


@pytest.fixture
def environ(tmp_path):
    return {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.fixture
def write(tmp_path):
    def write_file(text: str) -> str:
        folder = tmp_path / "config" / "execkit-mcp"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "config.yaml"
        path.write_text(text)
        path.chmod(0o600)
        return str(path)

    return write_file


def test_without_anything_the_defaults_hold(environ, tmp_path):
    settings = load_settings(environ=environ)
    assert settings.policy == "workstation"
    assert settings.default_target == "local"
    assert list(settings.targets) == ["local", "sandbox"]
    assert settings.state_dir == str(tmp_path / "home/.local/state/execkit-mcp")
    assert settings.audit_dir == settings.state_dir
    assert settings.config_file is None
    assert set(settings.origins.values()) == {"default"}


def test_flag_beats_variable_beats_file_beats_default(environ, write):
    path = write("policy: locked\nlimits: {sessions: 3}\n")
    settings = load_settings(environ=environ)
    assert (settings.policy, settings.origins["policy"]) == ("locked", f"{path}:1:1")
    assert (settings.max_sessions, settings.origins["limits.sessions"]) == (3, f"{path}:2:10")
    environ = {**environ, "EXECKIT_POLICY": "read-only", "EXECKIT_MAX_SESSIONS": "5"}
    settings = load_settings(environ=environ)
    assert (settings.policy, settings.origins["policy"]) == ("read-only", "$EXECKIT_POLICY")
    assert settings.max_sessions == 5
    settings = load_settings(environ=environ, policy="workstation")
    assert (settings.policy, settings.origins["policy"]) == ("workstation", "--policy")


ALL_OF_IT = """\
policy: ./team.yaml
target: prod-1
workspace: ~/work
state_dir: /var/lib/execkit
audit_dir: /var/log/execkit
targets:
  local: {transport: local, policy: read-only, cwd: ~/src}
  prod-1: {transport: ssh, user: deploy, identity_file: ~/.ssh/key, policy: locked}
  box: {transport: docker}
  web: {transport: kubernetes, context: staging, namespace: web}
approvals: {channels: [out_of_band], ttl_s: 60}
secrets: {env: [API_TOKEN], files: [~/.token]}
"""


def test_the_whole_format_is_read(environ, write, tmp_path):
    path = write(ALL_OF_IT)
    settings = load_settings(environ=environ)
    home = str(tmp_path / "home")
    assert settings.policy == str(tmp_path / "config/execkit-mcp/team.yaml")
    assert settings.workspace == f"{home}/work"
    assert (settings.state_dir, settings.audit_dir) == ("/var/lib/execkit", "/var/log/execkit")
    production = settings.target("prod-1")
    assert production is not None
    assert production.options == {
        "host": "prod-1",
        "port": 22,
        "user": "deploy",
        "identity_file": f"{home}/.ssh/key",
    }
    assert production.origin == f"{path}:8:11"
    assert settings.targets["box"].options == {"container": "box"}
    assert settings.targets["local"].policy == "read-only"
    assert settings.targets["local"].cwd == f"{home}/src"
    assert settings.approval_channels == ("out_of_band",)
    assert settings.approval_ttl_s == 60
    assert settings.secret_env == ("API_TOKEN",)
    assert settings.secret_files == (f"{home}/.token",)


BAD = [
    ("polcy: locked", "1:1", 'unknown key "polcy"; did you mean "policy"?'),
    ("policy: a\npolicy: b", "2:1", 'the key "policy" stands twice'),
    ("policy: 5", "1:9", "found the number 5"),
    ("targets: {a: {host: b}}", "1:14", "the key transport is missing"),
    ("targets: {a: {transport: shs}}", "1:26", 'did you mean "ssh"?'),
    ("targets: {a: {transport: ssh, prot: 22}}", "1:31", 'did you mean "port"?'),
    ("targets: {a: {transport: local, host: b}}", "1:33", 'unknown key "host"'),
    ("targets: {a: {transport: ssh, port: 70000}}", "1:37", "expected a port, from 1 to 65535"),
    ("targets: {a: {transport: ssh, host: -oProxyCommand=x}}", "1:37", "is not a host name or address"),
    ("targets: {A B: {transport: ssh}}", "1:11", '"A B" is not a name'),
    ("targets: {local: {transport: ssh}}", "1:18", "give this target another name"),
    ("workspace: work", "1:12", '"work" is relative'),
    ("approvals: {channels: [mail]}", "1:24", "expected elicit or out_of_band"),
    ("limits: {sessions: 0}", "1:20", "from 1 to 1000"),
    ("secrets: {env: [A-B]}", "1:17", "is not the name of an environment variable"),
]


@pytest.mark.parametrize(("text", "place", "message"), BAD, ids=[text for text, _, _ in BAD])
def test_a_mistake_is_named_with_its_place(environ, write, text, place, message):
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(environ=environ)
    assert f"{path}:{place}: " in caught.value.message
    assert message in caught.value.message


def test_a_file_that_was_named_must_exist_and_the_default_one_need_not(environ, tmp_path):
    with pytest.raises(ConfigNotFound, match=r"--config: There is no configuration file"):
        load_settings(environ=environ, config=str(tmp_path / "absent.yaml"))
    with pytest.raises(ConfigNotFound, match=r"\$EXECKIT_CONFIG: There"):
        load_settings(environ={**environ, "EXECKIT_CONFIG": "/absent.yaml"})


def test_a_file_that_others_can_write_is_refused(environ, write):
    Path(write("policy: locked")).chmod(0o622)
    with pytest.raises(ConfigPermissions, match="can be written by others"):
        load_settings(environ=environ)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("EXECKIT_POLCY", "locked", 'did you mean "POLICY"?'),
        ("EXECKIT_MAX_SESSIONS", "many", '"many" is not a number'),
        ("EXECKIT_TARGET", "prod-9", r'there is no target "prod-9"'),
        ("EXECKIT_TARGET", "No Such", "is not a name"),
    ],
)
def test_a_wrong_variable_is_refused_by_name(environ, name, value, message):
    with pytest.raises(ConfigError) as caught:
        load_settings(environ={**environ, name: value})
    assert message in caught.value.message
    assert f"${name}" in caught.value.message


def test_variables_of_a_session_and_of_other_tools_are_let_be(environ):
    assert load_settings(environ={**environ, "EXECKIT_SESSION": "main", "EXECKIT_DEMO_COLOUR": "1"})


def test_relative_xdg_folders_are_ignored(tmp_path):
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "rel", "XDG_STATE_HOME": "rel"}
    assert config_dir(environ) == tmp_path / ".config/execkit-mcp"
    assert state_dir(environ) == tmp_path / ".local/state/execkit-mcp"


def test_the_state_folder_is_made_private(tmp_path):
    folder = ensure_state_dir(tmp_path / "a" / "b")
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    assert ensure_state_dir(folder).stat().st_mode & 0o777 == 0o700


def test_a_state_folder_that_others_can_write_is_refused(tmp_path):
    tmp_path.chmod(0o777)
    with pytest.raises(ConfigPermissions, match="can be written by others"):
        ensure_state_dir(tmp_path)


def test_a_state_folder_that_cannot_be_made_names_the_remedy(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageUnavailable) as caught:
        ensure_state_dir(tmp_path / "file" / "state")
    assert str(tmp_path / "file" / "state") in caught.value.message
    assert "--state-dir" in caught.value.hint
