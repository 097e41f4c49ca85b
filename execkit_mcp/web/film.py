"""A recording as a film: this module cuts the waiting out, finds the markers, and draws the screen for any moment.

Theory of operation. A session can wait for hours between two commands, so a film has a time of its own in which no
pause is longer than ``MAX_PAUSE_S``. One pass over the file (``plan``) notes places with their times, and where the
markers stand; a stretch of frames is then drawn from a place a little before it. No more text before a frame is drawn
than can still be seen, so a jump costs the same anywhere in a long film.
"""

from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from execkit_mcp.audit.asciicast import Event, parse_marker
from execkit_mcp.audit.recordings import Recording, read_events
from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.output.screen import Screen
from execkit_mcp.web.tails import screen_size

__all__ = ["MAX_FRAMES", "MAX_MARKS", "MAX_PAUSE_S", "Film", "Mark", "frames", "plan"]

MAX_PAUSE_S = 2.0
MAX_FRAMES = 150
MAX_MARKS = 2000
_SIZE = lazy_regex("([0-9]{1,4})x([0-9]{1,4})")
_LONGEST_S = 1e9
_FRAME_S = 0.05
_PLACE_BYTES = 256 * 1024
_PIECE_BYTES = 1 << 20
_BEFORE_BYTES = 1 << 20
_MAX_STRETCH_CHARS = 1 << 19


class Mark(Struct, frozen=True, kw_only=True):
    """One decision: its number among them, when it stands in the film and when it was, and what it was."""

    number: int
    at_s: float
    real_s: float
    verdict: str
    command: str
    rule: str
    reason: str
    approval_id: str
    exec_id: str
    audit: int | None


class _Place(Struct, frozen=True):
    film_s: float
    real_s: float
    part: int
    offset: int


class Film(Struct, frozen=True, kw_only=True):
    """What one pass over a recording found.

    Attributes:
        recording: of what.
        length_s: how long the film is; real_s: how long it took.
        marks: the decisions, at most ``MAX_MARKS``.
        hidden: how many decisions more there are.
        places: where to begin reading.
    """

    recording: Recording
    length_s: float
    real_s: float
    marks: tuple[Mark, ...]
    hidden: int
    places: tuple[_Place, ...]


def plan(recording: Recording) -> Film:
    """Read the recording once, from end to end."""
    film_s = real_s = 0.0
    marks: list[Mark] = []
    places = [_Place(0.0, 0.0, 0, 0)]
    count = 0
    for part, path in enumerate(recording.paths):
        offset = 0
        while True:
            events, after = read_events(path, offset, most_bytes=_PLACE_BYTES)
            if after == offset:
                break
            places.append(_Place(film_s, real_s, part, offset))
            offset = after
            for event in events:
                film_s, real_s = _later(film_s, real_s, event)
                if event.code == "m":
                    mark = parse_marker(event.text)
                    if mark.verdict:
                        count += 1
                        if len(marks) < MAX_MARKS:
                            marks.append(
                                Mark(
                                    number=count,
                                    at_s=film_s,
                                    real_s=real_s,
                                    verdict=mark.verdict,
                                    command=mark.command,
                                    rule=mark.rule,
                                    reason=mark.words.get("reason", ""),
                                    approval_id=mark.approval_id,
                                    exec_id=mark.exec_id,
                                    audit=mark.audit,
                                )
                            )
    return Film(
        recording=recording,
        length_s=film_s,
        real_s=real_s,
        marks=tuple(marks),
        hidden=count - len(marks),
        places=tuple(places),
    )


class _Projector:
    """Draws events on a screen and keeps a frame of each moment in which something changed."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.shots: list[dict[str, object]] = []
        self._screen = Screen(*size)
        self._shown: list[str] = []
        self._is_dirty = True

    def draw(self, event: Event, film_s: float) -> None:
        """Take the next event."""
        if event.code == "o":
            self._screen.push(event.text, film_s)
            self._is_dirty = True
        elif event.code == "r" and (size := _SIZE.fullmatch(event.text)) is not None:
            self._screen.resize(*screen_size(int(size[1]), int(size[2])))
            self._shown, self._is_dirty = [], True

    def shoot(self, film_s: float) -> None:
        """A frame of the rows that changed; of all of them, if it is the first."""
        if not self._is_dirty and self.shots:
            return
        rows = [row.text.rstrip() for row in self._screen.rows()]
        shown = self._shown
        changed = {str(n): text for n, text in enumerate(rows) if n >= len(shown) or shown[n] != text}
        if changed or not self.shots:
            self.shots.append({"t": round(film_s, 3), "size": list(self._screen.size), "rows": changed})
        self._shown, self._is_dirty = rows, False


def frames(film: Film, from_s: float) -> dict[str, object]:
    """The frames from ``from_s`` on: the whole screen, then the rows that change; and where the next ones begin."""
    header = film.recording.header
    projector = _Projector(screen_size(header.get("width"), header.get("height")))
    at_s = drawn_s = from_s
    chars = 0
    next_s: float | None = None
    for film_s, event in _events(film, from_s):
        if film_s > from_s and film_s - drawn_s >= _FRAME_S:
            projector.shoot(drawn_s)
            if len(projector.shots) >= MAX_FRAMES or chars > _MAX_STRETCH_CHARS:
                next_s = film_s
                break
            drawn_s = film_s
        at_s = max(at_s, film_s)
        chars += len(event.text) if film_s >= from_s else 0
        projector.draw(event, film_s)
    if next_s is None:
        projector.shoot(drawn_s)
    return {
        "from": from_s,
        "until": at_s if next_s is None else next_s,
        "next": next_s,
        "frames": projector.shots,
    }


def _events(film: Film, from_s: float) -> Iterator[tuple[float, Event]]:
    """Events with their time in the film, from so far before ``from_s`` that what can still be seen is drawn."""
    starts = [place.film_s for place in film.places]
    at = max(0, bisect_right(starts, from_s) - 1)
    least = at
    while least > 0 and (at - least) * _PLACE_BYTES < _BEFORE_BYTES:
        least -= 1
    place = film.places[least]
    film_s, real_s, offset = place.film_s, place.real_s, place.offset
    for path in film.recording.paths[place.part :]:
        while True:
            events, after = read_events(path, offset, most_bytes=_PIECE_BYTES)
            if after == offset:
                break
            offset = after
            for event in events:
                film_s, real_s = _later(film_s, real_s, event)
                yield film_s, event
        offset = 0


def _later(film_s: float, real_s: float, event: Event) -> tuple[float, float]:
    now_s = max(real_s, min(event.time_s, _LONGEST_S))
    return film_s + min(now_s - real_s, MAX_PAUSE_S), now_s
