"""The seven tools: one module each, one table."""

from execkit_mcp.server.tools import close, explain, info, open_, read, run, send
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

__all__ = ["TOOLS", "Caller", "Reply", "ToolSpec"]
