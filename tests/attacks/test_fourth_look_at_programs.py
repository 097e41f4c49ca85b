# ruff: noqa: E501 - texts stand side by side
"""P2: words that a program reads otherwise than its table says, found in a fourth attack: second readings, other names, derived paths."""

import os
import shutil
import subprocess

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.policies import load_policy

pytestmark = pytest.mark.promise("P2")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")
# What is an error behind its dash, ps reads once more as if there were none: then `e` is the environment of every process.
ENVIRONMENTS = [
    "ps -auxe", "ps -auxeww", "ps -axe", "ps -axef", "ps -ef -x", "ps -x -ef", "ps -efTH", "ps -eHT", "ps -efT --forest", "ps -euT", "ps -esT", "ps -ehT",
    "ps -ef -u -x", "ps -u -ewwx", "ps -ef -g -x", "ps -ef -s -x", "ps -ef -ux", "ps -nxe", "ps -ef -n -x", "ps -ef -m e", "ps -efx --pid 1", 'ps -fu "$x"',
    'ps -u "$(cat x)"', 'ps -x -C "$x"',
]  # fmt: skip
PROCESSES = [
    "ps -ef", "ps aux", "ps -aux", "ps -auxww", "ps -ef --forest", "ps -efH", "ps -ejH", "ps -eo pid,ppid,cmd --sort=-%mem", "ps -eLf", "ps -eLo pid,lwp,comm",
    "ps -fu www-data", "ps -fuwww", "ps -u root -o pid,cmd", "ps -ef -u deploy", 'ps -p "$pid" -o args', "ps -elf", "ps -eF --sort -rss", "ps -C nginx -o pid=",
    "ps -T -p 123", "ps -efT", "ps -axo pid,comm", "ps 1", "ps -fU deploy",
]  # fmt: skip
# git, xz and others do what the name says that they are called by; a character set may be a file.
OTHERS = [
    "env -a git-push git log", "env --argv0=git-push git log", "env --argv=git-branch git show x", "iconv -f /home/dev/.ssh/id_rsa -t UTF-8 x",
    "iconv -t /home/dev/.ssh/id_rsa//TRANSLIT x", "rpm -Vp ./x.rpm", "rpm --verify --package ./x.rpm", "rpm -Va --dbpath ./db",
    "zstd -T in.txt", "zstd -T --rm in.txt",
]  # fmt: skip
# Behind the name of a key every word is a value, options too.
VALUES = [
    "git config core.x --get", "git config alias.x --list HEAD", "git config filter.x.clean '--default=a; touch x' --get", "git config two.txt -z",
    "git config x.y --local", "git config -z x.y --list", "git config --local x.y --show-origin", "git -C . config x.y -l", "git config get -f /home/dev/.ssh/id_rsa x.y",
    "git config list -f /home/dev/.ssh/id_rsa", "git config list x.y", "git config set x.y z", "git config get --url=x y", "git config x.y z",
]  # fmt: skip
CONFIGURED = [
    "git config x.y", "git config --get x.y", "git config -l", "git config --list --show-origin", "git config get x.y", "git config get --all x.y", "git config list",
    "git config list --show-origin", "git config --get-regexp '^remote'", "git config --local --get x.y", "git config --get x.y '^a'", "git config -z --get-all x.y",
]  # fmt: skip
# Paths that come of two others: below a target, beside a file, behind another folder.
DERIVED = [
    "cd sub && cp --parents ../.bashrc ..", "cp --parents ../x/.bashrc .", "cp -t . --parents ../x/.bashrc", "cp --par ../x/.bashrc build", "cp --path ../x build",
    'cp --parents "$(cat x)" build', "cp --parents .*/x build", "find .. -name x -exec cp --parents {} build ';'", "cp -b -S /../../x a b", "cp --backup --suffix=/../../x a b",
    "mv -b -S /../../x a b", "install -b -S /../x a b", "ln -sb -S /../x a b", "gzip -S /../../x f", 'cp -b -S "$x" a b', "tar xf a.tar --backup --suffix=/../../.profile",
    "tar xf a.tar -C /tmp -C x", "tar xf a.tar -C build -C ../x",
]  # fmt: skip
WITHIN = [
    "cp --parents src/a build", "cp --parents src/*.c build", "find . -name x -exec cp --parents {} build ';'", "cp -b -S .bak a b", "mv -S .old a b", "gzip -S .gzip f",
    "tar xf a.tar -C build", "tar xf a.tar -C build -C /tmp/x", "tar xf a.tar --backup --suffix=.old", "iconv -f latin1 -t UTF-8//TRANSLIT x", "env LC_ALL=C sort x",
]  # fmt: skip


@pytest.fixture(scope="module")
def policies():
    return {name: load_policy(name, workspace=HERE.workspace) for name in ("read-only", "ci")}


@pytest.mark.parametrize("text", [*ENVIRONMENTS, *OTHERS, *VALUES])
def test_what_only_looks_does_nothing_else(policies, text):
    assert judge(text, policies["read-only"], HERE).verdict is Verdict.DENY


