"""Promise P1 against a real bash: the words that bash gets from a text are the words that the tree says.

Bash runs many texts in one process; every program is the function ``p``, which prints its arguments. The same is run
for the text as typed and for its canonical form, and for static words compared with ``to_arg``.
"""

# ruff: noqa: SIM905 - fragments and the harness are easier to read on one line

import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from execkit_mcp.policy.knowledge.invocation import ArgKind
from execkit_mcp.policy.shell import Unparsed, parse, render
from execkit_mcp.policy.shell.tree import Simple
from execkit_mcp.policy.shell.words import to_arg

HARNESS = r"""
export LC_ALL=C.UTF-8
p() { local i; printf '<'; for i in "$@"; do printf '%q,' "$i"; done; printf '>'; }
p2() { local l; p "$@"; printf '('; while IFS= read -r l || [ -n "$l" ]; do printf '%q|' "$l"; done; printf ')'; }
raw() { printf '%s\1' "$@"; }
command_not_found_handle() { printf 'absent'; p "$@"; return 127; }
PATH=/nonexistent HOME=/home/u
while IFS= read -r -d '' text <&9; do
  ( x=foo y='a b'; set -- 'p 1' 2; TIMEFORMAT=; eval "$text" ) 2>/dev/null </dev/null
  printf '\0'
done 9< "$1"
printf '%s' $$
"""

FRAGMENTS = [
    *"abx1209-=+.:/,%@#!^~*?[]{}'\"\\$`_ \t",
    *(
        "$x ${x} \"$x$y\" $'\\n' {a,b} {1..3} {01..3} .. ~/ ~ a= B=~ a:~ =~ [a-c] [!a] [[:alpha:]] \\' \\\\ \\$x"
    ).split(),
    *('${x%o*} ${x#f} "${x/o/0}" ${u:-d} $((1+2)) ${#x} $1 $? $# $* "$@" ${x^^} {} a{b,c}d ${u-} é \'\' ""').split(),
    *("${u:+v} \"${x:+$y}\" ${u:-$y} ${x/'o'/\"$x\"} \\\" $'\\x41' `p` $(p) ${x//o/'q'}").split(),
    *(
        "'a b'",
        '"c d"',
        "\\\n",
        "\\ ",
        "$(p i)",
        "`p \\`p m\\``",
        "\"$(p 'k l')\"",
        '"${u:-d e}"',
        "${x: 1:2}",
        "<(p z)",
    ),
]
FRAMES = [
    *["p {}"] * 6,
    'export A={}; p "$A"',
    'declare -g A={}; p "$A"',
    'A={}; p "$A"',
    "A={} p",
    'a=~/x:{}; p "$a"',
    'for i in {}; do p "$i"; done',
    "p2 <<< {}",
    "case foo in {}) p yes;; *) p no; esac",
    "[[ foo == {} ]] && p yes",
    "[[ -n {} ]] && p yes",
    "p2 <<E\n{}\nE\n",
    "p2 <<-'E'\n\t{}\nE\n",
    "p x | p2 {}",
    "p x |& p2 {}",
    "p x &> /dev/null {}",
    "( p {} )",
    "{{ p {}; }}",
    "if p {}; then p a; else p b; fi",
    "! p {}",
    "p {} ; p b",
    "p {} && p b",
    "p {} & wait",
    "p {}\np b",
    "p $( p {} )",
    'p "$(p {})"',
]


def run_in_bash(texts: list[str], folder: Path, *, shows_pid: bool = True) -> list[str]:
    """What bash prints for each text, in one process."""
    (folder / "harness").write_text(HARNESS)
    (folder / "texts").write_bytes(b"".join(text.encode() + b"\0" for text in texts))
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    done = subprocess.run(
        ["/bin/bash", "--norc", "--noprofile", str(folder / "harness"), str(folder / "texts")],
        cwd=empty,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=True,
    )
    *outputs, process_id = done.stdout.decode(errors="surrogateescape").split("\0")
    assert len(outputs) == len(texts)
    own = process_id if shows_pid else "\0"  # in texts without $$ its digits are those of another number
    return [re.sub(r"/dev/fd/\d+", "FD", output.replace(own, "PID")) for output in outputs]


def some_text(chance: random.Random) -> str:
    words = ("".join(chance.choices(FRAGMENTS, k=chance.randint(1, 6))) for _ in range(chance.randint(1, 3)))
    return chance.choice(FRAMES).format(" ".join(words)).replace("$!", "")


