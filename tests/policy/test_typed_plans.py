"""The plan for what is typed, before terminals that are only described."""

import pytest

from execkit_mcp.model import Verdict
from execkit_mcp.model.terminal import TerminalProcess, TerminalState
from execkit_mcp.policy.readers import READERS, Kind, has_program, is_at_prompt, reader_of
from execkit_mcp.policy.typed import Line, plan

ROWS = [row for row in READERS if row.harmless]


def process(path, *argv, front=True, reading=True, **fields):
    return TerminalProcess(
        pid=abs(hash((path, argv))) % 9999, started=1, parent=1, path=path, argv=argv or (path,), cwd="/srv",
        is_foreground=front, is_reading=reading, **fields,
    )  # fmt: skip


def terminal(*processes, **fields):
    modes = {"is_shell_in_front": False, "is_line_mode": True, "has_echo": True, **fields}
    return TerminalState(processes=processes, **modes)


BASH, DASH, PYTHON = process("/usr/bin/bash", "bash"), process("/usr/bin/dash", "sh"), process("/usr/bin/python3.11")
CAT, LESS, VIM = process("/usr/bin/cat"), process("/usr/bin/less", "less", "a"), process("/usr/bin/vim.basic", "vi")
MORE = process("/usr/bin/more", "more", "a")
SSH, TOP = process("/usr/bin/ssh", "ssh", "h"), process("/usr/bin/top")
BEHIND = process("/usr/bin/bash", "bash", front=False)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.names.split()[0])
def test_each_row_takes_its_example_and_not_its_counter_example(row):
    assert row.takes(row.example)
    assert not row.takes(row.counter)


@pytest.mark.parametrize(
    ("path", "argv", "kind"),
    [
        ("/usr/bin/bash", ("bash",), Kind.SHELL),
        ("/usr/bin/bash", ("-bash",), Kind.SHELL),
        ("/usr/bin/bash", ("cat",), Kind.SHELL),
        ("/tmp/x", ("bash",), Kind.SHELL),
        ("/usr/bin/bash", ("bash", "x.sh"), Kind.OTHER),
        ("/usr/bin/dash", ("sh", "-c", "read x"), Kind.OTHER),
        ("/usr/bin/busybox", ("ash",), Kind.SHELL),
        ("/usr/bin/busybox", ("busybox", "vi"), Kind.CARRIER),
        ("/usr/bin/python3.11", ("python3",), Kind.INTERPRETER),
        ("/usr/bin/python3.11", ("python3", "-m", "pdb", "x"), Kind.INTERPRETER),
        ("/usr/bin/python3.11", ("python3", "-mpdb", "x"), Kind.INTERPRETER),
        ("/usr/bin/python3.11", ("python3", "-Bm", "pdb", "x"), Kind.INTERPRETER),
        ("/usr/bin/python3.11", ("python3", "-mcodecs", "x"), Kind.OTHER),
        ("/usr/bin/python3.11", ("python3", "/usr/bin/ipython"), Kind.INTERPRETER),
        ("/usr/bin/perl", ("perl", "-d", "x.pl"), Kind.INTERPRETER),
        ("/usr/bin/perl", ("perl", "-wde", "0"), Kind.INTERPRETER),
        ("/usr/bin/perl", ("perl", "-Mbytes", "x.pl"), Kind.OTHER),
        ("/usr/bin/node", ("node", "inspect", "x.js"), Kind.INTERPRETER),
        ("/usr/bin/node", ("node", "inspect.js"), Kind.OTHER),
        ("/usr/bin/ruby3.1", ("ruby", "-rdebug", "x.rb"), Kind.INTERPRETER),
        ("/usr/bin/ruby3.1", ("ruby", "/usr/bin/irb"), Kind.INTERPRETER),
        ("/usr/bin/python3.11", ("python3", "/usr/bin/ranger"), Kind.EDITOR),
        ("/usr/bin/python3.11", ("python3", "x.py"), Kind.OTHER),
        ("/usr/bin/python3.11", ("python3", "-i", "x.py"), Kind.INTERPRETER),
        ("/usr/bin/vim.tiny", ("vi",), Kind.EDITOR),
        ("/usr/lib/postgresql/15/bin/psql", ("psql", "db"), Kind.INTERPRETER),
        ("/usr/bin/lua5.4", ("lua",), Kind.INTERPRETER),
        ("/opt/unknown", ("unknown",), Kind.OTHER),
        ("", ("sudo", "-i"), Kind.CARRIER),
    ],
)
def test_a_process_is_known_by_its_file_or_stricter_by_its_name(path, argv, kind):
    assert reader_of(process(path, *argv)).kind is kind


