"""The seven tools, and those that an operator may add: one module each, one table."""

from collections.abc import Mapping

from execkit_mcp.server.tools import close, explain, info, open_, read, run, sandbox, send
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec

TOOLS: tuple[ToolSpec, ...] = (
    run.TOOL,
    read.TOOL,
    send.TOOL,
    open_.TOOL,
    close.TOOL,
    info.TOOL,
    explain.TOOL,
)

TOOLSETS: Mapping[str, tuple[ToolSpec, ...]] = {"checkpoints": (sandbox.TOOL,)}

__all__ = ["TOOLS", "TOOLSETS", "Caller", "Reply", "ToolSpec"]
