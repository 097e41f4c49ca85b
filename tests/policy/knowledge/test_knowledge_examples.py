"""Every program with a table has an example with its effects; examples.txt holds them, one a line."""

import re
from collections import Counter
from pathlib import Path

import pytest

from execkit_mcp.policy.knowledge import Arg, ArgKind, interpret, program_names, static
from execkit_mcp.policy.knowledge.catalogue import _FAMILIES, PROGRAMS
from execkit_mcp.policy.knowledge.opaque import read_unknown_inner

EXAMPLES = [
    tuple(part.strip() for part in line.split(" => ", 1))
    for line in Path(__file__).with_name("examples.txt").read_text("utf-8").splitlines()
    if " =>" in line and not line.startswith("##")
]


def words(command):
    """Words in quotes are static, with $ dynamic, with * a pattern."""
    found = []
    for raw in re.findall(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""", command):
        text = raw.replace("'", "") if "'" in raw else raw.replace('"', "")
        if "'" in raw:
            found.append(static(text))
        elif "$" in raw:
            found.append(Arg(ArgKind.DYNAMIC, text, text.partition("$")[0], is_single=raw.startswith('"')))
        elif "*" in raw and '"' not in raw:
            found.append(Arg(ArgKind.GLOB, text, text.partition("*")[0], is_single=False))
        else:
            found.append(static(text))
    return tuple(found)


def describe(invocation):
    found = []
    for effect in invocation.effects:
        word = effect.arg.text if effect.arg is not None else effect.note
        found.append(f"{effect.kind}:{word}{'/**' if effect.is_recursive else ''}".replace(" ", "_"))
    for inner in invocation.inner:
        if inner.script is not None:
            found.append(f"script({inner.script.text})")
        elif inner.argv:
            found.append(f"run({' '.join(word.text for word in inner.argv)})")
        else:
            found.append("run(?)")
    found.extend(f"problem:{problem.code.value.removeprefix('policy.')}" for problem in invocation.problems)
    return " ".join(dict.fromkeys(found))


@pytest.mark.parametrize(("command", "expected"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_has_the_effects_that_stand_beside_it(command, expected):
    assert describe(interpret(words(command))) == expected


def test_every_program_with_a_table_has_an_example():
    shown = {words(command)[0].text for command, _ in EXAMPLES}
    opaque = {name for name, program in PROGRAMS.items() if is_opaque(program)}
    rows = {program.names for name, program in PROGRAMS.items() if name in shown}
    assert sorted({PROGRAMS[n].names for n in program_names() if n not in opaque} - rows) == []


def is_opaque(program):
    is_marked = program.read is not None and "read_marked" in program.read.__qualname__
    return is_marked or program.read is read_unknown_inner


@pytest.mark.parametrize("name", [name for name in program_names() if PROGRAMS[name].alone])
def test_a_flag_that_no_table_has_is_never_harmless(name):
    flagged = interpret((static(name), static("--execkit-no-such-flag"), static("x"), static("y")))
    kinds = {effect.kind.value for effect in flagged.effects}
    assert flagged.problems or flagged.inner or kinds - {"read"}


def test_there_are_at_least_sixty_programs():
    assert len(program_names()) > 120


def test_no_name_stands_in_two_tables():
    rows = {id(program): program for family in _FAMILIES for program in family.PROGRAMS}
    seen = Counter(name for program in rows.values() for name in program.names.split())
    assert [name for name, count in seen.items() if count > 1] == []
    assert all(re.fullmatch(r"[\w.+:\[-]+", name) for name in program_names())
