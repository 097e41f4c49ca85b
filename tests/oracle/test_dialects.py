# ruff: noqa: E501 - the texts stand side by side
"""P1 where bash does not run the text: dash, busybox ash and zsh pass the argv that bash would, in the same folder.

Texts of the oracle's grammar and a table of traps. What ``portable`` lets through runs in a real bash and in each of
the real shells, started and spoken to as in a session over SSH; the program ``p`` writes down what it was given.
"""

import importlib.util
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from execkit_mcp.policy.shell.parser import parse
from execkit_mcp.policy.shell.portable import refusal
from execkit_mcp.policy.shell.render import render
from execkit_mcp.policy.shell.unparsed import Unparsed
from execkit_mcp.protocol.dialects.posix_streams import PosixStreams
from execkit_mcp.transports.ssh.probe import START

pytestmark = pytest.mark.promise("P1")

SPEC = importlib.util.spec_from_file_location("oracle_grammar", Path(__file__).parent / "grammar.py")
assert SPEC is not None
assert SPEC.loader is not None
grammar = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(grammar)

TEXTS = min(int(os.environ.get("EXECKIT_FUZZ", "800")), 20_000)
PROGRAM = """\
#!/bin/dash
set -- "$#" "$(pwd -P)" "$@" "$(printf '\\036')"
printf '%s\\0' "$@" >>"$P_LOG" # one write: parts of a pipeline run at once
"""
SHELLS = {
    "dash": shutil.which("dash"),
    "ash": f"{shutil.which('busybox')} ash" if shutil.which("busybox") else None,
    "zsh": shutil.which("zsh"),
}
MINE = [
    "p =p a=b ^x '#x' @ % + , - -- {} [ ]",
    "p * d/* ?x* [a-z]* [!f]* *.nothing [[:alpha:]]*",
    "A='x  y z'; p $A \"$A\" A=$A",
    "A='*'; p $A; p \"$A\"",
    'A=; p $A x; p "$A" y; p ${A:-w} ${A-w} "${B:-w}" ${B+q}',
    'A=a.b.c; p ${A%.*} ${A%%.*} ${A#*.} "${A##*.}"',
    "p ~ ~/x a~ x:~ '~'",
    "p \"$(p in; echo 'x  y')\" $(echo 'x  y')",
    "p $((1+2)) $(( (4-2)*3 ))",
    "p 'it'\"'\"'s' \"a\\$b\\`c\\\\d\\\"e\" 'é 日'",
    "p a; cd d && p b; cd ../f; p c; cd -; p d; (cd /; p e); p f",
    "if [ a = a ]; then p yes; else p no; fi; [ a = 'a*' ] && p pattern; [ '' ] || p empty; test -d d && p dir",
    'for i in a \'b c\' *; do p "$i" $i; [ "$i" = a ] && continue; done',
    "case abc in (a*) p star;; (*) p other;; esac; case 'a*' in ('a*') p literal;; esac; case x in (y|[x-z]) p set;; esac",
    'A=1 p x; p "${A-unset}"; A=2; p $A; export A; export B=\'v w\'; p "$B"; unset A; p "${A-unset}"',
    "false || p a; true && p b; ! false && p c; { p d; p e; } ; p f | p g",
    "echo 'a\\nb' | p; p \"$(echo -n 'x\\ty'; echo -e 'x\\ty'; echo -nE '\\t'; echo -- -n -x)\"",
    'while [ "$A" != xxx ]; do A=x$A; p $A; done; until true; do p never; done',
    "p $? ; false; p $?; (exit 7); p $?",
    "p a 2>&1 >/dev/null; p b 2>/dev/null 1>&2 </dev/null; { p c; } >/dev/null; p d 3>&1 4>&3",
    "p \"$(printf '%s-%d|%5s\\n' a 3 b)\"",
    "cd nowhere || p failed; p after",
    'A="$(p in)"; p "$A" $?',
]
REFUSED = [
    ("p {a,b}", None),  # the canonical text has no braces any more
    ("[[ a == a ]] && p", "[[ … ]]"),
    ("p <(p x)", "process substitution"),
    ("p $'a\\x01b'", "ANSI-C quoting"),
    ("p <<< x", "here-string"),
    ("p a &", "background"),
    ("p ~root", "~root"),
    ("p a/**", "** in a pattern"),
    ("p [^a]*", "the pattern [^a]"),
    ("p ${x/a/b}", "the expansion ${x…} with /"),
    ("p ${#x}", "the expansion ${x…} with length"),
    ("p $RANDOM", "the variable RANDOM"),
    ("path=/tmp; p", "the variable path"),
    ("p ${x:1:2}", "the expansion ${x…} with :"),
    ("A+=b; p", "+="),
    ("export $A; p", "a name that is worked out"),
    ("export A=~/x; p", "~ within a word"),
    ("p --file=~", None),
    ("p file=~", "~ within a word"),
    ("p > $x", "without quotes"),
    ("p | cd d; p", "cd in a pipeline"),
    ("time p", "time"),
    ("declare A=b; p", "declare"),
    ("[ a == a ] && p", "== in ["),
    ("printf %q x; p", "this format"),
    ("p $((010))", "the arithmetic"),
    ("q x", "q (a builtin of bash, or no program there)"),
    ("A=b export C; p", "an assignment before the builtin"),
    ("$x a", "a command whose name is worked out"),
    ("cd +1; p", "cd +1"),
    ("set -f; p", "set"),
]


