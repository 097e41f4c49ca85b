"""The server's side of the webhook: from the configuration to a sender that issues tokens and takes answers.

An answer may stand in the receiver's response; it is carried out like any other that comes with a token.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from execkit_mcp.approvals import Approval
from execkit_mcp.approvals.webhook import WebhookSender, WebhookTarget, payload
from execkit_mcp.config.settings import Settings
from execkit_mcp.errors import ConfigError
from execkit_mcp.runtime.desk import ApprovalDesk
from execkit_mcp.runtime.token_answer import answer_by_token

__all__ = ["open_webhook", "webhook_secret"]

_MIN_SECRET_BYTES = 16


def webhook_secret(settings: Settings, environ: Mapping[str, str] = os.environ) -> str:
    """The secret that signs; empty where no webhook is configured.

    Raises:
        ConfigError: it is missing or too short.
    """
    hook = settings.webhook
    if hook is None:
        return ""
    if hook.secret_env is not None:
        value = environ.get(hook.secret_env, "")
    else:
        try:
            value = Path(hook.secret_file or os.devnull).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            value = ""
    if len(value.encode()) < _MIN_SECRET_BYTES:
        where = hook.secret_env or hook.secret_file
        raise ConfigError(
            f"{hook.origin}: the webhook's secret in {where} is missing or has fewer than {_MIN_SECRET_BYTES} bytes.",
            hint="Make one: openssl rand -hex 32; give it to the receiver as well.",
        )
    return value


def open_webhook(settings: Settings, desk: ApprovalDesk, environ: Mapping[str, str]) -> WebhookSender | None:
    """The sender that the configuration asks for; None if it asks for none, or nobody is to be asked out of band."""
    hook = settings.webhook
    if hook is None or "out_of_band" not in settings.approval_channels:
        return None
    secret = webhook_secret(settings, environ)

    def message(approval: Approval) -> bytes:
        return payload(
            approval,
            token=desk.tokens.issue(approval.id),
            answer_url=hook.answer_url,
            needs_code=desk.needs_code(approval),
            now_s=desk.now_s(),
        )

    def on_response(body: bytes) -> None:
        if b'"answer"' in body and b'"token"' in body:
            status, told = answer_by_token(desk, body)
            if status != 200:  # noqa: PLR2004 - HTTP's OK
                desk.record("webhook.refused", {"status": status, "error": told.get("error", {})})

    def on_failure(approval: Approval, why: str) -> None:
        desk.record("webhook.failed", {"approval_id": approval.id, "reason": why[:500]})

    return WebhookSender(
        WebhookTarget(url=hook.url, secret=secret.encode(), answer_url=hook.answer_url),
        message=message,
        now_s=desk.now_s,
        on_response=on_response,
        on_failure=on_failure,
    )
