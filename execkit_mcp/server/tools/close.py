"""``shell_close``: end a session and everything in it."""

from execkit_mcp.kit import ExecKit
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec
from execkit_mcp.server.wire import CloseArguments, CloseResult


async def call(kit: ExecKit, caller: Caller, arguments: CloseArguments) -> Reply:
    """Close it, if it is open."""
    closed = await kit.close_session(arguments.session, requester=caller.requester)
    how = "closed" if closed else "was not open"
    name = (
        arguments.session if closed else kit.redact(arguments.session, requester=caller.requester)
    )  # a name that is none may hold anything
    return Reply(body={"session": name, "closed": closed}, text=f"session {name} {how}")


TOOL = ToolSpec(
    name="shell_close",
    title="Close a session",
    description="End a session and its jobs.",
    arguments=CloseArguments,
    result=CloseResult,
    call=call,
    destructive=True,
    idempotent=True,
)
