"""The configuration of git repositories on this machine, as text: what the policy looks at before git reads it.

The repository is somebody else's: what is no plain file, or more than is looked at, reads as ``_UNSEEN``, an include of
a file that was not looked at.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from execkit_mcp.model.regex import lazy_regex

__all__ = ["configuration"]

_MAX_BYTES = 100_000
_MAX_MODULES = 500
_UNSEEN = b"\n[include]\n"
_MODULE_PATH = lazy_regex(rb"^[ \t]*path[ \t]*=[ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)


def configuration(folder: str) -> str:
    """What configures the repository around ``folder``, and its submodules; "" where there is no repository."""
    try:
        found = _repository(Path(folder))
        return "" if found is None else "\n".join(_texts(*found))
    except (OSError, ValueError):
        return ""


def _repository(folder: Path) -> tuple[Path, Path | None] | None:
    """The git folder, and the work tree that it belongs to, as git finds them: upwards from here."""
    for each in (folder, *folder.parents):
        git = each / ".git"
        if git.is_dir():
            return git, each
        if git.is_file():
            told = _read(git).removeprefix("gitdir:").strip()
            return each / told, each
        if (each / "HEAD").is_file() and (each / "objects").is_dir() and (each / "refs").is_dir():
            return each, None
    return None


def _texts(git: Path, tree: Path | None) -> Iterator[str]:
    common = git / _read(git / "commondir").strip() if (git / "commondir").is_file() else git
    for path in (common / "config", common / "config.worktree", git / "config.worktree"):
        yield _read(path)
    yield from map(_read, _configs_below(common / "modules"))
    if tree is not None:
        told = _bytes(tree / ".gitmodules")
        paths = _MODULE_PATH.findall(told)
        if told.endswith(_UNSEEN) or len(paths) > _MAX_MODULES:
            yield _UNSEEN.decode()
        for path in paths[:_MAX_MODULES]:
            yield _read(tree / os.fsdecode(path) / ".git" / "config")


def _configs_below(modules: Path) -> Iterator[Path]:
    for count, (folder, names, files) in enumerate(os.walk(modules)):
        if "HEAD" in files:
            names[:] = [name for name in names if name == "modules"]
        if "config" in files:
            yield Path(folder) / "config"
        if count >= _MAX_MODULES:
            yield modules  # no file: unseen
            return


def _bytes(path: Path) -> bytes:
    """What stands in a file; a pipe in its place would keep whoever opens it waiting."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError:
        return _UNSEEN
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return _UNSEEN
        text = os.read(descriptor, _MAX_BYTES + 1)
    except OSError:
        return _UNSEEN
    finally:
        os.close(descriptor)
    return text if len(text) <= _MAX_BYTES else text[:_MAX_BYTES] + _UNSEEN


def _read(path: Path) -> str:
    return _bytes(path).decode("utf-8", "replace")
