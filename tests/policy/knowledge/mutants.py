"""Tables with one mark taken away: this module makes them, and the argv on which the loss must show.

A *site* is one mark at one place of a program's table (a flag's value, an operand, the program itself, a mode, the case
of no operand). ``mutants`` yields each site with the program as it would be without that mark; ``cases`` yields an argv
that comes across it. What such an argv does stands in ``marks.txt``, written down once and reviewed, and compared with
what the table says now: a mark that is lost from a table differs from its line there.

``python mutants.py`` prints the lines that ``marks.txt`` lacks; with ``rewrite`` it brings the file up to date, and the
difference is reviewed before it is committed.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from execkit_mcp.policy.knowledge import interpret, static
from execkit_mcp.policy.knowledge.catalogue import PROGRAMS
from execkit_mcp.policy.knowledge.opaque import read_marked
from execkit_mcp.policy.knowledge.spec import Grammar, Program, flags_of

HERE = Path(__file__).parent
MARKS = frozenset("rfRwodnuNUCxcsp?@A")


def rows() -> list[Program]:
    """Every row of the catalogue, once."""
    return list({program.names: program for program in PROGRAMS.values()}.values())


# ── taking marks away ───────────────────────────────────────────────────────────────────────────────────────


def _without_each(marks: str) -> Iterator[tuple[str, str]]:
    for index, mark in enumerate(marks):
        if mark in MARKS:
            yield mark, marks[:index] + marks[index + 1 :]


def _flag_mutants(text: str) -> Iterator[tuple[str, str]]:
    tokens = text.split()
    for index, token in enumerate(tokens):
        found = re.fullmatch(r"(-[^\s:>]*):([^\s>]+)(>\S+)?", token)
        if found is None:
            continue
        for mark, kept in _without_each(found[2]):
            mutated = f"{found[1]}:{kept or '-'}{found[3] or ''}"
            yield f"{token} less {mark}", " ".join([*tokens[:index], mutated, *tokens[index + 1 :]])


def _operand_mutants(text: str) -> Iterator[tuple[str, str]]:
    operands, separator, always = text.partition(";")
    roles = operands.split()
    for index, role in enumerate(roles):
        star = "*" if role.endswith("*") else ""
        for mark, kept in _without_each(role.removesuffix("*")):
            mutated = [*roles[:index], (kept or "-") + star, *roles[index + 1 :]]
            yield f"operand {role} less {mark}", " ".join(mutated) + separator + always
    for mark, kept in _without_each(always.strip()):
        yield f"always {always} less {mark}", operands + ";" + kept


def _grammar_mutants(grammar: Grammar) -> Iterator[tuple[str, Grammar]]:
    for site, text in _flag_mutants(grammar.flags):
        yield site, replace(grammar, flags=text)
    for site, text in _operand_mutants(grammar.operands):
        yield site, replace(grammar, operands=text)
    for mark, kept in _without_each(grammar.empty):
        yield f"empty {grammar.empty} less {mark}", replace(grammar, empty=kept)
    for mode, roles in grammar.modes.items():
        for site, text in _operand_mutants(roles):
            yield f"mode {mode}: {site}", replace(grammar, modes={**grammar.modes, mode: text})


def opaque_marks(program: Program) -> str | None:
    """The marks of a program whose words are not read."""
    if program.read is None or "read_marked" not in program.read.__qualname__:
        return None
    return next(str(cell.cell_contents) for cell in program.read.__closure__ or ())


def mutants(program: Program) -> Iterator[tuple[str, Program]]:
    """Each site of the program's table, and the program without that mark."""
    marks = opaque_marks(program)
    if marks is not None:
        for mark, kept in _without_each(marks):
            yield f"always {marks} less {mark}", replace(program, read=read_marked(kept))
        return
    if program.read is not None:
        return
    yield from _grammar_mutants(program)  # type: ignore[misc]
    for words, entry in program.subcommands.items():
        grammar = Grammar(operands=entry) if isinstance(entry, str) else entry
        for site, mutated in _grammar_mutants(grammar):
            yield f"{words}: {site}", replace(program, subcommands={**program.subcommands, words: mutated})


# ── argv that come across every mark ────────────────────────────────────────────────────────────────────────


def _value(marks: str) -> str:
    if "@" in marks:
        return "@v"
    if "u" in marks:
        return "https://v.example.com/"
    return "v"


def _operands(text: str) -> list[str]:
    operands = text.partition(";")[0]
    count = sum(2 if role.endswith("*") else 1 for role in operands.split())
    words = [f"o{number}" for number in range(1, count + 1)]
    roles = operands.split()
    if any("u" in role for role in roles):
        words = [f"https://{word}.example.com/" for word in words]
    return words


