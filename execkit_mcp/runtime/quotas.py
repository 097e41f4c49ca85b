"""How much each subject has used and may still use: sessions open at a time, minutes of running commands a day.

A minute counts while a command runs in the foreground; background jobs do not count, an open session that does nothing
does not either. Days are days of UTC. What was used outlives the server, and servers on one state folder share it.
"""

from collections.abc import Iterable
from typing import Final

from execkit_mcp.errors import SessionLimit
from execkit_mcp.model import Clock
from execkit_mcp.runtime.admission import Admissions
from execkit_mcp.runtime.exec import Exec
from execkit_mcp.runtime.session import Session
from execkit_mcp.storage import Database

__all__ = ["MINUTES", "SESSIONS", "Quotas"]

_DAY_S: Final = 86_400
_KEPT_DAYS: Final = 40
_MINUTE_S: Final = 60
SESSIONS: Final = "http.limits.sessions"
MINUTES: Final = "http.limits.minutes_per_day"


class Quotas:
    """What subjects may use and have used; local callers are not counted."""

    def __init__(
        self,
        database: Database,
        admissions: Admissions,
        *,
        clock: Clock,
        sessions: int | None,
        minutes_per_day: int | None,
    ) -> None:
        self._database = database
        self._admissions = admissions
        self._clock = clock
        self._most_sessions = sessions
        self._most_s = None if minutes_per_day is None else float(minutes_per_day * _MINUTE_S)

    @property
    def is_counting(self) -> bool:
        """Whether minutes are limited."""
        return self._most_s is not None

    def require_room(self, requester: str, sessions: Iterable[Session]) -> None:
        """Raise unless the requester's subject may open one more session.

        Raises:
            SessionLimit: it has as many as it may.
        """
        subject = self._admissions.subject(requester)
        if subject is None or self._most_sessions is None:
            return
        count = sum(_is_of(subject, each, self._admissions) for each in sessions)
        if count >= self._most_sessions:
            raise SessionLimit(
                f"{count} sessions are open, which is the limit for one caller.",
                hint="Close one with shell_close.",
                details={"limit": SESSIONS},
            )

    def require_time(self, requester: str, sessions: Iterable[Session]) -> None:
        """Raise unless the requester's subject may run commands today.

        Raises:
            SessionLimit: its minutes are used up.
        """
        subject = self._admissions.subject(requester)
        if subject is not None and self._most_s is not None and self.used_s(subject, sessions) >= self._most_s:
            raise SessionLimit(
                f"The {self._most_s / _MINUTE_S:g} minutes of running commands that one caller has a day are used up.",
                hint="There are more from 00:00 UTC on; the operator can raise the limit.",
                retryable=False,
                details={"limit": MINUTES},
            )

    def used_s(self, subject: str, sessions: Iterable[Session]) -> float:
        """Seconds that commands of ``subject`` have run today, the running ones included."""
        rows = self._database.rows("SELECT seconds FROM usage WHERE subject = ? AND day = ?", (subject, self._today()))
        used = float(rows[0][0] or 0.0) if rows else 0.0
        now_s = self._clock.monotonic_s()
        for session in sessions:
            if session.current is not None and _is_of(subject, session, self._admissions):
                used += now_s - session.current.started_s
        return used

    def overdrawn(self, sessions: Iterable[Session]) -> list[Session]:
        """Sessions that run a command although their subject's minutes are used up."""
        if self._most_s is None:
            return []
        sessions = tuple(sessions)
        over: dict[str, bool] = {}
        found = []
        for session in sessions:
            subject = self._admissions.subject(session.facts.owner) if session.current is not None else None
            if subject is None:
                continue
            if subject not in over:
                over[subject] = self.used_s(subject, sessions) >= self._most_s
            if over[subject]:
                found.append(session)
        return found

    def ended(self, exec_: Exec) -> None:
        """Count a command that has ended."""
        if self._most_s is None or exec_.pid is not None or exec_.completion is None:
            return
        subject = self._admissions.subject(exec_.owner)
        if subject is None:
            return
        today = self._today()
        with self._database.transaction() as transaction:
            transaction.change(
                "INSERT INTO usage (subject, day, seconds) VALUES (?, ?, ?)"
                " ON CONFLICT (subject, day) DO UPDATE SET seconds = usage.seconds + excluded.seconds",
                (subject, today, exec_.completion.duration_ms / 1e3),
            )
            transaction.change("DELETE FROM usage WHERE day < ?", (today - _KEPT_DAYS,))

    def _today(self) -> int:
        return int(self._clock.epoch_s() // _DAY_S)


def _is_of(subject: str, session: Session, admissions: Admissions) -> bool:
    return admissions.subject(session.facts.owner) == subject
