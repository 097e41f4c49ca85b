"""The fence of a sandbox: what the policy derives for the strongest level, inside a root of its own.

Landlock's rules belong to the folders that were there when they were made, and the workspace's is another one after
each snapshot: a rule on the folder above the place where it is mounted counts. The rest up there is read only.
"""

from pathlib import Path

from msgspec.structs import replace

from execkit_mcp.config.settings import Settings
from execkit_mcp.errors import FenceUnavailable
from execkit_mcp.fence import probe as probing
from execkit_mcp.fence.cgroups import Bounds
from execkit_mcp.fence.derive import Place, derive
from execkit_mcp.fence.host import LocalHost
from execkit_mcp.fence.level import level_for
from execkit_mcp.fence.plan import FencePlan
from execkit_mcp.fence.root import root_mounts
from execkit_mcp.policy import CompiledPolicy
from execkit_mcp.policy.egress import listeners
from execkit_mcp.runtime.bounds import SessionBounds
from execkit_mcp.runtime.environment import home_folder
from execkit_mcp.runtime.names_kept import with_names_found
from execkit_mcp.runtime.sandboxes import Sandbox
from execkit_mcp.runtime.session_facts import SessionFacts

__all__ = ["bounded", "bounds_of", "sandbox_plan"]

_MEMORY_MB = 512
_WRITABLE = ("/tmp", "/var/tmp", "/run", "/dev/shm")  # noqa: S108 - the sandbox's own, empty and in memory
_HOLE = "what it reads of the workspace it can send wherever the network lets it"


def sandbox_plan(policy: CompiledPolicy, sandbox: Sandbox, state_dir: str) -> FencePlan:
    """The plan of a session in ``sandbox``; raises FenceUnavailable where the kernel does not let us."""
    found = probing.probe()
    host = LocalHost()
    home = home_folder()
    level = level_for("namespaces", policy, found)
    place = Place(home=home, workspace=sandbox.workspace)
    plan = derive(policy, level=level, place=place, probe=found, host=host, loaders=probing.loaders())
    if plan is None or plan.landlock is None:
        raise FenceUnavailable("A sandbox needs namespaces and Landlock.")
    is_noexec = plan.gate is not None and not plan.gate.writable_exec
    known = with_names_found(plan, state_dir, keeps_files=False)
    mounts = root_mounts(
        sandbox.root,
        host=host,
        workspace=sandbox.workspace,
        home=home,
        layers=sandbox.layers,
        stack=sandbox.stack,
        is_noexec=is_noexec,
        memory_mb=_MEMORY_MB,
        refused=[each for each in known.mounts if each.op == "hide_named"],
    )
    writes = (sandbox.workspace, home, *_WRITABLE)
    letters = "rlw" if is_noexec else "rlwx"
    paths = (
        *plan.landlock.paths,
        ("/", "rl"),
        *((path, letters) for path in (home, *_WRITABLE)),
        (str(Path(sandbox.workspace).parent), letters),
    )
    gate = plan.gate if plan.gate is None else replace(plan.gate, writable=(*plan.gate.writable, *writes))
    return replace(
        plan,
        unshare=tuple(dict.fromkeys((*plan.unshare, "mount", "pid", "net", "ipc", "uts"))),
        network="filtered" if policy.document.network.allow else "none",
        listeners=listeners(policy.document.network),
        mounts=mounts,
        landlock=replace(plan.landlock, paths=paths, tcp=None),
        gate=gate,
        holes=(*(hole for hole in plan.holes if hole != "the network is open"), _HOLE),
    )


def bounded(plan: FencePlan | None, settings: Settings) -> FencePlan | None:
    """The plan with the limits that each process has for itself."""
    if plan is None or settings.file_mb is None:
        return plan
    return replace(plan, rlimits={**plan.rlimits, "file_bytes": settings.file_mb << 20})


def bounds_of(facts: SessionFacts, settings: Settings, sandbox: Sandbox | None) -> SessionBounds:
    """The limits of a fenced session as a whole.

    Where it has a process table of its own, the kernel holds memory and processes too, and ends a command instead of
    the session; elsewhere the watch over all sessions does that.
    """
    processes = facts.policy.document.limits.processes
    is_apart = facts.plan is not None and "pid" in facts.plan.unshare
    return SessionBounds(
        Bounds(
            memory_mb=settings.memory_mb if is_apart else None,
            processes=processes + 1 if is_apart and processes is not None else None,  # and the shell
            cpu_percent=settings.cpu_percent,
        ),
        file_mb=settings.file_mb,
        disk_mb=settings.disk_mb,
        usage_bytes=None if sandbox is None else sandbox.usage_bytes,
    )
