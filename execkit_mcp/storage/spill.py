"""Output that is too long for memory: this module keeps it in private files that do not outlive the server.

    <state folder>/ledger/          0700   (``sandboxes`` for the layers of workspaces)
        .lock                       held while a folder is made or cleared away
        server-XXXXXXXX/            0700, one for each server that had long output
            .lock                   held for as long as the server lives
            <exec_id>.<stream>      0600

Whoever holds a lock (flock(2)) is alive; the kernel lets go of it however a process ends. A folder whose lock
can be taken was left behind by a server that was killed, and is removed when the next one starts.
"""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from execkit_mcp.errors import ConfigPermissions, StorageUnavailable
from execkit_mcp.storage.folder import create_private_file, open_private_folder

__all__ = ["WINDOW_BYTES", "SpillFile", "SpillFolder", "remove_tree"]

WINDOW_BYTES = 1 << 17
_PREFIX = "server-"
_LOCK = ".lock"


class SpillFolder:
    """The files of one server; made when the first is needed. Nothing here raises but StorageUnavailable."""

    def __init__(self, state_dir: str | Path, name: str = "ledger") -> None:
        self._root = Path(state_dir) / name
        self._folder: Path | None = None
        self._lock: int | None = None
        self._is_closed = False

    def clear_leftovers(self) -> int:
        """Remove what servers that were killed left behind; how many folders that were."""
        if not self._root.is_dir():
            return 0
        removed = 0
        with contextlib.suppress(OSError, StorageUnavailable, ConfigPermissions), self._locked_root():
            for folder in sorted(self._root.glob(_PREFIX + "*")):
                lock = _take_lock(folder / _LOCK, is_patient=False)
                if lock is None:
                    continue
                try:
                    remove_tree(folder)
                    removed += 1
                finally:
                    os.close(lock)
        return removed

    def store(self, name: str, *, window_bytes: int = WINDOW_BYTES) -> "SpillFile":
        """Bytes that lie in memory while there are at most ``window_bytes``, then in the file ``name``."""
        return SpillFile(self, name, window_bytes)

    def path(self, name: str) -> Path:
        """Where a file of that name belongs; makes the folder if need be."""
        if self._is_closed:
            raise StorageUnavailable("The server is ending.", hint="Start it again.")
        if self._folder is None:
            try:
                with self._locked_root():
                    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._root))
                    self._lock = _take_lock(folder / _LOCK, is_patient=True)
                    self._folder = folder
            except (OSError, ConfigPermissions) as error:
                raise _unavailable(error) from error
        return self._folder / name

    def close(self) -> None:
        """Remove everything."""
        self._is_closed = True
        if self._folder is not None:
            remove_tree(self._folder)
            self._folder = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @contextlib.contextmanager
    def _locked_root(self) -> Iterator[None]:
        open_private_folder(self._root)
        create_private_file(self._root / _LOCK)
        lock = _take_lock(self._root / _LOCK, is_patient=True)
        try:
            yield
        finally:
            if lock is not None:
                os.close(lock)


class SpillFile:
    """A ``ByteStore`` of ``output``: in memory at first, in a file of its own when it has grown."""

    __slots__ = ("_fd", "_folder", "_identity", "_is_discarded", "_memory", "_name", "_window_bytes")

    def __init__(self, folder: SpillFolder, name: str, window_bytes: int) -> None:
        self._folder = folder
        self._name = name
        self._window_bytes = window_bytes
        self._memory: bytearray | None = bytearray()
        self._fd: int | None = None
        self._identity: tuple[int, ...] | None = None
        self._is_discarded = False

    @property
    def is_spilled(self) -> bool:
        """Whether the bytes lie in the file."""
        return self._memory is None

    def write(self, at: int, data: bytes) -> None:
        """Put ``data`` at position ``at``; after ``discard`` it is dropped."""
        if self._is_discarded:
            return
        memory = self._memory
        if memory is not None and at + len(data) <= self._window_bytes:
            if at > len(memory):
                memory.extend(bytes(at - len(memory)))
            memory[at : at + len(data)] = data
            return
        if memory is not None:
            self._write_all(0, bytes(memory))
            self._memory = None
        self._write_all(at, data)

    def _write_all(self, at: int, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                count = os.pwrite(self._open(), view, at)
                view, at = view[count:], at + count
        except OSError as error:
            raise _unavailable(error) from error

    def read(self, at: int, size: int) -> bytes:
        """``size`` bytes from position ``at``."""
        if self._memory is not None:
            return bytes(self._memory[at : at + size])
        try:
            data = os.pread(self._open(), size, at)
            while len(data) < size and (more := os.pread(self._open(), size - len(data), at + len(data))):
                data += more
        except OSError as error:
            raise _unavailable(error) from error
        return data

    def verify(self) -> None:
        """See that the file is there and is as it was left at ``rest``."""
        if self._memory is None:
            try:
                self._open()
            except OSError as error:
                raise _unavailable(error) from error

    def rest(self) -> None:
        """Close the descriptor; the next use opens it again."""
        if self._fd is not None:
            self._identity = _identity(os.fstat(self._fd))
            os.close(self._fd)
            self._fd = None

    def discard(self) -> None:
        """Remove the file."""
        self.rest()
        if self._identity is not None:
            with contextlib.suppress(OSError, StorageUnavailable):  # the folder went with the server
                self._folder.path(self._name).unlink(missing_ok=True)
        self._memory, self._identity, self._is_discarded = bytearray(), None, True

    def _open(self) -> int:
        if self._fd is not None:
            return self._fd
        path = self._folder.path(self._name)
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        if self._identity is None:
            self._fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
            self._identity = _identity(os.fstat(self._fd))
            return self._fd
        fd = os.open(path, flags)
        found = os.fstat(fd)
        if _identity(found) != self._identity or not stat.S_ISREG(found.st_mode):
            os.close(fd)
            raise OSError(0, "somebody changed the file")
        self._fd = fd
        return fd


def _identity(found: os.stat_result) -> tuple[int, ...]:
    """What tells that a file is ours and as we left it; nobody but root sets a ctime."""
    return found.st_dev, found.st_ino, found.st_ctime_ns, found.st_size


def _take_lock(path: Path, *, is_patient: bool) -> int | None:
    """A descriptor that holds the lock; None if somebody else holds it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if is_patient else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(fd)
        return None
    except BaseException:
        os.close(fd)
        raise
    return fd


def _unavailable(error: Exception) -> StorageUnavailable:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return StorageUnavailable(
        f"Output cannot be kept on disk: {why}.", hint="See that the state folder is writable and its disk has room."
    )


def remove_tree(folder: Path) -> None:
    """Remove a folder and everything in it, folders included that were closed to hinder it; nothing is raised."""
    for _ in range(2):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        for path, _names, _files in os.walk(folder, followlinks=False):
            with contextlib.suppress(OSError):
                os.chmod(path, 0o700)  # noqa: PTH101 - of the folder that was just listed
        for path, names, _files in os.walk(folder, followlinks=False):
            for name in names:
                inner = os.path.join(path, name)  # noqa: PTH118 - strings, many of them
                with contextlib.suppress(OSError):
                    if stat.S_ISDIR(os.lstat(inner).st_mode):
                        os.chmod(inner, 0o700)  # noqa: PTH101 - no link: it was just looked at
