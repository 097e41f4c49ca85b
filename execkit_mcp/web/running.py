"""Whether a page runs over a state folder, and where: this module is the file that says so.

<state folder>/web/running     0600: the page's address and port; flock(2) is held for as long as the page lives
"""

import fcntl
import json
import os
from pathlib import Path
from typing import Self

from execkit_mcp.errors import StorageUnavailable
from execkit_mcp.storage import open_private_folder
from execkit_mcp.storage.folder import create_private_file

__all__ = ["Running", "address_of"]

_MAX_ADDRESS = 1024


class Running:
    """The claim of one page on its state folder."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def claim(cls, state_dir: Path) -> Self:
        """Claim it; StorageUnavailable if a page runs already."""
        path = _path(state_dir)
        create_private_file(path)
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise StorageUnavailable(
                f"A page runs already over this state folder: {_read(path) or 'its address is not known yet'}",
                hint="Make another link to it: execkit-mcp web --link",
            ) from error
        os.ftruncate(descriptor, 0)
        return cls(descriptor)

    def tell(self, address: str, port: int) -> None:
        """Write down where it runs: what browsers open, and the port behind it."""
        os.pwrite(self._descriptor, json.dumps({"address": address, "port": port}).encode(), 0)

    def close(self) -> None:
        """Let go of it."""
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def address_of(state_dir: Path) -> str | None:
    """Where the page over ``state_dir`` runs; None if none does."""
    path = _path(state_dir)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read(path)
    finally:
        os.close(descriptor)
    return None


def _path(state_dir: Path) -> Path:
    return open_private_folder(state_dir / "web") / "running"


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return str(json.loads(file.read(_MAX_ADDRESS))["address"])
    except (OSError, ValueError, KeyError, TypeError):  # it is just being written
        return None
