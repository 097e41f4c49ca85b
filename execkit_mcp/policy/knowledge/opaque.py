"""Readers for programs whose words are not worth reading: whatever they are, the effects are the same."""

from collections.abc import Callable

from execkit_mcp.policy.knowledge.invocation import ArgKind, FlagUse, Inner
from execkit_mcp.policy.knowledge.reading import Reading, rest_of
from execkit_mcp.policy.knowledge.spec import Program


def note_words(reading: Reading) -> None:
    """Record flags and operands as written; what stands behind a flag may be its value.

    A word that may be any option is a problem to a rule that minds words, though not to one that vouches for them all.
    """
    for index, arg in enumerate(reading.args):
        if arg.kind is ArgKind.DYNAMIC and (arg.could_be_option or not arg.is_single):
            reading.dynamic(arg, "could turn out to be an option")
        if arg.prefix.startswith("-") and len(arg.prefix) > 1:
            name, separator, _ = arg.prefix.partition("=")
            following = reading.args[index + 1] if index + 1 < len(reading.args) else None
            value = rest_of(arg, len(name) + 1) if separator else following
            reading.flags.append(FlagUse(names=(name,), value=value, is_known=False))
        else:
            reading.operands.append(arg)


def read_marked(marks: str, note: Callable[[Reading], None] = note_words) -> Callable[[Reading], None]:
    """A reader that gives the program these marks, whatever its words are; ``note`` records the words."""

    def read(reading: Reading) -> None:
        note(reading)
        reading.mark(marks, None)

    return read


def read_unknown_inner(reading: Reading) -> None:
    """The reader of a wrapper with a grammar too rich to tell what it runs."""
    note_words(reading)
    reading.inner.append(Inner(is_unknown=True, via=reading.name))


def opaque(names: str, source: str, marks: str = "x", alone: str = "--help --version") -> Program:
    """A program that has these effects whatever its words are."""
    return Program(names=names, source=source, read=read_marked(marks), alone=alone)


def opaque_wrapper(names: str, source: str) -> Program:
    """A wrapper whose command cannot be told."""
    return Program(names=names, source=source, read=read_unknown_inner, is_wrapper=True)
