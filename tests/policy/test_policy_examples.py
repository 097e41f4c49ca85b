"""What a test inside a policy means: its folder, and the operands that a rule wants to be absent."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, explain, judge
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


def test_the_signal_of_kill_is_a_flag_that_rules_see(load):
    policy = load(
        """rules:
  - {allow: [kill], effects: {process: any}}
  - {id: no, deny: [{kill: {flags: {any: [-s, "-9", -KILL]}}}]}
"""
    )
    for text in ("kill -9 5", "kill -KILL 5", "'kill' 5 -9", "kill -s KILL 5"):
        assert judge(text, policy, HERE).rule == "no", text
    assert judge("kill 5", policy, HERE).rule != "no"


class Broken:
    """A target that cannot be asked: looking up a program or a path fails."""

    def locate(self, name):
        raise RuntimeError(f"no answer about {name}")

    def resolve(self, path):
        raise RuntimeError(f"no answer about {path}")

    def linked_by(self, pattern):
        raise RuntimeError(f"no answer about {pattern}")

    def configured(self, folder):
        raise RuntimeError(f"no answer about {folder}")


def test_a_rule_that_fails_while_it_judges_denies_and_the_fault_is_told(load):
    policy = load("defaults: {decision: ask}\nrules: [{allow: [{cat: {cwd: [/srv/**]}}]}]\n")
    where = Context(cwd="/srv/app", home="/home/dev", workspace="/srv/app", locator=Broken())
    assert judge("cat x", policy, HERE).verdict is Verdict.ALLOW
    decision = judge("cat x", policy, where)
    assert decision.verdict is Verdict.DENY
    assert decision.canonical is None
    assert decision.warnings[0].startswith("fault while judging: RuntimeError: no answer about ")
    assert "fault while judging" in explain(decision, policy, HERE)
