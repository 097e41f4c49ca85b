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
