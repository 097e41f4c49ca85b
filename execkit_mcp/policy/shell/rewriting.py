"""A tree with some nodes replaced, the inner ones first; what nothing has changed in stays the very same node."""

from collections.abc import Callable
from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from execkit_mcp.policy.shell.tree import Glob, Literal, Tilde, Word

__all__ = ["FLAT", "rewritten"]

FLAT = (Literal, Glob, Tilde)
"""Parts of words in which no command can stand."""

_Node = TypeVar("_Node")


def rewritten(node: _Node, change: Callable[[Struct], Struct]) -> _Node:
    """``node`` with ``change`` made to every node in it, itself included; ``change`` returns what it leaves alone."""
    if isinstance(node, tuple):
        items = [rewritten(each, change) for each in node]
        is_same = all(new is old for new, old in zip(items, node, strict=True))
        return node if is_same else cast("_Node", tuple(items))
    if not isinstance(node, Struct) or (isinstance(node, Word) and all(type(part) in FLAT for part in node.parts)):
        return node
    changes = {}
    for name in node.__struct_fields__:
        before = getattr(node, name)
        after = rewritten(before, change)
        if after is not before:
            changes[name] = after
    return cast("_Node", change(replace(node, **changes) if changes else node))
