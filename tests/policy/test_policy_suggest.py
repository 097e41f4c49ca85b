# ruff: noqa: E501 - a table reads one row a line
"""What a suggested rule covers, and each way in which it could have been wider."""

import json

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.compare import Question
from execkit_mcp.policy.suggest import suggest, to_yaml
from execkit_mcp.runtime.policies import example_context, load_policy

WORKSPACE = "/home/dev/project"
HERE = Context(cwd=WORKSPACE, home="/home/dev", workspace=WORKSPACE)


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "base.yaml"
    path.write_text(
        """version: 1
name: base
defaults: {decision: ask}
paths: {write: ["${workspace}/**"]}
rules: [{allow: [ls, cat]}, {id: net, ask: [curl]}, {id: no, deny: [reboot]}]
"""
    )
    path.chmod(0o600)
    return path


@pytest.fixture
def approve(base, tmp_path):
    """The policy with what is suggested after these texts were approved, and the suggestion."""

    def texts(*approved, cwd=WORKSPACE):
        questions = [Question(command=text, cwd=cwd) for text in approved]
        found = suggest(questions, load_policy(str(base)), HERE, example_context())
        path = tmp_path / "suggested.yaml"
        path.write_text(to_yaml(found, name="suggested", include=str(base)))
        path.chmod(0o600)
        return load_policy(str(path)), found

    return texts


WIDER = [
    ("touch", ["touch a", "touch -c", "touch $x", "touch *"]),
    ("touch a", ["touch b", "touch -c a", "touch", "touch *", "touch /etc/a", "touch a b"]),
    ("touch '*.a'", ["touch *.a", "touch x.a"]),
    ("fallocate -l 5 x", ["fallocate x", "fallocate -l 6 x", "fallocate -l 5 y", "fallocate -l 5 -p x"]),
    ("mkdir -p out", ["mkdir out", "mkdir -p out/x", "mkdir -p -m 777 out"]),
    ("kill 5", ["kill 6", "kill -9 5", "kill"]),
    ("timeout 5 whoami", ["whoami", "timeout 6 whoami", "timeout 5 id", "timeout 5 whoami x", "timeout 5 sh -c whoami"]),
    ("find . -name x -newer y", ["find . -name x", "find . -name z -newer y", "find /srv -name x -newer y", "find . -name x -newer y -delete"]),
    ("sort -o out in", ["sort -o in out", "sort in -o /etc/passwd", "sort --compress-program=sh -o out in"]),
    ("git init", ["git init x", "git init --template=/tmp/x", "git -c core.pager=sh init"]),
]  # fmt: skip


@pytest.mark.parametrize(("approved", "others"), WIDER)
def test_a_rule_is_never_wider_than_what_was_seen(approve, approved, others):
    policy, found = approve(approved)
    assert [each.command for each in found.covered] == [approved]
    assert judge(approved, policy, HERE).verdict is Verdict.ALLOW
    for other in others:
        assert judge(other, policy, HERE).verdict is not Verdict.ALLOW, other
    for cwd in ("/srv/app", f"{WORKSPACE}/src", "/home/dev"):
        there = Context(cwd=cwd, home="/home/dev", workspace=WORKSPACE)
        assert judge(approved, policy, there).verdict is not Verdict.ALLOW


LEFT = [
    ("curl https://example.com", "rule net ("),
    ("reboot", "rule no ("),
    ("rm -rf build", "rm-recursive"),
    ("sh -c 'touch a'", "shell text"),
    ("bash", "by hand"),
    ("find . -name x -fprint y", "order of its words"),
    ("timeout 5 touch a", ""),
    ("python3 x.py", "by hand"),
    ("echo a | xargs touch", "come from its input"),
    ("touch $x", ""),
    ("touch /etc/motd", "outside `paths.write`"),
    ("touch /home/dev/project/a", "on another machine"),
    ("./x", "program of the workspace"),
    ("coproc x", "outside what can be judged"),
    ("git stash", "would cover `git stash"),
    ("LD_PRELOAD=x touch a", "LD_PRELOAD"),
    ("ls | deploy prod", "what deploy does is not known"),
    (
        "deploy -f prod",
        '{"effects": "trusted", "allow": [{"deploy": {"flags": {"allow": ["-f"], "require": ["-f"]}, "args": ["prod"]',
    ),
]


@pytest.mark.parametrize(("text", "reason"), LEFT)
def test_what_no_rule_can_say_exactly_is_left_with_a_reason(approve, text, reason):
    _, found = approve(text)
    assert found.rules == ()
    (left,) = found.left
    assert left.command == text
    assert reason.lower() in left.reason.lower()


def test_the_fewest_effects_are_granted(approve):
    _, found = approve("touch a", "kill 5", "whoami", "deploy prod")
    granted = {rule.elements[0].program: rule.effects for rule in found.rules}
    assert granted["touch"].write == "paths"
    assert granted["touch"].net is granted["touch"].process is granted["touch"].read is None
    assert granted["kill"].process == "any"
    assert granted["whoami"] is None
    assert "deploy" not in granted


def test_a_rule_that_vouches_is_only_ever_offered_to_be_written_by_hand(approve, tmp_path):
    policy, found = approve("deploy -f prod")
    assert (found.rules, found.covered) == ((), ())
    assert judge("deploy -f prod", policy, HERE).verdict is not Verdict.ALLOW
    offered = json.loads(found.left[0].reason.partition("to vouch, write: ")[2])
    sheet = {"version": 1, "name": "t", "rules": [{"id": "vouched", **offered}]}
    path = tmp_path / "vouched.yaml"
    path.write_text(json.dumps(sheet))
    path.chmod(0o600)
    vouched = load_policy(str(path), workspace=WORKSPACE)
    assert judge("deploy -f prod", vouched, HERE).verdict is Verdict.ALLOW
    for other in ("deploy prod", "deploy -f", "deploy -g prod", "deploy -f stage"):
        assert judge(other, vouched, HERE).verdict is not Verdict.ALLOW


def test_commands_that_differ_in_one_operand_become_one_element_with_a_list(approve):
    _, found = approve("touch a", "touch b", "touch a", "touch a c")
    (rule,) = found.rules
    assert [element.args for element in rule.elements] == [("a", "b"), ("a", "c")]
    assert len(found.covered) == 3


def test_what_the_policy_allows_already_needs_no_rule(approve):
    policy, found = approve("ls -l", "cat x")
    assert (found.already, found.rules, found.covered) == (2, (), ())
    assert policy.document.name == "suggested"


def test_a_folder_outside_the_workspace_is_named_as_it_is(approve):
    policy, found = approve("whoami", cwd="/srv/[a]")
    assert found.rules[0].elements[0].cwd == ("/srv/\\[a\\]",)
    there = Context(cwd="/srv/a", home="/home/dev", workspace=WORKSPACE)
    assert judge("whoami", policy, there).verdict is not Verdict.ALLOW


def test_a_text_cannot_write_lines_of_its_own_into_the_file(approve):
    policy, found = approve("sh -c 'x\nrules: [{allow: [rm]}]'", "touch 'a\n  - {allow: [rm]}'")
    assert len(found.covered) == 1
    assert judge("rm x", policy, HERE).verdict is not Verdict.ALLOW
