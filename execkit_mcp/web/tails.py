"""Recordings as they grow: this module reads on where it stopped, once for all who watch.

A tail holds the latest turns and the screen of one recording. Reading takes no lock and talks to nobody, so the
session that is watched pays nothing for it.
"""

import stat
import threading
from collections import OrderedDict
from pathlib import Path

from execkit_mcp.audit.asciicast import Event
from execkit_mcp.audit.recordings import Recording, list_recordings, read_events
from execkit_mcp.model import Clock
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.output.screen import Screen
from execkit_mcp.web.transcript import Transcript

__all__ = ["MAX_SIZE", "Tail", "Tails", "screen_size"]

_SIZE = lazy_regex("([0-9]{1,4})x([0-9]{1,4})")
_FIRST_LOOK_BYTES = 2 << 20
_MAX_TAILS = 12
_KEPT_TURNS = 64
MAX_SIZE = (400, 200)
_DEFAULT_SIZE = (120, 40)


def screen_size(width: object, height: object) -> tuple[int, int]:
    """Columns and rows as they were recorded, within what can be shown."""
    pairs = zip((width, height), MAX_SIZE, _DEFAULT_SIZE, strict=True)
    cols, rows = (min(most, max(1, given)) if isinstance(given, int) else usual for given, most, usual in pairs)
    return cols, rows


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


class Tail:
    """The end of one recording, kept up to date by whoever asks."""

    def __init__(self, recording: Recording, clock: Clock) -> None:
        self.recording = recording
        self.transcript = Transcript(most=_KEPT_TURNS)
        self.screen = Screen(*screen_size(recording.header.get("width"), recording.header.get("height")))
        self.is_whole = True
        self._clock = clock
        self._lock = threading.Lock()
        self._path: Path | None = None
        self._offset = 0

    def catch_up(self, recording: Recording) -> None:
        """Read what was added; ``recording`` is how it stands now."""
        with self._lock:
            self.recording = recording
            if self._path is None:
                self._path = recording.paths[-1]
                size = self._path.stat().st_size
                self._offset = max(0, size - _FIRST_LOOK_BYTES)
                self.is_whole = self._offset == 0 and len(recording.paths) == 1
            for path in recording.paths:
                if path.name >= self._path.name or len(path.name) > len(self._path.name):
                    self._read(path)

    def lines(self) -> list[str]:
        """The screen, row by row."""
        with self._lock:
            return [row.text.rstrip() for row in self.screen.rows()]

    def _read(self, path: Path) -> None:
        if path != self._path:
            self._path, self._offset = path, 0
        while True:
            before = self._offset
            events, self._offset = read_events(path, before)
            self.transcript.feed(events)
            for event in events:
                self._draw(event)
            if self._offset == before:
                return

    def _draw(self, event: Event) -> None:
        if event.code == "o":
            self.screen.push(event.text, self._clock.monotonic_s())
        elif event.code == "r":
            size = _SIZE.fullmatch(event.text)
            if size is not None:
                self.screen.resize(*screen_size(int(size[1]), int(size[2])))


class Tails:
    """The tails of the recordings in one folder; the one that was not asked for longest goes first."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._tails: OrderedDict[str, Tail] = OrderedDict()

    def recordings(self) -> tuple[Recording, ...]:
        """Every recording, the newest first; a link or a folder of such a name is none."""
        return tuple(each for each in list_recordings(self._folder) if all(map(_is_file, each.paths)))

    def find(self, name: str) -> Recording | None:
        """The recording of exactly that id: one of those that lie in the folder, never a path."""
        return next((each for each in self.recordings() if each.id == name), None)

    def tail(self, recording: Recording) -> Tail:
        """Its tail, up to date."""
        with self._lock:
            tail = self._tails.get(recording.id)
            if tail is None:
                tail = self._tails[recording.id] = Tail(recording, self._clock)
            self._tails.move_to_end(recording.id)
            while len(self._tails) > _MAX_TAILS:
                self._tails.popitem(last=False)
        tail.catch_up(recording)
        return tail
