"""What crosses the MCP boundary: one pydantic model a tool for its arguments, one for its result.

The JSON Schemas that clients see are generated from these models and then made plain (no titles, no ``null``
alternatives), because every client sends the tool list to its model with each request.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from execkit_mcp.server.keys import KeyName

MAX_WAIT_S = 600.0
MAX_OUTPUT_CHARS = 200_000
DEFAULT_OUTPUT_CHARS = 20_000

WaitSeconds = Annotated[float, Field(ge=0, le=MAX_WAIT_S)]
OutputChars = Annotated[int, Field(ge=200, le=MAX_OUTPUT_CHARS)]
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]


class Arguments(BaseModel):
    """Arguments of a tool: strict types, no unknown names."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RunArguments(Arguments):
    """``shell_run``."""

    command: str = Field(description="Shell text (a checked subset of bash).")
    session: Name | None = Field(default=None, description="Session name; default: main.")
    wait_s: WaitSeconds = Field(
        default=30, description="Seconds to wait; after that the status is running and shell_read polls."
    )
    timeout_s: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Interrupt the command after this many seconds."
    )
    stdin: str | None = Field(default=None, description="Text for its standard input.")
    tty: bool = Field(default=False, description="Run it on a terminal; then use shell_send.")
    max_output: OutputChars = Field(default=DEFAULT_OUTPUT_CHARS, description="Characters a stream.")
    reason: Annotated[str, Field(max_length=2000)] | None = Field(
        default=None, description="Why; shown to the person who may have to approve."
    )
    approval_id: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="From an earlier approval_pending result, once a person approved."
    )
    idempotency_key: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="Repeat a call with its key and it does not run twice: the first run's result comes."
    )


class ReadArguments(Arguments):
    """``shell_read``."""

    exec_id: Annotated[str, Field(max_length=100)]
    stream: Literal["stdout", "stderr", "screen"] = "stdout"
    offset: Annotated[int, Field(ge=0)] | None = Field(default=None, description="Byte offset (next_offset).")
    tail: Annotated[int, Field(ge=1, le=100_000)] | None = Field(default=None, description="Last N lines.")
    grep: Annotated[str, Field(max_length=1000)] | None = Field(
        default=None, description="Only lines that match this regular expression."
    )
    wait_s: WaitSeconds = Field(default=0, description="Wait up to this long for the end or wait_for.")
    wait_for: Annotated[str, Field(max_length=1000)] | None = Field(
        default=None, description="Stop waiting when the text matches this regular expression."
    )
    max_output: OutputChars = DEFAULT_OUTPUT_CHARS


class SendArguments(Arguments):
    """``shell_send``."""

    exec_id: Annotated[str, Field(max_length=100)]
    text: Annotated[str, Field(max_length=65_536)] | None = Field(
        default=None, description="Typed as it is; no newline is added."
    )
    key: KeyName | None = None
    wait_s: WaitSeconds = 1
    wait_for: Annotated[str, Field(max_length=1000)] | None = Field(
        default=None, description="Stop waiting when output after the send matches this."
    )
    cols: Annotated[int, Field(ge=20, le=500)] | None = None
    rows: Annotated[int, Field(ge=5, le=300)] | None = None


class OpenArguments(Arguments):
    """``shell_open``."""

    target: Name = "local"
    cwd: Annotated[str, Field(max_length=4096)] | None = None
    name: Name | None = None
    cols: Annotated[int, Field(ge=20, le=500)] = 120
    rows: Annotated[int, Field(ge=5, le=300)] = 40


class CloseArguments(Arguments):
    """``shell_close``."""

    session: Name


class InfoArguments(Arguments):
    """``shell_info``: none."""


class ExplainArguments(Arguments):
    """``shell_explain``."""

    command: str
    session: Name | None = None


class Result(BaseModel):
    """A result of a tool; documentation of its shape, never on the hot path."""


class ErrorBody(BaseModel):
    """What every failed call carries."""

    code: str
    message: str
    hint: str
    retryable: bool
    details: dict[str, Any]


class CountBody(BaseModel):
    """Exact counts of a stream that was cut; kept + omitted == total."""

    total_bytes: int
    total_lines: int
    omitted_bytes: int
    omitted_lines: int


