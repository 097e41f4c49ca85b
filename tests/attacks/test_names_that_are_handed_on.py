"""P1: names that one command prints and another takes stay whole, whatever characters a name holds."""

import hashlib
import re
import shutil
import struct
import subprocess

import pytest
from msgspec.structs import replace

from execkit_mcp.model import Verdict
from execkit_mcp.policy import Context, engine, judge
from execkit_mcp.policy.shell.tree import Literal, Simple, Word, sequence_of
from execkit_mcp.runtime.policies import load_policy

pytestmark = pytest.mark.promise("P1")

HERE = Context(cwd="/home/dev/project", home="/home/dev", workspace="/home/dev/project")

ALLOWED = [
    "find . -type f | xargs cat",
    "find . -name '*.txt' -o -name '*secret*' | xargs cat",
    "find . -type f -print | sort | xargs cat",
    "find . -type f | grep -v zzz | head -50 | xargs -n1 cat",
    "find . -type f | tail -n 50 | xargs -I{} cat {}",
    'find . -type f | while read -r f; do cat "$f"; done',
    'find . -type f | while IFS= read -r f; do cat < "$f"; done',
    'while read -r f; do cat "$f"; done < <(find . -type f)',
    "grep -rl inside . | xargs cat",
    "grep -rl inside | xargs cat",
    "git ls-files | xargs cat",
    "git ls-files -o --exclude-standard | xargs cat",
    'git ls-files | while read -r f; do cat "$f"; done',
]
NAMES = ["a.txt", "b c.txt", "n\n{outside}", "-e", "--help", "q'u\"o\\te", "x {outside}", "tab\there", "*", "é"]


@pytest.mark.parametrize("text", ALLOWED)
def test_each_name_is_read_and_nothing_else(text, tmp_path):
    decision = judge(text, load_policy("read-only", workspace=HERE.workspace), HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message
    (tmp_path / "o").mkdir()
    outside = tmp_path / "o" / "secret"
    outside.write_text("OUTSIDE\n")
    work = tmp_path / "work"
    work.mkdir()
    names = [name.format(outside=outside) for name in NAMES]
    for name in names:
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"inside {len(name)}\n")
    git = shutil.which("git")
    if git is not None:
        subprocess.run([git, "init", "-q", "."], cwd=work, check=True)
        if "-o" not in text:
            subprocess.run([git, "add", "-A"], cwd=work, check=True)
        shutil.copytree(work / ".git", tmp_path / "aside")
    done = subprocess.run(
        ["bash", "--norc", "-c", decision.canonical or ""],
        cwd=work,
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)},
        timeout=20,
        check=False,
    )
    printed = done.stdout.decode(errors="replace")
    assert "OUTSIDE" not in printed
    if "name" not in text:
        assert sorted(re.findall(r"inside \d+", printed)) == sorted(f"inside {len(name)}" for name in names)


def _entry(mode: str, name: str, blob: str) -> bytes:
    return f"{mode} {name}\0".encode() + bytes.fromhex(blob)


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
@pytest.mark.parametrize(
    "text",
    [
        "git diff --name-only HEAD other | xargs cat",
        "git diff --name-only HEAD other | sort | xargs -I{} cat {}",
        'git diff --name-only HEAD other | while read -r f; do cat "$f"; done',
        'while read -r f; do cat "$f"; done < <(git diff --name-only HEAD other)',
        "git ls-files | xargs cat",
        "git ls-files -c | grep -v zzz | head -50 | xargs -n1 cat",
        'git ls-files | while IFS= read -r f; do cat < "$f"; done',
    ],
)
def test_git_names_nothing_outside_whatever_a_tree_or_an_index_says(text, tmp_path):
    """A tree of a hostile repository may hold entries named `..` and `/x`; so may an index that is written by hand."""
    decision = judge(text, load_policy("read-only", workspace=HERE.workspace), HERE)
    assert decision.verdict is Verdict.ALLOW, decision.message
    outside = tmp_path / "secret"
    outside.write_text("OUTSIDE\n")
    work = tmp_path / "work"
    work.mkdir()
    (work / "plain").write_text("inside\n")

    def git(*words: str, stdin: bytes = b"") -> str:
        named = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        done = subprocess.run(["git", *named, *words], cwd=work, input=stdin, check=True, capture_output=True)
        return done.stdout.decode().strip()

    git("init", "-q", ".")
    git("commit", "-q", "--allow-empty", "-m", "first")
    blob = git("hash-object", "-w", "--stdin", stdin=b"x\n")
    below = git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=_entry("100644", "secret", blob))
    entries = _entry("40000", "..", below) + _entry("100644", str(outside), blob) + _entry("100644", "plain", blob)
    tree = git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=entries)
    git("branch", "other", git("commit-tree", "-m", "second", tree))
    names = sorted(name.encode() for name in ("../secret", str(outside), "plain", "a/../../secret"))
    index = b"DIRC" + struct.pack(">II", 2, len(names))
    for name in names:
        entry = struct.pack(">10I", *[0] * 6, 0o100644, 0, 0, 1) + bytes(20) + struct.pack(">H", len(name)) + name
        index += entry + b"\0" * (8 - len(entry) % 8)
    (work / ".git" / "index").write_bytes(index + hashlib.sha1(index, usedforsecurity=False).digest())
    done = subprocess.run(
        ["bash", "--norc", "-c", decision.canonical or ""],
        cwd=work,
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)},
        timeout=20,
        check=False,
    )
    assert b"OUTSIDE" not in done.stdout
    assert b"inside" in done.stdout, done.stderr


