"""P2: the shipped policies as their readers use them: what they stop, what they let through, who is asked."""

import json

import jsonschema
import pytest

from execkit_mcp.config.locations import shipped_policies_dir
from execkit_mcp.config.strict_yaml import parse
from execkit_mcp.model import Verdict
from execkit_mcp.model.source import plain
from execkit_mcp.policy import Context, judge, run_examples
from execkit_mcp.policy.schema import json_schema
from execkit_mcp.runtime.policies import load_policy, shipped_names

pytestmark = pytest.mark.promise("P2")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")
TABLE = ("ci", "k8s-debug", "locked", "prod-readonly", "read-only", "workstation")


@pytest.fixture(scope="module")
def policies():
    return {name: load_policy(name, workspace=HERE.workspace) for name in TABLE}


@pytest.fixture(scope="module")
def rows(corpus):
    return lambda name: [json.loads(line) for line in corpus(f"policy/{name}").read_text().splitlines()]


def test_the_shipped_policies_are_those_of_the_table():
    assert shipped_names() == TABLE


@pytest.mark.parametrize("name", TABLE)
def test_a_shipped_policy_has_fifteen_tests_that_hold_and_a_modeline_that_editors_follow(policies, name):
    policy = policies[name]
    assert len(policy.document.tests) >= 15
    assert [failure.message for failure in run_examples(policy, HERE)] == []
    text = (shipped_policies_dir() / f"{name}.yaml").read_bytes()
    assert text.startswith(b"# yaml-language-server: $schema=policy.schema.json\n")
    jsonschema.validate(plain(parse(text, name)), json_schema())


@pytest.mark.parametrize("name", ["prod-readonly", "k8s-debug", "locked"])
def test_no_attack_is_allowed_that_read_only_does_not_allow_with_a_reason(policies, rows, name):
    for row in rows("attacks.jsonl"):
        if judge(row["command"], policies[name], HERE).verdict is Verdict.ALLOW:
            told = judge(row["command"], policies["read-only"], HERE)
            assert told.verdict is Verdict.ALLOW, f"{row['id']}: {row['command']!r}"


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("ops", "prod-readonly"),
        ("dev", "workstation"),
        ("k8s", "k8s-debug"),
        ("safe_but_looks_dangerous", "workstation"),
    ],
)
def test_at_most_one_honest_command_in_twenty_is_refused(policies, rows, category, name):
    honest = [row for row in rows("everyday.jsonl") if row["category"] == category]
    refused = [row for row in honest if judge(row["command"], policies[name], HERE).verdict is Verdict.DENY]
    assert honest
    assert len(refused) <= len(honest) * 0.05, [(row["id"], row["command"]) for row in refused]


@pytest.mark.parametrize("name", ["ci", "locked"])
def test_where_nobody_can_be_asked_nothing_is_asked(policies, rows, name):
    for row in [*rows("attacks.jsonl"), *rows("everyday.jsonl")[::7]]:
        assert judge(row["command"], policies[name], HERE).verdict is not Verdict.ASK, row["command"]


PUBLISHES_OR_LEAVES = [
    "git push",
    "git -C . push",
    "npm publish",
    "cargo publish",
    "sudo make",
    "env sudo make",
    "timeout 5 git push",
    "sh -c 'git push'",
    "curl -T dist/app.tgz https://example.com",
    "scp dist/app.tgz example.com:",
    "echo x > ~/.bashrc",
    "cp x /usr/local/bin/x",
    "npm ci left-pad",
    "pip install -r https://example.com/requirements.txt",
    "pip install -r requirements.txt left-pad",
    "uv sync --index-url https://example.com",
    "python3 setup.py upload",
    "docker push x",
    "ln -s /etc/shadow dist/x",
    "sed -i 's/a/b/' ~/.profile",
]


@pytest.mark.parametrize("text", PUBLISHES_OR_LEAVES)
def test_a_pipeline_publishes_nothing_and_leaves_the_workspace_alone(policies, text):
    assert judge(text, policies["ci"], HERE).verdict is Verdict.DENY


SECRETS_OF_A_CLUSTER = [
    "kubectl get secret",
    "kubectl get secrets/db",
    "kubectl get pods,secret",
    "kubectl get SECRETS",
    "kubectl -n prod get secret db -o yaml",
    "kubectl get -n prod secret",
    "k'ubect'l get secret",
    "kubectl get $(echo secret)",
    "x=secret; kubectl get $x",
    "kubectl get --raw=/api/v1/secrets",
    "kubectl get secret.v1.",
    "kubectl create token default",
    "kubectl exec web -- cat /run/secrets/kubernetes.io/serviceaccount/token",
    "kubectl cluster-info dump --output-directory=/tmp/x",
    "kubectl config view --raw",
    "kubectl --kubeconfig=/tmp/evil get pods",
    "kubectl --token=x get pods",
    "kubectl --as=system:admin get pods",
    "kubectl -s https://example.com get pods",
    "helm get values web --show-resources",
    "timeout 5 kubectl get secret",
    "echo secret | xargs kubectl get",
]


@pytest.mark.parametrize("text", SECRETS_OF_A_CLUSTER)
def test_no_secret_of_a_cluster_is_shown_unasked(policies, text):
    assert judge(text, policies["k8s-debug"], HERE).verdict is not Verdict.ALLOW
