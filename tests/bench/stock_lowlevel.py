"""The SDK's own low-level server with a tool that does nothing: the floor that ours is measured against."""

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool(name="noop", input_schema={"type": "object", "properties": {}})


async def list_tools(_context, _params):
    """One tool."""
    return types.ListToolsResult(tools=[TOOL])


async def call_tool(_context, _params):
    """Do nothing."""
    return types.CallToolResult(content=[types.TextContent(type="text", text="ok")])


async def main():
    """Serve until the input ends."""
    server = Server("stock", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
