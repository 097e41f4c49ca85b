"""What this server is as an OAuth 2.0 protected resource (RFC 9728), and where that is written."""

from typing import Final

from msgspec import Struct

from execkit_mcp.config.http_settings import MCP_PATH, OAuthSettings

_WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
METADATA_PATHS: Final = (f"{_WELL_KNOWN}{MCP_PATH}", _WELL_KNOWN)


class Resource(Struct, frozen=True, kw_only=True):
    """This server, as clients and authorization servers name it."""

    base_url: str
    oauth: OAuthSettings | None

    @property
    def url(self) -> str:
        """The resource: what a token's audience must be unless the configuration says otherwise."""
        return f"{self.base_url}{MCP_PATH}"

    @property
    def is_published(self) -> bool:
        """Whether there is an authorization server to tell of."""
        return self.oauth is not None

    @property
    def metadata_url(self) -> str | None:
        """Where ``to_json`` is to be read."""
        return f"{self.base_url}{METADATA_PATHS[0]}" if self.is_published else None

    def to_json(self) -> dict[str, object]:
        """The document of RFC 9728, section 3.2."""
        assert self.oauth is not None
        scopes = ["execkit:read-only", *self.oauth.required_scopes]
        return {
            "resource": self.oauth.audience or self.url,
            "authorization_servers": [self.oauth.issuer],
            "bearer_methods_supported": ["header"],
            "scopes_supported": list(dict.fromkeys(scopes)),
            "resource_name": "execkit-mcp",
        }