STOPPED = [
    "find src | grep -n x | xargs cat",
    "find src | shuf -i 1-9 | xargs cat",
    "find src -print0 | shuf -z -i 1-9 | xargs -0 cat",
    "find . -type f | xargs cat > out",
    "find . -type f | xargs cat > >(xargs cat)",
    "find . -type f | xargs cat < list",
    "find . -type f | xargs cat <<< /etc/shadow",
    "find . | while read -r f; do :; done 2> >(xargs -0 cat)",
    "find . | while read -r f; do :; done > >(xargs cat)",
    "pgrep x | while read -r f; do :; done 2> >(xargs -I{} cat /proc/{}/status)",
    "pgrep x | xargs cat",
    "pgrep x | xargs -I{} cat {}/etc/shadow",
    "pgrep x | xargs -I{} cat /proc/{}/environ",
    "pgrep x | xargs kill",
    "pgrep x | xargs -I{} sh -c 'cat {}'",
    "pgrep x | xargs -d: cat",
    "pgrep x | xargs -0 cat /etc",
    "pgrep -l x | xargs -I{} cat /proc/{}/status",
    "pgrep x | sed s/^/-/ | xargs -n1 docker port",
    "docker ps | xargs docker inspect",
    "docker ps -q | xargs docker rm",
    "docker ps -q | xargs -I{} docker inspect --{}",
    "seq 3 | xargs sort -o",
    "seq 3 | xargs uniq",
    "seq 3 | xargs touch",
    "seq 3 | head -2 | xargs -I{} cat /etc/shadow{}",
    'pgrep x | while read -r p; do cat "/proc/$p/environ"; done',
    'pgrep x | while read -r p; do kill "$p"; done',
    'pgrep x | while read -r p q; do cat "/proc/$p/status"; done',
    'kubectl get secrets -o name | while read -r p; do kubectl get "$p"; done',
    "kubectl get pods -o jsonpath='{.items[*].metadata.name}' | while read -r p; do kubectl logs \"$p\"; done",
    'p=$(cat x | head -1); kubectl logs "$p"',
    'p=$(kubectl get pods | head -1); kubectl logs "$p"',
    "find . | awk '{print $2}' | xargs cat",
    "find . | sed s/a/b/ | xargs cat",
    "find . | cut -c3- | xargs cat",
    "find . | tr a b | xargs cat",
    "find . -printf '%f\\n' | xargs cat",
    "find . -print -print0 -fprint /tmp/x | xargs cat",
    "find . -exec echo /etc/passwd \\; | xargs cat",
    "find . | xargs -d, cat",
    "find . | xargs -a list cat",
    "find . | xargs -L1 cat",
    "find . | xargs sh -c",
    "find . | xargs rm",
    "find . | xargs touch",
    "find . | xargs -I{} cat /etc/{}",
    "find . | xargs -I{} cat x{}",
    "find . | xargs cat -- /etc/shadow",
    "find /etc | xargs cat",
    "find / -name shadow | xargs cat",
    'find "$d" | xargs cat',
    "find . | sort -o out | xargs cat",
    "find . | grep -o 'e.*' | xargs cat",
    "find . | grep x other | xargs cat",
    "find . | head -c 20 | xargs cat",
    "find . | uniq -c | xargs cat",
    "find . | tee x | xargs cat",
    "find . > /dev/stdout | xargs cat",
    "find . 2>&1 | xargs cat",
    "(find .; echo /etc/shadow) | xargs cat",
    "{ find .; } | xargs cat",
    "echo /etc/shadow | xargs cat",
    "ls | xargs cat",
    "ls /etc | xargs cat",
    "cat list | xargs cat",
    "git ls-files .. | xargs cat",
    "git ls-files /etc | xargs cat",
    "git ls-files :/ | xargs cat",
    "git -C /etc ls-files | xargs cat",
    "git --git-dir=/x ls-files | xargs cat",
    "git ls-files --format=/etc/shadow | xargs cat",
    "git ls-files -s | xargs cat",
    "git diff --name-only --no-index / /etc | xargs cat",
    "git diff --name-only -O/tmp/x | xargs cat",
    "git diff --name-only --output=x | xargs cat",
    "git diff --name-only ../x | xargs cat",
    "git diff --name-status | xargs cat",
    "git log --name-only | xargs cat",
    "git show --name-only | xargs cat",
    "rg foo | xargs cat",
    "rg -l foo /etc | xargs cat",
    "rg -l --pre ./evil foo | xargs cat",
    "rg --files / | xargs cat",
    "rg -o '/etc/.*' | xargs cat",
    "grep -r foo . | xargs cat",
    "grep -rho '/etc/.*' . | xargs cat",
    "grep -l foo a b | xargs cat",
    "grep -rl foo /etc | xargs cat",
    "grep -rl --label=/etc/shadow foo | xargs cat",
    'find . | while read -r f; do cat "/etc/$f"; done',
    'find . | while read -r f; do cat "../$f"; done',
    "find . | while read -r f; do cat $f; done",
    'find . | while read -r f; do f=/etc/shadow; cat "$f"; done',
    'find . | while read -r f; do cd /etc; cat "$f"; done',
    'find . | while read -r f; do read -r f; cat "$f"; done',
    'find . | while read -r f; do for f in /etc/*; do cat "$f"; done; done',
    'find . | while read -r a f; do cat "$f"; done',
    'find . | while read -r -n 3 f; do cat "$f"; done',
    'find . | while read -r -u 3 f; do cat "$f"; done',
    'find . | until read -r f; do cat "$f"; done',
    'find . | while read -r f && true; do cat "$f"; done',
    'find . | while IFS=/ read -r f; do cat "$f"; done',
    'find . | while read -r f; do cat "$f"; done < list',
    'find . | while read -r f; do cat "$f"; done <<< /etc/shadow',
    "find . | while read -r PATH; do ls; done",
    'find . | while read -r f; do rm "$f"; done',
    'find . | while read -r f; do echo x > "$f"; done',
    'find . | while read -r f; do "$f"; done',
    'find . | while read -r f; do bash "$f"; done',
    'find /etc | while read -r f; do cat "$f"; done',
    'while read -r f; do cat "$f"; done < <(echo /etc/shadow)',
    'while read -r f; do cat "$f"; done < <(find .; echo /etc/shadow)',
    'while read -r f; do cat "$f"; done < <(find . | sed s/a/b/)',
    'while read -r f; do cat "$f"; done < <(find .) < list',
    'while read -r f; do cat "$f"; done 3< <(find .)',
    'while read -r f; do cat "$f"; done < list',
    'cat list | while read -r f; do cat "$f"; done',
    'ls /etc | while read -r f; do cat "$f"; done',
    'find . | while read -r f; do :; done; cat "$f"',
]  # fmt: skip


