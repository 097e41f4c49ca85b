"""The one question asked of the knowledge: what would this argv do? Any doubt is part of the answer."""

from execkit_mcp.model import EffectKind, ReasonCode
from execkit_mcp.policy.knowledge.argv import read_argv
from execkit_mcp.policy.knowledge.catalogue import PROGRAMS
from execkit_mcp.policy.knowledge.invocation import STATIC, Arg, ArgEffect, FlagUse, Invocation, Problem
from execkit_mcp.policy.knowledge.reading import Reading
from execkit_mcp.policy.knowledge.spec import Node, node_of

_NODES: dict[str, Node] = {}


def knows(name: str) -> bool:
    """Whether there is knowledge about the program."""
    return name in PROGRAMS


def program_names() -> tuple[str, ...]:
    """Every program that there is knowledge about, sorted."""
    return tuple(sorted(PROGRAMS))


def interpret(argv: tuple[Arg, ...]) -> Invocation:
    """What running ``argv`` would do.

    Args:
        argv: the words; the first is the program's bare name (an absolute path counts as a program of its
        own).

    Returns:
        Effects, inner commands and everything that could not be settled. Never raises; with problems or an
        UNKNOWN
        effect it must not be allowed by default.
    """
    if not argv or argv[0].kind is not STATIC:
        return _not_static(argv)
    name = argv[0].text
    program = PROGRAMS.get(name)
    if program is None:
        return _without_knowledge(name, argv[1:])
    args = argv[1:]
    if len(args) == 1 and args[0].kind is STATIC and args[0].text in program.alone.split():
        return Invocation(program=name, flags=(FlagUse(names=(args[0].text,)),), is_wrapper=program.is_wrapper)
    reading = Reading(program, name, args)
    if program.read is not None:
        program.read(reading)
        return reading.finish()
    if program.before is not None:
        program.before(reading)
    root = _NODES.get(program.names)
    if root is None:
        root = _NODES[program.names] = node_of(program)
    read_argv(reading, root)
    return reading.finish()


def _without_knowledge(name: str, args: tuple[Arg, ...]) -> Invocation:
    """Flags and operands as written, one UNKNOWN effect."""
    flags: list[FlagUse] = []
    operands: list[Arg] = []
    for arg in args:
        if arg.prefix.startswith("-") and len(arg.prefix) > 1:
            flags.append(FlagUse(names=(arg.prefix.partition("=")[0],), is_known=False))
        else:
            operands.append(arg)
    return Invocation(
        program=name,
        is_known=False,
        flags=tuple(flags),
        operands=tuple(operands),
        effects=(ArgEffect(kind=EffectKind.UNKNOWN, note=f"no knowledge about {name}"),),
    )


def _not_static(argv: tuple[Arg, ...]) -> Invocation:
    """A program whose name is not known before the shell runs it."""
    problem = Problem(code=ReasonCode.DYNAMIC_WORD, message="the program's name is not known before it runs")
    return Invocation(
        program=argv[0].text if argv else "",
        is_known=False,
        operands=argv[1:],
        effects=(ArgEffect(kind=EffectKind.UNKNOWN, note="the program's name is not known"),),
        problems=(problem,),
    )
