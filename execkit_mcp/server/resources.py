"""What a client can read without calling a tool: policy, sessions, the caller's part of the record, the guides.

A caller sees what is his: his sessions, and entries of the record that name him as requester.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from execkit_mcp.kit import ExecKit

SCHEME: Final = "execkit://"
_GUIDES: Final = Path(__file__).resolve().parents[1] / "docs" / "guides"
_RESOURCE_NOT_FOUND: Final = -32002
_JSON: Final = "application/json"


class Page(Struct, frozen=True, kw_only=True):
    """One resource: its name, what it is, and how its text is made for a caller."""

    name: str
    title: str
    description: str
    mime_type: str
    text: Callable[[ExecKit, str], str]

    @property
    def uri(self) -> str:
        """How clients name it."""
        return SCHEME + self.name


def _json(data: object) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False)


def _policy(kit: ExecKit, requester: str) -> str:
    facts = kit.info(requester=requester)
    return _json({**_mapping(facts["policy"]), "limits": facts["limits"], "targets": facts["targets"]})


def _sessions(kit: ExecKit, requester: str) -> str:
    facts = kit.info(requester=requester)
    return _json({"sessions": facts["sessions"], "execs": facts["execs"]})


def _audit(kit: ExecKit, requester: str) -> str:
    return _json(kit.record_of(requester))


def _mapping(value: object) -> Mapping[str, object]:
    assert isinstance(value, dict)
    return value


def _guide(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    return Page(
        name=f"docs/{path.stem}",
        title=text.partition("\n")[0].lstrip("# "),
        description=f"The guide {path.name}.",
        mime_type="text/markdown",
        text=lambda _kit, _requester: path.read_text(encoding="utf-8"),
    )


def pages() -> dict[str, Page]:
    """Every resource by its URI."""
    fixed = (
        Page(
            name="policy",
            title="The policy",
            description="What is allowed, asked and denied: rules, limits, targets.",
            mime_type=_JSON,
            text=_policy,
        ),
        Page(
            name="sessions",
            title="Sessions and running commands",
            description="Your open sessions and what runs in them.",
            mime_type=_JSON,
            text=_sessions,
        ),
        Page(
            name="audit",
            title="The newest part of the record",
            description="Your latest decisions, commands and approvals, as the audit log holds them.",
            mime_type=_JSON,
            text=_audit,
        ),
    )
    found = (*fixed, *map(_guide, sorted(_GUIDES.glob("*.md"))))
    return {page.uri: page for page in found}


class Resources:
    """Lists and reads them."""

    def __init__(self, kit: ExecKit) -> None:
        self._kit = kit
        self._pages = pages()

    def listed(self) -> types.ListResourcesResult:
        """All of them."""
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=uri,
                    name=page.name,
                    title=page.title,
                    description=page.description,
                    mime_type=page.mime_type,
                )
                for uri, page in self._pages.items()
            ]
        )

    def read(self, uri: str, requester: str, *, is_modern: bool = False) -> types.ReadResourceResult:
        """One of them, as ``requester`` may see it; revisions before the modern one have a code for what is not there.

        Raises:
            MCPError: there is none of that name.
        """
        page = self._pages.get(uri)
        if page is None:
            code = types.INVALID_PARAMS if is_modern else _RESOURCE_NOT_FOUND
            shown = self._kit.redact(uri, requester=requester)
            raise MCPError(code, "There is no such resource; resources/list names them.", {"uri": shown})
        text = page.text(self._kit, requester)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type=page.mime_type, text=text)]
        )
