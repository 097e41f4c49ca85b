"""Whatever is typed, and however it is cut: the same lines are judged, and nothing else goes out at a prompt."""

import subprocess
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execkit_mcp.model import Verdict
from execkit_mcp.model.terminal import TerminalProcess, TerminalState
from execkit_mcp.policy import Context, compile_policy
from execkit_mcp.policy.document import Element, PolicyDocument, Rule
from execkit_mcp.policy.readers import READERS, Kind, reader_of
from execkit_mcp.policy.typed import Line, plan
from execkit_mcp.policy.typed_verdict import decide
from execkit_mcp.protocol.keys import NAMES

POLICY = compile_policy(
    PolicyDocument(
        name="t",
        digest="0",
        rules=(Rule(id="r", verdict=Verdict.ALLOW, elements=(Element(program="printf"), Element(program="true"))),),
    )
)
CONTEXT = Context(cwd="/srv", home="/root", workspace="/srv")
TEXT = st.text(st.sampled_from("abc y1-'\"\\$!;|&<>(){}*?~#^`\n"), max_size=40)


def seat(path, *argv, front=True):
    return TerminalProcess(
        pid=7, started=1, parent=1, path=path, argv=argv or (path,), cwd="/srv", is_foreground=front, is_reading=True
    )


def terminal(*processes, is_line_mode=True):
    return TerminalState(processes=processes, is_shell_in_front=False, is_line_mode=is_line_mode, has_echo=True)


BASH, DASH, PYTHON = seat("/usr/bin/bash", "bash"), seat("/usr/bin/dash", "sh"), seat("/usr/bin/python3")


def lines_of(pieces, process):
    """The lines that were judged or typed, and what is held at the end."""
    line, out = Line(), []
    for piece in pieces:
        step = plan(text=piece, key=None, line=line, state=terminal(process))
        if step.action == "refuse":
            return None
        line = step.line
        if step.action == "judge":
            out += step.text.split("\n")
        elif step.action == "type":
            out += step.text.split("\n")[:-1]
    return [each for each in out if each.strip()], line.held


@given(text=TEXT, cuts=st.lists(st.integers(0, 40), max_size=6))
def test_any_cut_of_a_text_gives_the_same_lines(text, cuts):
    borders = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    pieces = [text[a:b] for a, b in pairwise(borders)]
    assert lines_of(pieces, BASH) == lines_of([text] if text else [], BASH)


@given(text=TEXT, held=TEXT, process=st.sampled_from([BASH, DASH, PYTHON]))
def test_at_a_prompt_only_empty_lines_and_plain_answers_go_out_unjudged(text, held, process):
    step = plan(text=text, key=None, line=Line(held=held.replace("\n", "")), state=terminal(process))
    if step.action == "type":
        assert not step.text.strip() or (process is PYTHON and step.text.strip() in {"y", "n", "1", "11", "111", "1111"}
                                         | {"1" * n for n in range(7)})  # fmt: skip


@given(key=st.sampled_from(NAMES), process=st.sampled_from([BASH, DASH, PYTHON]))
def test_at_a_prompt_no_key_goes_out_that_could_bring_text(key, process):
    step = plan(text=None, key=key, line=Line(), state=terminal(process))
    assert step.action != "type" or key in {
        "enter", "ctrl-c", "ctrl-d", "ctrl-l", "ctrl-u", "ctrl-z", "ctrl-backslash", "backspace"
    }  # fmt: skip


@given(text=TEXT, key=st.one_of(st.none(), st.sampled_from(NAMES)))
def test_behind_any_program_a_waiting_shell_is_protected(text, key):
    behind = seat("/usr/bin/bash", "bash", front=False)
    for path in ("/usr/bin/cat", "/usr/bin/less", "/usr/bin/top", "/opt/unknown"):
        step = plan(text=None if key else text, key=key, line=Line(), state=terminal(seat(path), behind))
        if step.action == "type" and not step.key:
            assert step.text.strip() in {"", "y", "1", "11", "111", "1111", "11111", "111111"}
        elif step.action == "type":
            assert step.key in {"ctrl-c", "ctrl-d", "ctrl-z", "ctrl-backslash"}


@pytest.mark.parametrize("row", READERS, ids=lambda row: row.names.split()[0])
def test_every_program_of_the_table_is_found_by_its_name(row):
    for name in row.names.split():
        kind = reader_of(seat(f"/usr/bin/{name}", name)).kind
        assert kind is row.kind or (name in {"busybox", "toybox"} and kind is Kind.CARRIER)


WORD = st.text(st.sampled_from("ab \\'\"$!`*?~#-=+%{}[]<>|&;^,.:/@0\u00e9"), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(words=st.lists(WORD, min_size=1, max_size=4))
def test_what_is_typed_to_dash_means_to_dash_what_it_means_to_bash(words):
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    step = plan(text=f"printf '<%s>' {quoted}\n", key=None, line=Line(), state=terminal(DASH))
    if step.action != "judge":
        return
    decision = decide(step, terminal(DASH), POLICY, CONTEXT)
    if decision.verdict is Verdict.DENY:
        return
    said = {
        shell: subprocess.run([shell, "-c", decision.canonical], capture_output=True, check=False).stdout
        for shell in ("bash", "dash")
    }
    assert said["bash"] == said["dash"] == "".join(f"<{word}>" for word in words).encode()
