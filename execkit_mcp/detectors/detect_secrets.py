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

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.value import is_date, is_placeholder, is_reference, is_wordy

_MIN_CHARS = 8
_KEYWORD_FILE = "session.txt"
_QUOTED = lazy_regex(r"[\"']([A-Za-z0-9+/=_-]{20,400})[\"']")
_BARE = lazy_regex(r"(?<!==)(?<![A-Za-z0-9+/_.-])([A-Za-z0-9+/_-]{20,400}={0,2})(?![A-Za-z0-9+/=_.-])")
_CANDIDATE = lazy_regex(r"[^\s\"'`=:,;()\[\]{}<>|]{8,400}=*")
_ANY_VALUE = lazy_regex(r"[=:][ \t]{0,4}[\"']?([^\s\"']{8,400})")
_NOT_SECRET = lazy_regex(
    r"[0-9a-f]{7,64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[A-Z_]+|[a-z]+(?:[-_/.][a-z0-9]+)*|\d+"
    r"|(?:[A-Z][A-Z0-9]*|[A-Z][a-z]+|\d{1,3})(?:_(?:[A-Z][A-Z0-9]*|[A-Z][a-z]+|\d{1,3})){2,}(?:-[A-Z][a-z]+)?|[A-Z]\w*(?:PrivateKey|PublicKey|Params)"
    r"|(?:[A-Za-z][A-Za-z0-9]{0,24}[-_.]){1,6}(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})"
    r"|[\w!-]*[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9A-Za-z]{12}[\w-]*"
    r"|sha\d{3}[-:].*|[\w-]+(?:/[\w.-]+)+|AAAA[A-Za-z0-9+/=]+|M(?:I|FkwEw|FYwEA|HYwEA|CowBQ)[A-Za-z0-9+/=]{40,}"
)
_DIGIT = lazy_regex("[0-9]")
_NO_VALUES = lazy_regex(
    r"data:(?:image|font|audio|video|application/(?:x-)?font)[\w/.+-]{0,60}(?:;[\w=.-]{1,40}){0,3};base64,[A-Za-z0-9+/=]+"
    r"|[\"']id[\"'][ \t]{0,4}:[ \t]{0,4}[\"'][\w.:-]{1,200}[\"']"
    r"|\bAg[A-D][A-Za-z0-9+/=]{60,}"
    r"|(?i:request|req|trace|span|correlation|message|event|job|run|build|operation|error|incident)[_-]?(?:id|Id|ID)"
    r"\\{0,2}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,2}[\"']?[\w.:-]+"
)
"""Pictures and fonts that stand within a text; sealed secrets; what a service calls a request."""
_PUBLIC_WORDS = lazy_regex(
    r"(?i:public|pub[ _-]?key|fingerprint|thumbprint|integrity|checksum|digest|sha\d|md5|commit|revision|etag"
    r"|ssh-(?:rsa|ed25519)|ecdsa-sha2"
    r"|certificate|publishable|pk_live|cache|sec-websocket|keyid|key id|resource"
    r"|[-_ \"]accessor|enc\[aes|;base64,|request_?id|topicid"
    r"|(?:next|page|sequence|starting|request|forward|backward|lock|continuation)[_-]?token)"
)


