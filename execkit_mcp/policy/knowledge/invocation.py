"""What an argv turns out to be once a program's knowledge has read it: flags, operands, effects, inner commands."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from execkit_mcp.model import EffectKind, ReasonCode


class ArgKind(StrEnum):
    """How much of a word is known before the shell runs it."""

    STATIC = "static"
    GLOB = "glob"
    DYNAMIC = "dynamic"


# A member looked up through its class costs four times as much as a name (CPython 3.11).
STATIC: Final = ArgKind.STATIC
GLOB: Final = ArgKind.GLOB
DYNAMIC: Final = ArgKind.DYNAMIC


class Arg(Struct, frozen=True, gc=False):
    """One word of an argv, as the policy sees it.

    Attributes:
        kind: STATIC: exactly the word ``text``; GLOB: the pattern ``text`` (literal pattern characters in it are
            backslash-escaped), expanding to one or more paths or to itself; DYNAMIC: unknown.
        text: see ``kind``; for DYNAMIC the canonical source, for people to read only.
        prefix: the literal characters the word is sure to start with (all of ``text`` when STATIC).
        is_single: whether it is sure to become exactly one word (a quoted expansion), never none and never several. A
            GLOB that is single is one name that the pattern finds, or the pattern itself.
        is_home: whether it starts with an unquoted ``~`` (then ``text`` starts with ``~``).
        is_plain: whether it is sure not to start with a dash.
        is_pipe: whether it is nothing but ``<(…)`` or ``>(…)``: a pipe of the shell's own, no file.
    """

    kind: ArgKind
    text: str
    prefix: str = ""
    is_single: bool = True
    is_home: bool = False
    is_pipe: bool = False
    is_plain: bool = False

    @property
    def is_static(self) -> bool:
        """Whether the exact word is known."""
        return self.kind is STATIC

    @property
    def could_be_option(self) -> bool:
        """Whether the word might start with a dash when the program sees it."""
        if self.prefix:
            return self.prefix.startswith("-")
        return self.kind is not STATIC and not self.is_plain


def static(text: str) -> Arg:
    """An Arg whose exact text is known."""
    return Arg(STATIC, text, text)


class FlagUse(Struct, frozen=True, kw_only=True, gc=False):
    """One occurrence of a flag, clusters, attached values and unique long prefixes already taken apart.

    Attributes:
        names: every spelling of this flag, as in the program's table (``("-r", "-R", "--recursive")``); for a flag
            without knowledge, what was written (up to ``=``).
        value: its value, if it takes one.
        is_global: whether it stood before the subcommand.
        is_known: whether the table has it.
    """

    names: tuple[str, ...]
    value: Arg | None = None
    is_global: bool = False
    is_known: bool = True


PICKED_BY = "configured by "


class ArgEffect(Struct, frozen=True, kw_only=True, gc=False):
    """An effect with the word that causes it.

    Attributes:
        kind: what kind.
        arg: the path (READ, WRITE), ``host[:port]`` (NET) or name (STATE, PROCESS); None when there is no word for it.
        note: ``configured`` (NET whose server is configured elsewhere), ``PICKED_BY`` and a flag (NET with one of
            several such servers), ``unknown`` (NET or EXEC that cannot be told), or free text for people.
        is_recursive: whether everything below the path counts.
    """

    kind: EffectKind
    arg: Arg | None = None
    note: str = ""
    is_recursive: bool = False

    @property
    def picks_server(self) -> bool:
        """Whether its word picks one of several configured servers."""
        return self.note.startswith(PICKED_BY)


class Inner(Struct, frozen=True, kw_only=True, gc=False):
    """A command that the program would run: judged again.

    Exactly one of ``argv`` and ``script`` is set.

    Attributes:
        argv: its words.
        script: shell text (``sh -c``), judged as a text of its own; None if it is not static (then see ``is_unknown``).
        has_appended_input: words that nobody has seen are appended (xargs, ``find -exec {} +`` is not: its words are
            paths below the start folders).
        is_bash: whether bash reads the ``script``; else a shell of which only POSIX is sure.
        is_unknown: it runs something that cannot be told.
        is_remote: it runs on another machine or in another root (ssh, docker exec, kubectl exec, chroot).
        sets_env: assignments it makes first (``env A=b``), name to value.
        via: the wrapper or flag, for people (``sudo``, ``find -exec``).
    """

    argv: tuple[Arg, ...] = ()
    script: Arg | None = None
    is_bash: bool = False
    has_appended_input: bool = False
    is_unknown: bool = False
    is_remote: bool = False
    sets_env: tuple[tuple[str, Arg], ...] = ()
    via: str = ""


class Problem(Struct, frozen=True, kw_only=True, gc=False):
    """Why an argv cannot be fully understood: UNKNOWN_FLAG, DYNAMIC_WORD, UNKNOWN_PROGRAM or WRAPPER."""

    code: ReasonCode
    message: str


class Invocation(Struct, frozen=True, kw_only=True, gc=False):
    """An argv, understood.

    Attributes:
        program: the name the knowledge was found under (``grep`` for ``/usr/bin/grep``).
        is_known: whether there is knowledge about the program at all; without it: flags are the words starting with
            ``-`` as written up to ``=``, operands the others, effects one UNKNOWN.
        subcommand: leading subcommand words, ``("rollout", "status")``.
        flags: in order.
        operands: in order, subcommand words and flag values left out.
        effects: what it would do by itself, the effects of ``inner`` commands left out.
        inner: commands it would run.
        problems: what could not be understood; never empty-handed: an argv with problems is never allowed by default.
        is_wrapper: whether the program exists to run another command.
    """

    program: str
    is_known: bool = True
    subcommand: tuple[str, ...] = ()
    flags: tuple[FlagUse, ...] = ()
    operands: tuple[Arg, ...] = ()
    effects: tuple[ArgEffect, ...] = ()
    inner: tuple[Inner, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_wrapper: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)
