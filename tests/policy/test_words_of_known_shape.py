"""Words that are known although they are not written out: the folder, a loop's name without its ending, a pattern."""

import subprocess

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.policies import load_policy

FOLDER = "/home/dev/project"
HERE = Context(cwd=FOLDER, home="/home/dev", workspace=FOLDER)

KNOWN = [
    'basename "$PWD"',
    'dirname "$OLDPWD"',
    'ls "$PWD"',
    'grep -rn x "$PWD/src"',
    'find "$PWD" -name x',
    'cp "$PWD/x" y',
    'ln -s "$PWD/x" y',
    'cd src && cat "$PWD/../x"',
    'x=$PWD/build; touch "$x/a"',
    'x=$(pwd); touch "$x/a"',
    'ls "$(pwd)"',
    'cd "$(pwd -P)/src" && ls',
    'for f in src/*.ts; do mv "$f" "${f%.ts}.mts"; done',
    'for f in *.md; do cp "$f" "${f%%.md}.txt"; done',
    'for f in src/*.test.js; do touch "${f%.js}.ts"; done',
    "cp -r src /tmp/backup-$(date +%F)",
    "cat *.json",
    'for f in config/*.json; do jq empty "$f" || echo "bad: $f"; done',
]
UNKNOWN = [
    "sort $PWD x",
    "sort $(pwd) x",
    'cp x "$PWD/.git/config"',
    'cp x "$(pwd)/.git/config"',
    'echo x > "$PWD/../x"',
    'cd /etc && echo x > "$PWD/motd"',
    'cd /etc; cat "$PWD/shadow"',
    'cd /etc; cat "$(pwd)/shadow"',
    'echo x > "$(cd /etc; pwd)/motd"',
    'echo x > "$(cd /etc | pwd)/motd"',
    'echo x > "$(ls | pwd)/motd"',
    'touch "$(pwd -x)/motd"',
    'cd "$x"; touch "$PWD/a"',
    'cd "$x"; touch "$(pwd)/a"',
    'ssh build.example.com touch "$PWD/a"',
    'for f in .git/hooks/*.x; do cp a "${f%.x}"; done',
    'for f in ../*.ts; do touch "${f%.ts}.mts"; done',
    'for f in src/*.ts; do touch "${f%.js}/../../../x"; done',
    'for f in src/*.ts; do touch "${f%/*}/../../x"; done',
    'for f in src/*.ts; do f=/etc/x.ts; touch "${f%.ts}"; done',
    'for f in src/*.ts; do cp a "${f%.*}"; done',
    "cp x .g*/config",
    "cp x ./.git/hook?/y",
    "cp x .git/h*",
    "cat *account*.json",
    "cat s*.json",
    "cat service-account*.json",
]


@pytest.fixture(scope="module")
def ci():
    return load_policy("ci", workspace=FOLDER)


@pytest.mark.parametrize("text", KNOWN)
def test_what_is_known_goes_through(ci, text):
    decision = judge(text, ci, HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_may_be_elsewhere_does_not(ci, text):
    assert judge(text, ci, HERE).verdict is Verdict.DENY


def test_a_name_without_its_ending_is_what_the_pattern_says(ci, tmp_path):
    (tmp_path / "src").mkdir()
    for name in ("a.ts", "b c.ts", "d.ts.ts", ".ts"):
        (tmp_path / "src" / name).touch()
    text = 'for f in src/*.ts; do touch "${f%.ts}.mts"; done; for f in no*.ts; do touch "${f%.ts}.mts"; done'
    decision = judge(text, ci, HERE)
    assert decision.verdict is Verdict.ALLOW
    subprocess.run(["bash", "--norc", "-c", decision.canonical], cwd=tmp_path, check=True)
    made = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.mts"))
    assert made == ["no*.mts", "src/a.mts", "src/b c.mts", "src/d.ts.mts"]
