"""``/search``: this module shows what was decided lately, and finds commands and output again."""

from starlette.requests import Request
from starlette.responses import Response

from execkit_mcp.web.finding import Found, find_decisions, find_turns
from execkit_mcp.web.site import Site

__all__ = ["MAX_QUERY", "SearchPage"]

MAX_QUERY = 200
_VERDICTS = ("", "allow", "ask", "deny")
_LATEST = 50


class SearchPage:
    """``/search``."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def show(self, request: Request) -> Response:
        """The hits for ``?q=``, or the newest decisions."""
        query = request.query_params
        needle = query.get("q", "").strip()[:MAX_QUERY]
        verdict = query.get("verdict", "")
        verdict = verdict if verdict in _VERDICTS else ""
        found = Found(hits=())
        if needle:
            found = find_turns(
                self._site.tails.recordings(),
                needle,
                clock=self._site.clock,
                verdict=verdict,
                before=query.get("before", "")[:MAX_QUERY],
            )
        recorded = {hit.audit for hit in found.hits}
        others = find_decisions(self._site.audit_dir, needle, verdict=verdict, most=100 if needle else _LATEST)
        if found.next or query.get("before"):  # the rest of the record belongs to the first page
            others = ()
        hits = sorted(
            (*found.hits, *(hit for hit in others if hit.audit not in recorded)),
            key=lambda hit: hit.at_s,
            reverse=True,
        )
        values = {"needle": needle, "verdict_wanted": verdict, "verdicts": _VERDICTS, "hits": hits, "found": found}
        return self._site.pages.show(request, "search.html", values)
