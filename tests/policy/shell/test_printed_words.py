# ruff: noqa: E501 - commands stand side by side
"""What a command prints is known by its shape: a path that a number stands in, a loop over numbers."""

import subprocess

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import globs
from execkit_mcp.policy.shell.parser import parse
from execkit_mcp.policy.shell.printed import printed_word, printed_words, prints_no_option
from execkit_mcp.policy.shell.words import to_arg

NUMBERS = [
    "seq 3 | wc -l", "nproc", "id -u", "date +%F", "date -u +%Y%m%d", "uname -r", "pgrep -o nginx", "pgrep -fc 'gunicorn: x'",
    "pidof -s nginx", "ls | grep -c x", "grep -ic x f", "stat -c %s a.bin", "systemctl show -p MainPID --value nginx",
    "systemctl show nginx -p MainPID --value", "git rev-list --count HEAD", "pgrep -o x 2>/dev/null",
]  # fmt: skip
WORDS = [
    "git rev-parse HEAD", "git rev-parse HEAD~1", "git rev-parse --verify origin/main", "git merge-base main HEAD",
    "git rev-list -n 1 v1.0", "kubectl get pod web-1 -n prod -o jsonpath='{.spec.nodeName}'",
    "id -un", "whoami", "uname -m", "git rev-parse --short HEAD", "kubectl get pods -o jsonpath='{.items[0].metadata.name}'",
    "kubectl -n prod get po -l app=web --field-selector=status.phase=Running -o jsonpath='{.items[0].metadata.name}'",
    "kubectl get pod --namespace=prod --output=jsonpath='{.items[0].metadata.name}' -n prod",
]  # fmt: skip
LISTS = ["seq 1 5", "pgrep -f gunicorn", "pgrep -u www nginx", "pidof nginx", "docker ps -q", "docker ps -aq", "git rev-list --reverse HEAD~5..HEAD", "kubectl get deploy -n prod -o name", *NUMBERS, "kubectl get pods -A -o name",
         "kubectl get po -o jsonpath='{.items[*].metadata.name}'"]  # fmt: skip
FOLDERS = [
    "date +%d/%b/%Y:%H",
    "date -d '1 hour ago' +%D",
    "pwd",
    "pwd -P",
    "pwd -L",
    "git rev-parse --show-toplevel",
    "git rev-parse --show-toplevel 2>/dev/null",
]
UNSURE = [
    "pgrep -l nginx", "pgrep -a x", "pgrep -d / x", 'pgrep "$x"', 'pgrep -o "${a[@]}"', "pgrep -o x; echo /etc", "wc -l f", "wc",
    "date +%D", "date", "date +/%F", "seq -f /etc 1", "seq -s / 3", "seq -w 3", "pidof -S / x", "grep -c x f g", "grep -rc x d",
    "grep -c x *", "stat -c %n f", "stat -c %s f g", "systemctl show nginx", "systemctl show -p MainPID nginx", "cat f", "docker ps",
    "docker ps -a", "docker ps -q --format /x", "id -u root extra", "id", "nproc > x", "nproc 2>&1", "nproc &", "nproc || echo /etc",
    "X=1 nproc", "./nproc", "git rev-parse main", "git rev-parse --verify -x", "git rev-parse HEAD main", "git describe --tags", "git branch --show-current",
    "git merge-base main", "git merge-base --all a b", "git rev-list", "git rev-list --objects HEAD", "git rev-list --format=%s HEAD", "git rev-parse --short=4 /etc", "basename ..",
    "kubectl get roles -o name", "kubectl get secret x -o jsonpath='{.data.a}'", "kubectl get pods,roles -o name", "kubectl get pods -f x -o name", "kubectl get pods -o name -o yaml",
    "kubectl get pods -o yaml -o name", "kubectl get pods -o jsonpath='{.items[0].metadata.labels.x}'", "kubectl get pods --context=x -o name",
    "kubectl get pods -o jsonpath='{.items[0].metadata.name} -x'", "kubectl get pods -o name | sed s/^/-/", "kubectl get pods -n -x -o name",
    "kubectl get pods --kubeconfig=x -o name", "kubectl get pods x -o name", "kubectl get pods -o 'jsonpath={.items[*].metadata.name}'; echo -x",
]  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_a_command_that_prints_one_number_or_date_is_known(text):
    assert printed_word(parse(text).body) == "[0-9]*"


