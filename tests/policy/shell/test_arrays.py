# ruff: noqa: E501 - texts stand side by side
"""Arrays: ``a=(…)``, ``"${a[@]}"``, ``${#a[@]}`` and elements by number are judged; what evaluates is refused."""

import pytest

from execkit_mcp.model import ReasonCode, Verdict
from execkit_mcp.policy.document import ShellRules
from execkit_mcp.policy.shell.parser import parse
from execkit_mcp.policy.shell.render import render

ALLOW = ["ls", "cat", "grep", "echo", "sort"]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a=(x 'y z')", "a=(x 'y z')"),
        ("a=()", "a=()"),
        ("a+=( x\n y )", "a+=(x y)"),
        ('echo "${a[@]}" "${a[0]}" "${#a[@]}" "${a[-1]}"', 'echo "${a[@]}" "${a[0]}" "${#a[@]}" "${a[-1]}"'),
        ('echo "${a[@]:0:3}"', 'echo "${a[@]: 0:3}"'),
        ("echo $((${#a[@]} + 1))", "echo $((${#a[@]} + 1))"),
        ("a=({b,c}d '[0]=x')", "a=(bd cd '[0]=x')"),
    ],
)
def test_the_canonical_text_keeps_an_array(text, canonical):
    assert render(parse(text)) == canonical


@pytest.mark.parametrize(
    "text",
    [
        'a=(one two); for x in "${a[@]}"; do echo "$x"; done', 'opts=(-l -h); ls "${opts[@]}" src', 'a=(f); a+=(g); cat "${a[@]}"',
        'a=(); ls "${a[@]}"', 'a=(x y); b=("${a[@]}" z); cat "${b[@]}"', 'a=(*.c); echo "${#a[@]}" "${a[0]}"',
    ],
)  # fmt: skip
def test_honest_arrays_are_allowed(decide, text):
    assert decide(text, allow=ALLOW).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        'a=(/etc/shadow); cat "${a[@]}"', 'a=(x); a+=(/etc/shadow); cat "${a[@]}"', 'a=(x); a=y; cat "${a[@]}"',
        'a=(rm x); "${a[@]}"', 'a=(-o x); sort "${a[@]}"', 'a=(x); (a=(/etc/shadow); cat "${a[@]}")', "a=($(rm x))",
        'a=(ls); if true; then a=(rm x); fi; "${a[@]}"', 'a=(f); for i in 1 2; do cat "${a[@]}"; a=(/etc/shadow); done',
        'a=(f); read -ra a < q; cat "${a[@]}"', 'a=(f); mapfile -t a < q; cat "${a[@]}"', 'a=(~/.ssh/id); cat "${a[@]}"',
        'a=(/etc/shadow); for f in "${a[@]}"; do cat "$f"; done', 'a=("$x"); cat "${a[@]}"', "a=(/etc/shado[w]); cat ${a[0]}",
        "PATH=(/tmp)", "BASH_ENV=(x)", "a=(/etc/shadow*)",
    ],
)  # fmt: skip
def test_what_an_array_holds_is_judged(decide, text):
    shell = ShellRules(state=frozenset({"read", "mapfile"}))
    assert decide(text, allow=ALLOW, shell=shell).verdict is not Verdict.ALLOW


@pytest.mark.parametrize(
    "text",
    ["a=([0]=x)", "a=([$(id)]=x)", "a[0]=x", "a=(x) ls", 'echo "${a[$(id)]}"', 'echo "${a[b]}"', "echo $((a[0]))", "a=(x) > f",
     "declare -a a=(x)", "export a=(x)", 'echo "${!a[@]}"', 'echo "${a[@]@P}"', "a=(x"],
)  # fmt: skip
def test_what_bash_would_evaluate_is_refused(decide, text):
    assert decide(text, allow=ALLOW).reason_code is ReasonCode.UNPARSED
