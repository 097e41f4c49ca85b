"""``shell_info``: what is there and what holds."""

from execkit_mcp.kit import ExecKit
from execkit_mcp.server.render import text_of_facts
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec
from execkit_mcp.server.wire import InfoArguments, InfoResult


async def call(kit: ExecKit, caller: Caller, _arguments: InfoArguments) -> Reply:
    """Collect the facts."""
    body = kit.info(requester=caller.requester)
    return Reply(body=body, text=text_of_facts(body))


TOOL = ToolSpec(
    name="shell_info",
    title="Targets, sessions, policy",
    description="Targets, sessions, running commands, policy, fence, limits.",
    arguments=InfoArguments,
    result=InfoResult,
    call=call,
    read_only=True,
    idempotent=True,
)
