"""The recordings of one server: each session gets one, finished parts go on the record, old ones are removed."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from execkit_mcp.audit.recording import PartFacts, RecordingWriter, recording_id, recordings_folder
from execkit_mcp.audit.recordings import Recording, list_recordings
from execkit_mcp.config.settings import Settings
from execkit_mcp.errors import ExecKitError
from execkit_mcp.model import Clock, Entropy
from execkit_mcp.runtime.client import current_client
from execkit_mcp.runtime.recorder import Recorder
from execkit_mcp.runtime.session import Session

__all__ = ["Recordings", "overdue"]

_DAY_S: Final = 86_400.0
_SWEEP_S: Final = 3600.0
_CHANCE_BYTES: Final = 3


class Recordings:
    """Begins recordings and lets go of old ones."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock,
        entropy: Entropy,
        record: Callable[[str, Mapping[str, object]], None],
        record_seen: Callable[[str, Mapping[str, object]], None],
    ) -> None:
        """``record`` puts an entry into the audit log, on the disk; ``record_seen`` does so in a moment."""
        self._settings = settings
        self._folder = recordings_folder(settings.audit_dir)
        self._clock = clock
        self._entropy = entropy
        self._record = record
        self._record_seen = record_seen
        self._next_sweep_s = 0.0

    def begin(self, session: Session) -> str:
        """Have the session recorded; the recording's id.

        Raises:
            AuditWriteFailed: it cannot be.
        """
        self._sweep()
        facts = session.facts
        started_s = self._clock.epoch_s()
        name = recording_id(started_s=started_s, session=facts.name, chance=self._entropy.token_hex(_CHANCE_BYTES))
        client = current_client()
        told = {
            "session": facts.name,
            "target": facts.target,
            "transport": facts.transport,
            "requester": session.redact(facts.owner),
            **({} if client is None else {"client": client.to_json()}),
            "policy": {"name": facts.policy.ref.name, "digest": facts.policy.ref.digest},
            "fence": facts.fence.to_json(),
            "started": datetime.fromtimestamp(started_s, UTC).isoformat(timespec="microseconds"),
        }
        writer = RecordingWriter(
            self._folder,
            name,
            facts=lambda: told,
            size=(facts.cols, facts.rows),
            started_s=started_s,
            on_part=self._part_ended,
        )
        session.recorder = Recorder(writer, clock=self._clock, started_s=started_s)
        return name

    def _part_ended(self, facts: PartFacts) -> None:
        try:
            self._record_seen("recording.finished", facts.to_json())
        except ExecKitError:  # then the log is closed, and says so to whoever comes next
            return

    def _sweep(self) -> None:
        """Remove what is too old or too much, now and then."""
        now_s = self._clock.monotonic_s()
        if now_s < self._next_sweep_s:
            return
        self._next_sweep_s = now_s + _SWEEP_S
        days, megabytes = self._settings.recordings_days, self._settings.recordings_mb
        for each in overdue(
            list_recordings(self._folder, has_headers=False),
            before_s=None if days is None else self._clock.epoch_s() - days * _DAY_S,
            most_bytes=None if megabytes is None else megabytes << 20,
        ):
            self._record("recording.removed", {"recording": each.id, "bytes": each.size})
            for path in each.paths:
                path.unlink(missing_ok=True)


def overdue(
    recordings: tuple[Recording, ...], *, before_s: float | None, most_bytes: int | None
) -> tuple[Recording, ...]:
    """Of recordings, the newest first, those that go: begun before ``before_s``, or more than ``most_bytes`` in all.

    One that is still written is never among them.
    """
    kept = 0
    gone = []
    for each in recordings:
        kept += each.size
        is_old = before_s is not None and each.started_s < before_s
        if (is_old or (most_bytes is not None and kept > most_bytes)) and not each.is_live:
            gone.append(each)
            kept -= each.size
    return tuple(gone)
