"""Our exceptions as MCP tool results: ``isError``, the five fields, and one line of text."""

from collections.abc import Callable

import mcp_types as types
from pydantic import ValidationError

from execkit_mcp.errors import CommandInvalid, ExecKitError, InternalError
from execkit_mcp.redaction.tree import redact_tree
from execkit_mcp.server.render import text_of_error


def error_result(error: ExecKitError, redact: Callable[[str], str]) -> types.CallToolResult:
    """The tool result that carries ``error``, without the secrets that its texts quote."""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=redact(text_of_error(error)))],
        structured_content={"error": redact_tree(error.to_json(), redact)},
        is_error=True,
    )


def invalid_arguments(tool: str, error: ValidationError) -> CommandInvalid:
    """What is wrong with a tool's arguments, each by name."""
    faults = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        name = ".".join(str(part) for part in fault["loc"]) or "arguments"
        faults.append(f"{name}: {fault['msg'][:1].lower()}{fault['msg'][1:]}")
    return CommandInvalid(
        f"{tool} was called with arguments that do not fit: {'; '.join(faults)}.",
        hint=f"See the input schema of {tool}.",
        details={"arguments": faults},
    )


def internal(tool: str) -> InternalError:
    """A fault of ours, without anything of it that the agent has no business with."""
    return InternalError(
        f"{tool} failed inside execkit-mcp; nothing is known to have run.",
        hint="The server's standard error has the details. Call shell_info to see what still stands.",
    )