class DecisionBody(BaseModel):
    """Why a command was refused, or what must be approved."""

    verdict: Literal["allow", "ask", "deny"]
    rule: str
    reason_code: str
    message: str
    hint: str


class FenceBody(BaseModel):
    """What held beneath the shell."""

    level: str
    exec_gate: bool
    network: str


class RunResult(Result):
    """``shell_run``: eight facts always, the others only when they say something."""

    status: Literal["completed", "running", "denied", "approval_pending", "timed_out", "cancelled", "lost"]
    exit_code: int | None
    stdout: str
    stderr: str
    duration_ms: float
    cwd: str
    session: str
    exec_id: str
    signal: str = ""
    truncated: dict[str, CountBody] = {}
    redactions: dict[str, int] = {}
    decision: DecisionBody | None = None
    approval_id: str = ""
    fence: dict[str, object] | None = None  # as FenceBody; clients check each result, and a nested schema costs them
    warnings: list[str] = []
    pipe_status: list[int] = []


class ReadResult(Result):
    """``shell_read`` and ``shell_send``."""

    exec_id: str
    session: str
    status: str
    exit_code: int | None
    stream: str
    text: str
    offset: int
    next_offset: int
    total_bytes: int
    total_lines: int
    eof: bool
    matches: int = 0
    redactions: dict[str, int] = {}
    warnings: list[str] = []


class OpenResult(Result):
    """``shell_open``."""

    session: str
    target: str
    transport: str
    shell: str
    cwd: str
    fence: FenceBody
    capabilities: list[str]


class CloseResult(Result):
    """``shell_close``; ``closed`` is false when it was closed already."""

    session: str
    closed: bool


class InfoResult(Result):
    """``shell_info``."""

    version: str
    targets: list[dict[str, Any]]
    sessions: list[dict[str, Any]]
    execs: list[dict[str, Any]]
    policy: dict[str, Any]
    fence: FenceBody
    limits: dict[str, Any]


class ExplainResult(Result):
    """``shell_explain``: the decision, with a readable account of it."""

    verdict: Literal["allow", "ask", "deny"]
    canonical: str | None
    rule: str | None
    reason_code: str
    message: str
    hint: str
    hazards: list[dict[str, Any]]
    commands: list[dict[str, Any]]
    policy: dict[str, str]
    explanation: str


def _plain(node: Any) -> Any:
    """Strip what costs tokens and says nothing: titles, null defaults, ``anyOf`` with null."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {key: _plain(value) for key, value in node.items() if key != "title" or not isinstance(value, str)}
    options = out.get("anyOf")
    if isinstance(options, list):
        kept = [option for option in options if option != {"type": "null"}]
        if len(kept) == 1 and len(options) > 1:
            del out["anyOf"]
            out = {**kept[0], **out}
    if "default" in out and out["default"] in (None, "", [], {}):
        del out["default"]
    return out


def _inline(node: Any, definitions: dict[str, Any]) -> Any:
    """Resolve ``$ref``: several clients do not."""
    if isinstance(node, list):
        return [_inline(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[1]
        return _inline({**definitions[name], **{k: v for k, v in node.items() if k != "$ref"}}, definitions)
    return {key: _inline(value, definitions) for key, value in node.items() if key != "$defs"}


def input_schema(model: type[Arguments]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, as plain as clients need it."""
    raw = model.model_json_schema()
    raw.pop("description", None)
    schema: dict[str, Any] = _plain(_inline(raw, raw.get("$defs", {})))
    return schema


def output_schema(model: type[Result]) -> dict[str, Any]:
    """The JSON Schema of a tool's structured result: either the result or ``{"error": …}``."""
    raw = model.model_json_schema()
    schema: dict[str, Any] = _inline(raw, raw.get("$defs", {}))
    nullable = {name for name, spec in schema["properties"].items() if {"type": "null"} in spec.get("anyOf", [])}
    properties = {
        name: (
            {"type": [_plain(spec).get("type", "object"), "null"]}
            if name in nullable and name in schema.get("required", [])
            else {key: value for key, value in _plain(spec).items() if key != "description"}
        )
        for name, spec in schema["properties"].items()
    }
    return {
        "type": "object",
        "properties": {**properties, "error": {"type": "object"}},
        "anyOf": [{"required": schema["required"]}, {"required": ["error"]}],
    }
