"""The open sessions, by owner and name."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from execkit_mcp.errors import CommandInvalid, SessionLimit, SessionNotFound
from execkit_mcp.runtime.limits import Overrun
from execkit_mcp.runtime.request import DEFAULT_SESSION
from execkit_mcp.runtime.session import Session

_REMEMBERED: Final = 1000


class Sessions:
    """Who has which sessions open; at most ``limit`` at once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sessions: dict[tuple[str, str], Session] = {}
        self._why: OrderedDict[tuple[str, str], Overrun] = OrderedDict()

    def all(self) -> tuple[Session, ...]:
        """Every session."""
        return tuple(self._sessions.values())

    def of(self, owner: str) -> tuple[Session, ...]:
        """The sessions of ``owner``."""
        return tuple(session for (who, _), session in self._sessions.items() if who == owner)

    def find(self, name: str, owner: str) -> Session | None:
        """The session of that name that belongs to ``owner``, or None."""
        return self._sessions.get((owner, name))

    def get(self, name: str, owner: str) -> Session:
        """The same, or SessionNotFound."""
        session = self.find(name, owner)
        if session is None:
            raise self.unknown(name, owner)
        return session

    def unknown(self, name: str, owner: str) -> SessionNotFound:
        """The error that says which sessions there are instead."""
        names = ", ".join(sorted(session.name for session in self.of(owner))) or "none"
        why = self._why.get((owner, name))
        cause = f": it was closed because {why.reason} ({why.limit})" if why is not None else ""
        return SessionNotFound(
            f"No session {name!r} is open{cause}.",
            hint=f"Open ones: {names}. shell_open opens another.",
            details={} if why is None else {"limit": why.limit, "reason": why.reason},
        )

    def closed_for(self, why: Overrun) -> None:
        """Remember why a session was closed, for whoever asks for it next."""
        self._why[why.key] = why
        while len(self._why) > _REMEMBERED:
            self._why.popitem(last=False)

    def take_reason(self, name: str, owner: str) -> Overrun | None:
        """Why a session of that name was closed, told once: now there is another of that name."""
        return self._why.pop((owner, name), None)

    def free_name(self, owner: str) -> str:
        """A name that ``owner`` does not use yet."""
        names = {session.name for session in self.of(owner)}
        return next(name for name in _names() if name not in names)

    def require_room(self, name: str, owner: str) -> None:
        """Raise unless a session called ``name`` can be opened.

        Raises:
            CommandInvalid: the name is taken.
            SessionLimit: too many sessions are open.
        """
        if self.find(name, owner) is not None:
            raise CommandInvalid(
                f"A session called {name!r} is open already.", hint="Choose another name, or leave it out."
            )
        if len(self._sessions) >= self._limit:
            raise SessionLimit(
                f"{len(self._sessions)} sessions are open, which is the limit.",
                hint="Close one with shell_close.",
            )

    def add(self, session: Session) -> None:
        """Enter an open session."""
        self._sessions[session.facts.owner, session.name] = session

    def remove(self, session: Session) -> None:
        """Forget a session."""
        self._sessions.pop((session.facts.owner, session.name), None)


def _names() -> Iterable[str]:
    yield DEFAULT_SESSION
    number = 2
    while True:
        yield f"s{number}"
        number += 1