@pytest.mark.parametrize("seed", range(4))
def test_a_text_and_its_canonical_form_do_the_same_in_bash(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    texts: list[str] = []
    while len(texts) < 1200:
        text = some_text(chance)
        try:
            tree = parse(text)
        except Unparsed:
            continue
        canonical = render(tree)
        assert parse(canonical) == tree, text
        assert render(parse(canonical)) == canonical, text
        texts.append(text)
    as_typed = run_in_bash(texts, tmp_path)
    as_canonical = run_in_bash([render(parse(text)) for text in texts], tmp_path)
    different = [
        (text, render(parse(text)), typed, canonical)
        for text, typed, canonical in zip(texts, as_typed, as_canonical, strict=True)
        # a pattern that matches nothing stays as it is: with the "./" that the renderer puts before it
        if typed.replace("./", "") != canonical.replace("./", "")
    ]
    assert different == []


def static_words(text: str) -> list[str] | None:
    """The words of a text that is one simple command of static words and globs without matches."""
    script = parse(text)
    if len(script.body.items) != 1:
        return None
    command = script.body.items[0].command.first.commands[0]
    if not isinstance(command, Simple) or command.assignments:
        return None
    words = []
    for word in command.words[1:]:
        (arg,) = to_arg(word)
        if (
            arg.kind is ArgKind.DYNAMIC
            or (arg.is_home and arg.text[1:2] not in ("", "/"))
            or (arg.text.startswith("/") and arg.kind is ArgKind.GLOB)
        ):
            return None
        words.append(re.sub(r"\\(.)", r"\1", arg.text) if arg.kind is ArgKind.GLOB else arg.text)
        if arg.is_home:
            words[-1] = "/home/u" + words[-1][1:]
    return words


def test_the_static_words_of_the_policy_are_the_words_that_bash_passes(tmp_path: Path) -> None:
    chance = random.Random(7)
    fragments = [each for each in FRAGMENTS if "$" not in each and "`" not in each]
    texts: list[str] = []
    expected: list[list[str]] = []
    while len(texts) < 3000:
        text = "raw " + " ".join("".join(chance.choices(fragments, k=chance.randint(1, 7))) for _ in range(2))
        try:
            words = static_words(text)
        except Unparsed:
            continue
        if words:
            texts.append(text)
            expected.append(words)
    for outputs in (
        run_in_bash(texts, tmp_path, shows_pid=False),
        run_in_bash([render(parse(text)) for text in texts], tmp_path, shows_pid=False),
    ):
        wrong = [
            (text, words, output)
            for text, words, output in zip(texts, expected, outputs, strict=True)
            if output.replace("./", "").split("\1")[:-1] != [word.replace("./", "") for word in words]
        ]
        assert wrong == []


def everyday_rows() -> list[dict[str, str]] | None:
    folder = Path(os.environ.get("EXECKIT_TEST_DATA") or Path(__file__).parents[4] / "shared" / "data")
    path = folder / "policy" / "everyday.jsonl"
    if not path.is_file():
        return None
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_everyday_commands_are_rarely_refused(tmp_path: Path) -> None:
    rows = everyday_rows()
    if rows is None:
        print("no file everyday.jsonl: the refusal rate was not measured")
        return
    checked = run_checks([row["command"] for row in rows], tmp_path)
    refused: dict[str, list[str]] = {"nl2bash": [], "work": []}
    total = dict.fromkeys(refused, 0)
    for row, is_valid in zip(rows, checked, strict=True):
        group = "nl2bash" if row["category"] == "nl2bash" else "work"
        if not is_valid or row["category"].startswith("tldr"):
            continue
        total[group] += 1
        try:
            tree = parse(row["command"])
        except Unparsed as reason:
            refused[group].append(f"{reason}: {row['command']}")
            continue
        canonical = render(tree)
        assert parse(canonical) == tree, row["command"]
        assert render(parse(canonical)) == canonical
    assert total["nl2bash"] > 4000
    assert len(refused["nl2bash"]) <= 0.015 * total["nl2bash"], refused["nl2bash"]
    assert len(refused["work"]) <= 0.03 * total["work"], refused["work"]


def run_checks(texts: list[str], folder: Path) -> list[bool]:
    """Whether ``bash -n`` accepts each text: a function body that is never run, in one process."""
    (folder / "texts").write_bytes(b"".join(text.encode() + b"\0" for text in texts))
    script = (
        "while IFS= read -r -d '' text; do if eval \"f() {\n$text\n}\" 2>/dev/null; then printf 1; else printf 0; fi;"
        ' done < "$1"'
    )
    done = subprocess.run(
        ["/bin/bash", "--norc", "--noprofile", "-c", script, "bash", str(folder / "texts")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env={"PATH": "/nonexistent"},
        timeout=60,
        check=True,
    )
    assert len(done.stdout) == len(texts)
    return [digit == "1" for digit in done.stdout.decode()]
