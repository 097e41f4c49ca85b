"""``shell_open``: open another session."""

from execkit_mcp.kit import ExecKit
from execkit_mcp.server.render import text_of_facts
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec
from execkit_mcp.server.wire import OpenArguments, OpenResult


async def call(kit: ExecKit, caller: Caller, arguments: OpenArguments) -> Reply:
    """Open a session on a declared target."""
    body = await kit.open_session(
        target=arguments.target,
        cwd=arguments.cwd,
        name=arguments.name,
        cols=arguments.cols,
        rows=arguments.rows,
        requester=caller.requester,
    )
    return Reply(body=body, text=text_of_facts(body))


TOOL = ToolSpec(
    name="shell_open",
    title="Open a session",
    description="Open another session, to work beside a long command or on another target.",
    arguments=OpenArguments,
    result=OpenResult,
    call=call,
)
