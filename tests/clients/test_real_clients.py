"""Claude Code, Codex, Gemini CLI and opencode as they come from npm, connected by ``setup``, with a scripted model.

Nothing here reaches the network. A client that npm could not deliver is skipped with the reason that ``.ci/setup``
wrote down; ``EXECKIT_TEST_CLIENTS`` names another folder with a ``node_modules``.
"""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from execkit_mcp.cli.hook.call import socket_name
from execkit_mcp.server.greeting import INSTRUCTIONS
from tests.clients.mock_model import serve_model

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("EXECKIT_TEST_CLIENTS", f"{sys.prefix}/clients"))
POLICY = """\
version: 1
name: clients
paths: {read: ["${workspace}/**"], write: ["${workspace}/**"]}
rules:
  - allow: [echo, cat, sleep]
  - {id: look, ask: [touch], effects: {write: paths}, reason: A person looks at this.}
  - {id: never, deny: [rm], reason: Nothing is deleted here.}
"""
TIMEOUT_S = 240


@dataclass(frozen=True, kw_only=True)
class Row:
    """How one client is started, and what its model sees."""

    package: str
    program: str
    run: list[str]
    health: list[str]
    healthy: str
    files: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    shell: tuple[str, dict] | None = None
    pending: str = "approval_pending"


CLIENTS = {
    "claude-code": Row(
        package="@anthropic-ai/claude-code",
        program="claude",
        run=["-p", "go", "--model", "claude-sonnet-4-5", "--allowedTools", "mcp__execkit,Bash"],
        health=["mcp", "list"],
        healthy=r"execkit.*(?:✓|✔) Connected",
        variables={
            "ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "not-a-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1",
            "MCP_CONNECTION_NONBLOCKING": "false",
        },
        shell=("Bash", {"command": "rm -rf kept", "description": "tidy"}),
    ),
    "codex": Row(
        package="@openai/codex",
        program="codex",
        run=["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
             "--dangerously-bypass-hook-trust", "go"],
        health=["mcp", "list"],
        healthy=r"execkit.*enabled",
        files={".codex/config.toml": (
            'model = "gpt-5"\nmodel_provider = "mock"\n\n[model_providers.mock]\nname = "mock"\n'
            'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n\n'
            '[mcp_servers.execkit] # so that the first turn waits for it\nrequired = true\n'
        )},
        variables={"MOCK_KEY": "not-a-key"},
        shell=("exec_command", {"cmd": "rm -rf kept", "command": "rm -rf kept"}),
        pending="denied",  # exec mode answers the question itself: declined
    ),
    "gemini-cli": Row(
        package="@google/gemini-cli",
        program="gemini",
        run=["-p", "go", "--yolo", "--skip-trust", "-m", "gemini-2.5-pro"],
        health=["mcp", "list"],
        healthy=r"execkit.*Connected",
        files={
            ".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}},'
            ' "privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false}}\n',
            ".gemini/trustedFolders.json": '{"{project}": "TRUST_FOLDER"}\n',
        },
        variables={
            "GEMINI_API_KEY": "not-a-key", "GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        shell=("run_shell_command", {"command": "rm -rf kept"}),
    ),
    "opencode": Row(
        package="opencode-ai",
        program="opencode",
        run=["run", "--model", "mock/m", "go"],
        health=["mcp", "list"],
        healthy=r"execkit.*connected",
        files={".config/opencode/opencode.json": (
            '{"provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "mock", "models": {"m": {"name": "m"}},'
            ' "options": {"baseURL": "{url}/v1", "apiKey": "x"}}}, "autoupdate": false, "share": "disabled"}\n'
        )},
        variables={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    ),
}  # fmt: skip


class Desk:
    """A home with one client in it."""

    def __init__(self, name, folder):
        self.name, self.row = name, CLIENTS[name]
        self.program = FOLDER / "node_modules" / ".bin" / self.row.program
        if not self.program.exists():
            reason = FOLDER / f"{self.row.program}.failed"
            why = reason.read_text().strip() if reason.exists() else f"{self.program} is not there; run .ci/setup dev"
            pytest.skip(f"npm did not deliver {self.row.package}: {why}")
        self.home, self.project, self.state = folder / "home", folder / "project", folder / "state"
        for each in (self.home, self.project):
            each.mkdir()
        (self.project / "kept").mkdir()
        self.policy = folder / "policy.yaml"
        self.policy.write_text(POLICY)
        self.policy.chmod(0o600)
        self.secret = "ghp_" + os.urandom(18).hex()
        (self.project / "settings.ini").write_text(f"token = {self.secret}\nuser = deploy\n")

    def environment(self, url):
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": str(ROOT), "NO_COLOR": "1",
            "TERM": "dumb",
            "XDG_CONFIG_HOME": str(self.home / ".config"), "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_STATE_HOME": str(self.home / ".local/state"), "XDG_CACHE_HOME": str(self.home / ".cache"),
            "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
            **{name: value.replace("{url}", url) for name, value in self.row.variables.items()},
        }  # fmt: skip

    def set_up(self, url):
        for name, text in self.row.files.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{url}", url).replace("{project}", str(self.project)))
        extra = ["--hook"] if self.row.shell else []
        self.execkit(url, "setup", self.name, "--policy", str(self.policy), "--state-dir", str(self.state),
                     "--workspace", str(self.project), *extra)  # fmt: skip

    def execkit(self, url, *words):
        done = self.start([sys.executable, "-m", "execkit_mcp", *words], url)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, command, url):
        return subprocess.run(
            command, cwd=self.project, env=self.environment(url), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip

    def stop_judge(self):
        if not self.state.is_dir():
            return
        directory = os.open(self.state, os.O_RDONLY)
        try:
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(f"/proc/self/fd/{directory}/{socket_name()}")
                os.kill(
                    struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0], signal.SIGKILL
                )
        except OSError:
            pass
        finally:
            os.close(directory)


