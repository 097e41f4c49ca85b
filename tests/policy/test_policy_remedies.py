"""What a refused command is told: the rule that comes nearest, and a safer way."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.alternatives import ROWS, alternatives
from execkit_mcp.policy.explain import explain, explain_json
from execkit_mcp.policy.shell.parser import parse
from execkit_mcp.policy.variants import plain_words
from execkit_mcp.runtime.policies import load_policy

HERE = Context(cwd="/srv/app", home="/home/dev", workspace="/srv/app")


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(
        """version: 1
name: p
rules:
  - id: services
    allow:
      - systemctl: {sub: [status, is-active]}
      - tail: {flags: {allow: [-n], values: {-n: ["?", "??"]}}, args: ["*.log"]}
      - head: {cwd: [/var/log]}
      - find
      - git: {sub: [push], flags: {deny: [--force]}}
      - ls: {flags: {any: [-l, -a]}}
      - rm: {flags: {require: [-i]}}
  - id: hard
    deny: [dd]
"""
    )
    path.chmod(0o600)
    return load_policy(str(path))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("systemctl stop web", 6, "it covers status, is-active, not stop"),
        ("tail -f a.log", 7, "it allows the flags -n, not -f"),
        ("tail -n 100 a.log", 7, "it covers -n with ?, ??, not 100"),
        ("tail -n 5 notes", 7, "it covers the operands *.log, not notes"),
        ("tail -n 5", 7, "it wants an operand: *.log"),
        ("head x", 8, "it holds in /var/log"),
        ("find . -delete", 9, "would allow it but for that"),
        ("git push --force", 10, "it does not cover"),
        ("ls", 11, "it wants one of the flags -l, -a"),
        ("rm x", 12, "it wants -i"),
    ],
)
def test_the_nearest_rule_is_named_with_its_line_and_what_keeps_it_from_matching(policy, text, line, said):
    told = explain(judge(text, policy, HERE), policy, HERE)
    nearest = next(each for each in told.splitlines() if "nearest:" in each)
    assert f"services ({policy.document.source}:{line})" in nearest
    assert said in nearest


@pytest.mark.parametrize("text", ["dd if=x of=y", "PATH=/tmp find", "mkdir x", "systemctl status web"])
def test_no_rule_is_near_where_none_could_be_changed_to_allow_it(policy, text):
    decision = judge(text, policy, HERE)
    assert "nearest:" not in explain(decision, policy, HERE)
    answer = explain_json(decision, policy, HERE)
    assert [part["nearest"] for part in answer["commands"]] == [None] * len(answer["commands"])


def test_a_rule_whose_words_match_is_nearer_than_one_that_wants_another_flag():
    policy = load_policy("read-only", workspace=HERE.workspace)
    answer = explain_json(judge("kubectl --context prod get pods", policy, HERE), policy, HERE)
    assert answer["commands"][0]["nearest"]["rule"] == "kubernetes"
    assert answer["commands"][0]["nearest"]["rule"] in answer["hint"]


def test_json_says_what_the_text_says(policy):
    answer = explain_json(judge("find . -delete; systemctl status x", policy, HERE), policy, HERE)
    first, second = answer["commands"]
    assert first["reason_code"] == "policy.path_write"
    assert first["nearest"]["rule"] == "services"
    assert first["alternatives"] == [
        {"command": "find . -print", "why": "shows what would be deleted", "verdict": "allow"}
    ]
    assert second["nearest"] is None
    assert second["rule"] == "services"
    assert answer["canonical"]


def test_a_safer_way_that_the_policy_denies_as_well_is_not_offered(policy):
    assert "safer:" not in explain(judge("git reset --hard", policy, HERE), policy, HERE)


@pytest.mark.parametrize("row", ROWS, ids=[row.example for row in ROWS])
def test_every_row_of_the_table_fits_its_example_and_offers_a_command_that_parses(row):
    argv = plain_words(parse(row.example))
    assert argv is not None
    offered = [each for each in alternatives(argv) if each.why == row.why]
    assert offered
    for each in offered:
        parse(each.command)
        assert each.command != row.example


def test_operands_of_an_offer_are_quoted():
    offered = [each.command for each in alternatives(("rm", "-r", "a b; reboot"))]
    assert "find 'a b; reboot' -maxdepth 2" in offered


def test_colour_marks_verdicts_only_and_is_off_unless_asked_for(policy):
    decision = judge("find . -delete", policy, HERE)
    told = explain(decision, policy, HERE, paint=lambda style, text: f"<{style}>{text}</>")
    assert told.startswith("<deny>deny</>: ")
    assert "<title>parts:</>" in told
    assert told.replace("</>", "").replace("<deny>", "").replace("<title>", "").replace("<allow>", "") == explain(
        decision, policy, HERE
    )
    assert decision.verdict is Verdict.DENY
