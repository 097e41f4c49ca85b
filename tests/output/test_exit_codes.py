import shutil
import signal
import subprocess

import pytest

from execkit_mcp.output.exits import CODES, explain_exit


@pytest.mark.parametrize("row", [row for row in CODES if shutil.which(row.programs[0])], ids=lambda row: row.example)
def test_the_example_ends_with_the_code_that_its_row_explains(row, tmp_path):
    for name, text in row.files.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(row.example.split(), cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == row.code
    told = explain_exit(row.code, signal=None, programs=[f"/usr/bin/{row.programs[0]}"])
    assert told == f"exit {row.code} of {row.programs[0]}: {row.means}"


@pytest.mark.parametrize(
    ("code", "command", "name"), [(127, "nosuch --x", "nosuch"), (127, "/no/such", "/no/such"), (126, "/", "/")]
)
def test_what_was_not_run_is_named_from_what_bash_said(code, command, name):
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, text=True, env={"LC_ALL": "C"})
    assert done.returncode == code
    told = explain_exit(code, signal=None, programs=["bash"], stderr=done.stderr)
    assert told is not None
    assert told.endswith(f": {name}")
    assert "either" not in told


@pytest.mark.parametrize("code", [126, 127])
def test_without_a_word_of_the_shell_both_causes_are_named(code):
    told = explain_exit(code, signal=None, programs=["python3"], stderr="ValueError: nothing to do\n")
    assert told is not None
    assert f"or the program itself ended with {code}" in told


def test_a_code_above_128_names_the_signal_and_the_doubt():
    number = signal.SIGKILL
    told = explain_exit(128 + number, signal="SIGKILL", programs=["python3"])
    assert told == "exit 137: either SIGKILL (signal 9) ended it, or the program itself ended with 137"


def test_a_pipeline_is_explained_by_its_last_part():
    told = explain_exit(1, signal=None, programs=["cat", "grep"], pipe_status=[0, 1])
    assert told == "exit 1 of grep: no line matched; this is no error"


@pytest.mark.parametrize(
    ("code", "programs", "pipe_status"),
    [(0, ["grep"], []), (None, ["grep"], []), (1, ["grep", "cat"], []), (1, ["cat"], []), (1, [], []),
     (1, ["cat", "grep"], [1, 0]), (2, ["grep"], [])],
)  # fmt: skip
def test_nothing_is_said_where_nothing_is_known(code, programs, pipe_status):
    assert explain_exit(code, signal=None, programs=programs, pipe_status=pipe_status) is None


def test_a_hostile_error_text_costs_no_more_than_its_length():
    assert explain_exit(127, signal=None, programs=["a"], stderr=": : : " * 100_000) is not None
    assert explain_exit(127, signal=None, programs=["a"], stderr="bash: " * 100_000) is not None
