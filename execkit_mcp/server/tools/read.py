"""``shell_read``: more of an exec's output, and how it stands."""

from execkit_mcp.kit import ExecKit
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.server.render import text_of_read
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec
from execkit_mcp.server.wire import ReadArguments, ReadResult


async def call(kit: ExecKit, caller: Caller, arguments: ReadArguments) -> Reply:
    """Read, after waiting if asked to."""
    reading = await kit.read(
        ReadRequest(
            exec_id=arguments.exec_id,
            stream=arguments.stream,
            offset=arguments.offset,
            tail=arguments.tail,
            grep=arguments.grep,
            wait_s=arguments.wait_s,
            wait_for=arguments.wait_for,
            settle_ms=arguments.settle_ms,
            max_output=arguments.max_output,
        ),
        requester=caller.requester,
    )
    body = reading.to_json()
    return Reply(body=body, text=text_of_read(body))


TOOL = ToolSpec(
    name="shell_read",
    title="Read command output",
    description=("Poll a running command, or read output that a result left out: by offset, tail or grep."),
    arguments=ReadArguments,
    result=ReadResult,
    call=call,
    read_only=True,
)
