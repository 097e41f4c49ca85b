"""The grammar of rule elements: ``systemctl status``, ``mkfs*``, ``builtin:GROUP``, ``{PROGRAM: {…}}``.

A string holds a program and leading subcommand words and never a flag: ``rm -rf`` as a string could mean
"these flags", "at least one of them" or "nothing but them", so the error shows the ``flags:`` form instead of
guessing.
"""

from collections.abc import Mapping

from msgspec import Struct

from execkit_mcp.model.shape import (
    BROKEN,
    Broken,
    Field,
    JsonSchema,
    ListOf,
    MapOf,
    Record,
    Text,
    closest,
    describe,
    shorten,
)
from execkit_mcp.model.source import Entry, Node, Place, Problems, Scalar, Table
from execkit_mcp.policy.document import Element, FlagRules, PathRules, Then
from execkit_mcp.policy.groups import GROUPS
from execkit_mcp.policy.groups import PREFIX as GROUP_PREFIX
from execkit_mcp.policy.spelling import (
    FLAG,
    GLOB,
    PATH,
    SUBCOMMAND,
    VARIABLE_NAME,
    check_program,
    check_subcommand,
)

MAX_THEN_DEPTH = 4


def _flags(*, place: Place, **rules: object) -> FlagRules:
    del place
    return FlagRules(**rules)  # type: ignore[arg-type]  # the fields below give each parameter its type


def _paths(*, place: Place, **rules: object) -> PathRules:
    del place
    return PathRules(**rules)  # type: ignore[arg-type]  # the fields below give each parameter its type


def _then(*, place: Place, **rules: object) -> Then:
    del place
    return Then(**rules)  # type: ignore[arg-type]  # the fields below give each parameter its type


_FLAG_LIST = ListOf(item=FLAG, what="flags")
_SOME_FLAGS = ListOf(item=FLAG, what="flags", may_be_empty=False)
FLAGS = Record(
    build=_flags,
    what="allow, deny, any, require, values",
    fields=(
        Field(
            key="allow",
            shape=_FLAG_LIST,
            doc="A closed list: with any flag outside it the element does not match.",
        ),
        Field(key="deny", shape=_SOME_FLAGS, doc="None of these may be present."),
        Field(key="any", shape=_SOME_FLAGS, doc="At least one of these must be present."),
        Field(key="require", shape=_SOME_FLAGS, doc="All of these must be present."),
        Field(
            key="values",
            shape=MapOf(key=FLAG, value=ListOf(item=GLOB, what="globs", may_be_empty=False), what="flag to globs"),
            doc="Every value given to the flag must match one of the globs; absence is fine.",
        ),
    ),
)
PATH_LIST = ListOf(item=PATH, what="path patterns")
PATHS = Record(
    build=_paths,
    what="read, write, never",
    fields=(
        Field(key="read", shape=PATH_LIST, doc="What may be read; absent: anything but never."),
        Field(key="write", shape=PATH_LIST, doc="What may be written; absent: nothing."),
        Field(
            key="never",
            shape=PATH_LIST,
            doc="What may not be read, written or listed, whatever a rule allows.",
        ),
    ),
)


class _Conditions(Struct, frozen=True):
    """What stands behind the program of a mapping element."""

    values: Mapping[str, object]


def _conditions(*, place: Place, **values: object) -> _Conditions:
    del place
    return _Conditions(values)


def _condition_record(depth: int) -> Record[_Conditions]:
    fields = [
        Field(
            key="sub",
            shape=ListOf(item=SUBCOMMAND, what="subcommands", may_be_empty=False),
            doc="Leading subcommand words, one alternative an entry.",
        ),
        Field(
            key="args",
            shape=ListOf(item=GLOB, what="globs on operands"),
            doc="In allow and ask every operand must match one, and [] means none; in deny one operand suffices.",
        ),
        Field(key="flags", shape=FLAGS, doc="Conditions on flags, wherever they stand."),
        Field(key="global_flags", shape=FLAGS, doc="Conditions on the flags before the subcommand."),
        Field(
            key="cwd",
            shape=ListOf(item=PATH, what="path patterns", may_be_empty=False),
            doc="The current folder must match one of these.",
        ),
        Field(
            key="env",
            shape=ListOf(item=VARIABLE_NAME, what="variable names"),
            doc="Names that may be assigned in front of the command.",
        ),
    ]
    if depth < MAX_THEN_DEPTH:
        fields.append(Field(key="then", shape=_then_record(depth + 1), doc="Rules for the command that it runs."))
    return Record(build=_conditions, fields=tuple(fields), what="sub, args, flags, global_flags, cwd, env, then")


def _then_record(depth: int) -> Record[Then]:
    inner = ListOf(item=ElementShape(depth=depth), what="elements")
    return Record(
        build=_then,
        what="allow, ask, deny, paths",
        fields=(
            Field(key="allow", shape=inner, doc="Commands that may run there."),
            Field(key="ask", shape=inner, doc="Commands that a human decides there."),
            Field(key="deny", shape=inner, doc="Commands that never run there."),
            Field(key="paths", shape=PATHS, doc="read and write there; the outer never applies as well."),
        ),
    )


