"""What crosses the MCP boundary: one pydantic model a tool for its arguments, one for its result.

The JSON Schemas that clients see are generated from these models and then made plain (no titles, no ``null``
alternatives), because every client sends the tool list to its model with each request.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_WAIT_S = 600.0
MAX_OUTPUT_CHARS = 200_000
DEFAULT_OUTPUT_CHARS = 20_000

WaitSeconds = Annotated[float, Field(ge=0, le=MAX_WAIT_S)]
OutputChars = Annotated[int, Field(ge=200, le=MAX_OUTPUT_CHARS)]
SignalName = Literal["INT", "TERM", "KILL", "HUP", "QUIT", "STOP", "CONT", "USR1", "USR2"]
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]


class Arguments(BaseModel):
    """Arguments of a tool: strict types, no unknown names."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RunArguments(Arguments):
    """``shell_run``."""

    command: str = Field(description="A bash command line.")
    session: Name | None = Field(default=None, description="Default: main.")
    wait_s: WaitSeconds = Field(default=30, description="Seconds; then poll with shell_read.")
    timeout_s: Annotated[float, Field(gt=0)] | None = Field(default=None, description="Interrupt it after so long.")
    stdin: str | None = Field(default=None, description="Text for it to read.")
    tty: bool = Field(default=False, description="On a terminal, for shell_send.")
    max_output: OutputChars = DEFAULT_OUTPUT_CHARS
    reason: Annotated[str, Field(max_length=2000)] | None = Field(default=None, description="For the approver.")
    approval_id: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="Of an approved approval_pending."
    )
    durable: bool = Field(default=False, description="Outlives session and server.")
    env_delta: bool = Field(default=False, description="Tell which variables changed.")
    idempotency_key: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="Same key: runs once."
    )


class ReadArguments(Arguments):
    """``shell_read``."""

    exec_id: Annotated[str, Field(max_length=100)]
    stream: Literal["stdout", "stderr", "screen"] = "stdout"
    offset: Annotated[int, Field(ge=0)] | None = Field(default=None, description="Bytes; see next_offset.")
    tail: Annotated[int, Field(ge=1, le=100_000)] | None = None
    grep: Annotated[str, Field(max_length=1000)] | None = Field(default=None, description="Regex: matching lines only.")
    wait_s: WaitSeconds = Field(default=0, description="Wait for its end or wait_for.")
    wait_for: Annotated[str, Field(max_length=1000)] | None = Field(
        default=None, description="Regex that ends the wait."
    )
    settle_ms: Annotated[int, Field(ge=10, le=60_000)] | None = Field(default=None, description="Or such a silence.")
    max_output: OutputChars = DEFAULT_OUTPUT_CHARS


class SendArguments(Arguments):
    """``shell_send``."""

    exec_id: Annotated[str, Field(max_length=100)]
    text: Annotated[str, Field(max_length=65_536)] | None = None
    key: Annotated[str, Field(max_length=40)] | None = Field(default=None, description="enter tab up f1 ctrl-c alt-x …")
    signal: SignalName | None = None
    wait_s: WaitSeconds = 1
    wait_for: Annotated[str, Field(max_length=1000)] | None = Field(
        default=None, description="Regex that ends the wait."
    )
    settle_ms: Annotated[int, Field(ge=10, le=60_000)] | None = Field(default=None, description="Or such a silence.")
    cols: Annotated[int, Field(ge=20, le=500)] | None = None
    rows: Annotated[int, Field(ge=5, le=300)] | None = None
    reason: Annotated[str, Field(max_length=2000)] | None = None
    approval_id: Annotated[str, Field(max_length=100)] | None = None


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


class SandboxArguments(Arguments):
    """``shell_sandbox``."""

    action: Literal["snapshot", "restore", "fork", "diff", "apply"]
    session: Name = "main"
    snapshot: Name | None = Field(default=None, description="Its name; for fork: from which one, default: as it is.")
    name: Name | None = Field(default=None, description="Session that a fork opens.")
    reason: Annotated[str, Field(max_length=2000)] | None = None
    approval_id: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="For apply, once a person has approved these changes."
    )
    wait_s: WaitSeconds = Field(default=30, description="For apply: seconds to wait for the person.")
    max_output: OutputChars = DEFAULT_OUTPUT_CHARS


