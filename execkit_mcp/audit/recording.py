"""The writer of one session's recording: whole lines, appended, private; nothing else may have touched the file.

    <audit folder>/recordings/                         0700
        20260101T120000Z-main-3f9a1c.cast              0600, held with flock(2) while its writer lives
        20260101T120000Z-main-3f9a1c.002.cast          the next part, when the first is full

A write that fails leaves no half line behind, and the writer says so with AuditWriteFailed until the lines that
wait have been written.
"""

import contextlib
import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from execkit_mcp.audit.asciicast import header_line
from execkit_mcp.errors import AuditWriteFailed, ConfigPermissions, StorageUnavailable
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.storage.folder import open_private_folder

__all__ = ["FOLDER_NAME", "PART_BYTES", "PartFacts", "RecordingWriter", "recording_id", "recordings_folder"]

FOLDER_NAME = "recordings"
PART_BYTES = 32 * 1024 * 1024
_CLOSED = -1
_UNSAFE = lazy_regex(r"[^A-Za-z0-9_.-]+")


class PartFacts(Struct, frozen=True, kw_only=True):
    """What a finished part was: with this in the audit log, an edit of the file shows."""

    file: str
    bytes: int
    sha256: str

    def to_json(self) -> dict[str, object]:
        """The three facts by name."""
        return {"file": self.file, "bytes": self.bytes, "sha256": self.sha256}


def recordings_folder(audit_folder: str | Path) -> Path:
    """Where recordings lie."""
    return Path(audit_folder) / FOLDER_NAME


def recording_id(*, started_s: float, session: str, chance: str) -> str:
    """A name that sorts by time and is safe as a file name."""
    stamp = datetime.fromtimestamp(started_s, UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{stamp}-{_UNSAFE.sub('_', session)[:64]}-{chance}"


class RecordingWriter:
    """One recording; not safe for use from several threads."""

    def __init__(
        self,
        folder: Path,
        name: str,
        *,
        facts: Callable[[], Mapping[str, object]],
        size: tuple[int, int],
        started_s: float,
        on_part: Callable[[PartFacts], None],
    ) -> None:
        """Make the file.

        Args:
            folder: where recordings lie; made with mode 0700.
            name: the recording's id.
            facts: what stands in each part's header about the session.
            size: columns and rows.
            started_s: when it began; times of events count from here, in each part.
            on_part: told of each part that is finished.

        Raises:
            AuditWriteFailed: it cannot be made.
        """
        self.name = name
        self._folder = folder
        self._facts = facts
        self._size = size
        self._started_s = started_s
        self._on_part = on_part
        self._fd = _CLOSED
        self._part = 0
        self._path = ""
        self._written = 0
        self._digest = hashlib.sha256()
        with self._failing():
            _open_folder(folder)
            self._open_part()

    @property
    def path(self) -> Path:
        """The part that is being written."""
        return Path(self._path)

    @property
    def part(self) -> int:
        """Its number, from 1."""
        return self._part

    def write(self, lines: bytes) -> None:
        """Append whole lines.

        Raises:
            AuditWriteFailed: not one of them is in the file.
        """
        with self._failing():
            if self._is_lost():
                self._end_part()
                self._open_part()
            if self._written >= PART_BYTES:
                self._end_part()
                self._open_part()
            self._put(lines)

    def resized(self, cols: int, rows: int) -> None:
        """The terminal has another size: the next part's header says so."""
        self._size = (cols, rows)

    def close(self) -> None:
        """Let go of the file; closing twice does nothing."""
        if self._fd != _CLOSED:
            self._end_part()

    def _open_part(self) -> None:
        self._part += 1
        suffix = "" if self._part == 1 else f".{self._part:03d}"
        self._path = str(self._folder / f"{self.name}{suffix}.cast")
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd = os.open(self._path, flags, 0o600)
        with contextlib.suppress(BlockingIOError):  # a reader looked at it just now; then it seems finished
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._written = 0
        self._digest = hashlib.sha256()
        facts = self._facts()
        self._put(
            header_line(
                cols=self._size[0],
                rows=self._size[1],
                started_s=self._started_s,
                title=f"{facts.get('session')} on {facts.get('target')}",
                env={"SHELL": "/bin/bash", "TERM": "xterm-256color"},
                facts={"recording": self.name, "part": self._part, **facts},
            )
        )

    def _put(self, lines: bytes) -> None:
        done = os.write(self._fd, lines)
        if done != len(lines):
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._written)
            raise OSError(f"only {done} of {len(lines)} bytes could be written")
        self._written += done
        self._digest.update(lines)

    def _end_part(self) -> None:
        facts = PartFacts(file=os.path.basename(self._path), bytes=self._written, sha256=self._digest.hexdigest())  # noqa: PTH119
        os.close(self._fd)
        self._fd = _CLOSED
        self._on_part(facts)

    def _is_lost(self) -> bool:
        """Whether the file was removed, replaced, cut or written to by somebody else."""
        mine = os.fstat(self._fd)
        try:
            there = os.stat(self._path, follow_symlinks=False)  # noqa: PTH116 # a Path costs 10 µs here
        except FileNotFoundError:
            return True
        return (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino) or mine.st_size != self._written

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, StorageUnavailable, ConfigPermissions) as error:
            why = (error.strerror or str(error)) if isinstance(error, OSError) else error.message.rstrip(".")
            raise AuditWriteFailed(
                f"The recording {self.name} cannot be written: {why}.",
                hint="Nothing runs until it can be: see that the folder exists and its disk has room.",
                details={"folder": str(self._folder)},
            ) from error


def _open_folder(folder: Path) -> None:
    if folder.is_symlink():
        raise StorageUnavailable(f"{folder} is a link.", hint="Move it away; execkit-mcp makes its own.")
    open_private_folder(folder)
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise StorageUnavailable(f"{folder} is not a folder.", hint="Move it away; execkit-mcp makes its own.")
