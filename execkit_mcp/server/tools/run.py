"""``shell_run``: run one command."""

from execkit_mcp.errors import ApprovalDenied, ApprovalExpired
from execkit_mcp.kit import ExecKit
from execkit_mcp.model import Status
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.server.render import text_of_error, text_of_result
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec
from execkit_mcp.server.wire import RunArguments, RunResult


async def call(kit: ExecKit, caller: Caller, arguments: RunArguments) -> Reply:
    """Run the command through every gate."""
    request = RunRequest(
        command=arguments.command,
        session=arguments.session,
        wait_s=arguments.wait_s,
        timeout_s=arguments.timeout_s,
        stdin=arguments.stdin,
        tty=arguments.tty,
        max_output=arguments.max_output,
        reason=arguments.reason or "",
        approval_id=arguments.approval_id,
        durable=arguments.durable,
        env_delta=arguments.env_delta,
        idempotency_key=arguments.idempotency_key,
    )
    try:
        result = await kit.run(request, requester=caller.requester)
    except (ApprovalDenied, ApprovalExpired) as error:  # a refusal like any other: it did not run
        return Reply(
            body={"status": Status.DENIED.value, "error": error.to_json()},
            text=text_of_error(error),
            is_error=True,
        )
    return Reply(
        body=result.to_json(),
        text=text_of_result(result),
        is_error=result.status is Status.DENIED,
        approval_id=result.approval_id if result.status is Status.APPROVAL_PENDING else None,
    )


TOOL = ToolSpec(
    name="shell_run",
    title="Run a shell command",
    description=(
        "Run a command in a persistent shell: cd, variables and jobs stay. A policy judges it first; when denied,"
        " change it as the hint says, do not repeat it. approval_pending: once a person has approved, call again with"
        " approval_id. running: poll with shell_read."
    ),
    arguments=RunArguments,
    result=RunResult,
    call=call,
    destructive=True,
    open_world=True,
    meta={"anthropic/alwaysLoad": True},
)
