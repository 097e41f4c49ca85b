"""``printf`` and ``wait`` assign variables by name: this module is which ones.

Source: bash 5.2 manual, §4.2 (``printf -v``), builtins/printf.def (``%n``), §7.2 (``wait -p``).
"""

import re
from collections.abc import Sequence

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.policy.knowledge.invocation import Arg, static

# The note of the effect; what a variable may be called is for ``shell.env`` to say, not for a rule.
ASSIGNS = "assigns a variable"
ASSIGNING = frozenset({"printf", "wait"})

_NAME = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]*")
_CONVERSION = lazy_regex(r"%(?:%|[-+ #0']*(?:\*|\d+)?(?:\.(?:\*|-?\d*))?[hjlLtz]*([A-Za-z(]?))")
_WAIT_FLAG = lazy_regex(r"-[fn]*p(.*)", re.DOTALL)


def named_by_flag(builtin: str, args: Sequence[Arg]) -> Arg | None:
    """The name that ``printf -v`` or ``wait -p`` assigns; None if there is no such flag."""
    if builtin == "printf":
        if not args or not args[0].prefix.startswith("-v"):
            return None
        if args[0].text != "-v":
            return static(args[0].text[2:]) if args[0].is_static else args[0]
        return args[1] if len(args) > 1 else static("")
    for index, arg in enumerate(args):
        found = _WAIT_FLAG.match(arg.prefix)
        if found is not None:
            if not arg.is_static:
                return arg
            return static(found[1]) if found[1] else (args[index + 1] if index + 1 < len(args) else static(""))
    return None


def named_by_format(args: Sequence[Arg]) -> tuple[Arg, ...]:
    """The operands of ``printf`` that ``%n`` in its format could take for names of variables to assign."""
    rest = tuple(args)
    if rest and rest[0].prefix.startswith("-v"):
        rest = rest[1:] if rest[0].text != "-v" else rest[2:]
    if rest and rest[0].text == "--" and rest[0].is_static:
        rest = rest[1:]
    if len(rest) < 2 or not _could_assign(rest[0]):  # noqa: PLR2004 - a format and an operand
        return ()
    return tuple(arg for arg in rest[1:] if _could_be_name(arg))


def _could_assign(format_: Arg) -> bool:
    """Whether the format may hold ``%n``."""
    if not format_.is_static:
        return True
    return any(found[1] == "n" for found in _CONVERSION.finditer(format_.text))


def _could_be_name(arg: Arg) -> bool:
    if arg.is_static:
        return _NAME.fullmatch(arg.text) is not None
    return not arg.is_single or not arg.prefix or _NAME.fullmatch(arg.prefix) is not None


def assigned_names(builtin: str, args: Sequence[Arg]) -> tuple[str, ...] | None:
    """Every variable that may be assigned; None if that cannot be told."""
    flagged = named_by_flag(builtin, args)
    named = named_by_format(args) if builtin == "printf" else ()
    found = (*((flagged,) if flagged is not None else ()), *named)
    return tuple(arg.text for arg in found) if all(arg.is_static for arg in found) else None
