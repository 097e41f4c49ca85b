"""``serve`` on stdio: opens the ground, greets the client, puts the kit on the ground, loads the SDK, runs the server.

It ends on end of input, SIGTERM or SIGINT. The ground comes first: a bad configuration or an unusable state folder is
told before a client is greeted. What the greeting does not need is loaded after it, before the client's next line is
read: a call that comes early waits, and finds everything there.
"""

import asyncio
import gc
import logging
import signal
import sys
from typing import TYPE_CHECKING, Any, Final

from execkit_mcp.runtime.ground import Ground, open_ground
from execkit_mcp.server import sdk
from execkit_mcp.server.greeting import Greeting, greeting
from execkit_mcp.server.lines import Answers, Lines, client_lines
from execkit_mcp.server.log import RedactedLog

if TYPE_CHECKING:
    from anyio import CancelScope

_YOUNG_OBJECTS: Final = 20_000
"""Objects between two walks of the collector: some calls' worth, where Python's 700 means several walks a call."""

_PATIENCE_S: Final = 0.2
"""How long a start waits for the client's first line before it loads the SDK, which takes longer than this."""


_ROUNDS: Final = 3
"""Rounds of the loop until a signal that came before them is heard: it is read, handed over, and then calls us."""


class _Stop:
    """The wish to end: a signal, or a client that is gone. Once more, or while closing: no effect."""

    def __init__(self) -> None:
        self._scope: CancelScope | None = None
        self._is_asked = False

    def __call__(self) -> None:
        self._is_asked = True
        if self._scope is not None:
            self._scope.cancel()

    async def is_asked(self) -> bool:
        """Whether the server is to end; for somebody who has held up the loop, in which signals arrive."""
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
        return self._is_asked

    def ends(self, scope: "CancelScope") -> "CancelScope":
        """``scope``, which the wish ends from now on."""
        self._scope = scope
        if self._is_asked:
            scope.cancel()
        return scope


async def _greet(lines: Lines, answers: Answers) -> Greeting | None:
    """Answer the client's opening request, if that is the first line and comes soon."""
    first = await lines.peek(_PATIENCE_S)
    greeted = greeting(first) if first else None
    if greeted is not None:
        await answers.write(greeted.line())
    return greeted


async def _run(
    ground: Ground, lines: Lines, answers: Answers, greeted: Greeting | None, stop: _Stop, *, read_only: bool
) -> None:
    """The server itself."""
    if await stop.is_asked():
        return
    from execkit_mcp.kit import kit_on  # noqa: PLC0415 - only once the client has its answer

    async with kit_on(ground, owns_process=True, read_only=read_only) as kit:
        kit.prewarm()
        if await stop.is_asked():
            return
        sdk.prepare()
        import anyio  # noqa: PLC0415 - comes with the SDK

        from execkit_mcp.server.app import build_server  # noqa: PLC0415 - as above
        from execkit_mcp.server.stdio import serve_lines  # noqa: PLC0415 - as above

        server = build_server(kit)
        logging.getLogger().addHandler(RedactedLog(kit.redact, logging.WARNING))
        gc.enable()  # the command line turned it off while modules were loaded
        gc.freeze()  # what stands now stays to the end: the collector need not walk it again and again
        gc.set_threshold(_YOUNG_OBJECTS)
        with stop.ends(anyio.CancelScope()):  # then the kit is closed in order
            await serve_lines(server, lines, answers, greeted)


async def _serve(*, read_only: bool = False, **places: Any) -> None:
    loop = asyncio.get_running_loop()
    stop = _Stop()
    with open_ground(**places) as ground:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, stop)
        sys.stderr.write(f"execkit-mcp: serving on stdio, policy {ground.policy.ref.name}\n")
        sys.stderr.flush()
        async with client_lines(on_gone=stop) as (lines, answers):
            greeted = await _greet(lines, answers)
            await _run(ground, lines, answers, greeted, stop, read_only=read_only)


def serve_stdio(**places: Any) -> int:
    """Serve one client on standard input and output; returns the exit code.

    Args:
        places: policy, config, workspace, state_dir and read_only, as ``open_kit`` takes them.
    """
    asyncio.run(_serve(**places))
    return 0
