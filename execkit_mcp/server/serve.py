"""``serve`` on stdio: opens the kit, runs the server, ends on end of input, SIGTERM or SIGINT."""

import asyncio
import gc
import signal
import sys
from typing import Final

import anyio

from execkit_mcp.kit import open_kit
from execkit_mcp.server.app import build_server
from execkit_mcp.server.stdio import stdio_streams

_YOUNG_OBJECTS: Final = 20_000
"""Objects between two walks of the collector: some calls' worth, where Python's 700 means several walks a call."""


async def _serve(*, policy: str | None, config: str | None, workspace: str | None, state_dir: str | None) -> None:
    loop = asyncio.get_running_loop()
    serving = anyio.CancelScope()
    async with open_kit(
        policy=policy, config=config, workspace=workspace, state_dir=state_dir, owns_process=True
    ) as kit:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, serving.cancel)  # once more, or while closing: no effect
        kit.prewarm()
        server = build_server(kit)
        gc.freeze()  # what stands now stays to the end: the collector need not walk it again and again
        gc.set_threshold(_YOUNG_OBJECTS)
        sys.stderr.write(f"execkit-mcp: serving on stdio, policy {kit.policy_name}\n")
        sys.stderr.flush()
        with serving:  # a signal ends this block; then the kit is closed in order
            async with stdio_streams() as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())


def serve_stdio(*, policy: str | None, config: str | None, workspace: str | None, state_dir: str | None) -> int:
    """Serve one client on standard input and output; returns the exit code."""
    asyncio.run(_serve(policy=policy, config=config, workspace=workspace, state_dir=state_dir))
    return 0
