"""What programs do with their arguments: this module is the door to that knowledge.

``interpret`` turns an argv into effects, flags, operands and inner commands; it is pure and never raises.
What it does not know, it says. Knowledge stands in one file per family of programs, as data in the notation
of ``spec.py``.
"""

from execkit_mcp.policy.knowledge.interpret import interpret, knows, program_names
from execkit_mcp.policy.knowledge.invocation import (
    Arg,
    ArgEffect,
    ArgKind,
    FlagUse,
    Inner,
    Invocation,
    Problem,
    static,
)
from execkit_mcp.policy.knowledge.reading import UNSEEN

__all__ = [
    "UNSEEN",
    "Arg",
    "ArgEffect",
    "ArgKind",
    "FlagUse",
    "Inner",
    "Invocation",
    "Problem",
    "interpret",
    "knows",
    "program_names",
    "static",
]
