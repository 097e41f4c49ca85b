"""Reading a file that decides something: refused when anyone but its owner or root could have written it.

The checks look at the opened descriptor, so that the file that was checked is the file that is read.
"""

import os
import stat
from pathlib import Path

from execkit_mcp.config.strict_yaml import MAX_BYTES
from execkit_mcp.errors import ConfigError, ConfigNotFound, ConfigPermissions

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_CHUNK = 1 << 16


def read_trusted(path: Path | str, *, what: str = "configuration file", may_be_shared: bool = False) -> bytes:
    """The bytes of ``path``, at most one more than a document may have.

    ``may_be_shared`` leaves the check of owner and mode out, for files that are as trusted as this program's
    code.

    Raises:
        ConfigNotFound: there is no such file.
        ConfigPermissions: group or others can write it, or it belongs to a user other than you and root.
        ConfigError: it is no regular file, or cannot be read.
    """
    name = os.fspath(path)
    if "\0" in name:
        raise ConfigError(f"The name of the {what} holds a NUL character.", hint="Name a file.")
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigNotFound(f"There is no {what} {name}.", hint="Check the spelling, or leave it out.") from None
    except OSError as error:
        raise ConfigError(
            f"The {what} {name} cannot be read: {error.strerror}.",
            hint=f"See that uid {os.geteuid()} may read it, or name another.",
        ) from error
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            kind = "folder" if stat.S_ISDIR(facts.st_mode) else "device, socket or pipe"
            raise ConfigError(f"The {what} {name} is a {kind}, not a file.", hint="Name a YAML file.")
        if not may_be_shared:
            _check_owner(name, facts, what)
            _check_folder(name, what)
        return _read(descriptor)
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> bytes:
    chunks: list[bytes] = []
    left = MAX_BYTES + 1
    while left > 0 and (chunk := os.read(descriptor, min(left, _CHUNK))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _check_owner(name: str, facts: os.stat_result, what: str) -> None:
    if facts.st_mode & _WRITABLE_BY_OTHERS:
        raise ConfigPermissions(
            f"The {what} {name} can be written by others (mode {stat.S_IMODE(facts.st_mode):04o}).",
            hint=f"Look at what is in it, then run: chmod go-w {name}",
            details={"path": name, "mode": f"{stat.S_IMODE(facts.st_mode):04o}"},
        )
    if facts.st_uid not in (0, os.geteuid()):
        raise ConfigPermissions(
            f"The {what} {name} belongs to user {facts.st_uid}, who could change it at any time.",
            hint=f"Look at what is in it, then run: chown {os.geteuid()} {name}",
            details={"path": name, "owner": facts.st_uid},
        )


def _check_folder(name: str, what: str) -> None:
    """A folder that anyone can write (without the sticky bit) lets anyone replace the file."""
    folder = Path(name).resolve().parent
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise ConfigPermissions(
            f"The {what} {name} lies in a folder that others can write: {folder} ({stat.S_IMODE(mode):04o}).",
            hint=f"Run: chmod o-w {folder}",
            details={"path": str(folder), "mode": f"{stat.S_IMODE(mode):04o}"},
        )
