# ruff: noqa: E501 - a table reads one row a line
"""P2: what looking programs do besides looking, found in a second attack on their flags and on a repository's configuration."""

import subprocess

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.environment import BASE_FORCE, GIT_HARDENING
from execkit_mcp.runtime.policies import load_policy

pytestmark = pytest.mark.promise("P2")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")
REFUSED = [
    # its verb stands behind another word, of which `li` is a prefix
    "ip mptcp li set subflow 8", "ip mptcp l set subflow 8",
    # an object file names the sources that are printed
    "objdump -S hostile.o", "objdump -dS hostile.o",
    "lvs --config 'devices{}'", "chronyc makestep", "chronyc -m tracking shutdown", "watch -n 1 'rm -rf x'", "watch -s shots ls",
    "systemctl isolate rescue.target --failed", "systemctl --failed kill nginx", "nginx", "nginx -v -s stop", "iptables -F", "nft flush ruleset",
    # settings in the workspace may say that what is found is to be mended
    "ruff check -v .", "ruff check -v",
    "kubectl wait --for=delete secret/db -o yaml", "kubectl wait --for=delete -f - -o yaml",
]  # fmt: skip
SHOWN = [
    "systemctl", "systemctl --failed", "systemctl --type=service", "lvs -a", "vgs", "pvs -o name", "getenforce", "chronyc -n tracking", "lastb",
    "watch -n 2 'df -h'", "watch df -h", "ip -br a", "objdump -d x.o", "nm -S x.o", "iptables -L -n", "nft list ruleset", "nginx -v",
]  # fmt: skip


@pytest.fixture(scope="module")
def policies():
    return {name: load_policy(name, workspace=HERE.workspace) for name in ("read-only", "prod-readonly", "k8s-debug")}


@pytest.mark.parametrize("command", REFUSED)
def test_no_policy_that_looks_allows(policies, command):
    assert [name for name, policy in policies.items() if judge(command, policy, HERE).verdict is Verdict.ALLOW] == []


@pytest.mark.parametrize("command", SHOWN)
def test_an_operator_may_look(policies, command):
    decision = judge(command, policies["prod-readonly"], HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message


def test_a_pod_that_another_command_names_is_no_secret(policies):
    texts = [
        'for p in $(kubectl get pods -o name); do kubectl logs -- "$p"; done',
        "kubectl logs secret-rotator-1",
        'kubectl get -- "$x"',
        'kubectl wait --for=delete -- "$x"',
    ]
    verdicts = [judge(text, policies["k8s-debug"], HERE).verdict for text in texts]
    assert verdicts == [Verdict.ALLOW, Verdict.ALLOW, Verdict.DENY, Verdict.DENY]


def test_a_merge_that_is_shown_again_runs_no_merge_driver_of_the_repository(tmp_path):
    def git(*words, **env):
        settings = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", **env}
        words = ("-c", "user.name=a", "-c", "user.email=a@example.com", *words)
        subprocess.run(["git", *words], cwd=tmp_path, env=settings, capture_output=True, check=False)

    git("init", "-q", "-b", "main")
    (tmp_path / ".gitattributes").write_text("*.txt merge=evil\n")
    for branch, text in (("main", "one"), ("side", "side"), ("main", "two")):
        git("checkout", "-q", *(() if branch == "main" else ("-b",)), branch)
        (tmp_path / "a.txt").write_text(f"{text}\n")
        git("add", ".")
        git("commit", "-qm", text)
    git("merge", "-q", "side")
    (tmp_path / "a.txt").write_text("merged\n")
    git("commit", "-qam", "merged")
    git("config", "log.diffMerges", "remerge")
    git("config", "merge.evil.driver", "touch ran; false")
    forced = {**BASE_FORCE, "GIT_CONFIG_COUNT": str(len(GIT_HARDENING))}
    for index, (key, value) in enumerate(GIT_HARDENING):
        forced |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    git("show", "-m", "--no-ext-diff", "--no-textconv", "HEAD", **forced)
    git("log", "-m", "-p", "--no-ext-diff", "--no-textconv", **forced)
    assert not (tmp_path / "ran").exists()
    git("show", "-m", "HEAD")
    assert (tmp_path / "ran").exists()


def test_what_a_repository_lacks_is_not_fetched_by_looking_at_it():
    assert BASE_FORCE["GIT_NO_LAZY_FETCH"] == "1"
