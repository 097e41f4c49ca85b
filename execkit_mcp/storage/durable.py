"""The folders of durable jobs: what outlives a server, written by each job's own process; this module is their layout.

    <state folder>/durable/              0700
        x_0123456789ab/                  0700, one for each job
            job.json      0600           whose it is, what it runs; written once, by the server that started it
            state.json    0600           how it stands; replaced whole by the job's process
            stdout, stderr 0600          cleaned, redacted output, bounded like any command's
            recorded      0600           its end stands on the record
            lock          0600           held (fcntl(2)) by the job's process for as long as it lives

Who holds the lock is the job's process: the kernel knows its number, and lets go of the lock however it ends. So no
number that was written down is ever trusted, and none that is reused is taken for a job.
"""

import contextlib
import fcntl
import json
import os
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path

from execkit_mcp.errors import ConfigPermissions, StorageUnavailable
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.storage.folder import open_private_folder

__all__ = ["DurableFile", "DurableFolder", "holder_of", "job_folders", "make_job_folder", "take_lock"]

_ID = lazy_regex(r"x_[0-9a-f]{12}")
_FLOCK = "hhqqi4x"
_MAX_JSON = 1 << 20
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class DurableFolder:
    """One job's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.exec_id = path.name

    def read(self, name: str) -> Mapping[str, object] | None:
        """What ``NAME.json`` says; None if there is no such object."""
        try:
            fd = os.open(self.path / f"{name}.json", os.O_RDONLY | _FLAGS)
            with os.fdopen(fd, "rb") as file:
                value = json.loads(file.read(_MAX_JSON))
        except (OSError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def write(self, name: str, value: Mapping[str, object]) -> None:
        """Replace ``NAME.json`` as a whole; raises OSError."""
        path = self.path / f".{name}.json"
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(value, file)
        path.replace(self.path / f"{name}.json")

    def file(self, stream: str) -> "DurableFile":
        """The bytes of one stream."""
        return DurableFile(self.path / stream)

    def holder(self) -> int | None:
        """The job's process, if it lives."""
        return holder_of(self.path / "lock")

    def note(self, name: str) -> bool:
        """Write down that something was done about this job; True for the first who does."""
        try:
            os.close(os.open(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600))
        except OSError:
            return False
        return True

    def forget(self, name: str) -> None:
        """Undo ``note``."""
        with contextlib.suppress(OSError):
            (self.path / name).unlink()

    def remove(self) -> None:
        """Remove it and all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)


class DurableFile:
    """A ``ByteStore`` of ``output`` that stays: written by one process, read by others."""

    is_spilled = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def _open(self, flags: int) -> int:
        if self._fd is None:
            self._fd = os.open(self._path, flags | _FLAGS, 0o600)
        return self._fd

    def write(self, at: int, data: bytes) -> None:
        """Put ``data`` at position ``at``."""
        view = memoryview(data)
        try:
            while view:
                count = os.pwrite(self._open(os.O_RDWR | os.O_CREAT), view, at)
                view, at = view[count:], at + count
        except OSError as error:
            raise StorageUnavailable(f"Output cannot be kept on disk: {error.strerror}.") from error

    def read(self, at: int, size: int) -> bytes:
        """``size`` bytes from position ``at``."""
        try:
            return os.pread(self._open(os.O_RDONLY), size, at)
        except OSError as error:
            raise StorageUnavailable(f"Output cannot be read: {error.strerror}.") from error

    def verify(self) -> None:
        """See that it is there."""
        self.read(0, 0)

    def rest(self) -> None:
        """Close the descriptor; the next use opens it again."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def discard(self) -> None:
        """Nothing: the folder goes as a whole."""
        self.rest()


def job_folders(state_dir: str | Path) -> list[DurableFolder]:
    """Every job's folder, by id."""
    root = Path(state_dir, "durable")
    try:
        names = sorted(path.name for path in root.iterdir() if _ID.fullmatch(path.name) and not path.is_symlink())
    except OSError:
        return []
    return [DurableFolder(root / name) for name in names]


def make_job_folder(state_dir: str | Path, exec_id: str) -> DurableFolder:
    """A new folder for the job ``exec_id``; raises StorageUnavailable."""
    if not _ID.fullmatch(exec_id):
        raise ValueError(exec_id)
    try:
        root = open_private_folder(Path(state_dir, "durable"))
        path = root / exec_id
        path.mkdir(mode=0o700)
    except (OSError, ConfigPermissions) as error:
        raise StorageUnavailable(f"A durable job cannot be kept: {error}.") from error
    return DurableFolder(path)


def take_lock(path: Path) -> int:
    """A descriptor by which this process holds the lock for as long as it lives and opens the file nowhere else."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return fd


def holder_of(path: Path) -> int | None:
    """The process that holds the lock; None if there is none."""
    try:
        fd = os.open(path, os.O_RDWR | _FLAGS)
    except OSError:
        return None
    try:
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(fd, fcntl.F_GETLK, asked))
    except OSError:
        return None
    finally:
        os.close(fd)
    return None if kind == fcntl.F_UNLCK or pid <= 0 else int(pid)
