"""The MCP server: lists the tools, checks arguments, runs the call, asks a person where it must."""

import asyncio
import contextlib
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from execkit_mcp.errors import ApprovalExpired, CommandInvalid, ExecKitError
from execkit_mcp.kit import ExecKit
from execkit_mcp.model.version import VERSION
from execkit_mcp.runtime.client import Client, asking
from execkit_mcp.server import elicitation, prompts
from execkit_mcp.server.errors import error_result, internal, invalid_arguments
from execkit_mcp.server.greeting import DESCRIPTION, INSTRUCTIONS, NAME
from execkit_mcp.server.http.identity import caller_of
from execkit_mcp.server.progress import Progress, telling_progress
from execkit_mcp.server.resources import Resources
from execkit_mcp.server.tools import TOOLS, TOOLSETS, Caller, Reply, ToolSpec
from execkit_mcp.server.wire import Arguments

MAX_ASK_S: Final = 7 * 86_400.0  # the approval's own time ends it before


class _App:
    """Handlers over one kit."""

    def __init__(self, kit: ExecKit, *, most_output: int | None, watch: Callable[[str, str], None]) -> None:
        self._kit = kit
        self._most_output = most_output
        self._watch = watch
        self._resources = Resources(kit)
        tools = (*TOOLS, *(spec for name in kit.toolsets for spec in TOOLSETS[name]))
        self._specs: Mapping[str, ToolSpec] = {spec.name: spec for spec in tools}
        self._listing = types.ListToolsResult(tools=[spec.to_mcp() for spec in tools])

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a tool's arguments; None if there is no such tool."""
        return next((tool.input_schema for tool in self._listing.tools if tool.name == name), None)

    async def list_resources(
        self, _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return self._resources.listed()

    async def list_resource_templates(
        self, _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])  # none; clients ask all the same

    async def read_resource(
        self, context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return self._resources.read(str(params.uri), _requester(context), is_modern=elicitation.is_modern(context))

    async def list_prompts(
        self, _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return prompts.listed()

    async def get_prompt(
        self, _context: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        return prompts.prompt(params.name, params.arguments)

    async def list_tools(
        self, _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return self._listing

    async def call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        spec = self._specs.get(params.name)
        if spec is None:
            shown = self._kit.redact(params.name, requester=_requester(context))
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {shown!r}.")
        try:
            # clients fill optional arguments in with null: that is the same as leaving them out
            given = {name: value for name, value in (params.arguments or {}).items() if value is not None}
            arguments = self._bounded(spec.arguments.model_validate(given))
        except ValidationError as error:
            self._watch(spec.name, "error")
            requester = _requester(context)
            return error_result(
                invalid_arguments(spec.name, error), lambda text: self._kit.redact(text, requester=requester)
            )
        caller = Caller(requester=_requester(context))

        def redact(text: str) -> str:
            named = getattr(arguments, "session", None)
            return self._kit.redact(text, session=named, requester=caller.requester)

        try:
            with asking(_client(context)):
                async with telling_progress(context, params) as progress:
                    answer = await self._answer(spec, caller, arguments, context, params, progress)
            is_error = isinstance(answer, types.CallToolResult) and answer.is_error
            self._watch(spec.name, "error" if is_error else "ok")
        except ExecKitError as error:
            self._watch(spec.name, "error")
            return error_result(error, redact)
        except Exception:  # noqa: BLE001 - the top handler: fail closed, tell the operator, not the agent
            self._watch(spec.name, "error")
            sys.stderr.write(redact(traceback.format_exc()))
            return error_result(internal(spec.name), redact)
        return answer

    def _bounded(self, arguments: Arguments) -> Arguments:
        """The arguments, asking for no more output than the operator lets one answer hold."""
        most, asked = self._most_output, getattr(arguments, "max_output", 0)
        return arguments if most is None or asked <= most else arguments.model_copy(update={"max_output": most})

    async def _answer(  # noqa: PLR0917 - what one call is made of
        self,
        spec: ToolSpec,
        caller: Caller,
        arguments: Any,
        context: ServerRequestContext[Any],
        params: types.CallToolRequestParams,
        progress: Progress,
    ) -> types.CallToolResult | types.InputRequiredResult:
        returned = elicitation.answered(params)
        if returned is not None:
            approval_id, answer = returned
            return (await self._settle(spec, caller, arguments, approval_id, answer)).to_mcp()
        reply = await spec.call(self._kit, caller, arguments)
        if reply.approval_id is None:
            return reply.to_mcp()
        approval_id = reply.approval_id
        progress.about = f"for a person to answer approval {approval_id}"
        can_ask = elicitation.can_elicit(context)
        question = self._kit.question(approval_id, channel="elicit") if can_ask else None
        if question is None:  # another channel answers this one
            return (await self._patient(spec, caller, arguments, reply, progress)).to_mcp()
        if elicitation.is_modern(context):
            return elicitation.input_required(approval_id, question)
        answer = await self._first_answer(context, approval_id, question)
        return (await self._settle(spec, caller, arguments, approval_id, answer)).to_mcp()

    async def _patient(self, spec: ToolSpec, caller: Caller, arguments: Any, reply: Reply, progress: Progress) -> Reply:
        """Wait for the answer as long as the call waits for anything, then call again; else the id goes back."""
        assert reply.approval_id is not None
        is_stated = "wait_s" in arguments.model_fields_set
        stated = arguments.wait_s if is_stated else self._kit.patience_s(requester=caller.requester)
        loop = asyncio.get_running_loop()
        since = loop.time()
        if not await self._kit.answered(reply.approval_id, timeout_s=stated):
            return reply
        progress.about = ""
        left = max(min(1.0, arguments.wait_s), arguments.wait_s - (loop.time() - since))
        again = arguments.model_copy(update={"approval_id": reply.approval_id, "wait_s": left})
        return await spec.call(self._kit, caller, again)

    async def _first_answer(
        self, context: ServerRequestContext[Any], approval_id: str, question: str
    ) -> elicitation.Answer:
        """Ask in the client's dialogue while the other channels are open: whoever answers first, answers."""
        loop = asyncio.get_running_loop()
        asked = loop.create_task(elicitation.ask(context, question))
        elsewhere = loop.create_task(self._kit.answered(approval_id, timeout_s=MAX_ASK_S))
        try:
            await asyncio.wait((asked, elsewhere), return_when=asyncio.FIRST_COMPLETED)
            return asked.result() if asked.done() else elicitation.NOBODY
        finally:
            asked.cancel()
            elsewhere.cancel()
            await asyncio.gather(asked, elsewhere, return_exceptions=True)

    async def _settle(
        self, spec: ToolSpec, caller: Caller, arguments: Any, approval_id: str, answer: elicitation.Answer
    ) -> Reply:
        """Enter a person's answer and call again; without an answer the request stays pending."""
        if not hasattr(arguments, "approval_id"):
            raise CommandInvalid(f"{spec.name} does not take an approval.")
        if answer.verdict != "nobody":
            with contextlib.suppress(ApprovalExpired):  # answered elsewhere meanwhile: the call says how
                self._kit.answer(
                    approval_id,
                    approve=answer.verdict == "approve",
                    channel="elicit",
                    who=caller.requester,
                    reason=answer.reason,
                    scope=answer.scope(time.time()),
                    edited=answer.edited,
                    requester=caller.requester,
                )
        return await spec.call(self._kit, caller, arguments.model_copy(update={"approval_id": approval_id}))


def _requester(context: ServerRequestContext[Any]) -> str:
    """Who is on the other end: whom the token names, or on stdio the name that the client gave itself."""
    caller = caller_of(context.request)
    if caller is not None:
        return caller.requester
    params = context.session.client_params
    name = params.client_info.name if params is not None else "client"
    return f"mcp:{''.join(char for char in name if char.isprintable())[:80]}"


def _client(context: ServerRequestContext[Any]) -> Client:
    """What the client says of itself, and on whose behalf: whom the token names, or on stdio our own user."""
    caller = caller_of(context.request)
    params = context.session.client_params
    info = params.client_info if params is not None else None
    return Client(
        name="client" if info is None else info.name,
        version="" if info is None else info.version,
        subject="" if caller is None else caller.subject,
    )


def _unwatched(_tool: str, _outcome: str) -> None:
    """Nobody counts."""


def build_server(
    kit: ExecKit, *, most_output: int | None = None, watch: Callable[[str, str], None] = _unwatched
) -> Server[Any]:
    """The MCP server over ``kit``; run it over any of the SDK's transports.

    Args:
        kit: what the tools work on.
        most_output: characters a stream that one answer may hold; None: as many as the call asks for.
        watch: told of each call's tool and outcome (``ok``, ``error``).
    """
    app = _App(kit, most_output=most_output, watch=watch)
    server: Server[Any] = Server(
        NAME,
        version=VERSION,
        title=NAME,
        description=DESCRIPTION,
        instructions=INSTRUCTIONS,
        on_list_tools=app.list_tools,
        on_call_tool=app.call_tool,
        get_tool_input_schema=app.input_schema,
        on_list_resources=app.list_resources,
        on_list_resource_templates=app.list_resource_templates,
        on_read_resource=app.read_resource,
        on_list_prompts=app.list_prompts,
        on_get_prompt=app.get_prompt,
    )
    server.middleware[:] = [RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME)]
    return server
