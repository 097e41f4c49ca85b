"""A plan in words: the ``Fence`` that results, sessions and targets state."""

from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.model import Fence

__all__ = ["fence_of"]

NO_FENCE = ("nothing holds beneath the shell: a program may execute, read, write and reach whatever its user may",)


def fence_of(plan: FencePlan | None, *, abi: int = 0) -> Fence:
    """What holds where ``plan`` was carried out."""
    if plan is None:
        return Fence(holes=NO_FENCE)
    mechanisms: list[str] = []
    if plan.landlock is not None:
        scopes = ", scopes" if plan.landlock.scopes else ""
        tcp = ", TCP" if plan.landlock.tcp is not None else ""
        mechanisms.append(f"landlock {abi} (paths, execute{tcp}{scopes})")
    if plan.seccomp is not None:
        mechanisms.append("seccomp filter")
    if plan.gate is not None:
        mechanisms.append("exec gate")
    if plan.unshare:
        mechanisms.append(f"namespaces ({', '.join(plan.unshare)})")
    if any("noexec" in each.options for each in plan.mounts if each.op in {"bind", "attr"}):
        mechanisms.append("noexec mounts")
    mechanisms.append("no_new_privs")
    if plan.drops_capabilities:
        mechanisms.append("no capabilities")
    if plan.rlimits:
        mechanisms.append("rlimits")
    return Fence(
        level=plan.level,
        exec_gate=plan.gate is not None,
        network=plan.network,
        mechanisms=tuple(mechanisms),
        holes=plan.holes,
    )
