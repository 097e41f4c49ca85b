"""What else the event loop has to do: a module of its own, since the operator's commands start without asyncio."""

import asyncio

__all__ = ["is_somebody_ready"]


def is_somebody_ready() -> bool:
    """Whether something else is ready to run on this event loop now; True where the loop does not tell.

    asyncio's own loops keep what is ready in ``_ready``, in every version so far; other loops need not.
    """
    ready = getattr(asyncio.get_running_loop(), "_ready", None)
    return ready is None or bool(ready)
