"""``shell_send``: type text or press a key on a running command's terminal."""

from execkit_mcp.kit import ExecKit
from execkit_mcp.runtime.reading import SendRequest
from execkit_mcp.server.keys import KEYS
from execkit_mcp.server.render import text_of_read
from execkit_mcp.server.tools.base import Caller, Reply, ToolSpec
from execkit_mcp.server.wire import ReadResult, SendArguments


async def call(kit: ExecKit, caller: Caller, arguments: SendArguments) -> Reply:
    """Send, then show what came since."""
    reading = await kit.send(
        SendRequest(
            exec_id=arguments.exec_id,
            text=arguments.text,
            key=arguments.key,
            key_bytes=KEYS[arguments.key] if arguments.key else b"",
            wait_s=arguments.wait_s,
            wait_for=arguments.wait_for,
            cols=arguments.cols,
            rows=arguments.rows,
        ),
        requester=caller.requester,
    )
    body = reading.to_json()
    return Reply(body=body, text=text_of_read(body))


TOOL = ToolSpec(
    name="shell_send",
    title="Type into a running command",
    description=(
        "Type text or press a key on the terminal of a running command (ctrl-c interrupts). No newline is added: send"
        " key enter. Returns the output since."
    ),
    arguments=SendArguments,
    result=ReadResult,
    call=call,
    destructive=True,
    open_world=True,
)
