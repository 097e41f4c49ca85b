"""The replay player: this module serves a recording's page, its timeline of decisions, and its frames."""

import math
import threading
from collections import OrderedDict

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from execkit_mcp.audit.recordings import Recording
from execkit_mcp.web.film import Film, frames, plan
from execkit_mcp.web.site import Site

__all__ = ["Replay"]

_MAX_FILMS = 6
_MAX_AT_WORK = 2
_TIMELINE_WIDTH = 1000.0


class Replay:
    """``/replay/<id>`` and ``/replay/<id>/frames``."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._films: OrderedDict[tuple[str, int], Film] = OrderedDict()
        self._lock = threading.Lock()
        self._work = threading.Semaphore(_MAX_AT_WORK)

    def show(self, request: Request) -> Response:
        """The player."""
        film = self._film(request)
        recording = film.recording
        scale = _TIMELINE_WIDTH / film.length_s if film.length_s > 0 else 0.0
        values = {
            "id": recording.id,
            "name": recording.session or recording.id,
            "target": str(recording.facts.get("target", "")),
            "requester": str(recording.facts.get("requester", "")),
            "started_s": recording.started_s,
            "is_live": recording.is_live,
            "film": film,
            "marks": [{"mark": mark, "x": round(mark.at_s * scale, 2)} for mark in film.marks],
        }
        return self._site.pages.show(request, "replay.html", values)

    def frames(self, request: Request) -> Response:
        """A stretch of frames from ``?from=`` seconds on."""
        try:
            from_s = float(request.query_params.get("from", "0"))
        except ValueError:
            from_s = math.nan
        if not math.isfinite(from_s) or from_s < 0:
            raise HTTPException(400, "from is no time.")
        film = self._film(request)
        with self._work:
            return JSONResponse(frames(film, min(from_s, film.length_s)))

    def _film(self, request: Request) -> Film:
        recording = self._site.tails.find(request.path_params["name"])
        if recording is None:
            raise HTTPException(404, "There is no such recording.")
        with self._work:
            return self._planned(recording)

    def _planned(self, recording: Recording) -> Film:
        key = (recording.id, recording.size)
        with self._lock:
            found = self._films.get(key)
            if found is not None:
                self._films.move_to_end(key)
                return found
        film = plan(recording)
        with self._lock:
            for old in [each for each in self._films if each[0] == recording.id]:
                del self._films[old]
            self._films[key] = film
            while len(self._films) > _MAX_FILMS:
                self._films.popitem(last=False)
        return film
