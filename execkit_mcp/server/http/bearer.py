"""Whom a bearer token stands for: one of our own tokens, or a JSON Web Token of the configured authorization server.

Theory of operation. A JWT is believed only if a key of the issuer signed it with an asymmetric algorithm that fits the
key, ``iss`` is the issuer, ``aud`` holds this server (RFC 8707: a token for another server is worth nothing here),
``exp`` is there and to come, and ``sub`` names somebody (RFC 9068, RFC 8725). Scopes can only narrow:
``execkit:read-only``, ``execkit:target:NAME``, ``execkit:policy:NAME``. Everything unclear is a refusal; no text of a
token goes into one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import jwt
from jwt.exceptions import (
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAudienceError,
    InvalidIssuerError,
    InvalidKeyError,
    InvalidSignatureError,
    MissingRequiredClaimError,
    PyJWTError,
)

from execkit_mcp.config.http_settings import OAuthSettings
from execkit_mcp.model import Clock
from execkit_mcp.server.http.identity import READ_ONLY, Identity, Refused
from execkit_mcp.server.http.jwks import KeySet, KeysUnavailable
from execkit_mcp.storage.tokens import PREFIX, Token, Tokens

MAX_TOKEN_CHARS: Final = 8192
_EARLY_S: Final = 30.0
_SCOPE: Final = "execkit:"
USE: Final = "execkit:use"
_SUBJECT_CHARS: Final = 255  # OpenID Core, section 2

# algorithm → the kind of key that it needs; nothing symmetric, and not "none" (RFC 8725, section 3.1)
ALGORITHMS: Final[Mapping[str, str]] = {
    "RS256": "RSA", "RS384": "RSA", "RS512": "RSA", "PS256": "RSA", "PS384": "RSA", "PS512": "RSA",
    "ES256": "EC", "ES384": "EC", "ES512": "EC", "EdDSA": "OKP",
}  # fmt: skip
_TYPES: Final = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})


class Bearers:
    """Everybody who can be believed."""

    def __init__(
        self, *, tokens: Tokens, oauth: OAuthSettings | None, resource: str, clock: Clock, keys: KeySet | None = None
    ) -> None:
        self._tokens = tokens
        self._oauth = oauth
        self._audience = (oauth.audience if oauth and oauth.audience else resource).rstrip("/")
        self._clock = clock
        self._keys = keys
        if oauth is not None and keys is None:
            self._keys = KeySet(issuer=oauth.issuer, jwks_url=oauth.jwks_url, clock=clock)

    async def identify(self, values: Sequence[bytes]) -> Identity:
        """Who sent these values of the header ``Authorization``.

        Raises:
            Refused: nobody who is known, or it cannot be told now.
            StorageUnavailable: the tokens cannot be read.
        """
        text = _bearer(values)
        if text.startswith(PREFIX):
            return self._own(text)
        if self._oauth is None or text.count(".") != 2:  # noqa: PLR2004 - header, claims, signature
            raise Refused("The token is not known.", reason="unknown_token")
        return await self._foreign(text, self._oauth)

    def still_holds(self, identity: Identity) -> bool:
        """Whether what somebody was recognised by is still good."""
        now_s = self._clock.epoch_s()
        if not identity.token_id:
            return identity.expires_s is None or now_s < identity.expires_s
        token = self._tokens.by_id(identity.token_id)
        return token is not None and token.state(now_s) == "active"

    def has_another(self, requester: str) -> bool:
        """Whether another token of ours stands for the same requester."""
        now_s = self._clock.epoch_s()
        return any(
            token.state(now_s) == "active" and _identity_of(token).requester == requester
            for token in self._tokens.all()
        )

    def is_anybody(self) -> bool:
        """Whether anybody at all can get in."""
        now_s = self._clock.epoch_s()
        return self._oauth is not None or any(token.state(now_s) == "active" for token in self._tokens.all())

    def _own(self, text: str) -> Identity:
        token = self._tokens.find(text)
        if token is None:
            raise Refused("The token is not known.", reason="unknown_token")
        state = token.state(self._clock.epoch_s())
        if state != "active":
            raise Refused(f"The token was {state}." if state == "revoked" else "The token has expired.", reason=state)
        return _identity_of(token)

    async def _foreign(self, text: str, oauth: OAuthSettings) -> Identity:
        assert self._keys is not None
        header = _header(text)
        try:
            keys = await self._keys.candidates(header.get("kid"))
        except KeysUnavailable as error:
            raise Refused(
                f"The keys of {oauth.issuer} cannot be fetched: {error}. Try again later.",
                reason="jwks_unavailable",
                status=503,
                error="",
            ) from error
        claims = self._claims(text, header["alg"], [key for key in keys if key.key_type == ALGORITHMS[header["alg"]]])
        scopes = _scopes(claims)
        missing = [each for each in oauth.required_scopes if each not in scopes]
        if missing:
            refused = Refused(
                f"The token lacks the scope {' '.join(missing)}.",
                reason="insufficient_scope",
                status=403,
                error="insufficient_scope",
            )
            refused.scope = " ".join(oauth.required_scopes)
            raise refused
        return _identity(claims, scopes, oauth.required_scopes)

    def _claims(self, text: str, algorithm: str, keys: Sequence[jwt.PyJWK]) -> dict[str, Any]:
        assert self._oauth is not None
        signature: PyJWTError | None = None
        for key in keys:
            try:
                claims: dict[str, Any] = jwt.decode(
                    text,
                    key.key,
                    algorithms=[algorithm],
                    audience=[self._audience, f"{self._audience}/"],
                    issuer=self._oauth.issuer,
                    options={"require": ["exp", "iss", "aud", "sub"], "verify_iat": False, "verify_nbf": False},
                )
            except (InvalidSignatureError, InvalidKeyError) as error:
                signature = error
                continue
            except PyJWTError as error:
                raise _told(error, self._audience) from error
            self._refuse_early(claims)
            return claims
        raise Refused("No key of the authorization server signed the token.", reason="signature") from signature

    def _refuse_early(self, claims: Mapping[str, Any]) -> None:
        for name in ("nbf", "iat"):
            value = claims.get(name)
            if value is not None and not (isinstance(value, int | float) and value <= self._clock.epoch_s() + _EARLY_S):
                raise Refused("The token is not valid yet.", reason="too_early")


def _bearer(values: Sequence[bytes]) -> str:
    """The token in the header's values."""
    if not values:
        raise Refused("Send a bearer token: Authorization: Bearer TOKEN.", reason="no_token", error="")
    if len(values) > 1:
        raise Refused("The header Authorization came twice.", reason="malformed", status=400, error="invalid_request")
    scheme, _, text = values[0].decode("latin-1").partition(" ")
    text = text.strip(" ")
    if scheme.lower() != "bearer" or not text:
        raise Refused("Send a bearer token: Authorization: Bearer TOKEN.", reason="no_token", error="")
    if len(text) > MAX_TOKEN_CHARS or not text.isascii() or not text.isprintable() or " " in text:
        raise Refused("The token is not known.", reason="malformed")
    return text


