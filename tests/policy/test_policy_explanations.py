"""A decision explains itself, and the examples in a document are run."""

import pytest
from msgspec.structs import replace

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, compile_policy, explain, judge, run_examples
from execkit_mcp.policy.document import Defaults, Element, Example, PathRules, PolicyDocument, Rule

LOOK = Rule(id="look", verdict=Verdict.ALLOW, elements=(Element(program="ls", source="p.yaml:4"),), source="p.yaml:3")
DOCUMENT = PolicyDocument(name="p", digest="ab" * 32, rules=(LOOK,), paths=PathRules(never=("/etc/shadow",)))
HERE = Context(cwd="/srv", home="/home/op")


def test_an_explanation_shows_canonical_text_parts_rule_and_remedy():
    policy = compile_policy(DOCUMENT)
    text = explain(judge("'l's; rm x", policy, HERE), policy)
    assert "ls" in text
    assert "rule: look (p.yaml:4)" in text
    assert "deny" in text
    assert 'Add to allow: "rm"' in text
    assert "write(/srv/x)" in text


def test_an_explanation_never_carries_control_characters():
    policy = compile_policy(DOCUMENT)
    text = explain(judge("ls $'\\e[31m' 'a\u202eb'", policy, HERE), policy)
    assert all(character == "\n" or character.isprintable() for character in text)


def test_what_did_not_parse_and_is_asked_is_said_to_run_in_no_session():
    policy = compile_policy(replace(DOCUMENT, defaults=Defaults(unparsed=Verdict.ASK)))
    text = explain(judge("ls 'open", policy, HERE), policy)
    assert text.startswith("ask: ")
    assert "A session refuses it" in text
    assert "Close it" in text
    assert "A session refuses it" not in explain(judge("rm x", policy, HERE), policy)


def test_examples_that_differ_are_told_with_their_line():
    tests = (
        Example(run="ls", expect=Verdict.ALLOW, rule="look", source="p.yaml:9"),
        Example(run="cat /etc/shadow", expect=Verdict.DENY, because="policy.path_never", source="p.yaml:10"),
        Example(run="ls", expect=Verdict.DENY, source="p.yaml:11"),
        Example(run="rm x", expect=Verdict.DENY, because="policy.rule", source="p.yaml:12"),
        Example(run="cat shadow", expect=Verdict.DENY, because="policy.path_never", cwd="/etc", source="p.yaml:13"),
    )
    document = PolicyDocument(name="p", digest="d", rules=DOCUMENT.rules, paths=DOCUMENT.paths, tests=tests)
    failures = run_examples(compile_policy(document), HERE)
    assert [failure.example.source for failure in failures] == ["p.yaml:11", "p.yaml:12"]
    assert failures[0].message.startswith("p.yaml:11: ")


@pytest.mark.parametrize("text", ["''", '"" x', "ls | ''"])
def test_an_empty_word_where_a_program_should_stand_is_named_as_that(decide, text):
    decision = decide(text, allow=["ls"])
    assert decision.verdict is Verdict.DENY
    assert "first word is empty" in decision.message
    assert "[]" not in decision.hint
