"""The hook that guards a client's own shell tool: whatever goes wrong, the command does not run.

Clients take exit code 2 for a refusal and any other failure for consent, so each failure here must end with 2.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from execkit_mcp.cli.clients.launcher import Launcher
from execkit_mcp.cli.clients.plan import Wish, hook_command
from execkit_mcp.cli.clients.table import find_client
from execkit_mcp.cli.hook.call import socket_name

pytestmark = pytest.mark.promise("P7")
ROOT = Path(__file__).parents[2]
POLICY = """\
version: 1
name: hooked
paths: {read: ["${workspace}/**"], write: ["${workspace}/**"]}
rules:
  - {allow: [echo, touch, cat], effects: {write: paths}}
  - {id: never, deny: [rm], reason: Nothing is deleted.}
"""


class Hooks:
    """One user's hooks: a home, a policy, and the judge that the first call starts."""

    def __init__(self, folder):
        self.state = folder / "state"
        self.policy = folder / "policy.yaml"
        self.policy.write_text(POLICY)
        self.policy.chmod(0o600)
        self.project = folder / "project"
        self.project.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
            "EXECKIT_STATE_DIR": str(self.state),
            "CLAUDE_PROJECT_DIR": str(self.project),
        }

    def run(self, *options, payload=b"", cwd=None, **environment):
        return subprocess.run(
            [sys.executable, "-m", "execkit_mcp", "hook", *options],
            input=payload, capture_output=True, env={**self.environment, **environment},
            cwd=cwd or self.project, timeout=60, check=False,
        )  # fmt: skip

    def call(self, command, *, cwd=None, **more):
        payload = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": cwd or str(self.project)}
        done = self.run(
            "--client", "claude-code", "--policy", str(self.policy), payload=json.dumps(payload).encode(), **more
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def verdict(self, command, **more):
        code, out, err = self.call(command, **more)
        assert code == 0, err
        return json.loads(out)["hookSpecificOutput"]["permissionDecision"]

    def judge_pid(self):
        """The judge's pid, None where none listens."""
        directory = os.open(self.state, os.O_RDONLY)
        try:
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(f"/proc/self/fd/{directory}/{socket_name()}")
                return struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        except OSError:
            return None
        finally:
            os.close(directory)

    def stop(self):
        if self.state.is_dir() and (pid := self.judge_pid()):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory):
    hooks = Hooks(tmp_path_factory.mktemp("hooks"))
    yield hooks
    hooks.stop()


@pytest.fixture
def own(tmp_path):
    """Hooks of one test, which may break them."""
    hooks = Hooks(tmp_path)
    yield hooks
    hooks.stop()


def test_a_denied_command_is_denied_and_a_disguise_does_not_help(hooks):
    assert hooks.verdict("echo a") == "allow"
    assert hooks.verdict("rm -rf x") == "deny"
    for disguise in ("'r'm -rf x", "$(echo rm) x", "echo a; r\\m x", "bash -c 'rm x'", "coproc cat"):
        assert hooks.verdict(disguise) != "allow", disguise


def test_where_the_agent_has_gone_is_not_the_workspace(hooks, tmp_path):
    assert hooks.verdict("touch a") == "allow"
    assert hooks.verdict("touch a", cwd=str(tmp_path)) == "deny"
    assert hooks.verdict(f"cd {tmp_path} && touch a") == "deny"


@pytest.mark.parametrize(
    "payload", [b"", b"{", b"[]", b'{"tool_name": "Bash"}', b"\xff", b"a" * (1 << 20 | 1), b"\0\0\0"]
)
def test_an_unreadable_request_blocks(hooks, payload):
    done = hooks.run("--client", "claude-code", "--policy", str(hooks.policy), payload=payload)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"does not run" in done.stderr


@pytest.mark.parametrize("options", [
    (), ("--client",), ("--client", "emacs"), ("--client", "codex", "--client", "cursor"), ("--client", "codex", "--x"),
    ("--client", "codex", "--policy", "no-such"), ("--client", "codex", "--config", "/no/such.yaml"),
    ("--client", "codex", "--policy", "/no/such.yaml"), ("--client", "codex", "extra"),
])  # fmt: skip
def test_wrong_options_block(hooks, options):
    done = hooks.run(*options, payload=b'{"tool_name": "Bash", "tool_input": {"command": "echo a"}, "cwd": "/"}')
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr


def test_an_edited_policy_holds_from_the_next_command_on_and_a_broken_one_refuses_all(own):
    assert own.verdict("echo a") == "allow"
    own.policy.write_text(POLICY.replace("[echo, ", "["))
    assert own.verdict("echo a") == "deny"
    own.policy.write_text("version: 1\nrulez: []\n")
    code, out, err = own.call("echo a")
    assert (code, out) == (2, "")
    assert "rulez" in err
    own.policy.write_text(POLICY)
    own.policy.chmod(0o666)
    assert own.call("echo a")[0] == 2, "writable by others"
    own.policy.chmod(0o600)
    assert own.verdict("echo a") == "allow"


