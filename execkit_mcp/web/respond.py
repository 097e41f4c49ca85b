"""Answers: this module fills the templates, and knows our own few files by name.

Templates escape everything (``autoescape``); a name that is not there is an error, never an empty place. The files of
``static/`` are read once and found by their whole name, so no path can lead anywhere else.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from execkit_mcp.model.version import VERSION
from execkit_mcp.web import text
from execkit_mcp.web.logins import Login

__all__ = ["Pages", "flash", "form_of", "login_of", "see_other"]

_HERE: Final = Path(__file__).parent
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
NAVIGATION: Final = (
    ("inbox", "Inbox"),
    ("sessions", "Sessions"),
    ("search", "Search"),
    ("policy", "Policy"),
    ("health", "Health"),
)


class Pages:
    """The templates and the static files."""

    def __init__(self) -> None:
        self._static = {
            path.name: (path.read_bytes(), _TYPES[path.suffix])
            for path in (_HERE / "static").iterdir()
            if path.suffix in _TYPES
        }
        self._stamp = hashlib.sha256(b"".join(data for _, (data, _) in sorted(self._static.items()))).hexdigest()[:12]
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(
            visible=text.one_line,
            marked=text.marked,
            with_marks=text.with_marks,
            diff_lines=text.diff_lines,
            output=text.output,
            highlighted=text.highlighted,
            span=text.span,
            iso=text.iso_time,
            clock=text.clock_time,
            size=text.size,
        )
        self._templates.globals.update(version=VERSION, navigation=NAVIGATION, asset=self._asset)

    def show(self, request: Request, template: str, values: Mapping[str, object], *, status: int = 200) -> HTMLResponse:
        """The page ``template``, with what every page shows besides."""
        login = login_of(request)
        told = None
        if login is not None and "x-execkit-refresh" not in request.headers:
            told, login.flash = login.flash, None
        page = self._templates.get_template(template).render(
            {"login": login, "base": login.base if login else "", "flash": told, "section": "", **values}
        )
        return HTMLResponse(page.encode("utf-8", "backslashreplace"), status_code=status)

    def static(self, request: Request) -> Response:
        """One of our own files."""
        found = self._static.get(request.path_params["name"])
        if found is None:
            return Response("There is no such file.\n", status_code=404, media_type="text/plain")
        return Response(found[0], media_type=found[1])

    def _asset(self, name: str) -> str:
        return f"/static/{name}?{self._stamp}"


def login_of(request: Request) -> Login | None:
    """Who asks."""
    login: Login | None = request.state.login
    return login


def form_of(request: Request) -> Mapping[str, str]:
    """The fields that were sent, checked by the guard."""
    form: Mapping[str, str] = request.state.form
    return form


def flash(request: Request, kind: str, message: str) -> None:
    """Tell it on the next page; ``kind`` is ``good`` or ``bad``."""
    login = login_of(request)
    if login is not None:
        login.flash = (kind, message)


def see_other(request: Request, path: str) -> RedirectResponse:
    """Go on at ``path`` of this login."""
    login = login_of(request)
    return RedirectResponse((login.base if login else "") + path, status_code=303)
