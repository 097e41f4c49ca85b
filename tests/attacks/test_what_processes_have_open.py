# ruff: noqa: E501 - rows of cases read one case a line
"""P2: what a process has open or mapped is no file of the path that names it, however it is spelled; and other late finds."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.policies import load_policy

pytestmark = pytest.mark.promise("P2")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")
REFUSED = [
    # a pattern for descriptors finds what others have open: a key, a database, a refused folder
    "cat /proc/1/fd/*", "cat /proc/1/fd/?", "cat /proc/self/fd/*", "cat /dev/fd/*", "cat /proc/1/task/1/fd/*", "head /proc/1/f*/*", "cat /proc/self/f[d]/3",
    "cat /proc/*/fd/3", "ls -L /proc/1/fd/*", "cd /proc/1/fd; cat *", "cd /dev/fd && cat *", "cd /proc; cat 1/fd/*", "find /proc/1/fd -type f", "grep -r x /proc/1/fd",
    # so does a piece of its memory that is a file
    "cat /proc/1/map_files/400000-401000", "cat /proc/1/map_files/*", "cat /proc/self/map_files/4-5", "cat /proc/1/task/1/map_files/4-5", "cat /proc/1/map_fil*/4-5",
    "cd /proc/1/map_files; cat *", "grep -r x /proc/1/map_files",
    # subcommands that git learnt in 2.51
    "git reflog drop", "git reflog drop --all", "git reflog write refs/heads/main HEAD HEAD x",
    # nft puts its words together and reads them as a script
    "nft list ruleset\\; flush ruleset", "nft list tables \\;flush ruleset", "nft list 'tables;flush ruleset'", "nft list tables$'\\n'flush ruleset",
    "nft list table inet 'x; delete table y'", "nft describe 'x; flush ruleset'", "nft monitor 'trace;' flush ruleset", "nft -D 'x=1; flush ruleset' list ruleset",
    'nft list -- "$x"', "nft list include '\"/etc/shadow\"'",
    # builtins that show, with words with which they do not
    "ulimit -nunlimited", "ulimit -n 1", "ulimit -Sn 5", 'ulimit "$x"', "ulimit $x", "umask 0", "umask -S 0", "export -p x=1", "declare -p 'a[$(id)]'",
    "alias -p x=y", "trap INT", "trap -p 'rm x'", "history -c", "history -w x", "dirs -c", "shopt -s extglob", "command ulimit -n 1", "builtin trap 'rm x' EXIT",
    "shopt -p; shopt -s extglob", "umask 0077",
    # words that look at a version, and more
    "go version ./x", "go version -m x", "psql --version -c 'select 1'", "curl --version -o x http://example.com", "fuser -k 80/tcp", "mysqladmin shutdown",
    "journalctl -1 --vacuum-size=1", "apachectl -v -k stop",
]  # fmt: skip
SHOWN = [
    "ls /proc/1/fd", "ls -l /proc/1234/fd | wc -l", "cat /dev/stdin", "cat /proc/1/fdinfo/3", "ulimit -n", "ulimit -a", "ulimit -Hn", "umask", "umask -S", "export -p",
    "alias", "trap -p", "history 20", "dirs -v", "times", "df -h /var", "go version", "git reflog", "git reflog show main", "journalctl -b -1",
    "nft list ruleset", "nft -a list table inet filter", "nft --json list chain ip nat POSTROUTING",
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


def test_a_policy_that_names_nothing_does_not_let_a_builtin_show_what_is_set():
    locked = load_policy("locked", workspace=HERE.workspace)
    assert [
        text for text in ("export", "alias", "ulimit -n") if judge(text, locked, HERE).verdict is not Verdict.DENY
    ] == []
