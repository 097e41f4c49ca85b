"""Variants of a command are the command: real bash runs them with the same words, and no policy lets them through."""

import os
import shutil
import subprocess

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, compile_policy
from execkit_mcp.policy.document import Element, Example, PolicyDocument, Rule
from execkit_mcp.policy.mutate import mutate
from execkit_mcp.policy.variants import AROUND, WORDS, variants
from execkit_mcp.runtime.policies import example_context, load_policy, shipped_names

HERE = Context(cwd="/srv/app", home="/home/dev", workspace="/srv/app")
# Kinds that every machine with bash and coreutils can run; the others need programs, rights or a terminal.
RUNNABLE = {
    "quoting", "escape", "ansi-c", "line continuation", "variable", "loop", "command substitution", "ifs", "tabs",
    "keyword", "redirect first", "redirect", "brace expansion", "group", "sequence", "comment", "negation", "if",
    "case", "eval", "source", "trap", "function", "subshell", "background", "pipe", "substitution", "pipe-to-shell",
    "base64", "hex", "xargs", "find",
}  # fmt: skip


@pytest.fixture
def run(tmp_path):
    """Run a text in bash with a program ``stub`` that writes its words to a log; returns what it was given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    log = tmp_path / "log"
    stub = folder / "stub"
    stub.write_text(f'#!/bin/sh\nprintf "%s|" "$@" >> {log}\necho >> {log}\n')
    stub.chmod(0o700)
    environ = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def of(text):
        log.unlink(missing_ok=True)
        subprocess.run(
            [shutil.which("bash") or "bash", "-c", f"{text}\nwait"],
            env=environ,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        return log.read_text().splitlines() if log.exists() else []

    return of


def test_bash_runs_each_variant_with_the_same_words(run):
    seen = set()
    for variant in variants("stub -a file.txt"):
        if variant.kind not in RUNNABLE or "-n1" in variant.text or "sudo" in variant.text or "-ok" in variant.text:
            continue
        if variant.text.startswith("xargs stub") or "busybox" in variant.text:
            continue
        seen.add(variant.kind)
        given = run(variant.text)
        assert given, variant.text
        assert set(given) == {"-a|file.txt|"}, variant.text
    assert seen == RUNNABLE


def test_variants_come_in_the_same_order_each_time_and_none_twice():
    first = [each.text for each in variants("rm -rf /srv/data")]
    assert first == [each.text for each in variants("rm -rf /srv/data")]
    assert len(first) == len(set(first)) > 100
    assert "rm -rf /srv/data" not in first


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rm -rf x", "rm -r -f x"),
        ("rm -rf x", "rm -fr x"),
        ("rm -rf x", "rm x -rf"),
        ("rm -r -f x", "rm -rf x"),
        ("rm -r x", "rm --recursive x"),
        ("rm --recursive x", "rm -r x"),
        ("rm --recursive x", "rm --recursi x"),
        ("rm -r x", "rm -r -- x"),
        ("sort --output=x y", "sort -o x y"),
        ("cat /etc/shadow", "cat /etc/./shadow"),
        ("cat /etc/shadow", "cat /proc/self/root/etc/shadow"),
        ("cat /etc/shadow", "cat /etc/shado?"),
        ("cat /etc/shadow", "cat < /etc/shadow"),
        ("reboot", "sudo reboot"),
        ("reboot", "timeout 5 reboot"),
        ("reboot", "find . -maxdepth 0 -exec reboot ';'"),
        ("reboot", "xargs reboot < /dev/null"),
        ("reboot", "sh -c reboot"),
        ("reboot", "echo cmVib290 | base64 -d | sh"),
        ("a | b", "sh -c 'a | b'"),
        (":(){ :|:& };:", "eval ':(){ :|:& };:'"),
    ],
)
def test_a_variant_of_each_kind_is_tried(text, expected):
    assert expected in [each.text for each in variants(text)]


@pytest.mark.parametrize("text", ["cd /tmp", "set -a", "export A=b", "A=b", "trap ls EXIT"])
def test_a_change_of_the_session_is_not_tried_in_a_child_that_could_not_make_it(text):
    for variant in variants(text):
        assert not variant.text.startswith(("sh -c", "(", "sudo", "timeout", "env"))


def test_moving_flags_keeps_wrappers_and_what_they_run_apart():
    assert not [each.text for each in variants("sudo rm -r x") if each.kind == "flag order" and "sudo -r" in each.text]


def test_every_row_has_a_form_that_can_be_filled():
    for row in (*AROUND, *WORDS):
        assert "{" in row.form
        assert row.kind


def policy_with(*rules, tests):
    return compile_policy(PolicyDocument(name="p", digest="d", rules=rules, tests=tests))


def test_a_hole_is_found_named_and_counted():
    # The operator thought of /etc/motd alone, and allowed cat.
    rules = (
        Rule(id="look", verdict=Verdict.ALLOW, elements=(Element(program="cat"),)),
        Rule(id="no", verdict=Verdict.DENY, elements=(Element(program="cat", args=("/etc/motd",)),)),
    )
    tests = (Example(run="cat /etc/motd", expect=Verdict.DENY, source="p.yaml:9"),)
    score = mutate(policy_with(*rules, tests=tests), HERE)
    got_past = {each.variant.text for each in score.escapes}
    assert "cat < /etc/motd" in got_past
    assert score.stopped + len(score.escapes) == score.total
    assert {each.rule for each in score.escapes} <= {"look", None}
    assert score.escapes[0].to_json()["source"] == "p.yaml:9"


def test_tests_that_expect_something_else_or_fail_are_no_origins():
    rules = (Rule(id="look", verdict=Verdict.ALLOW, elements=(Element(program="ls"),)),)
    tests = (
        Example(run="ls", expect=Verdict.ALLOW),
        Example(run="ls", expect=Verdict.DENY),
        Example(run="rm x", expect=Verdict.DENY),
    )
    assert mutate(policy_with(*rules, tests=tests), HERE).origins == 1


@pytest.mark.parametrize("name", shipped_names())
def test_no_variant_of_a_denied_test_gets_past_a_shipped_policy(name):
    score = mutate(load_policy(name), example_context())
    assert [each.variant.text for each in score.escapes] == []
    assert score.total > 500
