"""Time-based one-time passwords (RFC 6238 over RFC 4226), as authenticator apps show them."""

import base64
import binascii
import hmac
from urllib.parse import quote

__all__ = [
    "DIGITS",
    "PERIOD_S",
    "code_at",
    "matching_step",
    "provisioning_uri",
    "secret_from_text",
    "secret_text",
    "step_of",
]

PERIOD_S = 30
DIGITS = 6
_DRIFT_STEPS = 1


def step_of(epoch_s: float) -> int:
    """The time step that ``epoch_s`` lies in."""
    return int(epoch_s // PERIOD_S)


def code_at(secret: bytes, step: int, *, digits: int = DIGITS) -> str:
    """The code of one time step (HMAC-SHA1, dynamic truncation: RFC 4226, 5.3)."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    offset = digest[-1] & 0xF
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**digits:0{digits}d}"


def matching_step(secret: bytes, code: str, epoch_s: float, *, after: int = -1) -> int | None:
    """The step whose code ``code`` is: this one or a neighbour, later than ``after``; None if it is none of them."""
    spelled = code.replace(" ", "")
    if len(spelled) != DIGITS or not (spelled.isascii() and spelled.isdecimal()):
        return None
    now = step_of(epoch_s)
    found = None
    for step in range(max(0, now - _DRIFT_STEPS), now + _DRIFT_STEPS + 1):
        is_it = hmac.compare_digest(code_at(secret, step), spelled)
        if is_it and step > after and found is None:
            found = step
    return found


def secret_text(secret: bytes) -> str:
    """The secret as a person types it into an app (base32)."""
    return base64.b32encode(secret).decode().rstrip("=")


def secret_from_text(text: str) -> bytes:
    """What ``secret_text`` wrote; ValueError for anything else."""
    spelled = text.replace(" ", "").upper()
    try:
        return base64.b32decode(spelled + "=" * (-len(spelled) % 8))
    except binascii.Error as error:
        raise ValueError("not a base32 secret") from error


def provisioning_uri(secret: bytes, *, account: str, issuer: str = "execkit-mcp") -> str:
    """The ``otpauth://`` address that apps read from a QR code."""
    return (
        f"otpauth://totp/{quote(issuer)}:{quote(account)}?secret={secret_text(secret)}&issuer={quote(issuer)}"
        f"&algorithm=SHA1&digits={DIGITS}&period={PERIOD_S}"
    )
