"""``shell_explain``: the decision on a command, without running it."""

from execkit_mcp.kit import ExecKit
from execkit_mcp.redaction.tree import redact_tree
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec
from execkit_mcp.server.wire import ExplainArguments, ExplainResult


async def call(kit: ExecKit, caller: Caller, arguments: ExplainArguments) -> Reply:
    """Judge and explain."""
    decision, explanation = await kit.explain(arguments.command, session=arguments.session, requester=caller.requester)

    def redact(text: str) -> str:
        return kit.redact(text, session=arguments.session, requester=caller.requester)

    body = redact_tree({**decision.to_json(), "explanation": explanation}, redact)
    return Reply(body=body, text=redact(explanation))


TOOL = ToolSpec(
    name="shell_explain",
    title="Would this be allowed?",
    description="What the policy says of a command, without running it.",
    arguments=ExplainArguments,
    result=ExplainResult,
    call=call,
    read_only=True,
    idempotent=True,
)