class DetectSecrets:
    """A confirmer; the library is imported when the first candidate line arrives.

    Args:
        plugins: names from ``PLUGINS``.
        entropy: bits a character from which a string of base64 counts.
        load: gives the plugins instead; each has ``secret_type`` and ``analyze_string``. For tests of the
            failure path.
    """

    __slots__ = ("_load", "_plugins")

    def __init__(
        self,
        load: Callable[[], Sequence[Any]] | None = None,
        *,
        plugins: Sequence[str] | None = None,
        entropy: float | None = None,
    ) -> None:
        self._load = load or (lambda: _plugins(tuple(PLUGINS) if plugins is None else plugins, entropy))
        self._plugins: Sequence[Any] | None = None

    def confirm(self, line: str) -> Iterable[tuple[str, str]]:
        """``(kind, secret)`` for each secret that a plugin confirms in ``line``."""
        line = _NO_VALUES.sub(" ", line)
        if not any(map(_is_believable, _CANDIDATE.findall(line))) or _PUBLIC_WORDS.search(line) is not None:
            return []  # a plugin takes a third of a millisecond for a line: none is asked about lines without a value
        found: dict[str, str] = {}
        try:
            if self._plugins is None:
                self._plugins = self._load()
            for plugin in self._plugins:
                for secret in _ask(plugin, line):
                    if _is_believable(secret) and (_kind(plugin) != _ENTROPY or _is_assigned(line, secret)):
                        found.setdefault(secret, _kind(plugin))
        except Exception:  # noqa: BLE001 - fails closed: what could be a secret on this line is hidden
            return self.unchecked(line)
        return [(kind, secret) for secret, kind in found.items()]

    @staticmethod
    def unchecked(line: str) -> list[tuple[str, str]]:
        """What could be a secret on a line that nobody could check."""
        return [("unchecked", value) for value in _ANY_VALUE.findall(line) if _is_believable(value)]


PLUGINS = {
    "ibm-cloud-iam": ("ibm_cloud_iam", "IbmCloudIamDetector"),
    "ibm-cos-hmac": ("ibm_cos_hmac", "IbmCosHmacDetector"),
    "softlayer": ("softlayer", "SoftlayerDetector"),
    "keyword": ("keyword", "KeywordDetector"),
    "base64-entropy": ("high_entropy_strings", "Base64HighEntropyString"),
}
"""The plugins that find what no rule of ours does, by the names that a policy may give: module and class."""

_ENTROPY_LIMIT = 4.0
_ENTROPY = "base64_high_entropy_string"
_SENSITIVE_NAME = lazy_regex(
    r"(?i:key|secret|token|passw|pwd|cred|auth|private|salt|seed|sig)[\w.-]{0,40}(?<![Ii]d)(?<!ID)"
    r"\\{0,3}[\"']?[ \t]{0,4}(?:[:=]|=>)[ \t]{0,4}\\{0,3}[\"'`]?\Z"
    r"|(?i:credentials?|secrets?)[\"']?[ ]?:[ ]?\{[\"'][\w.-]{1,40}[\"'][ ]?:[ ]?[\"'](?:\S{20,100} )?\Z"
)
_MAX_NAME = 200


def _is_assigned(line: str, secret: str) -> bool:
    """Whether ``secret`` is the value of a sensitive name: what only looks generated is mostly what a thing is called.

    ``"tool_use_id": "toolu_01…"``, a row of a table.
    """
    at = line.find(secret)
    return at >= 0 and _SENSITIVE_NAME.search(line[max(0, at - _MAX_NAME) : at]) is not None


def _plugins(names: Sequence[str], entropy: float | None) -> Sequence[Any]:
    from importlib import import_module  # noqa: PLC0415 - with what it imports: 60 ms, seldom used

    out = []
    for name in names:
        module, found = PLUGINS[name]
        build = getattr(import_module(f"detect_secrets.plugins.{module}"), found)
        limit = _ENTROPY_LIMIT if entropy is None else entropy
        out.append(build(limit=limit) if name == "base64-entropy" else build())
    return tuple(out)


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
        and (_DIGIT.search(secret) is not None or (not secret.isascii() and any(c.isdigit() for c in secret)))
        and _NOT_SECRET.fullmatch(secret) is None
        and not is_placeholder(secret)
        and not is_reference(secret)
        and not is_wordy(secret)
        and not is_date(secret)
    )


def _kind(plugin: Any) -> str:
    return re.sub(r"[^a-z0-9]+", "_", str(plugin.secret_type).lower()).strip("_")
