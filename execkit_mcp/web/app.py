"""The application: which path is which page, all of it behind the guard."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from execkit_mcp.errors import ExecKitError
from execkit_mcp.runtime.token_answer import answer_by_token
from execkit_mcp.web.entrance import Entrance
from execkit_mcp.web.events import Events
from execkit_mcp.web.guard import TOKEN_PATH, Guard
from execkit_mcp.web.health import HealthPage
from execkit_mcp.web.inbox import Inbox
from execkit_mcp.web.policy_page import PolicyPage
from execkit_mcp.web.replay import Replay
from execkit_mcp.web.respond import login_of
from execkit_mcp.web.search_page import SearchPage
from execkit_mcp.web.sessions_page import SessionsPage
from execkit_mcp.web.site import Site

__all__ = ["create_app"]


def create_app(site: Site, *, public: str | None = None, is_tls: bool = False) -> Guard:
    """The page over ``site``.

    Args:
        site: what it reads and writes.
        public: the origin under which it answers besides the names of this machine, such as ``https://ops.example``.
        is_tls: whether it speaks TLS itself.
    """
    entrance = Entrance(site)
    inbox, sessions, events = Inbox(site), SessionsPage(site), Events(site)
    replay, search = Replay(site), SearchPage(site)
    policy, health = PolicyPage(site), HealthPage(site)

    def start(request: Request) -> Response:
        login = login_of(request)
        return RedirectResponse(f"{login.base}/inbox" if login else "/login", status_code=303)

    def answer(request: Request) -> Response:
        status, told = answer_by_token(site.desk, request.state.body)
        return JSONResponse(told, status_code=status)

    def troubled(request: Request, error: Exception) -> Response:
        if isinstance(error, ExecKitError):
            return site.pages.show(request, "trouble.html", {"title": error.message, "hint": error.hint}, status=503)
        if isinstance(error, OSError):  # such as a recording whose time was over just now
            values = {"title": "A file of this page cannot be read any more.", "hint": error.strerror or ""}
            return site.pages.show(request, "trouble.html", values, status=503)
        if isinstance(error, HTTPException):
            values = {"title": str(error.detail), "hint": ""}
            return site.pages.show(request, "trouble.html", values, status=error.status_code)
        return Response("The page failed; its own log says how.\n", status_code=500, media_type="text/plain")

    inside = [
        Route("/", start),
        Route("/ping", lambda _: Response("yes\n", media_type="text/plain")),
        Route("/events", events.stream),
        Route("/inbox", inbox.show),
        Route("/inbox/{approval}", inbox.one),
        Route("/inbox/{approval}", inbox.answer, methods=["POST"]),
        Route("/inbox/{approval}/always", inbox.always),
        Route("/grants/{grant}/revoke", inbox.revoke, methods=["POST"]),
        Route("/sessions", sessions.index),
        Route("/sessions/{name}", sessions.session),
        Route("/replay/{name}", replay.show),
        Route("/replay/{name}/frames", replay.frames),
        Route("/search", search.show),
        Route("/policy", policy.show),
        Route("/health", health.show),
        Route("/logout", entrance.logout, methods=["POST"]),
    ]
    routes = [
        Route("/", start),
        Route("/login", entrance.welcome),
        Route("/login", entrance.login, methods=["POST"]),
        Route(TOKEN_PATH, answer, methods=["POST"]),
        Route("/static/{name}", site.pages.static),
        Mount("/s/{key}", routes=inside),
    ]
    handlers = {ExecKitError: troubled, OSError: troubled, HTTPException: troubled, Exception: troubled}
    app = Starlette(routes=routes, exception_handlers=handlers)
    return Guard(app, logins=site.logins, public=public, is_tls=is_tls)