def test_a_process_in_another_world_is_a_carrier():
    assert reader_of(process("/usr/bin/cat", is_confined=True)).kind is Kind.CARRIER


@pytest.mark.parametrize(
    "words", ["bash", "bash -i", "bash --norc -i", "sh -s a", "bash --rcfile x", "bash -o vi", "-sh"]
)
def test_these_words_lead_to_a_prompt(words):
    assert is_at_prompt(tuple(words.split()))


@pytest.mark.parametrize("words", ["bash a.sh", "sh -c x", "bash -i a.sh", "bash -ic x", "sh -ex a.sh", "bash -- a.sh"])
def test_these_words_lead_to_a_script(words):
    assert not is_at_prompt(tuple(words.split()))


@pytest.mark.parametrize(
    "words", ["python3", "python3 -q", "python3 -W ignore", "python3 -i x.py", "node -i", "python3 -"]
)
def test_these_words_lead_an_interpreter_to_a_prompt(words):
    assert not has_program(tuple(words.split()))


PLANS = [
    # who, text or key, action
    (BASH, "ls\n", "judge"),
    (BASH, "ls", "hold"),
    (BASH, "\n", "type"),
    (BASH, "<up>", "refuse"),
    (BASH, "<ctrl-c>", "type"),
    (BASH, "<ctrl-u>", "type"),
    (BASH, "a\tb\n", "refuse"),
    (BASH, "x" * 4000 + "\n", "refuse"),
    (PYTHON, "1+1\n", "judge"),
    (PYTHON, "y\n", "type"),
    (PYTHON, "import os", "hold"),
    (CAT, "anything\n", "judge"),
    (CAT, "y\n", "type"),
    (CAT, "<up>", "type"),
    (LESS, "j", "type"),
    (LESS, "/needle", "hold"),
    (LESS, "/needle\n", "type"),
    (LESS, "!id\n", "judge"),
    (LESS, "qj", "judge"),
    (MORE, " ", "type"),
    (MORE, "/needle!id\n", "judge"),
    (MORE, "/needle\n", "judge"),
    (LESS, "<page-down>", "type"),
    (LESS, "<ctrl-x>", "judge"),
    (VIM, "dd", "judge"),
    (VIM, ":q!", "hold"),
    (VIM, ":q!\n", "type"),
    (VIM, "<escape>", "type"),
    (VIM, "<ctrl-r>", "judge"),
    (TOP, "q", "type"),
    (TOP, "k", "judge"),
    (SSH, "y\n", "judge"),
    (SSH, "<up>", "judge"),
    (SSH, "<ctrl-c>", "type"),
    (CAT, "x" * 4000, "refuse"),
]


def typed(what, *processes, line=None, to_come=frozenset(), shown="", **modes):
    is_key = what.startswith("<")
    return plan(
        text=None if is_key else what,
        key=what.strip("<>") if is_key else None,
        line=line or Line(),
        state=terminal(*processes, **modes),
        to_come=to_come,
        shown=shown,
    )


@pytest.mark.parametrize(("who", "what", "action"), PLANS)
def test_what_is_done_with_it(who, what, action):
    assert typed(what, who).action == action


def test_behind_a_program_waits_a_shell_so_only_plain_answers_pass():
    assert typed("y\n", CAT, BEHIND).action == "type"
    assert typed("some text\n", CAT, BEHIND).floor.word == "ask"
    assert typed("<up>", LESS, BEHIND).action == "judge"
    assert typed("/rm\n", LESS, BEHIND).action == "judge"


def test_a_shell_behind_an_interpreter_reads_none_of_what_that_leaves():
    assert typed("1+1\n", PYTHON, BEHIND).floor is Verdict.ALLOW
    assert typed("quit()\n>x\n", PYTHON).floor is Verdict.ALLOW
    assert typed("quit()\n>x\n", PYTHON, BEHIND).floor is Verdict.ASK
    busy = process("/usr/bin/python3.11", reading=False)
    assert typed("1+1\n", busy, BEHIND).floor is Verdict.ASK
    assert typed("1+1\n", busy, BEHIND, is_line_mode=False).floor is Verdict.ALLOW
    assert typed("1+1\n", PYTHON, BEHIND, unread_bytes=4).floor is Verdict.ASK


