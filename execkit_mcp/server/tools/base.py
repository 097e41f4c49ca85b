"""What a tool is: a name, two models, hints, and one coroutine over the kit."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from msgspec import Struct, field

from execkit_mcp.kit import ExecKit
from execkit_mcp.server.wire import Arguments, Result, input_schema, output_schema


class Caller(Struct, frozen=True, kw_only=True):
    """Who calls: the identity that sessions, execs and approvals belong to."""

    requester: str


class Reply(Struct, frozen=True, kw_only=True):
    """A tool's answer, complete in both forms.

    Attributes:
        body: the structured result.
        text: the same for clients that show only text.
        is_error: whether the model should treat it as a failure.
        approval_id: set when a person must decide before the call can go on.
    """

    body: Mapping[str, object]
    text: str
    is_error: bool = False
    approval_id: str | None = None

    def to_mcp(self) -> types.CallToolResult:
        """This answer as the SDK wants it."""
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=self.text)],
            structured_content=dict(self.body),
            is_error=self.is_error,
        )


class ToolSpec(Struct, frozen=True, kw_only=True):
    """One row of the tool table."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type[Result]
    call: Callable[[ExecKit, Caller, Any], Awaitable[Reply]]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False
    meta: Mapping[str, object] = field(default_factory=dict)

    def annotations(self) -> types.ToolAnnotations:
        """The hints that say something: what is left out has the protocol's own default or follows from the others."""
        return types.ToolAnnotations(
            read_only_hint=self.read_only or None,
            destructive_hint=None if self.read_only else self.destructive,
            idempotent_hint=(self.idempotent and not self.read_only) or None,
            open_world_hint=self.open_world or None,
        )

    def to_mcp(self) -> types.Tool:
        """This tool as the SDK lists it."""
        return types.Tool(
            name=self.name,
            description=self.description,
            input_schema=input_schema(self.arguments),
            output_schema=output_schema(self.result),
            annotations=self.annotations(),
            _meta=dict(self.meta) or None,
        )
