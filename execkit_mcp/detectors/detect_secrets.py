"""detect-secrets as a second opinion.

Its plugins are asked about candidate lines that no rule of ours decided.

Not ``scan_line``: its eager search switches the entropy limits off (measured: 88,900 false positives a
megabyte). The plugins are called one by one with their limits in force, behind our prefilter of keywords,
so that their 0.2 MB/s are paid for few lines. If a plugin fails on a line, the line's values after ``=`` or
``:`` are hidden: a detector that breaks must neither leak nor lose output.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from execkit_mcp.redaction.value import is_placeholder, is_reference

_MIN_CHARS = 8
_KEYWORD_FILE = "session.txt"
_QUOTED = re.compile(r"[\"']([A-Za-z0-9+/=_-]{20,400})[\"']")
_BARE = re.compile(r"(?<![A-Za-z0-9+/_.-])([A-Za-z0-9+/_-]{20,400}={0,2})(?![A-Za-z0-9+/=_.-])")
_ANY_VALUE = re.compile(r"[=:][ \t]{0,4}[\"']?([^\s\"']{8,400})")
_NOT_SECRET = re.compile(
    r"[0-9a-f]{7,64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[A-Z_]+|[a-z]+(?:[-_/.][a-z0-9]+)*|\d+"
    r"|sha\d{3}[-:].*|[\w-]+(?:/[\w.-]+)+|AAAA[A-Za-z0-9+/=]+|MI[A-Za-z0-9+/=]{40,}"
)
_PUBLIC_WORDS = re.compile(
    r"(?i:public|fingerprint|integrity|checksum|digest|sha\d|md5|commit|revision|etag|ssh-(?:rsa|ed25519)|ecdsa-sha2"
    r"|certificate|publishable|pk_live|cache|keyid|key id|resource)"
)


class DetectSecrets:
    """A confirmer; the library is imported when the first candidate line arrives.

    Args:
        load: gives the plugins; each has ``secret_type`` and ``analyze_string``. For tests of the failure
        path.
    """

    __slots__ = ("_load", "_plugins")

    def __init__(self, load: Callable[[], Sequence[Any]] | None = None) -> None:
        self._load = load or _plugins
        self._plugins: Sequence[Any] | None = None

    def confirm(self, line: str) -> Iterable[tuple[str, str]]:
        """``(kind, secret)`` for each secret that a plugin confirms in ``line``."""
        if _PUBLIC_WORDS.search(line) is not None:
            return []
        found: dict[str, str] = {}
        try:
            if self._plugins is None:
                self._plugins = self._load()
            for plugin in self._plugins:
                for secret in _ask(plugin, line):
                    if _is_believable(secret):
                        found.setdefault(secret, _kind(plugin))
        except Exception:  # noqa: BLE001 - fails closed: what could be a secret on this line is hidden
            return [("unchecked", value) for value in _ANY_VALUE.findall(line) if _is_believable(value)]
        return [(kind, secret) for secret, kind in found.items()]


def _plugins() -> Sequence[Any]:
    from detect_secrets.plugins.high_entropy_strings import Base64HighEntropyString  # noqa: PLC0415 - 60 ms, seldom used
    from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector  # noqa: PLC0415
    from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector  # noqa: PLC0415
    from detect_secrets.plugins.keyword import KeywordDetector  # noqa: PLC0415
    from detect_secrets.plugins.softlayer import SoftlayerDetector  # noqa: PLC0415

    return (
        IbmCloudIamDetector(),
        IbmCosHmacDetector(),
        SoftlayerDetector(),
        KeywordDetector(),
        Base64HighEntropyString(limit=4.0),
    )


def _ask(plugin: Any, line: str) -> Iterable[str]:
    entropy = getattr(plugin, "calculate_shannon_entropy", None)
    if entropy is not None:
        candidates = {*_QUOTED.findall(line), *_BARE.findall(line)}
        return [value for value in candidates if entropy(value) > plugin.entropy_limit and _has_both(value)]
    return [str(secret) for secret in plugin.analyze_string(line)]


def _has_both(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isupper() for c in value) and any(c.islower() for c in value)


def _is_believable(secret: str) -> bool:
    return (
        len(secret) >= _MIN_CHARS
        and any(c.isdigit() for c in secret)
        and _NOT_SECRET.fullmatch(secret) is None
        and not is_placeholder(secret)
        and not is_reference(secret)
    )


def _kind(plugin: Any) -> str:
    return re.sub(r"[^a-z0-9]+", "_", str(plugin.secret_type).lower()).strip("_")