def test_the_sessions_own_shell_gets_text_only_where_a_builtin_may_read_it():
    own = terminal(is_shell_in_front=True)
    assert plan(text="rm x\n", key=None, line=Line(), state=own).action == "type"
    step = plan(text="rm x\n", key=None, line=Line(), state=own, is_shell_reading=False)
    assert (step.action, step.is_retryable) == ("refuse", True)
    assert plan(text="y\n", key=None, line=Line(), state=own, is_shell_reading=False).action == "type"


def test_plain_answers_do_not_add_up_to_a_command():
    first = typed("y", CAT, BEHIND)
    assert first.line.pending == "y"
    assert typed("es", CAT, BEHIND, line=first.line).action == "type"
    assert typed("n", CAT, BEHIND, line=first.line).action == "judge"


def test_a_program_that_takes_single_keys_has_read_them():
    assert typed("n", TOP, BEHIND, line=Line(pending="y"), is_line_mode=False).action == "judge"
    assert typed("q", LESS, BEHIND, line=Line(pending="y"), is_line_mode=False).action == "type"
    assert typed("q", LESS, BEHIND, line=Line(pending="y"), is_line_mode=False, unread_bytes=1).action == "judge"


def test_a_shell_that_is_not_at_its_prompt_gets_nothing():
    busy = process("/usr/bin/dash", "sh", reading=False)
    assert typed("ls\n", busy).is_retryable
    assert typed("ls\n", DASH).action == "judge"
    assert typed("ls\n", DASH, unread_bytes=3).is_retryable
    assert typed("ls\n", busy, is_line_mode=False).action == "judge"


def test_a_password_is_nobodys_text():
    assert typed("x\n", CAT, has_echo=False).action == "password"
    assert typed("x\n", BASH, has_echo=False).action == "password"
    assert typed("<ctrl-c>", CAT, has_echo=False).action == "type"
    assert typed("<up>", CAT, has_echo=False).action == "password"


ASKS = (
    "Password: ",
    "? Password: [input is masked]",
    "? Enter your passphrase \u203a ****",
    "│ Passphrase: ***",
    "Password for anna@example.com: ",
    "[sudo: authenticate] Password: ",
    "Enter PIN for 'card': ••",
    "Paste your authentication token: ",
    "? API key (from example.com): ",
    "Mot de passe : ",
    "Passwort für anna: ",
    "密码\uff1a",
)
ASKS_NOT = (
    "",
    "Name: ",
    "Save the password [y/N]: ",
    "Use a password? ",
    "Token expires in (days): ",
    "$ ",
    "password = ",
    "Passing: ",
    "File: password.txt: ",
    "Passwords are kept in the file, go on: no. Now name the file that is to be written in the end, with its folder: ",
)


@pytest.mark.parametrize("shown", ASKS)
def test_a_program_that_takes_single_keys_and_asks_for_a_password_reads_one(shown):
    raw = {"is_line_mode": False, "has_echo": False, "shown": shown}
    assert typed("hunter\n", CAT, **raw).action == "password"
    assert typed("h", CAT, **raw).action == "password"
    assert typed("<up>", CAT, **raw).action == "password"
    assert typed("\n", CAT, **raw).action == "type"
    assert not typed("x", CAT, **raw).is_secret_refused
    assert typed("x", SSH, **raw).is_secret_refused
    assert typed(":q!\n", VIM, **raw).action == "type"
    assert typed("h", CAT, **{**raw, "has_echo": True}).action == "type"


@pytest.mark.parametrize("shown", ASKS_NOT)
def test_other_questions_of_such_a_program_are_answered(shown):
    assert typed("h", CAT, is_line_mode=False, has_echo=False, shown=shown).action == "type"


def test_the_sessions_own_shell_reads_data_unless_a_reader_is_to_come():
    assert typed("text\n", is_shell_in_front=True).action == "type"
    come = frozenset({reader_of(BASH)})
    assert typed("text\n", is_shell_in_front=True, to_come=come).action == "judge"


def test_a_line_end_in_any_form_ends_the_line():
    for end in ("\n", "\r", "\r\n"):
        assert typed(f"ls{end}", BASH).text == "ls"


def test_the_rest_after_the_last_line_end_is_held():
    step = typed("ls\npw", BASH, line=Line(held="e"))
    assert (step.text, step.line.held) == ("els", "pw")
