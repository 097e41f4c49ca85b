"""``shell_close``: end a session and everything in it."""

from execkit_mcp.kit import ExecKit
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec
from execkit_mcp.server.wire import CloseArguments, CloseResult


async def call(kit: ExecKit, caller: Caller, arguments: CloseArguments) -> Reply:
    """Close it, if it is open."""
    closed = await kit.close_session(arguments.session, requester=caller.requester)
    how = "closed" if closed else "was not open"
    return Reply(body={"session": arguments.session, "closed": closed}, text=f"session {arguments.session} {how}")


TOOL = ToolSpec(
    name="shell_close",
    title="Close a session",
    description="End a session, its jobs included.",
    arguments=CloseArguments,
    result=CloseResult,
    call=call,
    destructive=True,
    idempotent=True,
)