def _grammar_cases(head: list[str], grammar: Grammar, *, is_long_only: bool) -> Iterator[list[str]]:
    usual = _operands(grammar.operands)
    yield [*head, *usual]
    if usual:
        yield head
    for flag in dict.fromkeys(flags_of(grammar.flags, is_long_only=is_long_only).values()):
        if not flag.mode and (not flag.marks or flag.marks == "-"):
            continue
        name = flag.names[0]
        value = _value(flag.marks)
        attached = f"{name}={value}" if name.startswith("--") else f"{name}{value}"
        written = {"": [name], "=": [name, value], "=?": [attached]}[flag.value]
        yield [*head, *written, *(_operands(grammar.modes[flag.mode]) if flag.mode in grammar.modes else usual)]
        if flag.value == "=?" or flag.mode:
            yield [*head, *([name] if flag.value == "=?" else written)]


def cases(program: Program) -> Iterator[list[str]]:
    """Argv that between them come across every mark of the program's table."""
    name = program.names.split()[0]
    if program.read is not None:
        yield [name, "o1"]
        return
    yield from _grammar_cases([name], program, is_long_only=program.is_long_only)
    for words, entry in program.subcommands.items():
        grammar = Grammar(operands=entry) if isinstance(entry, str) else entry
        path = [word.partition("|")[0] for word in words.split()]
        yield from _grammar_cases([name, *path], grammar, is_long_only=program.is_long_only)


# ── what is written down ────────────────────────────────────────────────────────────────────────────────────


def describe(argv: list[str]) -> str:
    """What the tables say that the argv would do, on one line."""
    invocation = interpret(tuple(map(static, argv)))
    found: list[str] = []
    for effect in invocation.effects:
        word = effect.arg.text if effect.arg is not None else effect.note
        found.append(f"{effect.kind}:{word}{'/**' if effect.is_recursive else ''}".replace(" ", "_"))
    for inner in invocation.inner:
        if inner.script is not None:
            found.append(f"script({inner.script.text})")
        else:
            found.append(f"run({' '.join(word.text for word in inner.argv) or '?'})")
    found.extend(f"problem:{problem.code.value.removeprefix('policy.')}" for problem in invocation.problems)
    return " ".join(found)


def golden() -> dict[str, list[tuple[list[str], str]]]:
    """The lines of ``marks.txt`` by program name."""
    found: dict[str, list[tuple[list[str], str]]] = {}
    for line in (HERE / "marks.txt").read_text("utf-8").splitlines():
        if line.startswith("##") or " =>" not in line:
            continue
        command, _, expected = line.partition(" =>")
        argv = command.split(" ")
        found.setdefault(argv[0], []).append((argv, expected.strip()))
    return found


def survivors(program: Program, lines: list[tuple[list[str], str]], *, every: int = 1, start: int = 0) -> list[str]:
    """The sites of a program whose mark can be lost without any of the lines showing it."""
    found: list[str] = []
    name = program.names.split()[0]
    nodes = sys.modules[interpret.__module__]._NODES
    try:
        for number, (site, mutated) in enumerate(mutants(program)):
            if (number + start) % every:
                continue
            nodes.pop(program.names, None)
            PROGRAMS[name] = mutated
            if all(describe(argv) == expected for argv, expected in lines):
                found.append(f"{name}: {site}")
    finally:
        PROGRAMS[name] = program
        nodes.pop(program.names, None)
    return found


def missing() -> list[str]:
    """Lines that ``marks.txt`` should have, from the tables as they are."""
    known = {" ".join(argv) for lines in golden().values() for argv, _ in lines}
    found: list[str] = []
    for program in rows():
        for argv in cases(program):
            command = " ".join(argv)
            if command not in known:
                known.add(command)
                found.append(f"{command} => {describe(argv)}".rstrip())
    return found


def rewrite() -> None:
    """Bring every line of ``marks.txt`` up to date and add the missing ones; the difference is there to be reviewed."""
    path = HERE / "marks.txt"
    added = missing()
    kept = [
        line
        if line.startswith("##")
        else f"{line.partition(' =>')[0]} => {describe(line.partition(' =>')[0].split(' '))}"
        for line in path.read_text("utf-8").splitlines()
    ]
    path.write_text("\n".join(line.rstrip() for line in (*kept, *added)) + "\n", "utf-8")


if __name__ == "__main__":
    rewrite() if sys.argv[1:] == ["rewrite"] else print("\n".join(missing()))
