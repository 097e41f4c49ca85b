"""P1 against a real bash: the argv that was judged is the argv that bash passes when it runs the canonical text.

The folder that it was judged in is the one that it runs in, too.

``EXECKIT_FUZZ=N`` generates N texts (``make fuzz`` sets 100,000); without it a few thousand run. Many texts share one
bash, in which the program ``p`` is a function that writes down what it was given.
"""

import importlib.util
import json
import os
import random
import re
import subprocess
from itertools import count
from pathlib import Path

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, compile_policy, globs, judge, walk
from execkit_mcp.policy.document import EffectGrants, Element, PathRules, PolicyDocument, Rule, ShellRules
from execkit_mcp.policy.knowledge.invocation import Arg, ArgKind

pytestmark = pytest.mark.promise("P1")

HERE = Path(__file__).parent
SPEC = importlib.util.spec_from_file_location("oracle_grammar", HERE / "grammar.py")
assert SPEC is not None
assert SPEC.loader is not None
grammar = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(grammar)

TEXTS = int(os.environ.get("EXECKIT_FUZZ", "3000"))
BATCH = 2500
HOME = "/home/u"
RULE = Rule(id="all", verdict=Verdict.ALLOW, elements=(Element(program="*"),), effects=EffectGrants(is_trusted=True))
POLICY = compile_policy(
    PolicyDocument(
        name="oracle",
        digest="d",
        rules=(RULE,),
        paths=PathRules(write=("/**",)),
        shell=ShellRules(
            env_set=("A", "B"), state=frozenset({"cd", "pushd", "popd", "read", "unset", "export", "mapfile"})
        ),
    )
)
CONTEXT = Context(cwd="/a/b/work", home=HOME, workspace="/a/b/work")
HARNESS = r"""
export LC_ALL=C.UTF-8
p() { printf '%s\0' "$#" "$PWD" "${@//$'\n'/$'\x01'}" >&7; }  # a newline would end the write
cat() { command -p cat; }
PATH=/nonexistent HOME=/home/u TIMEFORMAT=
while IFS= read -r -d '' text <&9; do
  ( eval "$text" ) 8>&1 >/dev/null 2>&1 </dev/null | cat  # until the last process that it left has ended
  printf 'END\0' >&7
done 9< "$1" 7> "$2"
"""


@pytest.fixture
def judged(monkeypatch):
    """Every argv that was judged since the list was last cleared, with the folders that it may run in."""
    seen: list[tuple[tuple[Arg, ...], tuple[str, ...] | None]] = []
    real = walk.judge_argv

    def spy(argv, scope, *rest, **options):
        seen.append((argv, scope.cwds))
        return real(argv, scope, *rest, **options)

    monkeypatch.setattr(walk, "judge_argv", spy)
    return seen


def run(texts: list[str], folder: Path) -> list[list[tuple[list[str], str]]]:
    """For each text, each argv that ``p`` was given, program name left out, and the folder it ran in."""
    (folder / "harness").write_text(HARNESS)
    (folder / "texts").write_bytes(b"".join(text.encode() + b"\0" for text in texts))
    work = folder / CONTEXT.cwd[1:]
    for name in ("d/e", "f"):
        (work / name).mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["/bin/bash", "--norc", "--noprofile", str(folder / "harness"), str(folder / "texts"), str(folder / "log")],
        cwd=work,
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=300,
    )
    found: list[list[tuple[list[str], str]]] = [[]]
    fields = iter((folder / "log").read_bytes().decode(errors="surrogateescape").split("\0")[:-1])
    for field in fields:
        if field == "END":
            found.append([])
        else:
            where = next(fields)
            words = [next(fields).replace("\x01", "\n") for _ in range(int(field))]
            found[-1].append((words, where.removeprefix(str(folder)) if where.startswith(str(folder)) else ""))
    found.pop()
    assert len(found) == len(texts)
    return found


def is_given(word: str, arg: Arg) -> bool:
    """Whether a real word is what was judged; what only the shell could know fits any word."""
    if arg.is_home and arg.text[1:2] not in ("", "/"):
        return True  # another user's home: the policy takes it as unknown
    if arg.kind is ArgKind.DYNAMIC:
        return word.startswith(HOME + arg.prefix[1:] if arg.is_home else arg.prefix)
    if arg.kind is ArgKind.GLOB and arg.is_single:  # a number, or one name that a pattern found
        return arg.text == word or globs.matches(word, arg.text)
    text = re.sub(r"\\(.)", r"\1", arg.text, flags=re.DOTALL) if arg.kind is ArgKind.GLOB else arg.text
    if arg.is_home:
        text = HOME + text[1:]
    return word.removeprefix("./") == text.removeprefix("./")


def fits(words: list[str], argv: tuple[Arg, ...]) -> bool:
    """Whether the real words are what was judged, one by one; a word that may be several or none takes any number."""
    args = argv[1:]
    if not all(arg.is_single or arg.kind is ArgKind.GLOB for arg in args):
        fixed = next(index for index, arg in enumerate(args) if not arg.is_single and arg.kind is not ArgKind.GLOB)
        return all(map(is_given, words[:fixed], args[:fixed]))
    return len(words) == len(args) and all(map(is_given, words, args))


