"""MCP over streamable HTTP: who may connect, how much, and what is told to those who may not."""
