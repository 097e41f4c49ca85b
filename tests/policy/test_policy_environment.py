"""Which names are dangerous, and what every session starts with."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import session_environment
from execkit_mcp.policy.document import PolicyDocument, ShellRules
from execkit_mcp.policy.environment import FAMILIES, is_dangerous


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family[1])
def test_each_family_catches_its_example_and_not_its_look_alike(family):
    _, example, harmless = family
    assert is_dangerous(example)
    assert not is_dangerous(harmless)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "IFS",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "BASH_ENV",
        "BASH_FUNC_x",
        "ENV",
        "PS0",
        "PS1",
        "PS4",
        "PROMPT_COMMAND",
        "GIT_PAGER",
        "MANPAGER",
        "EDITOR",
        "SUDO_EDITOR",
        "GIT_DIR",
        "PYTHONPATH",
        "PERL5LIB",
        "RUBYOPT",
        "NODE_OPTIONS",
        "JAVA_TOOL_OPTIONS",
        "LESSOPEN",
        "KUBECONFIG",
        "HOME",
        "http_proxy",
        "HTTPS_PROXY",
        "SHELLOPTS",
        "GLOBIGNORE",
        "CDPATH",
        "TAR_OPTIONS",
        "RIPGREP_CONFIG_PATH",
    ],
)
def test_the_published_list_is_dangerous(name):
    assert is_dangerous(name)


@pytest.mark.parametrize(
    "name",
    ["LC_ALL", "TZ", "COLUMNS", "LANG", "CI", "NODE_ENV", "x", "i", "file", "count", "NO_COLOR", "RUST_LOG"],
)
def test_ordinary_names_are_not(name):
    assert not is_dangerous(name)


def test_a_session_has_no_pager_and_no_git_configuration_that_runs_something():
    document = PolicyDocument(name="t", digest="d", shell=ShellRules(env_force={"PAGER": "less", "X": "y"}))
    forced = session_environment(document)
    assert (forced["PAGER"], forced["X"], forced["GIT_PAGER"]) == ("less", "y", "cat")
    count = int(forced["GIT_CONFIG_COUNT"])
    settings = {forced[f"GIT_CONFIG_KEY_{index}"]: forced[f"GIT_CONFIG_VALUE_{index}"] for index in range(count)}
    assert settings["core.fsmonitor"] == "false"
    assert settings["core.hooksPath"] == "/dev/null"


def test_assigning_the_forced_value_again_changes_nothing_and_is_let_through(decide):
    shell = ShellRules(env_force={"PAGER": "cat"})
    assert decide("PAGER=cat ls", allow=["ls"], shell=shell).verdict is Verdict.ALLOW
    assert decide("PAGER=less ls", allow=["ls"], shell=shell).verdict is Verdict.DENY
    assert decide("PAGER=$x ls", allow=["ls"], shell=shell).verdict is Verdict.DENY


def test_lower_case_names_are_free_until_they_are_exported(decide):
    shell = ShellRules(state=frozenset({"export", "read"}))
    assert decide("x=1", shell=shell).verdict is Verdict.ALLOW
    assert decide("read x", shell=shell).verdict is Verdict.ALLOW
    assert decide("export x=1", shell=shell).verdict is Verdict.DENY
    assert decide("x=1 ls", allow=["ls"], shell=shell).verdict is Verdict.DENY
    assert decide("FOO=1", shell=shell).verdict is Verdict.DENY
    assert decide("FOO=1 ls", allow=["ls"], shell=ShellRules(env_set=("FOO",))).verdict is Verdict.ALLOW
