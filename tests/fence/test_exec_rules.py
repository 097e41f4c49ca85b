"""The exec gate's rules, row by row, without a kernel."""

import pytest

from execkit_mcp.fence.exec_rules import SHELL, Label, Seen, decide

GATE = {
    "loaders": ("/usr/lib/ld.so",),
    "writable": ("/work", "/tmp"),
    "writable_exec": False,
    "asks_unknown": False,
    "is_open": False,
    "programs": ("/usr/bin/ls", "/usr/bin/git", "/usr/bin/python3.11"),
    "runs": (),
    "asked": ("curl",),
    "denied": ("rm",),
    "denied_patterns": ("mkfs*",),
}
PLAN = (
    {"real": "/usr/bin/git", "argv": ["status", "-s"], "trusted": False},
    {"real": "/usr/bin/ls", "argv": ["-l", "$HOME/*"], "trusted": False},
    {"real": "/usr/bin/python3.11", "argv": ["x.py"], "trusted": True},
)
PLAIN, TRUSTED = Label("plain", "git"), Label("trusted", "python3")


def seen(real: str, *argv: str, path: str = "", interpreter: str = "", word: str = "") -> Seen:
    return Seen(path=path or real, real=real, interpreter=interpreter, interpreter_word=word, argv=argv)


@pytest.mark.parametrize(
    ("what", "label", "word", "code"),
    [
        (seen("/usr/bin/git", "git", "status", "-s"), SHELL, "allow", ""),
        (seen("/usr/bin/git", "git", "push"), SHELL, "ask", ""),
        (seen("/usr/bin/git", "git status", "-c", "alias.x=!id"), SHELL, "refuse", "name"),
        (seen("/usr/bin/ls", "ls", "-l", "/root/a", "/root/b"), SHELL, "allow", ""),
        (seen("/usr/bin/ls", "ls", "-a", "/root/a"), SHELL, "ask", ""),
        (seen("/work/ls", "ls"), SHELL, "refuse", "writable"),
        (seen("/memfd:x (deleted)", "x"), TRUSTED, "refuse", "writable"),
        (seen("/usr/lib/ld.so", "ld.so", "/bin/rm"), TRUSTED, "refuse", "loader"),
        (seen("/usr/bin/less", "less"), PLAIN, "allow", ""),
        (seen("/usr/bin/id", "id"), PLAIN, "ask", ""),
        (seen("/usr/bin/id", "id"), TRUSTED, "ask", ""),
        (seen("/usr/bin/git", "anything"), TRUSTED, "allow", ""),
        (seen("/usr/bin/curl", "curl", "x"), TRUSTED, "ask", "asked"),
        (seen("/usr/bin/rm", "rm", "-rf"), TRUSTED, "ask", "denied"),
        (seen("/usr/sbin/mkfs.ext4", "mkfs.ext4"), TRUSTED, "ask", "denied"),
        (seen("/usr/bin/script", "script", interpreter="/work/sh"), SHELL, "refuse", "interpreter"),
    ],
)
def test_each_exec_gets_the_row_that_fits(what, label, word, code):
    verdict = decide(what, label, GATE, PLAN)

    assert (verdict.word, verdict.code) == (word, code)


def test_what_a_trusted_program_starts_is_trusted_and_what_a_plain_one_starts_is_not():
    trusted = decide(seen("/usr/bin/python3.11", "python3", "x.py", path="/usr/bin/python3"), SHELL, GATE, PLAN)
    plain = decide(seen("/usr/bin/git", "git", "status", "-s"), SHELL, GATE, PLAN)

    assert (trusted.label.kind, plain.label.kind) == ("trusted", "plain")


def test_a_very_long_argv_is_compared_without_recursion():
    pattern = [{"real": "/usr/bin/ls", "argv": ["-l", "$x", "--", "$y"], "trusted": False}]
    words = ["-l", *map(str, range(50_000)), "--", "z"]

    assert decide(seen("/usr/bin/ls", "ls", *words), SHELL, GATE, pattern).word == "allow"
