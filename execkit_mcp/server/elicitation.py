"""Asking the person in front of the client, in both protocol eras.

Up to revision 2025-11-25 the server sends ``elicitation/create`` and waits. From 2026-07-28 on it answers the call with
an ``InputRequiredResult`` and the client calls again with the answer; ``request_state`` carries nothing but the id of
the request in our own queue, where each approval is used once (the SDK seals the state but would accept a replay).

The client answers an elicitation, and a client can be configured to accept everything. A request whose channel is
``out_of_band`` is therefore never asked here.
"""

import json
from typing import Any, Final, Literal

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least
from msgspec import Struct
from pydantic import ValidationError

from execkit_mcp.approvals import Scope

MODERN: Final = "2026-07-28"
FIELD: Final = "decision"
KEY: Final = "approve"

HOUR_S: Final = 3600.0
SAYS: Final[dict[str, str]] = {
    "deny": "deny",
    "allow once": "approve",
    "allow for this session": "approve",
    "allow for one hour": "approve",
}


class Answer(Struct, frozen=True, kw_only=True):
    """What came back from the dialogue.

    Attributes:
        verdict: a yes, a no, or nobody was there.
        said: the choice, as it stood in the dialogue.
        reason: the person's words.
        edited: the command as the person changed it; empty if it was not.
    """

    verdict: Literal["approve", "deny", "nobody"]
    said: str = ""
    reason: str = ""
    edited: str = ""

    def scope(self, now_s: float) -> Scope:
        """How far the yes reaches."""
        if self.said == "allow for this session":
            return Scope.session()
        return Scope.until(now_s + HOUR_S) if self.said == "allow for one hour" else Scope.once()


NOBODY: Final = Answer(verdict="nobody")

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        FIELD: {
            "type": "string",
            "title": "Run it?",
            "description": "Deny this command, or allow the very same one: once, for this session, for an hour.",
            "enum": list(SAYS),
        },
        "reason": {"type": "string", "title": "Reason", "description": "Optional; the agent reads it."},
        "edited": {
            "type": "string",
            "title": "Run this instead",
            "description": "Optional; a changed command is judged again and runs once.",
        },
    },
    "required": [FIELD],
}


def can_elicit(context: ServerRequestContext[Any]) -> bool:
    """Whether the client said that it can show a form."""
    capabilities = context.session.client_capabilities
    return bool(capabilities and capabilities.elicitation is not None)


def is_modern(context: ServerRequestContext[Any]) -> bool:
    """Whether the connection speaks 2026-07-28 or later."""
    return is_version_at_least(context.protocol_version, MODERN)


def input_required(approval_id: str, message: str) -> types.InputRequiredResult:
    """The modern form of the question."""
    form = types.ElicitRequestFormParams(message=message, requested_schema=SCHEMA)
    return types.InputRequiredResult(
        input_requests={KEY: types.ElicitRequest(params=form)},
        request_state=json.dumps({"approval_id": approval_id}),
    )


def answered(params: types.CallToolRequestParams) -> tuple[str, Answer] | None:
    """The approval id and the answer in a modern retry; None if the call is not one."""
    if not params.request_state:
        return None
    state = json.loads(params.request_state)
    return str(state["approval_id"]), answer_of((params.input_responses or {}).get(KEY))


def answer_of(result: object) -> Answer:
    """What an elicitation result means: anything but a clear yes or a clear no is nobody."""
    if not isinstance(result, types.ElicitResult):
        return NOBODY
    if result.action == "decline":
        return Answer(verdict="deny")
    content = (result.content or {}) if result.action == "accept" else {}
    said = content.get(FIELD)
    verdict = SAYS.get(said) if isinstance(said, str) else None
    if verdict is None:
        return NOBODY
    reason, edited = content.get("reason"), content.get("edited")
    return Answer(
        verdict="deny" if verdict == "deny" else "approve",
        said=str(said),
        reason=reason if isinstance(reason, str) else "",
        edited=edited if isinstance(edited, str) and edited.strip() else "",
    )


async def ask(context: ServerRequestContext[Any], message: str) -> Answer:
    """The legacy form of the question: send it and wait for the client."""
    try:
        result = await context.session.elicit_form(message, SCHEMA, related_request_id=context.request_id)
    except (MCPError, ValidationError):  # refused, or an answer that is none
        return NOBODY
    return answer_of(result)
