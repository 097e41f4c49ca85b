"""Safe, persistent shell sessions for AI agents: an MCP server and an embeddable SDK."""