def _header(text: str) -> dict[str, Any]:
    try:
        header = jwt.get_unverified_header(text)
    except (PyJWTError, ValueError, RecursionError) as error:
        raise Refused("The token is no JSON Web Token.", reason="malformed") from error
    kind, key_id = header.get("typ", ""), header.get("kid")
    if header.get("alg") not in ALGORITHMS:
        raise Refused("The token is signed with an algorithm that is not accepted.", reason="algorithm")
    if "crit" in header or not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise Refused("The token is not an access token.", reason="malformed")
    if key_id is not None and not isinstance(key_id, str):
        raise Refused("The token is no JSON Web Token.", reason="malformed")
    return header


def _told(error: PyJWTError, audience: str) -> Refused:
    if isinstance(error, ExpiredSignatureError):
        return Refused("The token has expired.", reason="expired")
    if isinstance(error, ImmatureSignatureError):
        return Refused("The token is not valid yet.", reason="too_early")
    if isinstance(error, InvalidAudienceError):
        return Refused(f"The token was not made for this server; its audience must be {audience}.", reason="audience")
    if isinstance(error, InvalidIssuerError):
        return Refused("The token is of another issuer.", reason="issuer")
    if isinstance(error, MissingRequiredClaimError):
        return Refused(f"The token lacks the claim {error.claim}.", reason="malformed")
    return Refused("The token is not valid.", reason="malformed")


def _scopes(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """``scope`` (RFC 8693: one text) and ``scp`` (as some servers write it), each a text or a list of texts."""
    found: list[str] = []
    for name in ("scope", "scp"):
        value = claims.get(name)
        stated = value.split() if isinstance(value, str) else value
        if stated is None:
            continue
        if not isinstance(stated, list) or not all(isinstance(each, str) for each in stated):
            raise Refused(f"The token's claim {name} is neither a text nor a list of texts.", reason="malformed")
        found += stated
    return tuple(found)


def _narrowing(scopes: Sequence[str], required: Sequence[str]) -> list[str]:
    """What scopes of ours say; one that is not understood refuses: it may be meant to narrow."""
    stated = []
    for scope in scopes:
        if not scope.lower().startswith(_SCOPE) or scope in required or scope == USE:
            continue
        told = scope.removeprefix(_SCOPE)
        if (
            told != READ_ONLY
            and told.removeprefix("target:") in ("", told)
            and told.removeprefix("policy:") in ("", told)
        ):
            raise Refused(
                "The token has a scope that is not known here; known are execkit:use, execkit:read-only, "
                "execkit:target:NAME, execkit:policy:NAME.",
                reason="unknown_scope",
            )
        stated.append(told)
    return stated


def _identity(claims: Mapping[str, Any], scopes: Sequence[str], required: Sequence[str]) -> Identity:
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= _SUBJECT_CHARS or not subject.isprintable():
        raise Refused("The token names nobody.", reason="malformed")
    stated = _narrowing(scopes, required)
    targets = sorted({each.removeprefix("target:") for each in stated if each.startswith("target:")})
    policies = {each.removeprefix("policy:") for each in stated if each.startswith("policy:")}
    if any("/" in each or each.endswith((".yaml", ".yml")) for each in policies):
        raise Refused("The token names a policy file; only shipped policies can be named there.", reason="malformed")
    if READ_ONLY in stated:
        policies.add(READ_ONLY)
    return Identity(
        subject=f"{claims['iss']}#{subject}",
        targets=tuple(targets) if targets else None,
        policies=tuple(sorted(policies)),
        expires_s=float(claims["exp"]),
    )


def _identity_of(token: Token) -> Identity:
    policies = set(token.scope.policies) | ({READ_ONLY} if token.scope.read_only else set())
    return Identity(
        subject=f"token:{token.name}",
        targets=token.scope.targets,
        policies=tuple(sorted(policies)),
        metrics_only=token.scope.metrics,
        token_id=token.id,
    )
