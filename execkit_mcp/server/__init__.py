"""The MCP face: seven tools over one ExecKit. The only folder that knows the MCP SDK."""
