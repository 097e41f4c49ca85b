"""Signs of life while a call waits: this module sends MCP progress notifications to clients that ask for them.

Some clients give up on a call after a minute of silence unless progress comes (MCP 2025-06-18, Utilities, Progress).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext

EVERY_S: Final = 1.0


@asynccontextmanager
async def telling_progress(
    context: ServerRequestContext[Any], params: types.CallToolRequestParams
) -> AsyncIterator["Progress"]:
    """While the block runs, send the seconds waited so far, one notification a second; nothing if nobody asked.

    What is waited for may be set on the object that this yields.
    """
    progress = Progress()
    if not params.meta or params.meta.get("progress_token") is None:
        yield progress
        return
    telling = asyncio.get_running_loop().create_task(_tell(context, progress))
    try:
        yield progress
    finally:
        telling.cancel()


class Progress:
    """What a call waits for."""

    __slots__ = ("about",)

    def __init__(self) -> None:
        self.about = ""


async def _tell(context: ServerRequestContext[Any], progress: Progress) -> None:
    waited = 0.0
    while True:
        await asyncio.sleep(EVERY_S)
        waited += EVERY_S
        about = f" {progress.about}" if progress.about else ""
        await context.session.report_progress(waited, None, f"waiting{about}, {waited:.0f} s")
