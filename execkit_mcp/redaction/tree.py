"""JSON-able values with every string in them redacted, names of fields apart."""

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

T = TypeVar("T")


def redact_tree(value: T, redact: Callable[[str], str]) -> T:
    """``value`` with ``redact`` applied to each string in it, however deep."""
    if isinstance(value, str):
        return cast("T", redact(value))
    if isinstance(value, Mapping):
        return cast("T", {name: redact_tree(inner, redact) for name, inner in value.items()})
    if isinstance(value, list | tuple):
        return cast("T", type(value)(redact_tree(inner, redact) for inner in value))
    return value
