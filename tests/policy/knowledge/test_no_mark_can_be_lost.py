"""Mutation check over the tables: taking any mark away changes what some written-down argv does."""

import importlib.util
import sys
from pathlib import Path

import pytest

from execkit_mcp.policy.knowledge import findutils

SPEC = importlib.util.spec_from_file_location("knowledge_mutants", Path(__file__).with_name("mutants.py"))
assert SPEC is not None
assert SPEC.loader is not None
mutants = importlib.util.module_from_spec(SPEC)
sys.modules["knowledge_mutants"] = mutants
SPEC.loader.exec_module(mutants)

LINES = mutants.golden()
ROWS = mutants.rows()


def test_every_line_is_what_the_tables_say_now():
    wrong = [
        (" ".join(argv), expected, mutants.describe(argv))
        for lines in LINES.values()
        for argv, expected in lines
        if mutants.describe(argv) != expected
    ]
    assert wrong == []


@pytest.mark.parametrize("program", ROWS, ids=lambda program: program.names.split()[0])
def test_a_mark_that_is_taken_away_is_missed(program):
    assert mutants.survivors(program, LINES.get(program.names.split()[0], [])) == []


def test_there_are_marks_to_take_away():
    sites = [site for program in ROWS for site, _ in mutants.mutants(program)]
    assert len(sites) > 1000


def test_the_tables_are_whole_again_after_the_check():
    before = dict(mutants.PROGRAMS)
    for program in ROWS[:20]:
        mutants.survivors(program, [])
    assert before == mutants.PROGRAMS


def test_a_table_without_its_lines_is_caught():
    curl = mutants.PROGRAMS["curl"]
    assert mutants.survivors(curl, []) != []
    assert any("-o,--output" in site for site in mutants.survivors(curl, []))


def test_every_mark_of_a_new_row_has_a_line():
    assert mutants.missing() == [], "add these lines to marks.txt once they have been reviewed"


@pytest.mark.parametrize("table", ["_WRITES", "_RUNS"])
def test_a_primary_of_find_that_is_taken_away_is_missed(table, monkeypatch):
    words = getattr(findutils, table)
    for word in sorted(words):
        monkeypatch.setattr(findutils, table, words - {word})
        assert any(mutants.describe(argv) != expected for argv, expected in LINES["find"]), word
