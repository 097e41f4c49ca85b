"""Looking into trees that an adversary may have written; this module opens each step by itself and follows no link."""

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator

from msgspec import Struct

__all__ = ["Entry", "digest_of", "entries", "is_opaque", "opened_folder", "opened_parent", "read_at", "stat_at"]

_OPAQUE = "user.overlay.opaque"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_CHUNK = 1 << 20
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})


class Entry(Struct, frozen=True, kw_only=True):
    """One name of a folder, as the layer has it.

    Attributes:
        kind: ``file``, ``folder``, ``link``, ``whiteout`` or ``other`` (a device, a pipe, a socket).
        mode: the permission bits.
        size: of a file, in bytes.
        target: of a link.
    """

    kind: str
    mode: int
    size: int = 0
    target: str = ""


@contextlib.contextmanager
def opened_folder(path: str, *, at: int | None = None) -> Iterator[int]:
    """A descriptor of a folder; OSError if it is none or a link to one."""
    fd = os.open(path, _FOLDER, dir_fd=at)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def opened_parent(root: int, path: str) -> Iterator[tuple[int, str]]:
    """The folder that holds ``path`` below ``root``, and the last name; every step is a folder and no link."""
    *steps, name = path.split("/")
    if not name or name in {".", ".."} or any(step in {"", ".", ".."} for step in steps):
        raise OSError(errno.EINVAL, "not a plain path", path)
    at = os.dup(root)
    try:
        for step in steps:
            nearer = os.open(step, _FOLDER, dir_fd=at)
            os.close(at)
            at = nearer
        yield at, name
    finally:
        os.close(at)


def stat_at(folder: int, name: str) -> Entry | None:
    """What stands under ``name``; None if nothing does."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno in _MISSING:
            return None
        raise
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISREG(found.st_mode):
        return Entry(kind="file", mode=mode, size=found.st_size)
    if stat.S_ISDIR(found.st_mode):
        return Entry(kind="folder", mode=mode)
    if stat.S_ISLNK(found.st_mode):
        return Entry(kind="link", mode=0, target=os.readlink(name, dir_fd=folder))
    if stat.S_ISCHR(found.st_mode) and found.st_rdev == 0:
        return Entry(kind="whiteout", mode=0)
    return Entry(kind="other", mode=mode)


def entries(folder: int) -> list[str]:
    """The names in a folder, sorted."""
    return sorted(os.listdir(folder))


def is_opaque(folder: int) -> bool:
    """Whether a layer's folder hides everything below it."""
    try:
        return os.getxattr(folder, _OPAQUE) == b"y"
    except OSError:
        return False


def digest_of(folder: int, name: str) -> str:
    """SHA-256, in hex, of a regular file's bytes; OSError if it is none."""
    fd = os.open(name, _FILE, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", name)
        digest = hashlib.sha256()
        while data := os.read(fd, _CHUNK):
            digest.update(data)
        return digest.hexdigest()
    finally:
        os.close(fd)


def read_at(root: int, path: str, most: int) -> bytes:
    """At most ``most`` bytes of a regular file below ``root``; OSError if it is none."""
    with opened_parent(root, path) as (folder, name):
        fd = os.open(name, _FILE, dir_fd=folder)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", path)
            data = b""
            while len(data) < most and (more := os.read(fd, most - len(data))):
                data += more
            return data
        finally:
            os.close(fd)
