"""The first answer: who we are, told before the MCP SDK is loaded.

Loading the SDK takes longer than everything else that a start needs. A client that opens with a plain ``initialize`` or
``server/discover`` is answered from here; the SDK, loaded after that, is handed the same line, does its own handshake
and its answer, which says the same, is dropped (``stdio``). What is not exactly one of these requests, down to names
and types of all members, is no opening: the SDK alone answers it. Only in what a client says of itself and its
capabilities may members be unknown.
"""

from typing import Any, Final, Literal

from msgspec import DecodeError, Struct, field, json

from execkit_mcp.model.version import VERSION

NAME: Final = "execkit-mcp"
DESCRIPTION: Final = "Safe, persistent shell sessions for AI agents."

INSTRUCTIONS: Final = """\
Persistent shell sessions on real machines, behind a policy.

1. shell_run runs a command in the session "main" (opened when needed). cd, variables and jobs stay between calls.
2. Every command is judged first. status "denied" names the rule or reason and what would be allowed: change the
   command, do not repeat or disguise it. shell_explain says beforehand what would happen.
3. status "approval_pending": a person must approve. Tell the user the approval_id, go on with other work, and call
   shell_run again with the same command and that approval_id; wait_s waits for the person. You cannot approve.
4. status "running": the command goes on; poll with shell_read(exec_id, wait_s=30). ctrl-c: shell_send(exec_id,
   key="ctrl-c").
5. Long output is cut in the middle; shell_read pages through all of it by offset, tail or grep.
6. [REDACTED:kind:tag] stands for a secret; equal tags are equal secrets. Do not try to recover one.
7. A session runs one command at a time; shell_open gives another session.
8. Resources execkit://policy, execkit://sessions and execkit://audit tell what holds, what runs, what happened.

Commands get standard input only from stdin=… or, with tty=true, from shell_send; shell_read(stream="screen")
shows the screen. At a shell or interpreter prompt send whole lines: they are judged like commands. Prefer plain
commands with literal arguments: a word that only the shell could work out may need approval.
"""

_SERVER: Final = {"name": NAME, "title": NAME, "version": VERSION, "description": DESCRIPTION}
_ABOUT: Final = {
    "capabilities": {
        "prompts": {"listChanged": False},
        "resources": {"listChanged": False, "subscribe": False},
        "tools": {"listChanged": False},
    },
    "instructions": INSTRUCTIONS,
}
_DISCOVERED: Final = {
    **_ABOUT,
    "cacheScope": "private",
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "ttlMs": 0,
    "_meta": {"io.modelcontextprotocol/serverInfo": _SERVER},
}
_Anything = dict[str, Any]


class _Known(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, rename="camel"):
    """An object of which each member is known."""


class _Described(Struct, frozen=True, kw_only=True, rename="camel"):
    """An object of which members may be unknown: clients say more of themselves than the protocol asks."""


class _Icon(_Described, frozen=True):
    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    theme: Literal["dark", "light"] | None = None


class _ClientInfo(_Described, frozen=True):
    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: list[_Icon] | None = None


class _Roots(_Described, frozen=True):
    list_changed: bool | None = None


class _Elicitation(_Described, frozen=True):
    form: _Anything | None = None
    url: _Anything | None = None


class _Sampling(_Described, frozen=True):
    context: _Anything | None = None
    tools: _Anything | None = None


class _TaskSampling(_Described, frozen=True):
    create_message: _Anything | None = None


class _TaskElicitation(_Described, frozen=True):
    create: _Anything | None = None


class _TaskRequests(_Described, frozen=True):
    sampling: _TaskSampling | None = None
    elicitation: _TaskElicitation | None = None


class _Tasks(_Described, frozen=True):
    list: _Anything | None = None
    cancel: _Anything | None = None
    requests: _TaskRequests | None = None


class _Capabilities(_Described, frozen=True):
    roots: _Roots | None = None
    elicitation: _Elicitation | None = None
    sampling: _Sampling | None = None
    tasks: _Tasks | None = None
    experimental: dict[str, _Anything] | None = None
    extensions: dict[str, _Anything] | None = None


class _Handshake(_Known, frozen=True):
    protocol_version: Literal["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
    capabilities: _Capabilities
    client_info: _ClientInfo


class _Envelope(_Known, frozen=True):
    protocol_version: Literal["2026-07-28"] = field(name="io.modelcontextprotocol/protocolVersion")
    client_info: _ClientInfo = field(name="io.modelcontextprotocol/clientInfo")
    client_capabilities: _Capabilities = field(name="io.modelcontextprotocol/clientCapabilities")


class _Discovery(_Known, frozen=True):
    meta: _Envelope = field(name="_meta")


class _Initialize(_Known, frozen=True, tag_field="method", tag="initialize"):
    jsonrpc: Literal["2.0"]
    id: int | str
    params: _Handshake


class _Discover(_Known, frozen=True, tag_field="method", tag="server/discover"):
    jsonrpc: Literal["2.0"]
    id: int | str
    params: _Discovery


class Greeting(Struct, frozen=True, kw_only=True):
    """The answer to an opening request: its id, and what was told."""

    id: int | str
    result: dict[str, Any]

    def line(self) -> bytes:
        """The answer as a line of the protocol."""
        return json.encode({"jsonrpc": "2.0", "id": self.id, "result": self.result}) + b"\n"


_OPENING: Final = json.Decoder(_Initialize | _Discover)


def greeting(line: bytes) -> Greeting | None:
    """The answer to ``line``, if it is an opening request that is understood to the last member."""
    try:
        request = _OPENING.decode(line)
        json.decode(line)  # what is unknown was skipped: it must be JSON as well
    except (DecodeError, UnicodeDecodeError):
        return None
    if isinstance(request, _Discover):
        return Greeting(id=request.id, result=_DISCOVERED)
    told = {**_ABOUT, "protocolVersion": request.params.protocol_version, "serverInfo": _SERVER}
    return Greeting(id=request.id, result=told)
