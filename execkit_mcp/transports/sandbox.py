"""Shells of this machine in a root of their own; this module is the sandbox transport.

The shell is held by the same keeper as a local one; what makes it a sandbox is the plan that it is opened with
(``fence/root``). Here stands what a machine must be able to do for that.
"""

from execkit_mcp.errors import TransportUnavailable
from execkit_mcp.fence.probe import MECHANISMS, probe
from execkit_mcp.transports.base import Capability, ShellPlan
from execkit_mcp.transports.local import LocalChannel, LocalTransport, find_bash

__all__ = ["SandboxTransport"]

_NEEDED = ("landlock", "seccomp", "mount", "pid", "net", "ipc", "uts")


class SandboxTransport:
    """Opens a local shell whose plan has a root of its own."""

    name = "sandbox"

    def __init__(self, local: LocalTransport | None = None) -> None:
        self._local = local or LocalTransport()

    def check(self) -> frozenset[Capability]:
        """What a channel can do; raises TransportUnavailable, naming what the kernel does not let us have."""
        find_bash()
        found = probe()
        needed = _NEEDED if found.is_root else (*_NEEDED, "user")
        lacking = [name for name in needed if name not in found.has]
        if lacking:
            raise TransportUnavailable(
                "A sandbox cannot be made here: "
                + "; ".join(f"{name}: {found.lacking.get(name, 'missing')}" for name in lacking)
                + ".",
                hint=" ".join(dict.fromkeys(MECHANISMS[name] for name in lacking if name in MECHANISMS)),
            )
        return self._local.check()

    async def open(self, plan: ShellPlan) -> LocalChannel:
        """Start a shell; raises TransportUnavailable or TransportLost."""
        if plan.fence is None or not any(each.op == "pivot" for each in plan.fence.mounts):
            raise TransportUnavailable("A sandbox is opened with a plan for a root of its own, and none was given.")
        return await self._local.open(plan)
