"""The clients that ``setup``, ``doctor`` and ``hook`` know: one row each, where each keeps what."""

from execkit_mcp.cli.clients.table import CLIENTS, Client, HookPlace, find_client

__all__ = ["CLIENTS", "Client", "HookPlace", "find_client"]
