"""The first answer, given before the SDK is loaded, is the SDK's own answer."""

import asyncio
import json
import subprocess
import sys

import pytest

from execkit_mcp.kit import open_kit
from execkit_mcp.server.app import build_server
from execkit_mcp.server.greeting import greeting
from execkit_mcp.server.lines import Lines
from execkit_mcp.server.stdio import serve_lines

LIMIT_S = 20
INFO = {"name": "client", "version": "1"}
CAPABILITIES = [
    {},
    {"roots": {"listChanged": True}},
    {"roots": {}, "sampling": {}, "elicitation": {}},
    {"elicitation": {"form": {"x": 1}, "url": {}}, "sampling": {"tools": {}, "context": {}}},
    {"experimental": {"a": {"b": [1, None]}}, "extensions": {"org.example/x": {"deep": {"er": True}}}},
    {"tools": True, "prompts": True, "logging": False, "unheard-of": [1, {"x": None}, 1e300, "\u00e9"]},
    {
        "tasks": {
            "list": {},
            "cancel": {},
            "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
        }
    },
    {"roots": None, "sampling": None, "elicitation": {"form": None}, "tasks": None, "experimental": None},
    {"roots": {"listChanged": False, "more": 1}, "elicitation": {"form": {}, "voice": "yes"}},
]
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def initialize(id_=1, version="2025-11-25", info=INFO, capabilities=None, **more):
    params = {"protocolVersion": version, "clientInfo": info, "capabilities": capabilities or {}, **more}
    return {"jsonrpc": "2.0", "id": id_, "method": "initialize", "params": params}


