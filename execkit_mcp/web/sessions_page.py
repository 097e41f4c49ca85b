"""Sessions: this module shows which are open, what one of them does now, and which were recorded."""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from execkit_mcp.audit.recordings import Recording
from execkit_mcp.web.site import Site
from execkit_mcp.web.tails import Tail
from execkit_mcp.web.transcript import Turn

__all__ = ["SessionsPage"]

_SHOWN_TURNS = 40
_SHOWN_LINES = 120
_SHOWN_CHARS = 16_000
_SHOWN_RECORDINGS = 100
_MAX_LOOKED_INTO = 16


class SessionsPage:
    """``/sessions`` and ``/sessions/<id>``."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def index(self, request: Request) -> Response:
        """Every session, those that are open first."""
        all_ = self._site.tails.recordings()
        live = [each for each in all_ if each.is_live]
        done = [each for each in all_ if not each.is_live]
        values = {
            "live": [self._row(each, is_looked_into=n < _MAX_LOOKED_INTO) for n, each in enumerate(live)],
            "done": [self._row(each) for each in done[:_SHOWN_RECORDINGS]],
            "hidden": max(0, len(done) - _SHOWN_RECORDINGS),
        }
        return self._site.pages.show(request, "sessions.html", values)

    def session(self, request: Request) -> Response:
        """One session as it goes on."""
        recording = self._site.tails.find(request.path_params["name"])
        if recording is None:
            raise HTTPException(404, "There is no such recording.")
        tail = self._site.tails.tail(recording)
        turns = list(tail.transcript.turns)[-_SHOWN_TURNS:]
        values = {
            **self._row(recording),
            "is_live": recording.is_live,
            "turns": [shown_turn(turn, tail) for turn in turns],
            "earlier": tail.transcript.count - len(turns) + (0 if tail.is_whole else 1),
            "screen": tail.lines(),
            "is_partial": tail.screen.is_partial,
        }
        return self._site.pages.show(request, "session.html", values)

    def _row(self, recording: Recording, *, is_looked_into: bool = False) -> dict[str, object]:
        facts = recording.facts
        last: Turn | None = None
        if is_looked_into:
            turns = self._site.tails.tail(recording).transcript.turns
            last = turns[-1] if turns else None
        return {
            "id": recording.id,
            "name": recording.session or recording.id,
            "target": str(facts.get("target", "")),
            "requester": str(facts.get("requester", "")),
            "started_s": recording.started_s,
            "seen_s": _modified_s(recording.path),
            "size": recording.size,
            "last": last,
        }


def shown_turn(turn: Turn, tail: Tail | None = None) -> dict[str, object]:
    """A turn as the page shows it: the end of its output where that is long."""
    if turn.is_drawn:
        lines = tail.lines() if tail is not None and turn.is_running else []
        while lines and not lines[-1]:
            lines.pop()
        note = "It draws on the screen." if turn.is_running else "It drew on the screen; the replay shows it."
        return {"turn": turn, "output": "\n".join(lines), "hidden": 0, "note": note, "is_cut": False}
    text = turn.text
    lines = text[-_SHOWN_CHARS:].split("\n")[-_SHOWN_LINES:] if text else []
    hidden = text.count("\n") + 1 - len(lines) if text else 0
    return {"turn": turn, "output": "\n".join(lines), "hidden": hidden, "note": "", "is_cut": turn.is_cut}


def _modified_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
