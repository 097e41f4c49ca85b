"""The state folder and its files: made private, tightened when too open, refused if others may have written.

Readable by others is mended on the spot (0700, 0600). Writable by others, or owned by somebody else, is
refused: what stands in there may not be ours, and no ``chmod`` makes that good again.
"""

import os
import stat
from pathlib import Path

from execkit_mcp.errors import ConfigPermissions, StorageUnavailable

__all__ = ["check_private_file", "create_private_file", "open_private_folder", "sync_folder"]

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ANY = stat.S_IRWXG | stat.S_IRWXO


def open_private_folder(folder: str | Path) -> Path:
    """The absolute form of ``folder``, made with mode 0700 if it is missing.

    Raises:
        StorageUnavailable: it does not exist and cannot be made, or is not a folder.
        ConfigPermissions: it belongs to somebody else, or others may write in it.
    """
    path = Path(os.path.abspath(folder))  # noqa: PTH100 # resolve() follows links, and the operator may use one
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.stat()
        _refuse_foreign(path, found, mode="700")
        if found.st_mode & _OTHERS_ANY:
            path.chmod(0o700)
    except OSError as error:
        raise StorageUnavailable(
            f"The folder {path} cannot be used: {_why(error)}.",
            hint=f"Make it writable for uid {os.geteuid()}, or choose another with --state-dir.",
            details={"folder": str(path)},
        ) from error
    return path


def create_private_file(path: Path) -> bool:
    """Make ``path`` with mode 0600 if it is missing, then check it; True when it was made just now.

    An existing file is never opened here: closing a second descriptor of an SQLite file would drop the locks
    that this process holds on it (fcntl(2), "record locks").

    Raises:
        StorageUnavailable: it cannot be made.
        ConfigPermissions: see ``check_private_file``.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        check_private_file(path)
        return False
    except OSError as error:
        raise StorageUnavailable(
            f"The file {path} cannot be made: {_why(error)}.",
            hint=f"See that {path.parent} is writable for uid {os.geteuid()} and its disk has room.",
            details={"folder": str(path.parent)},
        ) from error
    return True


def check_private_file(path: Path, *, may_be_missing: bool = False) -> None:
    """Tighten ``path`` to 0600 when others may read it.

    Args:
        path: the file.
        may_be_missing: whether it need not be there, nor stay while it is looked at.

    Raises:
        StorageUnavailable: it is missing or not a regular file.
        ConfigPermissions: it belongs to somebody else, or others may write it.
    """
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise StorageUnavailable(f"{path} is not a regular file.", hint="Move it away; execkit-mcp makes its own.")
        _refuse_foreign(path, found, mode="600")
        if found.st_mode & _OTHERS_ANY:
            path.chmod(0o600)
    except OSError as error:
        if may_be_missing and isinstance(error, FileNotFoundError):
            return
        raise StorageUnavailable(
            f"The file {path} cannot be used: {_why(error)}.", hint="See that it exists and is yours."
        ) from error


def sync_folder(path: Path) -> None:
    """Put the names in ``path`` on the disk: a new file survives a power cut only after this."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse_foreign(path: Path, found: os.stat_result, *, mode: str) -> None:
    if found.st_uid != os.geteuid():
        raise ConfigPermissions(
            f"{path} belongs to uid {found.st_uid}, not to uid {os.geteuid()} who runs this.",
            hint=f"Choose a folder of your own, or run: chown -R {os.geteuid()} {path}",
        )
    if found.st_mode & _OTHERS_WRITE:
        raise ConfigPermissions(
            f"{path} is writable by others (mode {stat.S_IMODE(found.st_mode):04o}).",
            hint=f"Look whether its content is still yours, then run: chmod {mode} {path}",
        )


def _why(error: OSError) -> str:
    return error.strerror or str(error)
