"""Answers that come with a one-time token instead of a login: what a webhook's receiver sends back.

The body is a JSON object: ``{"token": "apt_…", "answer": "approve" | "deny", "reason"?: …, "who"?: …, "code"?: …}``.
"""

import json
from collections.abc import Mapping

from execkit_mcp.approvals import Approval, Channel
from execkit_mcp.errors import CommandInvalid, ExecKitError
from execkit_mcp.runtime.desk import ApprovalDesk

__all__ = ["answer_by_token", "answer_with"]

_MAX_BYTES = 65_536
_STATUS = {"approval.": 409, "command.": 400, "storage.": 503, "audit.": 503}


def answer_with(
    desk: ApprovalDesk, token: str, *, approve: bool, who: str, reason: str = "", code: str | None = None
) -> Approval:
    """Answer the one approval that ``token`` is for; it is used up by an answer that counts.

    Raises:
        ApprovalExpired: token or approval is unknown, used, or over its time.
        ApprovalDenied: the approver's code is missing or wrong; the token stays good.
    """
    approval_id = desk.tokens.approval_of(token)
    if approve:
        decided = desk.approve(approval_id, by=Channel.WEBHOOK, who=who, reason=reason, code=code)
    else:
        decided = desk.deny(approval_id, by=Channel.WEBHOOK, who=who, reason=reason)
    desk.tokens.use(token)
    return decided


def answer_by_token(desk: ApprovalDesk, body: bytes) -> tuple[int, dict[str, object]]:
    """Carry out what ``body`` says; the HTTP status and the JSON object to send back."""
    try:
        decided = _answered(desk, body)
    except ExecKitError as error:
        status = next((each for prefix, each in _STATUS.items() if error.code.startswith(prefix)), 500)
        return status, {"error": error.to_json()}
    return 200, {"approval_id": decided.id, "state": decided.state.value}


def _answered(desk: ApprovalDesk, body: bytes) -> Approval:
    try:
        value = json.loads(body[: _MAX_BYTES + 1]) if len(body) <= _MAX_BYTES else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, Mapping) or value.get("answer") not in ("approve", "deny"):
        raise CommandInvalid(
            "The answer is no JSON object with token and answer.",
            hint='Send {"token": "apt_…", "answer": "approve"} or "deny", with "reason", "who" and "code" if need be.',
        )
    texts = {name: value.get(name, "") for name in ("token", "reason", "who", "code")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise CommandInvalid("token, reason, who and code are texts.", hint="Write them in quotes.")
    return answer_with(
        desk,
        texts["token"],
        approve=value["answer"] == "approve",
        who=texts["who"][:200],
        reason=texts["reason"],
        code=texts["code"] or None,
    )
