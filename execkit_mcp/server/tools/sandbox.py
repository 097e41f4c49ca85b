"""``shell_sandbox``: snapshot, restore, fork, difference and apply of a sandbox's workspace."""

from execkit_mcp.kit import ExecKit
from execkit_mcp.runtime.sandboxing import SandboxRequest
from execkit_mcp.server.render import text_of_facts
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec
from execkit_mcp.server.wire import SandboxArguments, SandboxResult


async def call(kit: ExecKit, caller: Caller, arguments: SandboxArguments) -> Reply:
    """Do it; an apply that nobody has approved yet is pending, as a command would be."""
    body = await kit.sandbox(
        SandboxRequest(
            action=arguments.action,
            session=arguments.session,
            snapshot=arguments.snapshot,
            name=arguments.name,
            reason=arguments.reason or "",
            approval_id=arguments.approval_id,
            max_output=arguments.max_output,
        ),
        requester=caller.requester,
    )
    pending = body.get("approval_id")
    return Reply(
        body=body,
        text=text_of_facts(body),
        is_error=pending is not None,
        approval_id=str(pending) if pending is not None else None,
    )


TOOL = ToolSpec(
    name="shell_sandbox",
    title="Work with a sandbox",
    description=(
        "The workspace of a sandbox session (shell_open target=sandbox): snapshot, restore, fork, diff against the real"
        " workspace; apply writes the changes there once a person has seen and approved them."
    ),
    arguments=SandboxArguments,
    result=SandboxResult,
    call=call,
    destructive=True,
)
