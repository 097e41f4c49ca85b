"""Recordings as readers see them: which there are, which still grow, and their events as they come; reading only.

No reader touches a writer: following a live recording is reading on from an offset, and the session that is
watched pays nothing for it.
"""

import fcntl
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from execkit_mcp.audit.asciicast import Event, parse_event, parse_header
from execkit_mcp.errors import CommandInvalid
from execkit_mcp.model.regex import lazy_regex

__all__ = ["Recording", "find_recording", "list_recordings", "read_events", "read_header"]

_NAME = lazy_regex(r"(?P<id>[0-9]{8}T[0-9]{6}Z-.+?-[0-9a-f]{6})(?:\.(?P<part>[0-9]{3,}))?\.cast")
_CHUNK = 1 << 20
_HEADER_BYTES = 1 << 16


class Recording(Struct, frozen=True, kw_only=True):
    """One session's recording.

    Attributes:
        id: its name.
        paths: its parts, in order.
        header: the first part's header; empty if it cannot be read.
        size: bytes of all parts.
    """

    id: str
    paths: tuple[Path, ...]
    header: Mapping[str, object]
    size: int

    @property
    def path(self) -> Path:
        """The newest part: the one that grows."""
        return self.paths[-1]

    @property
    def facts(self) -> Mapping[str, object]:
        """Session, target, requester, client, policy, start."""
        facts = self.header.get("execkit")
        return facts if isinstance(facts, dict) else {}

    @property
    def session(self) -> str:
        """The session's name."""
        return str(self.facts.get("session", ""))

    @property
    def started_s(self) -> float:
        """When it began, in seconds since 1970, as its name says."""
        stamp = self.id.partition("-")[0]
        try:
            return datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
        except ValueError:
            return 0.0

    @property
    def is_live(self) -> bool:
        """Whether its writer lives."""
        try:
            return _is_held(self.path)
        except OSError:  # it was removed just now, or it is no file
            return False


def list_recordings(folder: Path, *, has_headers: bool = True) -> tuple[Recording, ...]:
    """Every recording in ``folder``, the newest first; none if there is no such folder.

    ``has_headers``: read them; without, a long list costs little.
    """
    parts: dict[str, list[tuple[int, Path]]] = {}
    try:
        names = os.listdir(folder)  # noqa: PTH208 # names are all that is needed
    except OSError:
        return ()
    for name in names:
        if (match := _NAME.fullmatch(name)) is not None:
            parts.setdefault(match["id"], []).append((int(match["part"] or 1), folder / name))
    rows = ((name, tuple(path for _, path in sorted(parts[name]))) for name in sorted(parts, reverse=True))
    found = (_recording(name, paths, has_headers=has_headers) for name, paths in rows)
    return tuple(each for each in found if each is not None)


def find_recording(folder: Path, name: str) -> Recording:
    """The recording with that id, the only one whose id ends so, or the newest of the session of that name.

    Raises:
        CommandInvalid: there is none.
    """
    all_ = list_recordings(folder)
    found = [each for each in all_ if each.id == name] or [each for each in all_ if each.session == name]
    found = found or [each for each in all_ if each.id.endswith("-" + name)]
    if found:
        return found[0]
    known = ", ".join(each.id for each in all_[:5]) or "there are none"
    raise CommandInvalid(
        f"No recording is called {name!r}.",
        hint=f"Name a session, a recording or a file; `audit recordings` lists them. The newest: {known}.",
    )


def read_header(path: Path) -> Mapping[str, object]:
    """The header of a file.

    Raises:
        ValueError: it is no recording.
        OSError: it cannot be read.
    """
    with _open(path) as file:
        return parse_header(file.readline(_HEADER_BYTES))


def read_events(path: Path, offset: int = 0, *, most_bytes: int = 8 << 20) -> tuple[tuple[Event, ...], int]:
    """The events behind ``offset`` and the offset to read on from; a line that is not whole yet is left for later.

    Lines that are no events are left out. ``most_bytes``: where to stop, at the next line end.
    """
    events: list[Event] = []
    with _open(path) as file:
        file.seek(offset)
        if offset == 0:
            offset += len(file.readline(_HEADER_BYTES))
        stop = offset + most_bytes
        while offset < stop and (line := file.readline(_CHUNK * 64)).endswith(b"\n"):
            offset += len(line)
            try:
                events.append(parse_event(line))
            except (ValueError, RecursionError):
                continue
    return tuple(events), offset


def _recording(name: str, paths: tuple[Path, ...], *, has_headers: bool) -> Recording | None:
    try:
        size = sum(path.lstat().st_size for path in paths)
    except OSError:  # it was removed just now
        return None
    try:
        header = read_header(paths[0]) if has_headers else {}
    except (OSError, ValueError, RecursionError):
        header = {}
    return Recording(id=name, paths=paths, header=header, size=size)


def _is_held(path: Path) -> bool:
    with _open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _open(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK), "rb")
