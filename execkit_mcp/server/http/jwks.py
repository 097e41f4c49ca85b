"""The keys of an authorization server: fetched when first needed, kept a while, fetched again for a key not seen yet.

Nobody can make us fetch often: one fetch at a time, and none within ``RETRY_S`` of the last. If the keys cannot be
fetched anew, those that are here stay good for ``STALE_S``; after that nobody is believed.
"""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from jwt import PyJWK
from jwt.exceptions import PyJWTError

from execkit_mcp.model import Clock
from execkit_mcp.server.http.addresses import is_loopback

FRESH_S: Final = 600.0
STALE_S: Final = 86_400.0
RETRY_S: Final = 10.0
_TIMEOUT_S: Final = 5.0
_MAX_BYTES: Final = 1 << 20
_MAX_KEYS: Final = 100
_ASYMMETRIC: Final = frozenset({"RSA", "EC", "OKP"})


class KeysUnavailable(Exception):
    """The authorization server's keys cannot be had; the text says why."""


class KeySet:
    """The public keys of one issuer."""

    def __init__(self, *, issuer: str, jwks_url: str | None, clock: Clock) -> None:
        self._issuer = issuer
        self._url = jwks_url
        self._clock = clock
        self._keys: list[PyJWK] = []
        self._fetched_s: float | None = None
        self._tried_s: float | None = None
        self._trouble = "they were not fetched yet"
        self._fetching = asyncio.Lock()

    async def candidates(self, key_id: str | None) -> list[PyJWK]:
        """The keys that may have signed a token which names ``key_id``.

        Raises:
            KeysUnavailable: there are none, and they cannot be fetched.
        """
        found = self._matching(key_id)
        if found and self._age_s() < FRESH_S:
            return found
        await self._refresh(is_urgent=not found)
        if self._age_s() >= STALE_S:
            raise KeysUnavailable(self._trouble)
        return self._matching(key_id)

    def _age_s(self) -> float:
        return float("inf") if self._fetched_s is None else self._clock.monotonic_s() - self._fetched_s

    def _matching(self, key_id: str | None) -> list[PyJWK]:
        if key_id is None:
            return list(self._keys)
        return [key for key in self._keys if key.key_id == key_id]

    async def _refresh(self, *, is_urgent: bool) -> None:
        async with self._fetching:
            now_s = self._clock.monotonic_s()
            if self._tried_s is not None and now_s - self._tried_s < RETRY_S:
                return
            if not is_urgent and self._age_s() < FRESH_S:
                return
            self._tried_s = now_s
            try:
                self._keys = await asyncio.to_thread(self._fetch)
                self._fetched_s = self._clock.monotonic_s()
            except (OSError, ValueError, RecursionError, PyJWTError) as error:
                self._trouble = _why(error)

    def _fetch(self) -> list[PyJWK]:
        if self._url is None:
            self._url = self._discover()
        document = _get(self._url)
        rows = document.get("keys")
        if not isinstance(rows, list):
            raise ValueError(f"{self._url} holds no list of keys")  # noqa: TRY004 - a document that is wrong
        keys: list[PyJWK] = []
        for row in rows[:_MAX_KEYS]:
            if isinstance(row, dict) and row.get("kty") in _ASYMMETRIC and row.get("use", "sig") == "sig":
                try:
                    keys.append(PyJWK(row))
                except PyJWTError:  # a kind of key that we do not know: others may do
                    continue
        if not keys:
            raise ValueError(f"{self._url} holds no key that can be used")
        return keys

    def _discover(self) -> str:
        """Where the keys are, by RFC 8414 and OpenID Connect Discovery."""
        parts = urlsplit(self._issuer)
        base, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        places = [
            f"{base}/.well-known/oauth-authorization-server{path}",
            f"{base}{path}/.well-known/openid-configuration",
        ]
        trouble: Exception | None = None
        for place in places:
            try:
                document = _get(place)
            except (OSError, ValueError, RecursionError) as error:
                trouble = error
                continue
            url = document.get("jwks_uri")
            if document.get("issuer") == self._issuer and isinstance(url, str):
                return url
            trouble = ValueError(f"{place} is not the metadata of {self._issuer}")
        assert trouble is not None
        raise trouble


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def _get(url: str) -> Mapping[str, Any]:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise ValueError(f"{url} is not https")
    opener = urllib.request.build_opener(
        _NoRedirects, urllib.request.ProxyHandler({}) if _is_local(url) else _proxies()
    )
    request = urllib.request.Request(url, headers={"Accept": "application/json"})  # noqa: S310 - checked above
    with opener.open(request, timeout=_TIMEOUT_S) as answer:
        data = answer.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"{url} is longer than {_MAX_BYTES} bytes")
    document = json.loads(data)
    if not isinstance(document, dict):
        raise ValueError(f"{url} holds no JSON object")  # noqa: TRY004 - a document that is wrong
    return document


def _proxies() -> urllib.request.ProxyHandler:
    return urllib.request.ProxyHandler()


def _is_local(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")


def _why(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.url} answered {error.code}"
    if isinstance(error, urllib.error.URLError):
        return f"{error.reason}"
    return f"{error}" or type(error).__name__
