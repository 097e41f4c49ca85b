"""Vectorscan as the redactor's first stage: compiled once for a state folder, loaded in the background.

The first command never waits for it, and redaction is the same without it, only slower. What is compiled is
kept in the state folder, which nobody else can write; a file that does not load is compiled anew.
"""

import os
import secrets
import threading
from pathlib import Path

from execkit_mcp.errors import ExecKitError
from execkit_mcp.redaction import use_first_stage
from execkit_mcp.redaction.prefilter import Vectorscan, digest_of
from execkit_mcp.redaction.table import gates
from execkit_mcp.storage.folder import check_private_file, open_private_folder

_DELAY_S = 1.0
_DONE = threading.Event()
_WAITING: list[threading.Timer] = []  # at most one


def start_first_stage(folder: str | Path, *, delay_s: float = _DELAY_S) -> None:
    """Have it loaded soon, by a thread of its own; once for each process."""
    if _DONE.is_set() or _WAITING:
        return
    thread = threading.Timer(delay_s, _prepare_once, (folder,))
    thread.name, thread.daemon = "first-stage", True
    _WAITING.append(thread)
    thread.start()


def stop_first_stage() -> None:
    """Leave no thread behind, which would make a folder anew that its owner has removed; blocks while it loads."""
    while _WAITING:
        thread = _WAITING.pop()
        thread.cancel()
        thread.join()


def _prepare_once(folder: str | Path) -> None:
    prepare_first_stage(folder)
    _DONE.set()


def prepare_first_stage(folder: str | Path) -> bool:
    """Load or compile it now; False where the wheel is missing or the folder cannot be used."""
    try:
        use_first_stage(_load(open_private_folder(folder)))
    except (ImportError, OSError, ExecKitError):
        return False
    return True


def _path(folder: Path) -> Path:
    return folder / f"redaction-{digest_of(gates())}.hs"


def _load(folder: Path) -> Vectorscan:
    path = _path(folder)
    try:
        if path.exists():
            check_private_file(path)
            return Vectorscan.load(path.read_bytes())
    except (ValueError, ExecKitError):
        path.unlink(missing_ok=True)
    engine = Vectorscan.compile(gates())
    fresh = path.with_suffix(f".{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(engine.compiled())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
    return engine