class Result(BaseModel):
    """A result of a tool; documentation of its shape, never on the hot path.

    ``LISTED`` are the facts that the tool list names; none: those that are always there.
    """

    LISTED: ClassVar[tuple[str, ...]] = ()


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
    mechanisms: list[str] = []
    holes: list[str] = []


class RunResult(Result):
    """``shell_run``: eight facts always, the others only when they say something."""

    LISTED: ClassVar[tuple[str, ...]] = ("status", "exit_code", "stdout", "stderr", "session", "exec_id")

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
    jobs: list[dict[str, object]] = []
    env_delta: dict[str, object] | None = None
    limit: str = ""  # the limit that ended it, by its name
    audit: dict[str, object] | None = None  # {seq, head}: the entry in the audit log and its hash
    refused: list[dict[str, object]] = []


class ReadResult(Result):
    """``shell_read`` and ``shell_send``."""

    LISTED: ClassVar[tuple[str, ...]] = ("status", "exit_code", "text", "next_offset", "eof")

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
    cursor: list[int] = []
    redactions: dict[str, int] = {}
    warnings: list[str] = []


class SandboxResult(Result):
    """``shell_sandbox``."""

    action: str
    session: str
    status: Literal["completed", "approval_pending"]
    snapshots: list[str]
    snapshot: str = ""
    fork: str = ""
    took_ms: float = 0.0
    changes: list[str] = []
    count: int = 0
    applied: int = 0
    text: str = ""
    omitted_characters: int = 0
    approval_id: str = ""
    message: str = ""


class OpenResult(Result):
    """``shell_open``."""

    LISTED: ClassVar[tuple[str, ...]] = ("session", "target")

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

    LISTED: ClassVar[tuple[str, ...]] = ("targets", "sessions", "execs", "policy")

    version: str
    targets: list[dict[str, Any]]
    sessions: list[dict[str, Any]]
    execs: list[dict[str, Any]]
    policy: dict[str, Any]
    fence: FenceBody
    limits: dict[str, Any]


class ExplainResult(Result):
    """``shell_explain``: the decision, with a readable account of it."""

    LISTED: ClassVar[tuple[str, ...]] = ("verdict", "message", "hint")

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


# checked on arrival and named in the error; in the list that every request carries they would only cost
_CHECKED_ONLY = frozenset(
    {"title", "maxLength", "minLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "additionalProperties"}
)


def _plain(node: Any, *, is_names: bool = False) -> Any:
    """Strip what costs tokens and says nothing: titles, bounds, null defaults, ``anyOf`` with null."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {
        key: _plain(value, is_names=key == "properties")
        for key, value in node.items()
        if is_names or key not in _CHECKED_ONLY
    }
    if is_names:
        return out
    options = out.get("anyOf")
    if isinstance(options, list):
        kept = [option for option in options if option != {"type": "null"}]
        if len(kept) == 1 and len(options) > 1:
            del out["anyOf"]
            out = {**kept[0], **out}
    if "default" in out and out["default"] in (None, "", [], {}, False):
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
    """The JSON Schema of a tool's structured result: the facts that a caller acts on, by name and type.

    Nothing is required, because a call that failed carries ``error`` in their place; results hold more than is listed.
    """
    raw = model.model_json_schema()
    schema: dict[str, Any] = _inline(raw, raw.get("$defs", {}))
    names = model.LISTED or tuple(schema.get("required", []))
    return {"type": "object", "properties": {name: _kind(schema["properties"][name]) for name in names}}


def _kind(spec: dict[str, Any]) -> dict[str, Any]:
    options = [option["type"] for option in spec.get("anyOf", [])]
    return {"type": options or spec.get("type", "object")}
