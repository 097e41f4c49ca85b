"""Coming in and going out: this module serves ``/``, ``/login`` and logout.

A link is used up by the GET that opens it, as a person expects of a link; a browser that only fetches ahead says so
and uses nothing up. The cookie is strict, and a browser does not send a strict cookie on when another site's link was
followed, so such a visitor is led on by the page itself.
"""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from execkit_mcp.errors import ExecKitError
from execkit_mcp.web.guard import COOKIE
from execkit_mcp.web.logins import LIFE_S, Login
from execkit_mcp.web.respond import form_of, login_of
from execkit_mcp.web.site import Site

__all__ = ["Entrance"]

_WRONG = "This code is not good: a link works once, and only for ten minutes. Make a new one: execkit-mcp web --link"
_TOO_MANY = "Too many wrong tokens. Wait a little, or use a fresh link: execkit-mcp web --link"


class Entrance:
    """The way in."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def welcome(self, request: Request) -> Response:
        """The page that asks for a code; with ``?code=``, the use of a link."""
        code = request.query_params.get("code")
        if code is None:
            return self._page(request)
        if request.method != "GET" or _is_ahead_of_time(request):
            return Response("Open the link yourself.\n", status_code=425, media_type="text/plain")
        login = self._site.logins.by_code(code)
        if login is None:
            self._site.witness.tell_if_possible("web.login_refused", {"how": "link"})
            return self._page(request, problem=_WRONG, status=403)
        return self._enter(request, login)

    def login(self, request: Request) -> Response:
        """What was typed into the form: a code or the token."""
        given = form_of(request).get("code", "").strip()
        logins = self._site.logins
        login = logins.by_code(given)
        if login is None:
            wait_s = logins.limiter.wait_s()
            if wait_s > 0:
                answer = self._page(request, problem=_TOO_MANY, status=429)
                answer.headers["retry-after"] = str(int(wait_s) + 1)
                return answer
            login = logins.by_token(given)
        if login is None:
            self._site.witness.tell_if_possible("web.login_refused", {"how": "form"})
            return self._page(request, problem=_WRONG, status=403)
        return self._enter(request, login)

    def logout(self, request: Request) -> Response:
        """End this login."""
        login = login_of(request)
        if login is not None:
            self._site.logins.end(login)
            self._site.witness.tell_if_possible("web.logout", {"login": login.name, "user": self._site.user})
        answer = RedirectResponse("/login", status_code=303)
        if login is not None:
            answer.delete_cookie(
                COOKIE, path=login.base, httponly=True, samesite="strict", secure=request.state.is_secure
            )
        return answer

    def _enter(self, request: Request, login: Login) -> Response:
        try:
            self._site.witness.tell("web.login", {"login": login.name, "user": self._site.user, "how": login.how})
        except ExecKitError as error:
            self._site.logins.end(login)  # who cannot be put on the record does not come in
            return self._page(request, problem=f"{error.message} {error.hint}", status=503)
        start = f"{login.base}/inbox"
        answer: Response = RedirectResponse(start, status_code=303)
        if request.headers.get("sec-fetch-site") == "cross-site":
            answer = self._site.pages.show(request, "go_on.html", {"start": start})
        answer.set_cookie(
            COOKIE,
            login.secret,
            path=login.base,
            max_age=int(LIFE_S),
            httponly=True,
            samesite="strict",
            secure=request.state.is_secure,
        )
        return answer

    def _page(self, request: Request, *, problem: str = "", status: int = 200) -> Response:
        values = {"problem": problem, "has_token": self._site.logins.has_token}
        return self._site.pages.show(request, "login.html", values, status=status)


def _is_ahead_of_time(request: Request) -> bool:
    purpose = request.headers.get("sec-purpose", "") + request.headers.get("purpose", "")
    return "prefetch" in purpose or "prerender" in purpose
