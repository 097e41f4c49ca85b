"""What the tests of the fence share: a kit under a policy, and probes compiled on the spot."""

import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from execkit_mcp.kit import ExecKit, open_kit
from execkit_mcp.runtime.request import RunRequest

POLICY = """\
version: 1
name: fenced
include: [builtin:secrets]
limits: {time_s: 60, background: allow}
shell: {state: [cd, export, set, unset]}
paths: {write: ["${workspace}/**"]}
rules:
  - allow: [ls, cat, head, grep, wc, echo, "true", "false", sleep, find]
  - {id: code, allow: [python3, bash, sh], effects: trusted}
  - {id: never, deny: [rm]}
"""


class Fenced:
    """A kit whose sessions have a fence."""

    def __init__(self, kit: ExecKit, workspace: Path, state: Path) -> None:
        self.kit = kit
        self.workspace = workspace
        self.state = state

    async def run(self, command: str, **arguments: Any) -> Any:
        """One command; its ExecResult."""
        return await self.kit.run(RunRequest(command=command, wait_s=60, **arguments), requester="agent")

    async def python(self, code: str) -> Any:
        """Python code from a file of the workspace, so that the text gate does not look at it."""
        (self.workspace / "code.py").write_text(code)
        return await self.run("python3 code.py")


@pytest.fixture
def fenced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """``async with fenced(policy=TEXT, level=…) as f``."""

    @asynccontextmanager
    async def start(policy: str = POLICY, level: str = "auto") -> AsyncIterator[Fenced]:
        workspace, state = tmp_path / "work", tmp_path / "state"
        workspace.mkdir(exist_ok=True)
        file = tmp_path / "policy.yaml"
        file.write_text(policy)
        file.chmod(0o600)
        environ = {"EXECKIT_FENCE": level, "HOME": str(tmp_path / "home")}
        async with open_kit(policy=str(file), workspace=str(workspace), state_dir=str(state), environ=environ) as kit:
            yield Fenced(kit, workspace, state)

    return start


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[[str, str], Path]:
    """``compiled(name, source)``: a C program, statically linked where that is possible."""

    def build(name: str, source: str, *, folder: Path | None = None) -> Path:
        target = (folder or tmp_path) / name
        code = tmp_path / f"{name}.c"
        code.write_text(source)
        subprocess.run(["gcc", "-O1", "-pthread", "-o", str(target), str(code)], check=True, capture_output=True)
        return target

    return build