@pytest.mark.parametrize("text", WORDS)
def test_a_command_that_prints_one_plain_word_is_known(text):
    assert printed_word(parse(text).body) == "*"


@pytest.mark.parametrize("text", LISTS)
def test_a_command_that_prints_plain_words_is_known(text):
    assert printed_words(parse(text).body)


@pytest.mark.parametrize("text", [*FOLDERS, *NUMBERS, *WORDS])
def test_what_starts_with_a_letter_a_digit_or_a_slash_is_no_option(text):
    assert prints_no_option(parse(text).body)


@pytest.mark.parametrize(
    "text",
    [
        "pwd; echo -x",
        "pwd | sed s/^/-/",
        "pwd -x",
        "./pwd",
        "git rev-parse main",
        "git describe",
        "git branch --show-current",
        "date +-x",
        "date +%z",
        "date +%d -x",
        "date +%d; echo -x",
        "echo -x",
        "X=1 pwd",
    ],
)
def test_what_may_start_with_a_dash_could_be_an_option(text):
    assert not prints_no_option(parse(text).body)


@pytest.mark.parametrize("text", UNSURE)
def test_what_may_print_anything_else_is_not_known(text):
    assert not printed_word(parse(text).body)
    assert not printed_words(parse(text).body)


@pytest.mark.parametrize(
    "text", ["seq 3 | wc -l", "nproc", "id -u", "date +%F", "date -u +%H:%M", "uname -r", "whoami", "seq 1 5"]
)
def test_what_it_prints_here_has_that_shape(text):
    printed = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True).stdout
    shape = printed_words(parse(text).body)
    assert printed.split()
    assert all(globs.matches(word, shape) and "/" not in word and word[0] != "-" for word in printed.split())


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("cat /proc/$(pgrep -o web)/limits", Verdict.ALLOW),
        ("for p in $(pgrep web); do ls /proc/$p/fd; done", Verdict.ALLOW),
        ("n=$(nproc); cat /var/log/$n.log", Verdict.ALLOW),
        ("cat /var/log/$((1 + 1)).log", Verdict.ALLOW),
        ("for c in $(docker ps -q); do docker inspect $c; done", Verdict.ALLOW),
        ("cat /proc/$(pgrep -o web)/environ", Verdict.DENY),
        ("p=$(pgrep -o web); cat /proc/$p/environ", Verdict.DENY),
        ("for p in $(pgrep web); do cat /proc/$p/environ; done", Verdict.DENY),
        # A command that fails prints nothing.
        ("cat /etc/$(pgrep -o web)/shadow", Verdict.DENY),
        ("n=$(nproc); cat /etc/$n/shadow", Verdict.DENY),
        ("cat /etc/$((1/0))/shadow", Verdict.DENY),
        ("n=$(nproc); n=$(cat f); cat /var/log/$n.log", Verdict.DENY),
    ],
)
def test_a_path_with_a_printed_word_is_judged_by_its_shape(decide, text, verdict):
    allow = ["cat", "ls", "pgrep", "nproc", "docker inspect", "docker ps"]
    found = decide(text, allow=allow, never=("/etc/shadow*", "/proc/*/environ")).verdict
    assert (found is Verdict.ALLOW) is (verdict is Verdict.ALLOW)


@pytest.mark.parametrize("word", ['"$(pwd)--output=x"', '"$(nproc)"-o', '"$(whoami)$(cat f)"'])
def test_what_stands_behind_an_output_that_may_be_empty_may_be_an_option(word):
    (command,) = parse(f"x {word}").body.items[0].command.first.commands
    assert all(arg.could_be_option for arg in to_arg(command.words[1]))
