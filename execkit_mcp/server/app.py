"""The MCP server: lists the tools, checks arguments, runs the call, asks a person where it must."""

import sys
import traceback
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from execkit_mcp.errors import CommandInvalid, ExecKitError
from execkit_mcp.kit import ExecKit
from execkit_mcp.model.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
from execkit_mcp.server import elicitation
from execkit_mcp.server.errors import error_result, internal, invalid_arguments
from execkit_mcp.server.progress import telling_progress
from execkit_mcp.server.tools import TOOLS, Caller, Reply, ToolSpec

NAME: Final = "execkit-mcp"

INSTRUCTIONS: Final = """\
Persistent shell sessions on real machines, behind a policy.

1. shell_run runs a command in the session "main" (opened when needed). cd, variables and jobs stay between calls.
2. Every command is judged first. status "denied" names the rule or reason and what would be allowed: change the
   command, do not repeat or disguise it. shell_explain says beforehand what would happen.
3. status "approval_pending": a person must approve. Tell the user the approval_id; when they have approved, call
   shell_run again with the same command and that approval_id. You cannot approve anything yourself.
4. status "running": the command goes on; poll with shell_read(exec_id, wait_s=30). ctrl-c: shell_send(exec_id,
   key="ctrl-c").
5. Long output is cut in the middle; shell_read pages through all of it by offset, tail or grep.
6. [REDACTED:kind:tag] stands for a secret; equal tags are equal secrets. Do not try to recover one.
7. A session runs one command at a time; shell_open gives another session.

Commands get standard input only from stdin=… or, with tty=true, from shell_send. Prefer plain commands with literal
arguments: a word that only the shell could work out may need approval.
"""


class _App:
    """Handlers over one kit."""

    def __init__(self, kit: ExecKit) -> None:
        self._kit = kit
        self._specs: Mapping[str, ToolSpec] = {spec.name: spec for spec in TOOLS}
        self._listing = types.ListToolsResult(tools=[spec.to_mcp() for spec in TOOLS])

    async def list_tools(
        self, _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return self._listing

    async def call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        spec = self._specs.get(params.name)
        if spec is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name!r}.")
        try:
            # clients fill optional arguments in with null: that is the same as leaving them out
            given = {name: value for name, value in (params.arguments or {}).items() if value is not None}
            arguments = spec.arguments.model_validate(given)
        except ValidationError as error:
            return error_result(invalid_arguments(spec.name, error))
        caller = Caller(requester=_requester(context))
        try:
            async with telling_progress(context, params):
                return await self._answer(spec, caller, arguments, context, params)
        except ExecKitError as error:
            return error_result(error)
        except Exception:  # noqa: BLE001 - the top handler: fail closed, tell the operator, not the agent
            traceback.print_exc(file=sys.stderr)
            return error_result(internal(spec.name))

    async def _answer(
        self,
        spec: ToolSpec,
        caller: Caller,
        arguments: Any,
        context: ServerRequestContext[Any],
        params: types.CallToolRequestParams,
    ) -> types.CallToolResult | types.InputRequiredResult:
        returned = elicitation.answered(params)
        if returned is not None:
            approval_id, answer = returned
            return (await self._settle(spec, caller, arguments, approval_id, answer)).to_mcp()
        reply = await spec.call(self._kit, caller, arguments)
        if reply.approval_id is None or not elicitation.can_elicit(context):
            return reply.to_mcp()
        question = self._kit.question(reply.approval_id, channel="elicit")
        if question is None:  # this one is for another channel
            return reply.to_mcp()
        if elicitation.is_modern(context):
            return elicitation.input_required(reply.approval_id, question)
        answer = await elicitation.ask(context, question)
        return (await self._settle(spec, caller, arguments, reply.approval_id, answer)).to_mcp()

    async def _settle(
        self, spec: ToolSpec, caller: Caller, arguments: Any, approval_id: str, answer: elicitation.Answer
    ) -> Reply:
        """Enter a person's answer and call again; without an answer the request stays pending."""
        if answer != "nobody":
            self._kit.answer(approval_id, approve=answer == "approve", channel="elicit", who=caller.requester)
        if not hasattr(arguments, "approval_id"):
            raise CommandInvalid(f"{spec.name} does not take an approval.")
        return await spec.call(self._kit, caller, arguments.model_copy(update={"approval_id": approval_id}))


def _requester(context: ServerRequestContext[Any]) -> str:
    """Who is on the other end: the transport and the name that the client gave itself."""
    params = context.session.client_params
    name = params.client_info.name if params is not None else "client"
    return f"mcp:{''.join(char for char in name if char.isprintable())[:80]}"


def build_server(kit: ExecKit) -> Server[Any]:
    """The MCP server over ``kit``; run it over any of the SDK's transports."""
    app = _App(kit)
    server: Server[Any] = Server(
        NAME,
        version=VERSION,
        title="execkit-mcp",
        description="Safe, persistent shell sessions for AI agents.",
        instructions=INSTRUCTIONS,
        on_list_tools=app.list_tools,
        on_call_tool=app.call_tool,
    )
    server.middleware[:] = [RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME)]
    return server