def test_a_judge_that_was_killed_is_started_again(own):
    assert own.verdict("echo a") == "allow"
    first = own.judge_pid()
    os.kill(first, signal.SIGKILL)
    assert own.verdict("echo a") == "allow"
    assert own.judge_pid() not in (None, first)


def test_a_judge_that_does_not_answer_blocks_before_the_client_gives_up(own):
    assert own.verdict("echo a") == "allow"
    pid = own.judge_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        code, out, err = own.call("echo a")
        assert (code, out) == (2, "")
        assert "no answer within" in err
        assert time.monotonic() - begun < 15
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("answer", [b"", b"0 0\n", b"0 5 0\nab", b"1 0 0\n", b"nonsense", b"0 -1 0\n", b"7 0 0\n"])
def test_an_answer_that_is_none_blocks(own, answer):
    own.state.mkdir(mode=0o700)
    directory = os.open(own.state, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{directory}/{socket_name()}")
        listener.listen()
        process = subprocess.Popen(
            [sys.executable, "-m", "execkit_mcp", "hook", "--client", "codex"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=own.environment,
        )  # fmt: skip
        listener.settimeout(30)
        peer, _ = listener.accept()
        with peer:
            while peer.recv(4096):
                pass
            peer.sendall(answer)
        out, err = process.communicate(timeout=30)
    os.close(directory)
    (own.state / socket_name()).unlink()
    assert (process.returncode, out) == (2, b"")
    assert err


def test_a_state_folder_that_others_can_write_blocks(own):
    own.state.mkdir()
    own.state.chmod(0o777)
    code, _, err = own.call("echo a")
    assert code == 2
    assert "written by others" in err


def test_a_record_that_cannot_be_written_blocks(own):
    assert own.verdict("echo a") == "allow"
    for file in own.state.glob("*.jsonl"):
        file.write_text("{}\n")
    code, out, _ = own.call("echo a")
    assert (code, out) == (2, "")


def test_every_answer_is_on_the_record_without_secrets(own):
    secret = "ghp_" + "x7" * 18
    assert own.verdict(f"echo {secret}") == "allow"
    assert own.verdict("rm x") == "deny"
    done = subprocess.run(
        [sys.executable, "-m", "execkit_mcp", "audit", "show", "--json"],
        env=own.environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert secret not in done.stdout
    assert done.stdout.count("hook.decision") == 2
    assert "hook:claude-code" in done.stdout


def test_the_line_that_setup_writes_blocks_even_where_the_program_is_gone(hooks):
    client = find_client("claude-code")
    gone = hook_command(client, Wish(launcher=Launcher(argv=("/no/such/execkit-mcp",))))
    assert subprocess.run(["sh", "-c", gone], capture_output=True, timeout=30, check=False).returncode == 2
    crashing = hook_command(client, Wish(launcher=Launcher(argv=(sys.executable, "-c", "raise SystemExit(1)"))))
    assert subprocess.run(["sh", "-c", crashing], capture_output=True, timeout=30, check=False).returncode == 2
    launcher = Launcher(argv=(sys.executable, "-m", "execkit_mcp"), env={"PYTHONPATH": str(ROOT)})
    good = hook_command(client, Wish(launcher=launcher, options=("--policy", str(hooks.policy))))
    payload = json.dumps({"tool_name": "Bash", "tool_input": {"command": "echo a"}, "cwd": "/"})
    done = subprocess.run(
        ["sh", "-c", good], input=payload.encode(), env=hooks.environment, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "allow"


def test_a_call_imports_neither_the_policy_nor_the_protocol(hooks):
    """What keeps a call under 60 ms: a handful of modules, on a machine of any speed."""
    hooks.verdict("echo a")
    script = (
        "import sys; before = set(sys.modules); from execkit_mcp.__main__ import main;"
        f"sys.argv = ['x', 'hook', '--client', 'claude-code', '--policy', {str(hooks.policy)!r}];"
        "code = main(); print(sorted(set(sys.modules) - before), file=sys.stderr); sys.exit(code)"
    )
    payload = json.dumps({"tool_name": "Bash", "tool_input": {"command": "echo a"}, "cwd": "/"}).encode()
    done = subprocess.run(
        [sys.executable, "-c", script], input=payload, env=hooks.environment, cwd=hooks.project,
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loaded = set(eval(done.stderr.decode().splitlines()[-1]))
    ours = {name for name in loaded if name.startswith("execkit_mcp")}
    assert ours == {
        "execkit_mcp", "execkit_mcp.__main__", "execkit_mcp.cli", "execkit_mcp.cli.hook", "execkit_mcp.cli.hook.call",
    }  # fmt: skip
    assert not loaded & {"typing", "re", "enum"}
    assert not loaded & {"argparse", "json", "socket", "subprocess", "pathlib", "yaml", "msgspec", "asyncio"}