def discover(id_=1, version="2026-07-28", info=INFO, capabilities=None, **more):
    facts = {"protocolVersion": version, "clientInfo": info, "clientCapabilities": capabilities or {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in facts.items()}
    return {"jsonrpc": "2.0", "id": id_, "method": "server/discover", "params": {"_meta": {**meta, **more}}}


def line_of(message):
    return json.dumps(message).encode() + b"\n"


OPENINGS = [
    *(initialize(version=version) for version in VERSIONS),
    *(initialize(capabilities=capabilities) for capabilities in CAPABILITIES),
    *(discover(capabilities=capabilities) for capabilities in CAPABILITIES),
    initialize("an id"),
    initialize(-7),
    discover("0"),
    initialize(info={**INFO, "title": "Client", "description": "of the shell"}),
    initialize(info={"name": "", "version": ""}),
    initialize(info={**INFO, "title": None, "description": None, "websiteUrl": None, "icons": None}),
    initialize(info={**INFO, "icons": [{"src": "data:,", "mimeType": "image/png", "sizes": ["any"], "theme": "dark"}]}),
    initialize(info={**INFO, "websiteUrl": "not a URL", "vendor": {"x": [1]}, "language": "de"}),
    # as clients of 2026 open: Claude Code, Codex, opencode, Gemini CLI
    initialize(
        0,
        capabilities={"roots": {}, "elicitation": {}},
        info={
            "name": "claude-code",
            "title": "Claude Code",
            "version": "2.1.197",
            "description": "Anthropic's agentic coding tool",
            "websiteUrl": "https://claude.com/claude-code",
        },
    ),
    initialize(
        0,
        "2025-06-18",
        {"name": "codex-mcp-client", "title": "Codex", "version": "0.169.0"},
        {"experimental": {"codex/auth-change": {}}, "elicitation": {"form": {}, "url": {}}},
    ),
    initialize(0, info={"name": "opencode", "version": "1.18.33"}, capabilities={"roots": {}}),
    initialize(0, "2025-06-18", {"name": "mcp-test-client", "version": "0.0.1"}),
]

NO_OPENINGS = [
    initialize(version="2026-07-28"),
    initialize(version="1.0"),
    initialize(version=None),
    initialize(True),
    initialize(1.5),
    initialize(None),
    initialize(info={"name": "client"}),
    initialize(info={**INFO, "title": 5}),
    initialize(info={**INFO, "websiteUrl": ["x"]}),
    initialize(info={**INFO, "icons": [{}]}),
    initialize(info={**INFO, "icons": [{"src": "x", "theme": "red"}]}),
    initialize(capabilities={"tasks": {"requests": {"sampling": True}}}),
    initialize(capabilities={"tasks": []}),
    initialize(capabilities={"roots": True}),
    initialize(capabilities={"roots": {"listChanged": "yes"}}),
    initialize(capabilities={"elicitation": {"form": []}}),
    initialize(_meta={"progressToken": 1}),
    discover(version="2025-11-25"),
    discover(progressToken=1),
    {**initialize(), "extra": 1},
    {**initialize(), "jsonrpc": "1.0"},
    {**initialize(), "method": "tools/list"},
    {**initialize(), "params": []},
    {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
    {"jsonrpc": "2.0", "method": "initialize", "params": initialize()["params"]},
    [initialize()],
]


class Kept:
    """Lines that were written."""

    def __init__(self):
        self.lines = []

    async def write(self, line):
        self.lines.append(json.loads(line))


async def through_the_sdk(world, messages, greeted=None):
    reader = asyncio.StreamReader()
    for message in messages:
        reader.feed_data(line_of(message))
    reader.feed_eof()
    kept = Kept()
    async with (
        asyncio.timeout(LIMIT_S),
        open_kit(policy=str(world.policy), workspace=str(world.workspace), state_dir=str(world.state)) as kit,
    ):
        await serve_lines(build_server(kit), Lines(reader), kept, greeted)
    return kept.lines


@pytest.mark.parametrize("opening", OPENINGS, ids=json.dumps)
async def test_what_is_told_at_once_is_what_the_sdk_answers(opening, world):
    told = greeting(line_of(opening))
    assert told is not None
    assert [json.loads(told.line())] == await through_the_sdk(world, [opening])


@pytest.mark.parametrize("message", NO_OPENINGS, ids=json.dumps)
def test_what_is_not_an_opening_to_the_last_member_is_left_to_the_sdk(message):
    assert greeting(line_of(message)) is None


@pytest.mark.parametrize("member", [rb'"\ud800"', b'"\xff"', b"01", b"[1,]", b"nul", b'"\n"'])
def test_a_member_that_is_unknown_must_be_json_as_well(member):
    line = line_of(initialize(capabilities={"unheard-of": "HERE"}))
    assert greeting(line) is not None
    assert greeting(line.replace(b'"HERE"', member)) is None


@pytest.mark.parametrize("line", [b"\n", b"{", b"\xff\n", b"null\n", b"[" * 100_000, b'{"id":"\\ud800"}'])
def test_a_line_that_is_no_message_is_no_opening(line):
    assert greeting(line) is None


@pytest.mark.parametrize("opening", [initialize(), discover()], ids=lambda opening: opening["method"])
async def test_the_answer_that_the_client_has_is_not_given_again(opening, world, capsys):
    told = greeting(line_of(opening))
    assert await through_the_sdk(world, [opening], told) == []
    assert "mcp" not in capsys.readouterr().err


async def test_an_answer_of_the_sdk_that_differs_is_told_to_the_operator(world, capsys):
    told = greeting(line_of(initialize(version="2025-06-18")))
    assert await through_the_sdk(world, [initialize(version="2025-11-25")], told) == []
    assert "mcp package" in capsys.readouterr().err


async def test_a_line_that_comes_late_is_read_when_it_comes():
    reader = asyncio.StreamReader()
    lines = Lines(reader)
    assert await lines.peek(0.01) is None
    reader.feed_data(b"a\nb\n")
    assert [await lines.next(), await lines.next()] == [b"a\n", b"b\n"]


def test_a_line_that_was_seen_is_read_all_the_same():
    async def seen():
        reader = asyncio.StreamReader()
        reader.feed_data(b"a\nb\n")
        lines = Lines(reader)
        return [await lines.peek(LIMIT_S), await lines.next(), await lines.next()]

    assert asyncio.run(seen()) == [b"a\n", b"a\n", b"b\n"]


@pytest.mark.parametrize("opening", [initialize(5), discover(5)], ids=lambda opening: opening["method"])
def test_the_client_has_its_answer_before_the_sdk_is_loaded(opening, world, tmp_path):
    (tmp_path / "mcp_types.py").write_text("raise ImportError('the SDK is loaded')\n")
    environment = world.environment()
    environment["PYTHONPATH"] = f"{tmp_path}:{environment['PYTHONPATH']}"
    served = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "serve", "--policy", world.policy, "--workspace", world.workspace],
        input=line_of(opening), capture_output=True, env=environment, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert json.loads(served.stdout)["id"] == 5
    assert b"the SDK is loaded" in served.stderr


def test_messages_that_follow_at_once_are_answered_in_order(world):
    requests = [
        initialize(0),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "shell_run", "arguments": {"command": "echo hello"}}},
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "execkit_mcp", "serve", "--policy", world.policy, "--workspace", world.workspace],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=world.environment(),
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"".join(line_of(request) for request in requests))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(3)]
        server.stdin.close()
        assert server.stdout.read() == b""
    assert [answer["id"] for answer in answers] == [0, 1, 2]
    assert answers[2]["result"]["structuredContent"]["stdout"] == "hello\n"
