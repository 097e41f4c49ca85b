"""A real sshd, and kits, servers and drivers that reach it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from execkit_mcp.kit import ExecKit, open_kit
from execkit_mcp.runtime.request import RunRequest
from tests.ssh.sshd import Sshd, require_sshd, serving

POLICY = """\
version: 1
name: host
limits: {time_s: 60, background: allow}
shell: {state: [cd, export, exit, set, unset], env: {set: [GREETING]}}
paths: {write: [/tmp/**], never: ["~/.ssh/**", /etc/shadow]}
rules:
  - allow: [ls, cat, head, tail, grep, wc, echo, printf, "true", "false", pwd, sleep, seq, env, printenv, sort, test,
            readlink, ":", jobs, wait, whoami]
  - {id: signals, allow: [kill], effects: trusted}
  - {id: code, allow: [python3, bash, sh, yes, setsid], effects: trusted}
  - {id: never, deny: [rm], reason: Nothing is deleted here.}
"""


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """One host for all tests that leave it as it is."""
    require_sshd()
    with serving(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture
def own_sshd(tmp_path: Path) -> Iterator[Callable[..., Sshd]]:
    """``own_sshd(*options)``: a host of the test's own."""
    require_sshd()
    started: list[Sshd] = []

    def start(*options: str, name: str = "host", **place: Any) -> Sshd:
        started.append(Sshd(tmp_path / name, *options, **place).start())
        return started[-1]

    yield start
    for server in started:
        for pid in server.sessions() if server._process is not None else []:
            _end(pid)
        server.stop()


def _end(pid: int) -> None:
    import contextlib
    import os
    import signal

    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Host:
    """A kit with one target, and its caller."""

    def __init__(self, kit: ExecKit, folder: Path) -> None:
        self.kit = kit
        self.folder = folder

    async def run(self, command: str, **arguments: Any) -> Any:
        """Run to the end."""
        return await self.kit.run(RunRequest(command=command, wait_s=None, **arguments), requester="test")

    async def open(self, name: str = "main", **arguments: Any) -> dict[str, object]:
        """Open a session on the host."""
        return await self.kit.open_session(requester="test", target="prod-1", name=name, **arguments)

    async def until_unlinked(self, name: str = "main") -> None:
        """Until the loss of the link has been noticed."""
        async with asyncio.timeout(20):
            while self.kit._sessions.get(name, "test")._driver.is_linked:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)

    def record(self) -> str:
        """The audit log as text."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("state/**/*.jsonl")))


@pytest.fixture
def kit_for(tmp_path: Path) -> Callable[..., Any]:
    """``async with kit_for(sshd, **options) as host``: a kit whose target ``prod-1`` it is."""

    @asynccontextmanager
    async def start(server: Sshd, *, policy: str = POLICY, **options: Any) -> AsyncIterator[Host]:
        config, rules = tmp_path / "config.yaml", tmp_path / "policy.yaml"
        config.write_text(server.yaml(**options))
        rules.write_text(policy)
        for file in (config, rules):
            file.chmod(0o644)
        async with open_kit(
            policy=str(rules), config=str(config), workspace=str(tmp_path), state_dir=str(tmp_path / "state")
        ) as kit:
            yield Host(kit, tmp_path)

    return start
