"""Which level of fence a session gets: the operator's word, what rules require, what the machine has."""

from execkit_mcp.errors import FenceUnavailable
from execkit_mcp.fence.probe import MECHANISMS, Probe
from execkit_mcp.policy import CompiledPolicy

__all__ = ["level_for"]


def level_for(mode: str, policy: CompiledPolicy, probe: Probe) -> str:
    """The level that the session gets; raises FenceUnavailable where a level was asked for that cannot be had."""
    if mode == "off":
        return "none"
    has_process = "landlock" in probe.has and "seccomp" in probe.has
    needed = {"mount", "pid", "net", "ipc", "uts"} | (set() if probe.is_root else {"user"})
    has_namespaces = has_process and needed <= probe.has
    if mode == "auto":
        wanted = {rule.require.fence for rule in policy.document.rules if rule.require is not None}
        if has_namespaces and "namespaces" in wanted:
            return "namespaces"
        return "process" if has_process else "none"
    if (mode == "process" and has_process) or (mode == "namespaces" and has_namespaces):
        return mode
    lacking = [
        name
        for name in ("landlock", "seccomp", *sorted(needed if mode == "namespaces" else ()))
        if name not in probe.has
    ]
    raise FenceUnavailable(
        f"The configuration asks for a fence of level {mode}, which cannot be had here: "
        + "; ".join(f"{name}: {probe.lacking.get(name, 'missing')}" for name in lacking)
        + ".",
        hint=" ".join(dict.fromkeys(MECHANISMS[name] for name in lacking)) + " Or set `fence: auto`.",
    )