def generated(judged: list[tuple[Arg, ...]], seed: int, wanted: int):
    """Canonical texts of the grammar, each with the argv that were judged."""
    chance = random.Random(seed)
    made = []
    for _ in count():
        if len(made) == wanted:
            return made
        text = grammar.text(chance)
        judged.clear()
        decision = judge(text, POLICY, CONTEXT)
        assert not decision.warnings or "fault" not in decision.warnings[0], (text, decision.warnings)
        if decision.canonical is not None:
            made.append((text, decision.canonical, list(judged)))
    raise AssertionError


@pytest.mark.parametrize("batch", range(-(-TEXTS // BATCH)))
def test_the_argv_that_was_judged_is_the_argv_that_bash_passes(batch, judged, tmp_path):
    made = generated(judged, 7000 + batch, min(BATCH, TEXTS - batch * BATCH))
    logs = run([canonical for _, canonical, _ in made], tmp_path)
    wrong = [
        (text, canonical, words, where)
        for (text, canonical, argvs), log in zip(made, logs, strict=True)
        for words, where in log
        if not any(fits(words, argv) and (not where or cwds is None or where in cwds) for argv, cwds in argvs)
    ]
    assert wrong == []
    assert sum(map(len, logs)) > len(made)


STUB = '#!/bin/bash\nprintf \'%s\\0\' "${0##*/}" "$#" "$@" >> "$STUB_LOG"\n'
STUBBED = frozenset(
    {"ls", "cat", "grep", "find", "head", "tail", "sort", "uniq", "wc", "tr", "cut", "sed", "awk", "xargs", "tee", "rm"}
    | {"cp", "mv", "mkdir", "touch", "git", "docker", "kubectl", "make"}
)
BY_HAND = [
    "ls -la | grep -v '^d' | wc -l",
    "find . -name '*.py' -exec grep -l 'a b' {} +",
    "git log --oneline -n 5 -- 'a file' && git status -s",
    "cat <<'E' | tee -a 'x y'\n$HOME `rm x`\nE\n",
    'for f in a \'b c\' d; do cp "$f" "dest/$f"; done',
    "n='two words'; grep -rn \"$n\" src || ls $'a\\tb'",
    "rm -rf -- '-x' \"*\" \\*",
    "sed -i 's/a b/c d/g;s#x#y#' {one,two}.txt",
    "awk -F: '{ print $1 \"\\t\" $3 }' /etc/passwd | sort -t$'\\t' -k2n | uniq -c",
    "if ls x; then cat 'a'\"b\"c; else touch d; fi; (mkdir -p a/{b,c}; mv a/b 'a/d e')",
    "docker run --rm -e 'A=b c' img sh -c 'echo \"$1\"' -- arg",
    "kubectl get pods -o jsonpath='{.items[*].metadata.name}' | tr ' ' '\\n' | head -n1",
    "xargs -0 -I{} cp {} /dest < /dev/null; make -j4 V=1 'CFLAGS=-O2 -g'",
    "ls $(cat list) \"$(head -n1 'the list')\" `tail x`",
]


def corpus() -> list[str]:
    """Everyday commands that run nothing but stubs and write no file by themselves."""
    folder = Path(os.environ.get("EXECKIT_TEST_DATA") or HERE.parents[2] / "shared" / "data")
    path = folder / "policy" / "everyday.jsonl"
    if not path.is_file():
        print("no file everyday.jsonl: only texts by hand ran against stubs")
        return []
    rows = [json.loads(line)["command"] for line in path.read_text().splitlines()]
    return [row for row in rows if ">" not in row and "while" not in row and "until" not in row][::9]


def test_stubbed_programs_are_given_what_was_judged(judged, tmp_path):
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    for name in sorted(STUBBED):
        (stubs / name).write_text(STUB)
        (stubs / name).chmod(0o755)
    ran = 0
    for number, text in enumerate([*BY_HAND, *corpus()]):
        judged.clear()
        decision = judge(text, POLICY, CONTEXT)
        heads = {argv[0].text for argv, _ in judged if argv and argv[0].is_static}
        if decision.canonical is None or not heads <= STUBBED:
            assert text not in BY_HAND
            continue
        log = tmp_path / f"log-{number}"  # of its own: what a text leaves behind may write later
        log.write_bytes(b"")
        subprocess.run(
            ["/bin/bash", "--norc", "--noprofile", "-c", decision.canonical],
            cwd=stubs.parent,
            env={"PATH": str(stubs), "STUB_LOG": str(log), "HOME": HOME, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        fields = iter(log.read_bytes().decode(errors="surrogateescape").split("\0")[:-1])
        for name in fields:
            words = [next(fields) for _ in range(int(next(fields)))]
            assert any(argv[0].text == name and fits(words, argv) for argv, _ in judged if argv), (text, name, words)
            ran += 1
    assert ran > 2 * len(BY_HAND)