@pytest.fixture
def desk(request, tmp_path):
    desk = Desk(request.param, tmp_path)
    yield desk
    desk.stop_judge()


def found(pattern, text):
    """The first match in a result, whichever way the client escaped it."""
    match = re.search(pattern, text.replace("\\", ""))
    assert match, text
    return match[1]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("desk", CLIENTS, indirect=True)
def test_a_client_that_setup_connected_works_with_every_answer(desk):
    def poll(results):
        return {"exec_id": found(r"exec_id\W+(x_\w+)", results[3]), "wait_s": 30}

    def after_approval(results):
        if desk.row.pending == "denied":
            return {"command": "echo done"}
        approval = found(r"(apr_[0-9a-f]{16})", results[5])
        desk.execkit(model.url, "approve", approval, "--state-dir", str(desk.state))
        return {"command": "touch asked.txt", "approval_id": approval}

    steps = [
        ("shell_run", {"command": "echo hello-from-here"}),
        ("shell_run", {"command": "'r'm -rf kept"}),
        ("shell_run", {"command": "cat settings.ini"}),
        ("shell_run", {"command": "sleep 2; echo to-the-end", "wait_s": 0.2}),
        ("shell_read", poll),
        ("shell_run", {"command": "touch asked.txt"}),
        ("shell_run", after_approval),
        *([desk.row.shell] if desk.row.shell else []),
    ]
    with serve_model(steps) as model:
        desk.set_up(model.url)
        health = desk.start([str(desk.program), *desk.row.health], model.url)
        assert re.search(desk.row.healthy, health.stdout + health.stderr), health.stdout + health.stderr
        done = desk.start([str(desk.program), *desk.row.run], model.url)
    told = f"{done.stdout}\n{done.stderr}\n{json.dumps(model.results, indent=1)}"
    assert not model.failure, f"{model.failure}\n{told}"
    assert len(model.results) == len(steps), told
    hello, refused, redacted, running, read, asked = model.results[:6]
    assert "hello-from-here" in hello, told
    assert "never denies rm" in refused, told
    assert "Nothing is deleted here." in refused, told
    assert "user = deploy" in redacted, told
    assert "[REDACTED:" in redacted, told
    assert desk.secret not in told
    assert "exec_id" in running, told
    assert "to-the-end" in read, told
    assert desk.row.pending in asked, told
    if desk.row.pending != "denied":
        assert (desk.project / "asked.txt").exists(), told
    if desk.row.shell:
        assert "Nothing is deleted here." in model.results[7], told
    assert (desk.project / "kept").is_dir()
    assert INSTRUCTIONS.splitlines()[0] in model.system, "the server's instructions reach the model"
    record = desk.execkit("", "audit", "verify", "--state-dir", str(desk.state))
    assert record
