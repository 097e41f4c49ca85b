"""Fixtures that several folders of tests share: a private world, a served client, the corpora."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.web.page import chromium, pictures, recorded, submit, web  # noqa: F401 - fixtures

ROOT = Path(__file__).resolve().parents[1]

# Properties are tried on the same examples each time; `make fuzz` lets chance choose others.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("chance", deadline=None, print_blob=True)
settings.load_profile("chance" if os.environ.get("EXECKIT_FUZZ") else "same")

POLICY = """\
version: 1
name: test
include: [builtin:secrets]
limits: {time_s: 60, background: allow}
shell: {state: [cd, export, umask, exit, set, unset, read], env: {set: [GREETING, COLOR]}}
paths: {write: ["${workspace}/**"]}
rules:
  - allow: [ls, cat, head, tail, grep, wc, echo, printf, "true", "false", pwd, sleep, seq, base64, tr, jobs, wait,
            umask, env, printenv, test, sort, ":"]
  - {id: signals, allow: [kill], effects: trusted}
  - {id: code, allow: [python3, bash, sh], effects: trusted}
  - {id: look, ask: [touch, mkdir], reason: A person looks at this.}
  - {id: never, deny: [rm], reason: Nothing is deleted here.}
"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "promise(id): the promise (tests/requirements.py) that a test attacks")
    for number in (signal.SIGINT, signal.SIGQUIT):  # a script ignores them for `make test &`, and tests send them
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)


@dataclass(kw_only=True)
class World:
    """Folders of one test: a workspace, a state folder, a policy file."""

    folder: Path
    workspace: Path
    state: Path
    policy: Path

    def environment(self, **extra: str) -> dict[str, str]:
        """The variables that a server or command of this world starts with."""
        return {
            "PYTHONPATH": str(ROOT),
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "EXECKIT_STATE_DIR": str(self.state),
            **extra,
        }

    def serve_command(self, *extra: str, program: tuple[str, ...] = ("-m", "execkit_mcp")) -> list[str]:
        """The command line of the server, or of another ``program`` that takes the same."""
        return [
            sys.executable, *program, "serve", "--policy", str(self.policy),
            "--workspace", str(self.workspace), *extra,
        ]  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> World:
    workspace = tmp_path / "work"
    workspace.mkdir()
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    policy.chmod(0o644)
    return World(folder=tmp_path, workspace=workspace, state=tmp_path / "state", policy=policy)


@dataclass(kw_only=True)
class Served:
    """A client connected to a real server process."""

    client: Any
    questions: list[str] = field(default_factory=list)

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool; the SDK's result."""
        return await self.client.call_tool(tool, arguments)

    async def run(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Call shell_run; the structured result."""
        return (await self.call("shell_run", command=command, **arguments)).structured_content


@pytest.fixture
def serve(world: World) -> Callable[..., Any]:
    """``async with serve(answer=…, mode=…) as served``: the real server over stdio, and a real client."""

    @asynccontextmanager
    async def start(answer: str | None = None, mode: str = "auto", **environment: str) -> AsyncIterator[Served]:
        from mcp import Client
        from mcp.client.stdio import StdioServerParameters, stdio_client
        from mcp.types import ElicitResult

        command = world.serve_command()
        parameters = StdioServerParameters(
            command=command[0], args=command[1:], env=world.environment(**environment), cwd=world.workspace
        )
        served = Served(client=None)

        async def person(_context: Any, question: Any) -> ElicitResult:
            served.questions.append(question.message)
            if answer in ("cancel", "decline"):
                return ElicitResult(action=answer)
            return ElicitResult(action="accept", content={"decision": answer})

        options = {"elicitation_callback": person} if answer is not None else {}
        with (world.folder / "server.log").open("a") as log:
            async with Client(stdio_client(parameters, errlog=log), mode=mode, **options) as client:
                served.client = client
                yield served

    return start


class RawServer:
    """The real server, spoken to in lines."""

    def __init__(self, world: World, capabilities: dict[str, Any]) -> None:
        self._log = (world.folder / "server.log").open("ab")
        self.process = subprocess.Popen(
            world.serve_command(),
            env=world.environment(),
            cwd=world.workspace,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        about = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "raw", "version": "1"}}
        self.write({"id": 0, "method": "initialize", "params": {**about, "capabilities": capabilities}})
        self.read(0)
        self.write({"method": "notifications/initialized"})

    def write(self, message: dict[str, Any] | bytes) -> None:
        """Send a message, or a line as it is."""
        line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self, id_: object = ..., *, method: str | None = None) -> dict[str, Any]:
        """The next answer with that id (``...``: the next message), or the next request of that name."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if message.get("method") == method and (method or id_ in (..., message["id"])):
                return message
        raise EOFError

    def call(self, id_: int, tool: str, **arguments: Any) -> None:
        """Send a call and do not wait."""
        self.write({"id": id_, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; the structured result."""
        self.call(1, tool, **arguments)
        return self.read(1)["result"]["structuredContent"]

    def close(self) -> None:
        """Kill it."""
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self._log):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        self.process.wait(10)


@pytest.fixture
def raw(world: World) -> Iterator[Callable[..., RawServer]]:
    """``raw(**capabilities)``: a server in this world, spoken to in lines; killed at the end."""
    servers: list[RawServer] = []

    def start(**capabilities: Any) -> RawServer:
        servers.append(RawServer(world, capabilities))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def http(world: World) -> Iterator[Callable[..., Any]]:
    """``http(*flags, program=…, **environment)``: the real server over HTTP in this world; killed at the end."""
    from tests.http_server import HttpServer

    servers: list[HttpServer] = []

    def start(*flags: str, **options: Any) -> HttpServer:
        servers.append(HttpServer(world, *flags, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def corpus() -> Callable[[str], Path]:
    """Where a corpus lies; the project keeps no copy, so a machine without it says so and skips."""

    def find(name: str) -> Path:
        folder = Path(os.environ.get("EXECKIT_TEST_DATA", ROOT.parent / "shared" / "data"))
        path = folder / name
        if not path.exists():
            pytest.skip(f"no corpus at {path}: set EXECKIT_TEST_DATA to the folder that holds {name}")
        return path

    return find
