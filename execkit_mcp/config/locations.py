"""Where things are: configuration, state, the shipped policies."""

import os
from collections.abc import Mapping
from pathlib import Path

from execkit_mcp.errors import ConfigPermissions, StorageUnavailable

_FOLDER = "execkit-mcp"
_PACKAGE = Path(__file__).resolve().parent.parent
_PRIVATE = 0o700
_WRITABLE_BY_OTHERS = 0o022
_OPEN_TO_OTHERS = 0o077


def home_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """``$HOME``, else what the user database says."""
    home = environ.get("HOME", "")
    return Path(home) if home.startswith("/") else Path("~").expanduser()


def config_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """``$XDG_CONFIG_HOME/execkit-mcp``; a relative value is ignored, as the XDG specification asks."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config") / _FOLDER


def state_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """``$XDG_STATE_HOME/execkit-mcp``."""
    return _xdg(environ, "XDG_STATE_HOME", ".local/state") / _FOLDER


def usual_state_dirs() -> tuple[str, ...]:
    """Where servers of this user keep their state unless they are told otherwise, by ``$HOME`` and by the database."""
    return tuple(dict.fromkeys((str(state_dir()), str(state_dir({})))))


def _xdg(environ: Mapping[str, str], name: str, fallback: str) -> Path:
    stated = environ.get(name, "")
    return Path(stated) if stated.startswith("/") else home_dir(environ) / fallback


def ensure_state_dir(folder: Path | str) -> Path:
    """``folder``, made if need be, private and writable.

    Raises:
        StorageUnavailable: it cannot be made or written.
        ConfigPermissions: others could already write to it, or it belongs to someone else.
    """
    path = Path(folder)
    try:
        path.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        facts = path.stat()
    except OSError as error:
        raise StorageUnavailable(
            f"The folder {path} cannot be used: {error.strerror}.",
            hint="Make it writable, or name another one with --state-dir or EXECKIT_STATE_DIR.",
        ) from error
    if facts.st_uid != os.geteuid():
        raise ConfigPermissions(
            f"The folder {path} belongs to user {facts.st_uid}, not to you ({os.geteuid()}).",
            hint="Name a folder of your own with --state-dir or EXECKIT_STATE_DIR.",
        )
    if facts.st_mode & _WRITABLE_BY_OTHERS:
        raise ConfigPermissions(
            f"The folder {path} can be written by others (mode {facts.st_mode & 0o7777:04o}).",
            hint=f"Look at what is in it, then run: chmod 700 {path}",
        )
    if facts.st_mode & _OPEN_TO_OTHERS:
        path.chmod(_PRIVATE)
    if not os.access(path, os.W_OK | os.X_OK):
        raise StorageUnavailable(
            f"The folder {path} cannot be written.",
            hint=f"Run: chmod 700 {path}; or name another one with --state-dir or EXECKIT_STATE_DIR.",
        )
    return path


def shipped_policies_dir() -> Path:
    """The folder of the shipped policies: inside an installed package, beside the package in a checkout."""
    installed = _PACKAGE / "policies"
    checkout = _PACKAGE.parent / "policies"
    is_checkout = not installed.is_dir() and (_PACKAGE.parent / "pyproject.toml").is_file()
    return checkout if is_checkout else installed