def shown(text: str, program: str) -> str:
    """The canonical text, with the program found where it is."""
    return render(parse(text), locate=lambda name: program if name == "p" else None)


def commands(shell: str, path: str, texts: list[str], folder: Path) -> list[list[bytes]]:
    """For each text, what ``p`` was given, sorted: parts of a pipeline run at once."""
    log, work = folder / f"{shell}.log", folder / "work"
    for name in ("d/e", "f", "xx1", "A b"):
        (work / name).mkdir(parents=True, exist_ok=True)
    dialect = PosixStreams()
    lines = [dialect.init("a" * 16, "b" * 16)]
    for text in texts:
        lines.append(b"( \\cd '" + os.fsencode(work) + b"'\n" + dialect.line_one(text) + b")\n")
        lines.append(b"printf '\\035' >>'" + os.fsencode(log) + b"'\n")
    env = {"P_LOG": str(log), "HOME": "/home/u", "PATH": "/nonexistent", "LC_ALL": "C.UTF-8"}
    subprocess.run(  # its code is that of the last text
        [*path.split(), *START[shell].split()],
        check=False,
        input=b"".join(lines),
        env=env,
        capture_output=True,
        timeout=300,
    )
    found = [sorted(each.split(b"\x1e\0")) for each in log.read_bytes().split(b"\x1d")]
    assert found.pop() == [b""]
    assert len(found) == len(texts)
    return found


@pytest.fixture(scope="module")
def bash_says(tmp_path_factory):
    """The texts that any shell may run, and what bash does with each."""
    folder = tmp_path_factory.mktemp("dialects")
    program = folder / "p"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    texts = [shown(text, str(program)) for text in MINE]
    for text in texts:
        assert refusal(parse(text)) is None, text
    chance = random.Random(5)
    for _ in range(TEXTS):
        try:
            text = shown(grammar.text(chance), str(program))
        except Unparsed:
            continue
        if refusal(parse(text)) is None:
            texts.append(text)
    assert len(texts) > TEXTS // 10
    return folder, texts, commands("bash", "/bin/bash", texts, folder)


@pytest.mark.parametrize("shell", SHELLS)
def test_another_shell_passes_the_argv_that_bash_would(shell, bash_says):
    path = SHELLS[shell]
    if path is None:
        pytest.skip(f"no {shell} on this machine (.ci/setup installs it where it is root)")
    folder, texts, expected = bash_says
    found = commands(shell, path, texts, folder)
    wrong = [each for each in zip(texts, expected, found, strict=True) if each[1] != each[2]]
    assert not wrong, wrong[:5]


@pytest.mark.parametrize(("text", "named"), REFUSED)
def test_what_another_shell_would_read_otherwise_is_refused_by_name(text, named):
    said = refusal(parse(shown(text, "/bin/p")))
    assert said is None if named is None else named in str(said), said
