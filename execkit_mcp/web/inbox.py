"""The inbox: this module shows what waits for a person, and takes the answer.

An answer names the approval and the digest of what was shown, so that it can only mean that. Whatever the desk
refuses (too late, somebody was faster, a code is missing) comes back as a sentence on the next page.
"""

from collections.abc import Mapping
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from execkit_mcp.approvals import Approval, Channel, Fact, Scope, facts_of
from execkit_mcp.approvals.confusables import is_hidden
from execkit_mcp.errors import ExecKitError
from execkit_mcp.model import Severity
from execkit_mcp.runtime.always import suggested_rule
from execkit_mcp.web.respond import flash, form_of, login_of, see_other
from execkit_mcp.web.site import Site

__all__ = ["MAX_EDIT", "MAX_REASON", "Inbox"]

MAX_REASON: Final = 1000
MAX_EDIT: Final = 64 * 1024
_SHOWN: Final = 50
_LATELY: Final = 15
_MINUTES: Final = {"15": "15 minutes", "60": "1 hour", "480": "8 hours"}
_KINDS: Final = ("command", "where", "input", "hazard", "effect", "rule", "recent", "diff", "agent", "warning")
_DONE: Final = {
    "once": "Allowed, once",
    "session": "Allowed for this session",
    "until": "Allowed until then",
    "edit": "Allowed as you changed it",
    "deny": "Denied",
}


class Inbox:
    """``/inbox``."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def show(self, request: Request) -> Response:
        """Everything that waits, oldest first; then what holds and what was answered lately."""
        desk = self._site.desk
        pending = desk.pending()
        lately = [each for each in reversed(desk.latest(_LATELY * 4)) if each.state.value != "pending"]
        values = {
            "cards": [self._card(each) for each in pending[:_SHOWN]],
            "waiting": len(pending),
            "grants": desk.grants(),
            "lately": lately[:_LATELY],
            "damaged": desk.damaged(),
            "is_one": False,
            **self._common(),
        }
        return self._site.pages.show(request, "inbox.html", values)

    def one(self, request: Request) -> Response:
        """One approval by itself, whatever its state."""
        found = self._find(request)
        is_pending = found.state.value == "pending"
        values = {
            "cards": [self._card(found)] if is_pending else [],
            "waiting": int(is_pending),
            "grants": (),
            "lately": () if is_pending else (found,),
            "damaged": 0,
            "is_one": True,
            **self._common(),
        }
        return self._site.pages.show(request, "inbox.html", values)

    def answer(self, request: Request) -> Response:
        """The person's answer to one approval."""
        form = form_of(request)
        try:
            found = self._find(request)
            if form.get("digest", "") != found.digest:
                flash(request, "bad", "That was shown for something else. Look again.")
            else:
                self._decide(request, found, form)
        except ExecKitError as error:
            flash(request, "bad", f"{error.message} {error.hint}".strip())
        return see_other(request, "/inbox")

    def always(self, request: Request) -> Response:
        """The narrowest rule that would make the question unnecessary: only text, for an operator to put in."""
        found = self._find(request)
        values = {"approval": found, "suggested": suggested_rule(found.request, self._site.settings)}
        return self._site.pages.show(request, "always.html", values)

    def revoke(self, request: Request) -> Response:
        """Take a grant back."""
        try:
            grant = self._site.desk.revoke(request.path_params["grant"], by=Channel.WEB, who=self._who(request))
            flash(request, "good", f"Taken back: {grant.canonical}")
        except ExecKitError as error:
            flash(request, "bad", f"{error.message} {error.hint}".strip())
        return see_other(request, "/inbox")

    def _decide(self, request: Request, found: Approval, form: Mapping[str, str]) -> None:
        desk, who, answer = self._site.desk, self._who(request), form.get("answer", "")
        code = "".join(form.get("code", "").split()) or None
        if answer not in _DONE:
            flash(request, "bad", "That is no answer.")
            return
        if answer == "deny":
            desk.deny(found.id, by=Channel.WEB, who=who, reason=form.get("reason", "").strip()[:MAX_REASON])
        elif answer == "edit":
            text = form.get("text", "").replace("\r\n", "\n")
            if not text.strip() or len(text) > MAX_EDIT:
                flash(request, "bad", "The changed command is empty or too long.")
                return
            desk.approve(found.id, by=Channel.WEB, who=who, edited=text, code=code)
        else:
            desk.approve(found.id, by=Channel.WEB, who=who, scope=self._scope(answer, form), code=code)
        flash(request, "good", f"{_DONE[answer]}: {found.request.canonical.splitlines()[0][:120]}")

    def _scope(self, answer: str, form: Mapping[str, str]) -> Scope:
        if answer == "session":
            return Scope.session()
        minutes = form.get("minutes", "")
        if answer == "until" and minutes in _MINUTES:
            return Scope.until(self._site.desk.now_s() + 60.0 * int(minutes))
        return Scope.once()

    def _find(self, request: Request) -> Approval:
        found = self._site.desk.get(request.path_params["approval"])
        if found is None:
            raise HTTPException(404, "There is no such approval.")
        return found

    def _who(self, request: Request) -> str:
        login = login_of(request)
        assert login is not None
        return f"{self._site.user} (web {login.name})"

    def _common(self) -> Mapping[str, object]:
        return {"minutes": _MINUTES, "now_s": self._site.desk.now_s(), "max_reason": MAX_REASON, "max_edit": MAX_EDIT}

    def _card(self, approval: Approval) -> Mapping[str, object]:
        request = approval.request
        facts: dict[str, list[Fact]] = {kind: [] for kind in _KINDS}
        for fact in facts_of(request):
            facts[fact.kind].append(fact)
        return {
            "approval": approval,
            "facts": facts,
            "hazards": request.hazards,
            "is_critical": any(hazard.severity is Severity.CRITICAL for hazard in request.hazards),
            # what hides could not be seen in a field either: such a command is typed anew
            "editable": "" if any(map(is_hidden, request.canonical.replace("\n", ""))) else request.canonical,
            "needs_code": self._site.desk.needs_code(approval),
        }
