"""``shell_send``: type text or press a key on a running command's terminal."""

from execkit_mcp.errors import ApprovalRequired
from execkit_mcp.kit import ExecKit
from execkit_mcp.model import Status
from execkit_mcp.runtime.sending import SendRequest
from execkit_mcp.server.render import text_of_error, text_of_read
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec
from execkit_mcp.server.wire import ReadResult, SendArguments


async def call(kit: ExecKit, caller: Caller, arguments: SendArguments) -> Reply:
    """Send, then show what came since."""
    request = SendRequest(
        exec_id=arguments.exec_id,
        text=arguments.text,
        key=arguments.key,
        signal=arguments.signal,
        wait_s=arguments.wait_s,
        wait_for=arguments.wait_for,
        settle_ms=arguments.settle_ms,
        cols=arguments.cols,
        rows=arguments.rows,
        reason=arguments.reason or "",
        approval_id=arguments.approval_id,
    )
    try:
        reading = await kit.send(request, requester=caller.requester)
    except ApprovalRequired as error:
        return Reply(
            body={"status": Status.APPROVAL_PENDING.value, "approval_id": error.approval_id, "error": error.to_json()},
            text=f"{text_of_error(error)}\napproval_id: {error.approval_id}",
            approval_id=error.approval_id,
        )
    body = reading.to_json()
    return Reply(body=body, text=text_of_read(body))


TOOL = ToolSpec(
    name="shell_send",
    title="Type into a running command",
    description=(
        "Type text (no newline is added), press a key or send a signal to a running command; returns the output since."
        " What a shell or interpreter would get is judged like a command, a line at a time."
    ),
    arguments=SendArguments,
    result=ReadResult,
    call=call,
    destructive=True,
    open_world=True,
)
