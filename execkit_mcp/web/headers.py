"""What every answer of the page says to the browser: this module is its table of headers."""

__all__ = ["SECURITY_HEADERS"]

_CONTENT = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
# name → value; each is there for the reason beside it
SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = tuple(
    (name.encode(), value.encode())
    for name, value in (
        ("content-security-policy", "; ".join(_CONTENT)),  # nothing inline, nothing of others, no frame around us
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),  # for browsers that do not know frame-ancestors
        # The path of a login goes nowhere else; with no-referrer browsers would hide the Origin of our own forms.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=(), clipboard-read=()"),
        ("x-robots-tag", "noindex, nofollow"),
    )
)
