"""Which transports exist, some built in and the others by entry point; this module is that list."""

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import cast

from execkit_mcp.errors import TransportUnknown
from execkit_mcp.transports.base import Capability, Transport

__all__ = ["GROUP", "STREAMED", "create_transport", "transport_names"]

GROUP = "execkit_mcp.transports"
"""Entry points of this group name a callable without arguments that returns a Transport."""


def _local() -> Transport:
    from execkit_mcp.transports.local import LocalTransport  # noqa: PLC0415 - loads asyncio

    return LocalTransport()


def _sandbox() -> Transport:
    from execkit_mcp.transports.sandbox import SandboxTransport  # noqa: PLC0415 - loads asyncio

    return SandboxTransport()


_BUILT_IN: dict[str, Callable[[], Transport]] = {"local": _local, "sandbox": _sandbox}
STREAMED: dict[str, frozenset[Capability]] = {
    "ssh": frozenset({Capability.SIGNALS, Capability.STDIN, Capability.PROCESS_TREE})
}
"""Transports over three streams (``StreamTransport``), which are made for one target; what their channels can do."""


def transport_names() -> tuple[str, ...]:
    """Every name that ``create_transport`` knows, sorted."""
    return tuple(sorted({*_BUILT_IN, *STREAMED, *(point.name for point in entry_points(group=GROUP))}))


def create_transport(name: str) -> Transport:
    """The transport called ``name``; no plug-in replaces a built-in. Raises TransportUnknown."""
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    for point in entry_points(group=GROUP, name=name):
        return cast("Transport", point.load()())
    raise TransportUnknown(
        f"There is no transport {name!r}.", hint="Known transports: " + ", ".join(transport_names()) + "."
    )
