"""P1: what a function's call is written out as is what was judged, whatever the words of the call hold."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.policy.shell import Unparsed, parse, render
from execkit_mcp.runtime.policies import load_policy

pytestmark = pytest.mark.promise("P1")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")

# A quote, a brace or a dollar of an argument that would end the word it is put into.
OUT_OF_THE_WORD = [
    """f() { echo "${x:-$1}"; }; f 'a}$(rm x)'""",
    """f() { echo "${x:-$1}"; }; f 'a}"; rm x; echo "'""",
    """f() { echo "${x:-a $1}"; }; f '$(rm x)'""",
    """f() { echo "${x:+$1}"; }; f '`rm x`'""",
    """f() { echo "${x-$*}"; }; f a '}$(rm x)'""",
    """f() { y="${x:-$1}"; }; f '}$(rm x)'""",
    """f() { cat <<< "${x:-$1}"; }; f '}$(rm x)'""",
    """f() { echo "${x:-$2}"; }; g() { f a "$1"; }; g '$(rm x)'""",
    """f() { [[ "${x:-$1}" == a ]]; }; f '}$(rm x)'""",
    """f() { echo "${x:-${y:-$1}}"; }; f '}}$(rm x)'""",
]


@pytest.mark.parametrize("text", OUT_OF_THE_WORD)
@pytest.mark.parametrize("name", ["read-only", "ci", "workstation"])
def test_an_argument_stays_in_its_word(name, text):
    decision = judge(text, load_policy(name, workspace=HERE.workspace), HERE)
    assert decision.verdict is not Verdict.ALLOW, decision.canonical
    try:
        script = parse(text)
    except Unparsed:
        return
    assert parse(render(script)) == script


# A function takes nothing from what its body would be refused for.
REFUSED = [
    "f() { sqlite3 -readonly x.db \"$1\"; }; f '.shell id'",
    "f() { sqlite3 \"$@\"; }; f -readonly x.db '.shell id'",
    'f() { git diff "$@"; }; f --ext-diff',
    'f() { cat "$@"; }; find . | xargs f /etc/shadow',
    'cat() { rm "$@"; }; find . | xargs rm; cat x',
    "f() { cd /etc; }; f; cat shadow",
    'f() { cd "$1" || exit 1; }; f /etc; cat shadow',
    "f() { PATH=/tmp; }; f; ls",
    "f() { x=/etc/shadow; }; f; cat $x",
    'f() { x=/etc/shadow; }; x=a; f; cat "$x"',
    'f() { read -r x <<< /etc/shadow; }; x=a; f; cat "$x"',
    'f() { "$1" x; }; f rm',
    'f() { "$1$2" x; }; f r m',
    "f() { r$1 x; }; f m",
    'f() { cat "${1%x}"; }; f /etc/shadowx',
    'f() { cat "${1/a/e}"; }; f /atc/shadow',
    'f() { cat "/etc/$1"; }; f shadow',
    'f() { cat "$1"/$2; }; f /etc shadow',
    'f() { cat < "$1"; }; f /etc/shadow',
    "f() { cat; }; cat /etc/shadow | f",
    'f() { echo "$(cat "$1")"; }; f /etc/shadow',
    'f() { g "$1"; }; g() { cat "$1"; }; f /etc/shadow',
    'f() { "$@"; }; f f rm x',
    "f() { \"$@\"; }; f eval 'rm x'",
    'f() { "$@"; }; f command rm x',
    "f() { \"$@\"; }; f bash -c 'rm x'",
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_function_lends_nothing(text):
    assert judge(text, load_policy("read-only", workspace=HERE.workspace), HERE).verdict is not Verdict.ALLOW
