"""Which transports exist, ``local`` built in and the others by entry point; this module is that list."""

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import cast

from execkit_mcp.errors import TransportUnknown
from execkit_mcp.transports.base import Transport

__all__ = ["GROUP", "create_transport", "transport_names"]

GROUP = "execkit_mcp.transports"
"""Entry points of this group name a callable without arguments that returns a Transport."""


def _local() -> Transport:
    from execkit_mcp.transports.local import LocalTransport  # noqa: PLC0415 - loads asyncio

    return LocalTransport()


_BUILT_IN: dict[str, Callable[[], Transport]] = {"local": _local}


def transport_names() -> tuple[str, ...]:
    """Every name that ``create_transport`` knows, sorted."""
    return tuple(sorted({*_BUILT_IN, *(point.name for point in entry_points(group=GROUP))}))


def create_transport(name: str) -> Transport:
    """The transport called ``name``; no plug-in replaces a built-in. Raises TransportUnknown."""
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    for point in entry_points(group=GROUP, name=name):
        return cast("Transport", point.load()())
    raise TransportUnknown(
        f"There is no transport {name!r}.", hint="Known transports: " + ", ".join(transport_names()) + "."
    )