@pytest.mark.parametrize("text", STOPPED)
def test_what_is_not_sure_to_be_a_name_below_the_folder_stays_unseen(text):
    assert judge(text, load_policy("read-only", workspace=HERE.workspace), HERE).verdict is Verdict.DENY


PLAIN = [
    "docker ps -q | xargs docker inspect --format '{{.Name}}'",
    "docker ps -q | xargs -n1 docker port",
    "pgrep x | xargs -I{} cat /proc/{}/status",
    'pgrep x | while read -r p; do cat "/proc/$p/status"; done',
    'kubectl get pods -o name | while read -r p; do kubectl logs "$p"; done',
    'p=$(kubectl get pods -o name | head -1); kubectl logs "$p"',
    "kubectl get pods -o name | xargs -n1 kubectl logs --tail=5",
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_word_a_line_is_handed_on(text):
    decision = judge(text, load_policy("read-only", workspace=HERE.workspace), HERE)
    assert decision.verdict is Verdict.ALLOW
    # What reads a part of a word leaves another: `pod/-x` of which five bytes are gone is an option.
    assert "while" not in text or "} < /dev/null" in (decision.canonical or "")


def test_a_text_keeps_what_it_says_where_names_are_not_handed_on():
    policy = load_policy("read-only", workspace=HERE.workspace)
    for text in (
        "find . -name x",
        "find . | wc -l",
        "echo a | xargs echo",
        'seq 3 | sed p | while read -r n; do echo "$n"; done',
    ):
        assert judge(text, policy, HERE).canonical == text


def test_what_does_not_read_back_as_the_tree_that_was_judged_is_left_as_it_was_written(monkeypatch):
    def misspelt(script, text):  # no text reads back as two literals side by side
        words = (Word((Literal("echo"),)), Word((Literal("a"), Literal("b"))))
        return replace(script, body=sequence_of(Simple((), words, ())))

    monkeypatch.setattr(engine, "whole_names", misspelt)
    decision = judge("ls a | cat", load_policy("read-only"), HERE)
    assert (decision.verdict, decision.canonical) == (Verdict.ALLOW, "ls a | cat")
