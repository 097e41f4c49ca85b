"""A change to one file of somebody else: shown as a diff, backed up, written in one step or not at all."""

import difflib
import os
import secrets
import stat
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from execkit_mcp.errors import ConfigError

_MAX_BYTES = 32 << 20


class FileChange(Struct, frozen=True, kw_only=True):
    """What a file says and will say; ``before`` is None where there is no file, ``after`` where none is left."""

    path: Path
    before: str | None
    after: str | None

    @property
    def is_needed(self) -> bool:
        """Whether anything changes."""
        return (self.before or "") != (self.after or "") or (self.before is not None and self.after is None)

    def diff(self) -> str:
        """The change as a unified diff."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            (self.after or "").splitlines(keepends=True),
            fromfile=str(self.path) if self.before is not None else "/dev/null",
            tofile=str(self.path) if self.after is not None else "/dev/null",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def apply(self) -> Path | None:
        """Carry it out; the backup's path, or None where there was nothing to back up.

        Raises:
            ConfigError: the file cannot be written, or changed since it was read.
        """
        try:
            return self._apply(Path(os.path.realpath(self.path)))
        except OSError as error:
            raise ConfigError(
                f"{self.path} cannot be written: {error.strerror}.",
                hint="Nothing was changed. --print shows what to put in by hand.",
            ) from error

    def _apply(self, real: Path) -> Path | None:
        if read_text(self.path) != self.before:
            raise ConfigError(
                f"{self.path} changed while this ran.", hint="Nothing was changed. Close the client and run it again."
            )
        backup = None
        mode = 0o600
        if self.before is not None:
            mode = stat.S_IMODE(real.stat().st_mode)
            stamp = datetime.now(tz=UTC).strftime("%Y%m%dT%H%M%SZ")
            backup = real.with_name(f"{real.name}.{stamp}-{secrets.token_hex(4)}.bak")
            _write(backup, self.before, mode)
        if self.after is None:
            real.unlink(missing_ok=True)
            return backup
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = real.with_name(f".{real.name}.{secrets.token_hex(4)}")
        try:
            _write(fresh, self.after, mode)
            fresh.replace(real)
        finally:
            fresh.unlink(missing_ok=True)
        return backup


def _write(path: Path, text: str, mode: int) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(text.encode())
        file.flush()
        os.fsync(descriptor)


def read_text(path: Path) -> str | None:
    """The file's text, line ends as they are; None where there is no file.

    Raises:
        ConfigError: it cannot be read, or is no UTF-8 text file.
    """
    try:
        if not path.is_file():
            if path.is_symlink() and not path.exists():
                raise ConfigError(
                    f"{path} is a link to {path.readlink()}, where nothing is.", hint="Make that file, or unlink this."
                )
            if path.exists():
                raise ConfigError(f"{path} is no file.", hint="Look what it is; nothing was changed.")
            return None
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.", hint="Nothing was changed.") from error
    if len(data) > _MAX_BYTES:
        raise ConfigError(f"{path} is larger than {_MAX_BYTES >> 20} MiB.", hint="Nothing was changed.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no UTF-8 text (byte {error.start}).", hint="Nothing was changed.") from None
