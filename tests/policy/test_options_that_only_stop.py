# ruff: noqa: E501 - rows of cases read one case a line
"""`set -e` and its kin end a text early and change no word: a policy may list them without listing `set`."""

import pytest

from execkit_mcp.errors import PolicyInvalid
from execkit_mcp.model import ReasonCode, Verdict
from execkit_mcp.policy.document import ShellRules
from execkit_mcp.runtime.policies import load_policy

STRICT = ShellRules(state=frozenset({"set -e", "set -u", "set -o pipefail"}))
ALL = ("set -e", "set -u", "set -eu", "set -euo pipefail", "set -o pipefail", "set -o errexit", "set +e", "set -e -o nounset")  # fmt: skip
OTHERS = (
    "set -x", "set -a", "set -k", "set -f", "set -n", "set -ex", "set -eua", "set -- a", "set a", "set -e a", "set",
    "set -o", "set -o allexport", "set -eo allexport", "set -o posix", "set +o", 'set "-$x"', "set $x", "set -e*", "set -e -- a",
    "set -", "set -H", "set +B", "set -eE", "shopt -so errexit", "set -o pipefail posix",
)  # fmt: skip


@pytest.mark.parametrize("text", ALL)
def test_an_option_that_only_stops_is_allowed_where_it_is_listed(decide, text):
    assert decide(f"{text}; ls", allow=["ls"], shell=STRICT).verdict is Verdict.ALLOW
    assert decide(f"{text}; ls", allow=["ls"]).reason_code is ReasonCode.SHELL_STATE


@pytest.mark.parametrize("text", OTHERS)
def test_any_other_use_of_set_needs_set_itself(decide, text):
    decision = decide(f"{text}; ls", allow=["ls"], shell=STRICT)
    assert decision.verdict is Verdict.DENY
    assert decision.reason_code is ReasonCode.SHELL_STATE


def test_only_the_options_that_are_listed_are_granted(decide):
    only_e = ShellRules(state=frozenset({"set -e"}))
    assert decide("set -e; ls", allow=["ls"], shell=only_e).verdict is Verdict.ALLOW
    decision = decide("set -euo pipefail; ls", allow=["ls"], shell=only_e)
    assert decision.verdict is Verdict.DENY
    assert decision.hint == "Add `set -o pipefail` and `set -u` to `shell.state`."


def test_they_leave_what_is_known_of_folder_and_variables_as_it_was(decide):
    allow = ["cat"]
    assert decide("d=/tmp; set -e; cat $d/x", allow=allow, shell=STRICT).verdict is Verdict.ALLOW
    assert decide("d=/etc; set -e; cat $d/shadow", allow=allow, shell=STRICT).reason_code is ReasonCode.PATH_NEVER
    both = ShellRules(state=frozenset({"set -e", "cd"}))
    assert decide("cd /etc; set -e; cat shadow", allow=allow, shell=both).reason_code is ReasonCode.PATH_NEVER


def test_hash_that_lists_or_looks_up_is_a_program_and_needs_a_rule(decide):
    for text in ["hash", "hash -l", "hash -t git", "hash git", "hash git make"]:
        assert decide(text, allow=["hash"]).verdict is Verdict.ALLOW, text
        assert decide(text, allow=["ls"]).reason_code is ReasonCode.NO_RULE, text
    for text in [
        "hash -p /tmp/x git",
        "hash -p/tmp/x git",
        "hash -r",
        "hash -d git",
        "hash $x",
        "hash -lp /tmp/x git",
        "hash -rt git",
    ]:
        assert decide(text, allow=["hash"]).reason_code is ReasonCode.SHELL_STATE, text


@pytest.mark.parametrize("entry", ["set -v", "set -a", "set -eu", "set --"])
def test_a_list_of_state_takes_no_other_option_of_set(tmp_path, entry):
    path = tmp_path / "p.yaml"
    path.write_text(f'version: 1\nname: p\nshell: {{state: ["{entry}"]}}\nrules: []\n')
    path.chmod(0o600)
    with pytest.raises(PolicyInvalid, match="those that can are set -e, set -u, set -x, set -o pipefail"):
        load_policy(str(path))
