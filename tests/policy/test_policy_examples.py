"""What a test inside a policy means: its folder, and the operands that a rule wants to be absent."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.policies import load_policy

HERE = Context(cwd="/srv/app", home="/home/dev", workspace="/srv/app")


@pytest.fixture
def load(tmp_path):
    def from_rules(text, workspace=None):
        path = tmp_path / "p.yaml"
        path.write_text(f"version: 1\nname: p\n{text}")
        path.chmod(0o600)
        return load_policy(str(path), workspace=workspace)

    return from_rules


@pytest.mark.parametrize("workspace", [None, "/srv/app"])
def test_the_folder_of_a_test_may_stand_below_the_workspace_or_home(load, workspace):
    load(
        """rules: [{allow: [{ls: {cwd: ["${workspace}/src/**"]}}, {pwd: {cwd: [~/notes]}}]}]
tests:
  - {run: ls, expect: allow, cwd: "${workspace}/src/lib"}
  - {run: ls, expect: deny, cwd: "${workspace}"}
  - {run: pwd, expect: allow, cwd: ~/notes}
""",
        workspace,
    )


def test_an_empty_list_of_operands_means_no_operand_at_all(load):
    policy = load(
        "rules: [{allow: [{deploy: {args: []}}, {ls: {args: []}}], effects: trusted}, {deny: [{cat: {args: []}}]}]\n"
    )
    told = {
        text: judge(text, policy, HERE).verdict for text in ("deploy", "deploy prod", "ls", "ls -l", "ls x", "ls *")
    }
    allowed = [text for text, verdict in told.items() if verdict is Verdict.ALLOW]
    assert allowed == ["deploy", "ls", "ls -l"]
