"""Who is asking, as far as it is known: the program, its version, and on whose behalf; for the record.

What a client says of itself is its own word. ``subject`` is what was established: who logged in, or the user that
this process runs as. A server sets it for the time of a call; tasks that the call starts see the same.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

__all__ = ["Client", "asking", "current_client"]

_CHARS = 80


class Client(Struct, frozen=True, kw_only=True):
    """A program that calls.

    Attributes:
        name: what it calls itself.
        version: the version that it gives.
        subject: on whose behalf; empty for the user that this process runs as.
    """

    name: str
    version: str = ""
    subject: str = ""

    def to_json(self) -> dict[str, object]:
        """The three by name, cut and without control characters."""
        return {"name": _plain(self.name), "version": _plain(self.version), "subject": _plain(self.subject)}


_CURRENT: ContextVar[Client | None] = ContextVar("client", default=None)


@contextmanager
def asking(client: Client) -> Iterator[None]:
    """For the time of a call, it is this client that asks."""
    token = _CURRENT.set(client)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_client() -> Client | None:
    """Who asks now; None where nobody said."""
    return _CURRENT.get()


def _plain(text: str) -> str:
    return (text if text.isprintable() else "".join(filter(str.isprintable, text)))[:_CHARS]
