"""The SDK's own high-level server with a tool that does nothing: what ours is measured against."""

from mcp.server import MCPServer

server = MCPServer("stock")


@server.tool()
async def noop() -> str:
    """Do nothing."""
    return "ok"


if __name__ == "__main__":
    server.run("stdio")