class ElementShape(Struct, frozen=True):
    """One entry of an allow, ask or deny list; ``depth`` counts the ``then`` around it."""

    depth: int = 0

    def read(self, node: Node, problems: Problems, label: str) -> Element | Broken:
        """The element, with its ``source``."""
        if isinstance(node, Table):
            return self._read_table(node, problems, label)
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            remedy = f'; quote it: "{node.text}"' if isinstance(node, Scalar) and node.text else ""
            expected = "a program with subcommand words, or {PROGRAM: {conditions}}"
            problems.add(node.place, f"{label}: expected {expected}, found {describe(node)}{remedy}")
            return BROKEN
        complaint = complain_of_string(node.value)
        if complaint:
            problems.add(node.place, f"{label}: {complaint}")
            return BROKEN
        program, *words = node.value.split()
        return Element(
            program=program, sub=(tuple(words),) if words else (), source=node.place.file_line, column=node.place.column
        )

    def _read_table(self, node: Table, problems: Problems, label: str) -> Element | Broken:
        if len(node.entries) != 1:
            keys = ", ".join(entry.key for entry in node.entries) or "none"
            meant = "; write {PROGRAM: {conditions}}, one element a program"
            problems.add(
                node.place,
                f"{label}: a mapping element has exactly one key, its program, found {keys}{meant}",
            )
            return BROKEN
        entry = node.entries[0]
        complaint = complain_of_key(entry.key)
        if complaint:
            problems.add(entry.place, f"{label}: {complaint}")
        elif entry.key.startswith(GROUP_PREFIX):
            _check_group_conditions(entry, problems, label)
        conditions = _CONDITIONS[self.depth].read(entry.value, problems, f"{label}.{shorten(entry.key)}")
        if complaint or isinstance(conditions, Broken):
            return BROKEN
        values = dict(conditions.values)
        sub = values.pop("sub", ())
        assert isinstance(sub, tuple)
        words = tuple(tuple(each.split()) for each in sub)
        return Element(program=entry.key, sub=words, source=entry.place.file_line, column=entry.place.column, **values)  # type: ignore[arg-type]

    def schema(self) -> JsonSchema:
        """A string, or an object with one key; nested elements refer to the definition."""
        if self.depth:
            return {"$ref": "#/$defs/element"}
        return {
            "anyOf": [
                _STRING.schema(),
                {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "additionalProperties": _CONDITIONS[0].schema(),
                },
            ]
        }


def complain_of_string(text: str) -> str:
    """What is wrong with a string element; empty when nothing is."""
    words = text.split()
    if not words:
        return "expected a program, found an empty text"
    complaint = check_program(words[0])
    flags = [word for word in words[1:] if word.startswith("-")]
    if not complaint and flags:
        listed = ", ".join(f'"{flag}"' for flag in flags)
        return (
            f'"{shorten(text)}" holds flags; a string names a program and its subcommand words, '
            f"so write {{{words[0]}: {{flags: {{allow: [{listed}]}}}}}} to limit its flags to these, "
            f"or any: or require: in place of allow: to ask for them"
        )
    if not complaint and words[0].startswith(GROUP_PREFIX):
        return _complain_of_group(words)
    return complaint or check_subcommand(" ".join(words[1:]))


def _complain_of_group(words: list[str]) -> str:
    if words[0] not in GROUPS:
        near = closest(words[0], GROUPS)
        return f'there is no group "{shorten(words[0])}"{near} (shipped: {", ".join(GROUPS)})'
    return f'"{shorten(" ".join(words))}" adds words to a group; write {words[0]} alone' if len(words) > 1 else ""


def _check_group_conditions(entry: Entry, problems: Problems, label: str) -> None:
    """A group has elements with conditions of their own; only where it may run can be narrowed."""
    if isinstance(entry.value, Table):
        for inner in entry.value.entries:
            if inner.key not in _GROUP_CONDITIONS:
                meant = f"a group takes only {' and '.join(_GROUP_CONDITIONS)}; write the programs out"
                problems.add(inner.place, f"{label}: {entry.key} cannot have {inner.key}; {meant}")


_GROUP_CONDITIONS = ("cwd", "env")


def complain_of_key(text: str) -> str:
    """What is wrong with the program key of a mapping element; empty when nothing is."""
    words = text.split()
    if text.startswith(GROUP_PREFIX):
        return _complain_of_group(words)
    if len(words) > 1:
        meant = f'{{{words[0]}: {{sub: ["{" ".join(words[1:])}"]}}}}'
        return f'"{shorten(text)}" is more than a program; write {meant}'
    return check_program(text) if words else "expected a program, found an empty key"


_STRING = Text(what="a program with subcommand words", example="systemctl status", check=complain_of_string)
_CONDITIONS: dict[int, Record[_Conditions]] = {}
for _depth in range(MAX_THEN_DEPTH, -1, -1):
    _CONDITIONS[_depth] = _condition_record(_depth)