@pytest.mark.parametrize("text", [*PROCESSES, *CONFIGURED])
def test_what_is_looked_at_is_shown(policies, text):
    decision = judge(text, policies["read-only"], HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message


@pytest.mark.parametrize("text", DERIVED)
def test_a_path_that_comes_of_two_others_stays_where_writing_is_granted(policies, text):
    assert judge(text, policies["ci"], HERE).verdict is Verdict.DENY


@pytest.mark.parametrize("text", WITHIN)
def test_ordinary_copies_and_archives_go_through(policies, text):
    decision = judge(text, policies["ci"], HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message


def test_exec_tells_no_program_another_name(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(
        "version: 1\nname: p\ninclude: [builtin:base]\ndefaults: {decision: deny, unparsed: deny, unresolved: deny}\n"
        'shell: {state: [exec]}\nrules: [{id: look, allow: ["builtin:readonly"]}]\n'
    )
    policy = load_policy(str(path), workspace=HERE.workspace)
    assert judge("exec git log", policy, HERE).verdict is Verdict.ALLOW
    for text in ("exec -a git-push git log", "exec -ca git-push git log", "exec -agit-push git log"):
        assert judge(text, policy, HERE).verdict is Verdict.DENY


@pytest.mark.skipif(shutil.which("ps") is None, reason="no ps")
def test_what_is_allowed_shows_no_environment():
    canary = "of" + "-the-environment"
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "CANARY": canary}) as sleeper:
        try:
            shown = [
                text
                for text in PROCESSES
                if canary.encode() in subprocess.run(text.split(), capture_output=True, check=False).stdout
            ]
        finally:
            sleeper.kill()
    assert shown == []


# A descriptor that was opened to be read is a door to its file: who opens that anew may write.
REOPENED = [
    "echo x < in.txt > /dev/stdin", "echo x < in.txt >> /dev/stdin", "echo x < in.txt > /dev/fd/0", "echo x < in.txt > /proc/self/fd/0", "sort -o /dev/stdin x < in.txt",
    "uniq x /dev/stdin < in.txt", "sed 'w /dev/stdin' x < in.txt", "sed -i --follow-symlinks s/a/b/ /dev/stdin < in.txt", "awk '{print > \"/dev/stdin\"}' x < in.txt",
    "find . -fprint /dev/stdin < in.txt", "tar cf /dev/stdin x < in.txt", "xxd x /dev/stdin < in.txt", "{ echo x > /dev/stdin; } < in.txt",
    "while read -r l; do echo x > /dev/stdin; done < in.txt", "ls 1< in.txt > /dev/stdout", "sort -o /dev/stderr x 2< in.txt", "sort -o /dev/stdout x >&0 < in.txt",
    "sort -o /dev/stdout x 1<&0 < in.txt", "sort -o /dev/stdout x 3< in.txt >&3", "{ sort -o /dev/stderr x 2>&3; } 3< in.txt", "sort -o /dev/stdout x < in.txt 3<&0 >&3",
    "sort -o /dev/stdout x 3< in.txt 4<&3 >&4", "sort -o /dev//stdin x < in.txt", "cd /dev; sort -o stdin x < /home/dev/project/in.txt",
]  # fmt: skip
PLAIN = [
    "echo x > /dev/stdout", "echo x > /dev/stderr", "echo x >&2", "ls 2>&1", "ls 2> /dev/null", "sort -o /dev/stdout x", "cat /dev/stdin < x", "cat /dev/fd/0 < x", "ls 3>&1 1>&2 2>&3",
    'while read -r a <&3; do echo "$a"; done 3< x', "cat < x 2>&1", "cat <&0", "{ ls; } 2>&1 | cat", "ls > /dev/null 2>&1",
]  # fmt: skip
REPLACED = [
    "rm -f /dev/null", "rm /dev/stdout", "mv x /dev/stdout", "mv /dev/stdout x", "ln -sf x /dev/null", "install x /dev/null", "cp --remove-destination x /dev/null", "cp -sf x /dev/null",
    "chmod 600 /dev/null", "cp -b x /dev/stderr", "sed -i s/a/b/ /dev/null",
]  # fmt: skip


@pytest.mark.parametrize("text", REOPENED)
def test_what_was_opened_to_be_read_is_not_opened_to_write(policies, text):
    assert judge(text, policies["read-only"], HERE).verdict is Verdict.DENY


@pytest.mark.parametrize("text", PLAIN)
def test_streams_are_written_as_they_are(policies, text):
    decision = judge(text, policies["read-only"], HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message


@pytest.mark.parametrize("text", REPLACED)
def test_a_device_is_written_into_and_not_replaced(policies, text):
    assert judge(text, policies["ci"], HERE).verdict is Verdict.DENY
    assert judge("cp x /dev/null; tee /dev/stderr < x; rm -f x; sed -i s/a/b/ x", policies["ci"], HERE).verdict is (
        Verdict.ALLOW
    )
