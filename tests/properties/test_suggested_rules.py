# ruff: noqa: E501 - a table reads one row a line
"""Suggested rules cover what was approved and nothing else that anybody has written down."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from execkit_mcp.config.locations import shipped_policies_dir
from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.compare import Question
from execkit_mcp.policy.suggest import suggest, to_yaml
from execkit_mcp.runtime.policies import example_context, load_policy

WORKSPACE = "/home/dev/project"
HERE = Context(cwd=WORKSPACE, home="/home/dev", workspace=WORKSPACE)
BASES = {name: load_policy(name) for name in ("workstation", "read-only", "prod-readonly")}

names = st.sampled_from(
    ["a", "b.txt", "src/c.py", "web-1", "x y", "it's", "*.log", "[z]", "--", "-v", "HEAD~1", "$x", "~/n"]
)
flags = st.sampled_from(["-v", "-n", "--all", "--output=x", "-rf", "-o", "--level=3", "-5"])
programs = st.sampled_from(
    ["deploy", "git init", "git reset", "git stash", "dig", "kill", "touch", "chmod", "fallocate", "sudo ls", "timeout 5 mkfifo",
     "/opt/tools/x", "helm list", "systemctl stop", "docker restart", "sort", "env deploy", "find", "npm ci", "mkfifo", "sync"]
)  # fmt: skip
quoted = names.map(
    lambda word: "'" + word.replace("'", "'\\''") + "'" if " " in word or "'" in word or "[" in word else word
)
simple = st.builds(lambda *words: " ".join(each for each in words if each), programs, st.one_of(st.just(""), flags), quoted, st.one_of(st.just(""), quoted))  # fmt: skip
texts = st.one_of(simple, st.tuples(simple, st.sampled_from([" | ", "; ", " && "]), simple).map("".join))
folders = st.sampled_from([WORKSPACE, f"{WORKSPACE}/src", "/srv/app", "/tmp"])
questions = st.lists(
    st.builds(lambda text, cwd: Question(command=text, cwd=cwd), texts, folders), min_size=1, max_size=4
)


def loaded(base, approved):
    """What is suggested, written out and read back by the strict loader, its own tests run."""
    found = suggest(approved, BASES[base], HERE, example_context())
    text = to_yaml(found, name=f"{base}-approved", include=str(shipped_policies_dir() / f"{base}.yaml"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "suggested.yaml"
        path.write_text(text)
        path.chmod(0o600)
        return found, load_policy(str(path))


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(BASES)), questions)
def test_what_is_suggested_loads_passes_its_tests_and_allows_each_text_it_claims(base, approved):
    found, policy = loaded(base, approved)
    claimed = {each.command for each in found.covered}
    assert claimed | {each.command for each in found.left} <= {each.command for each in approved}
    for question in approved:
        told = judge(question.command, policy, question.context(HERE))
        before = judge(question.command, BASES[base], question.context(HERE))
        if before.verdict is not Verdict.ALLOW and told.verdict is Verdict.ALLOW:
            assert question.command in claimed or any(each.cwd for each in found.covered)


@st.composite
def neighbours(draw):
    """A simple text and one that differs from it in a word."""
    text = draw(simple)
    parts = text.split(" ")
    index = draw(st.integers(min_value=1, max_value=len(parts)))
    change = draw(st.sampled_from(["drop", "add", "put"]))
    other = draw(st.one_of(flags, st.sampled_from(["a", "b.txt", "prod", "x"])))
    if change == "add":
        parts.insert(index, other)
    elif index < len(parts):
        parts[index : index + 1] = [other] if change == "put" else []
    return text, " ".join(parts)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(BASES)), neighbours(), folders, folders)
def test_one_approved_command_allows_no_other_words_and_no_other_folder(base, pair, folder, other_folder):
    approved, other = pair
    _, policy = loaded(base, [Question(command=approved, cwd=folder)])
    where = Question(command=other, cwd=other_folder).context(HERE)
    if judge(other, BASES[base], where).verdict is Verdict.ALLOW:
        return
    if judge(other, policy, where).verdict is Verdict.ALLOW:
        assert words(other) == words(approved)
        assert folder == other_folder


def words(text):
    """What a rule can tell apart: the words, not their order or number, nor the mark that ends the options."""
    return {word for word in text.replace("'", "").split() if word != "--"}


def test_no_attack_becomes_allowed_by_what_was_approved(corpus):
    approved = [
        Question(command=text, cwd=WORKSPACE)
        for text in [
            "deploy prod --fast", "git init", "git reset HEAD~1", "dig example.com", "kill 5", "touch x", "fallocate -l 5 x",
            "chmod +x run.sh", "/opt/tools/x a", "rm y", "rm notes.txt", "git stash", "mkfifo p", "timeout 5 mkfifo p",
            "systemctl stop web", "curl https://example.com", "npm ci", "sort a b", "tee out", "find . -name a -delete",
            "sed -i s/a/b/ x", "docker ps", "sh", "bash", "python3", "python3 x.py", "xargs rm", "env", "sudo ls", "cat x",
        ]
    ]  # fmt: skip
    attacks = [json.loads(line)["command"] for line in corpus("policy/attacks.jsonl").read_text().splitlines()]
    seen = {question.command for question in approved}
    for base, before in BASES.items():
        found, policy = loaded(base, approved)
        assert found.covered
        for text in attacks:
            if judge(text, policy, HERE).verdict is Verdict.ALLOW and text not in seen:
                assert judge(text, before, HERE).verdict is Verdict.ALLOW, (base, text)
