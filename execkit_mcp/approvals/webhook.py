"""The webhook: each question that may be answered out of band goes, signed, to an address of the operator's.

    POST url
    X-Execkit-Timestamp: 1700000000
    X-Execkit-Signature: v1=HMAC-SHA256(secret, timestamp "." body) in hex
    {"type": "approval.requested", "id": …, "text": …, "command": …, …, "answer": {"token": "apt_…", "url": …}}

The receiver checks the signature and the age of the timestamp, shows ``text`` to a person, and sends the answer back
with the one-time token: in the response to this very request, to ``answer.url``, or with ``execkit-mcp approve TOKEN``.
What is sent is redacted. Nothing waits for the receiver: a thread of its own delivers, tries again twice, and puts a
failure on the record; the approval waits for its other channels meanwhile.
"""

import contextlib
import hmac
import http.client
import json
import queue
import ssl
import threading
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from execkit_mcp.approvals.approval import Approval
from execkit_mcp.approvals.display import describe

__all__ = ["WebhookSender", "WebhookTarget", "payload", "signature"]

TIMEOUT_S: Final = 10.0
_PAUSES_S: Final = (1.0, 4.0)
_MAX_WAITING: Final = 100
_MAX_RESPONSE: Final = 65_536
_OK: Final = range(200, 300)


class WebhookTarget(Struct, frozen=True, kw_only=True):
    """Where questions go.

    Attributes:
        url: the address; https, or http on this machine.
        secret: what signs each message.
        answer_url: where the receiver can post the answer; empty if nowhere.
    """

    url: str
    secret: bytes
    answer_url: str = ""


class _Failed(Exception):
    """Why a message was not taken."""


def payload(approval: Approval, *, token: str, answer_url: str, needs_code: bool, now_s: float) -> bytes:
    """The message about ``approval``."""
    request = approval.request
    return json.dumps(
        {
            "type": "approval.requested",
            "id": approval.id,
            "sent_s": now_s,
            "expires_s": approval.expires_s,
            "text": describe(approval, now_s=now_s),
            "command": request.canonical,
            "target": request.target,
            "folder": request.cwd,
            "requester": request.requester,
            "session": request.session,
            "hazards": [{"id": hit.id, "severity": hit.severity.value} for hit in request.hazards],
            "is_critical": request.is_critical,
            "needs_code": needs_code,
            "answer": {"token": token, "url": answer_url, "values": ["approve", "deny"]},
        }
    ).encode()


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """What stands in ``X-Execkit-Signature``."""
    return f"v1={hmac.digest(secret, timestamp.encode() + b'.' + body, 'sha256').hex()}"


class WebhookSender:
    """Delivers messages one after the other, in a thread of its own."""

    def __init__(
        self,
        target: WebhookTarget,
        *,
        message: Callable[[Approval], bytes],
        now_s: Callable[[], float],
        on_response: Callable[[bytes], None],
        on_failure: Callable[[Approval, str], None],
        pauses_s: tuple[float, ...] = _PAUSES_S,
    ) -> None:
        self._target = target
        self._message = message
        self._now_s = now_s
        self._on_response = on_response
        self._on_failure = on_failure
        self._pauses_s = pauses_s
        self._waiting: queue.Queue[Approval | None] = queue.Queue(_MAX_WAITING)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def send(self, approval: Approval) -> None:
        """Deliver the question soon; never waits."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="execkit-webhook", daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait(approval)
        except queue.Full:
            self._on_failure(approval, "too many messages wait for the webhook")

    def close(self) -> None:
        """Stop delivering; a message on its way is given up."""
        self._stopped.set()
        if self._thread is not None:
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(None)
            self._thread.join(TIMEOUT_S)

    def _run(self) -> None:
        while (approval := self._waiting.get()) is not None and not self._stopped.is_set():
            try:
                self._on_response(self._delivered(self._message(approval)))
            except Exception as error:  # noqa: BLE001 - whatever it is, it goes on the record, and the next is sent
                if not self._stopped.is_set():
                    self._on_failure(approval, str(error) or type(error).__name__)

    def _delivered(self, body: bytes) -> bytes:
        last: Exception = _Failed("it was not tried")
        for pause_s in (*self._pauses_s, None):
            try:
                return self._post(body)
            except (OSError, http.client.HTTPException, _Failed) as error:
                last = error
            if pause_s is None or self._stopped.wait(pause_s):
                break
        raise _Failed(str(last) or type(last).__name__)

    def _post(self, body: bytes) -> bytes:
        parts = urlsplit(self._target.url)
        host = parts.hostname or ""
        connection = (
            http.client.HTTPSConnection(host, parts.port, timeout=TIMEOUT_S, context=ssl.create_default_context())
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, parts.port, timeout=TIMEOUT_S)
        )
        timestamp = f"{self._now_s():.0f}"
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request(
                "POST",
                path,
                body,
                {
                    "Content-Type": "application/json",
                    "User-Agent": "execkit-mcp",
                    "X-Execkit-Timestamp": timestamp,
                    "X-Execkit-Signature": signature(self._target.secret, timestamp, body),
                },
            )
            response = connection.getresponse()
            answer = response.read(_MAX_RESPONSE)
        finally:
            connection.close()
        if response.status not in _OK:  # a redirect as well: the message is for this address
            raise _Failed(f"the receiver answered {response.status}")
        return answer
