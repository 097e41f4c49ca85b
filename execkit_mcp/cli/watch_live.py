"""The live view of ``watch``: a session's recording on a small screen of our own, as it grows.

It reads the recording that the server writes, so the session that is watched pays nothing. The recording is redacted
and holds no escape code but our own; it goes through a terminal emulator all the same, and only its cells are shown.
"""

from pathlib import Path

import pyte

from execkit_mcp.approvals import visible
from execkit_mcp.audit.recordings import Recording, list_recordings, read_events
from execkit_mcp.cli.watch_inbox import cut

__all__ = ["LiveView", "SessionList"]

_MARKER, _RESIZE, _OUTPUT = "m", "r", "o"


class SessionList:
    """The recordings to choose from, those that grow first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: list[Recording] = []
        self._at = 0

    def refresh(self) -> None:
        """Look which there are."""
        found = list_recordings(self._folder)
        self._found = [each for each in found if each.is_live] + [each for each in found if not each.is_live]
        self._at = max(0, min(self._at, len(self._found) - 1))

    def press(self, key: str) -> Recording | None:
        """Take one key; the recording to show, if it chose one."""
        if key in ("j", "down"):
            self._at = min(len(self._found) - 1, self._at + 1)
        elif key in ("k", "up"):
            self._at = max(0, self._at - 1)
        elif key == "enter" and self._found:
            return self._found[self._at]
        return None

    def lines(self, cols: int, rows: int) -> list[str]:
        """The screen."""
        head = ["execkit-mcp: sessions", "─" * cols]
        shown = []
        first = max(0, self._at - rows + 5)
        for number, each in enumerate(self._found[first : first + rows - 3], first):
            facts = each.facts
            state = "live" if each.is_live else "ended"
            text = f"{state:5} {each.session} on {facts.get('target', '?')}, {facts.get('requester', '')}  {each.id}"
            shown.append(cut(("▶ " if number == self._at else "  ") + visible(text), cols))
        if not shown:
            shown = ["No session is recorded (config.yaml: recordings)."]
        body = [*head, *shown]
        return [*body, *[""] * (rows - len(body) - 1), "enter watch · j/k select · v or escape inbox · q quit"][:rows]


class LiveView:
    """One recording, followed."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._path = recording.path
        self._offset = 0
        self._marker = ""
        self._screen = pyte.Screen(*_size(recording.header))
        self._stream = pyte.Stream(self._screen)
        self.refresh()

    def refresh(self) -> bool:
        """Read what came; True if anything did."""
        events, self._offset = read_events(self._path, self._offset)
        for event in events:
            if event.code == _OUTPUT:
                self._stream.feed(event.text)
            elif event.code == _RESIZE:
                cols, rows = _parsed_size(event.text) or (self._screen.columns, self._screen.lines)
                self._screen.resize(rows, cols)
            elif event.code == _MARKER:
                self._marker = event.text
        return bool(events)

    def lines(self, cols: int, rows: int) -> list[str]:
        """The screen: the last rows of the session's own that hold something."""
        text = [line.rstrip() for line in self._screen.display]
        while text and not text[-1]:
            text.pop()
        body = [cut(_inert(line), cols) for line in text[-(rows - 3) :]]
        head = cut(f"execkit-mcp: session {visible(self._recording.session)} ({self._recording.id})", cols)
        foot = cut(visible(self._marker) or "v or escape: back · q quit", cols)
        return [head, "─" * cols, *body, *[""] * (rows - 3 - len(body)), foot][:rows]


def _inert(line: str) -> str:
    return "".join(character if character.isprintable() else "�" for character in line)


def _size(header: object) -> tuple[int, int]:
    width = header.get("width") if isinstance(header, dict) else None
    height = header.get("height") if isinstance(header, dict) else None
    return _bounded(width, 120, 500), _bounded(height, 40, 300)


def _bounded(value: object, usual: int, most: int) -> int:
    return value if isinstance(value, int) and 1 <= value <= most else usual


def _parsed_size(text: str) -> tuple[int, int] | None:
    cols, _, rows = text.partition("x")
    if cols.isdecimal() and rows.isdecimal() and 1 <= int(cols[:4]) <= 500 and 1 <= int(rows[:4]) <= 300:  # noqa: PLR2004
        return int(cols[:4]), int(rows[:4])
    return None
