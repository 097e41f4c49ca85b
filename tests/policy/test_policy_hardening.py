"""The canonical text gets the flags that keep git from running what a repository configures; it is judged with them."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy.document import Element, FlagRules

FLAGS = "--no-ext-diff --no-textconv"
ROWS = [
    ("git diff", f"git diff {FLAGS}"),
    ("git log", f"git log {FLAGS}"),
    ("git -C diff diff --stat", f"git -C diff diff {FLAGS} --stat"),
    ("git stash show -p", f"git stash show {FLAGS} -p"),
    ("/usr/bin/git blame x", f"/usr/bin/git blame {FLAGS} x"),
    ("timeout 5 nice git diff", f"timeout 5 nice git diff {FLAGS}"),
    ("if git diff; then echo $(git show); fi", f"if git diff {FLAGS}; then echo $(git show {FLAGS}); fi"),
    ("git help log", "git --git-dir=/dev/null help log"),
    ("git log --help", "git --git-dir=/dev/null log --help"),
    ("git status", "git status"),
    ("git help -a", "git help -a"),
    ("echo git diff", "echo git diff"),
    ("./git diff", "./git diff"),
    ("git grep diff", "git grep diff"),
]


@pytest.mark.parametrize(("text", "canonical"), ROWS)
def test_the_flags_stand_where_git_takes_them(decide, text, canonical):
    assert decide(text).canonical == canonical
    assert decide(canonical).canonical == canonical


def test_what_is_judged_has_the_flags_that_will_run(decide):
    assert decide("git diff x", allow=["git diff"]).commands[0].argv == ("git", "diff", *FLAGS.split(), "x")


@pytest.mark.parametrize("text", ["git diff --stat", "timeout 9 git diff --stat"])
def test_a_closed_list_of_flags_need_not_name_them(decide, text):
    only_stat = Element(program="git", sub=(("diff",),), flags=FlagRules(allow=("--stat",)))
    assert decide(text, allow=["timeout", only_stat]).verdict is Verdict.ALLOW
    assert decide(f"{text} --raw", allow=["timeout", only_stat]).verdict is Verdict.DENY


@pytest.mark.parametrize("text", ["c=diff; git $c", "g=git; $g diff", "sh -c 'git diff'"])
def test_a_diff_that_is_not_seen_in_time_runs_something_unknown(decide, text):
    told = decide(text, allow=["git diff", "sh"])
    assert told.verdict is Verdict.DENY
    assert "--no-ext-diff --no-textconv" in told.message
