"""Which ``&`` are put into other words, and that nothing else of a text ever changes."""

import subprocess

import pytest

from execkit_mcp.policy.shell import parse, render
from execkit_mcp.policy.shell.background import MAX_SITES, has_background, has_wait, instrument
from execkit_mcp.protocol.dialects import bash_jobs

# text, what becomes of it: [n:…] is the n-th job, W a bare wait
ROWS = [
    ("sleep 5 & echo hi", "[0:sleep 5]; echo hi"),
    ("a & b & wait", "[0:a]; [1:b]; W"),
    ("a && b &", "[0:a && b]"),
    ("a | b & wait", "[0:a | b]; W"),
    ("{ a & b; } &", "[0:{ a & b; }]"),
    ("(a & b &) &", "[0:(a & b &)]"),
    ("for i in 1 2; do a $i & done; wait", "for i in 1 2; do [0:a $i]; done; W"),
    ("while read x; do a & done <<< z", "while read x; do [0:a]; done <<< z"),
    ("if a & then b & else c & fi", "if [0:a]; then [1:b]; else [2:c]; fi"),
    ("case x in (a) b & ;; esac", "case x in (a) [0:b] ;; esac"),
    ("a && { b & } || wait", "a && { [0:b]; } || W"),
    ("! wait; time wait", "! W; time W"),
    # where the outputs are not the call's
    ("{ a & } > f", "{ {0:a}; } > f"),
    ("{ a & } 2>&1 | b", "{ a & } 2>&1 | b"),
    ("for i in 1; do a & done 2> f; b &", "for i in 1; do {0:a}; done 2> f; [1:b]"),
    ("exec > f; a &", "exec > f; {0:a}"),
    ("while a; do b & exec 2> f; done", "while a; do {0:b}; exec 2> f; done"),
    ("eval 'exec > f'; a &", "eval 'exec > f'; {0:a}"),
    # where the job is not the shell's
    ("(a & b)", "(a & b)"),
    ("{ a & } | b", "{ a & } | b"),
    ('x="$(a & wait)"', 'x="$(a & wait)"'),
    ("cat <(a &)", "cat <(a &)"),
    ("(exec a) & grep exec & sh -c 'exec a' &", "[0:(exec a)]; [1:grep exec]; [2:sh -c 'exec a']"),
    ("(wait)", "(wait)"),
    ("wait 5; wait -n; wait > f; x=1 wait", "wait 5; wait -n; wait > f; x=1 wait"),
    ("echo 'a & b' '&' a\\&b 2>&1", "echo 'a & b' '&' 'a&b' 2>&1"),
]


@pytest.mark.parametrize(("text", "wanted"), ROWS, ids=[row[0] for row in ROWS])
def test_jobs_of_the_shell_itself_are_put_into_other_words(text, wanted):
    canonical = render(parse(text))

    def job(inner, number, has_outputs):
        return f"[{number}:{inner}]" if has_outputs else f"{{{number}:{inner}}}"

    assert instrument(canonical, job=job, wait="W") == wanted


@pytest.mark.parametrize("text", [row[0] for row in ROWS])
def test_with_the_agents_own_words_the_text_is_what_was_judged(text):
    canonical = render(parse(text))
    same = instrument(canonical, job=lambda inner, *_: f"{{ {inner} & }}", wait="wait")
    again = instrument(canonical, job=lambda inner, *_: f"{inner} &", wait="wait").replace("&; ", "& ")
    assert parse(again.replace("&;", "&")) == parse(canonical)
    assert parse(same)


@pytest.mark.parametrize("text", [row[0] for row in ROWS])
def test_bash_reads_the_words_that_are_put_around_a_job(text):
    def job(inner, number, has_outputs):
        return bash_jobs.job(inner, number, nonce="ab" * 8, outputs=("/o", "/e") if has_outputs else None)

    line = instrument(render(parse(text)), job=job, wait=bash_jobs.wait_for_all("ab" * 8))
    done = subprocess.run(["/bin/bash", "-n", "-c", line], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_text_that_is_called_free_of_background_has_none():
    for text, wanted in ROWS:
        canonical = render(parse(text))
        assert has_background(canonical) or "[" not in wanted
        assert has_wait(canonical) or "W" not in wanted
    assert not has_background("ls && cat 2>&1 &> f >&2 <&3")


def test_more_jobs_than_can_have_pipes_stay_as_they_are():
    canonical = render(parse("a & " * (MAX_SITES + 3)))
    told = instrument(canonical, job=lambda _, number, __: f"J{number}", wait="wait")
    assert told.endswith(f"J{MAX_SITES - 1}; a & a & a &")
