"""Show each promise live, against the real thing: a real MCP client, the real server on stdio, real bash.

Run it with `make demo`. Ends with exit code 0 only if every promise held. The text that it prints is the same every
time (the README shows it), apart from the configuration lines at the end.
"""

import argparse
import asyncio
import base64
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import ElicitResult

HERE = Path(__file__).resolve().parent
COMMAND = [sys.executable, "-m", "execkit_mcp"]


class PromiseBroken(Exception):
    """A promise did not hold."""


@dataclass(kw_only=True)
class Stage:
    """Everything that a scene plays on."""

    client: Client
    workspace: Path
    state: Path
    secret: str
    questions: list[str] = field(default_factory=list)
    answer: str = "deny"

    async def run(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Call shell_run, print the call and its outcome, return the structured result."""
        print(f"  agent> {self.masked(command)}")
        reply = await self.client.call_tool("shell_run", {"command": command, **arguments})
        body: dict[str, Any] = reply.structured_content or {}
        self.tell(body)
        return body

    def tell(self, body: dict[str, Any]) -> None:
        """Print a result in a few lines."""
        if "error" in body:
            print(f"         {body['error']['code']}: {self.masked(body['error']['message'])}")
            return
        if "decision" in body:
            decision = body["decision"]
            print(f"         {body['status']}: {self.masked(decision['message'])}")
            return
        for line in (body["stdout"] + body["stderr"]).splitlines()[:4]:
            print(f"         {self.masked(line)}")
        code = body["exit_code"]
        extra = f", {body['signal']}" if body.get("signal") else ""
        print(f"         [{body['status']}, exit {code}{extra}]")

    def cli(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The operator's command line, outside the agent's reach."""
        print(f"  operator> execkit-mcp {self.masked(' '.join(words))}")
        environment = {**os.environ, "EXECKIT_STATE_DIR": str(self.state)}
        return subprocess.run(
            [*COMMAND, *words], env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    def masked(self, text: str) -> str:
        """``text`` without what differs from run to run."""
        text = text.replace(str(self.workspace), "~/work").replace(str(self.state), "~/state")
        text = re.sub(r"apr_[0-9a-f]+", "apr_…", text)
        text = re.sub(r"(\[REDACTED:[a-z0-9_.-]+:)[0-9a-f]{6}\]", r"\1……]", text)
        text = re.sub(r"(……\])[A-Za-z0-9+/=]+", r"\1…", text)
        text = re.sub(r"[A-Za-z0-9+/]{40,}={0,2}", "<base64>", text)
        return text.replace(self.secret, "<the secret>")


def must(truth: object, what: str) -> None:
    """Stop the demo unless ``truth``."""
    if not truth:
        raise PromiseBroken(what)
    print(f"  ✓ {what}")


async def blocked(stage: Stage) -> None:
    """P2 Nothing runs that no rule allows"""
    victim = stage.workspace / "precious"
    victim.mkdir()
    body = await stage.run(f"rm -rf {victim}")
    must(body["status"] == "denied" and victim.is_dir(), "rm -rf was denied by a rule; the folder is still there")
    log = stage.cli("audit", "show", "--json").stdout
    must("exec.started" not in log and '"deny"' in log, "the record shows the refusal, and that no shell saw it")


async def disguised(stage: Stage) -> None:
    """P1 What was judged is what runs"""
    victim = stage.workspace / "precious"
    hidden = base64.b64encode(f"rm -rf {victim}".encode()).decode()
    for text in (
        f"'r'm -rf {victim}",
        f"$(echo rm) -rf {victim}",
        f"echo {hidden} | base64 -d | bash",
        "ls; eval \"r\"'m' -rf .",
        f"/bin/../bin/rm -rf {victim}",
    ):
        body = await stage.run(text)
        must(body.get("status") != "completed", "did not run")
    must(victim.is_dir(), "five disguises, none ran; the folder is still there")
    body = await stage.run("echo 'rm -rf / is only text here' | grep -c rm")
    must(body["status"] == "completed" and body["stdout"] == "1\n", "quoted text is only text: that one ran")


async def approved(stage: Stage) -> None:
    """P4 Only a human approves, and only what he saw"""
    stage.answer = "allow once"
    body = await stage.run("touch approved.txt", reason="to mark the release")
    must(body["status"] == "completed" and (stage.workspace / "approved.txt").exists(), "a person said yes: it ran")
    must("touch approved.txt" in stage.questions[-1].replace("/usr/bin/", ""), "he saw the very command that ran")
    stage.answer = "nobody"
    body = await stage.run("touch later.txt")
    approval_id = body["approval_id"]
    must(body["status"] == "approval_pending", "nobody answered: it waits, and did not run")
    done = stage.cli("approve", approval_id)
    must(done.returncode == 0, "the operator approves from his own terminal")
    body = await stage.run("touch other.txt", approval_id=approval_id)
    must("error" in body and not (stage.workspace / "other.txt").exists(), "the approval fits no other command")
    body = await stage.run("touch later.txt", approval_id=approval_id)
    must(body["status"] == "completed" and (stage.workspace / "later.txt").exists(), "it fits this one, once")
    body = await stage.run("touch later.txt", approval_id=approval_id)
    must("error" in body, "and not twice")


async def redacted(stage: Stage) -> None:
    """P3 Secrets do not come back"""
    (stage.workspace / "settings.ini").write_text(f"[api]\ntoken = {stage.secret}\nuser = deploy\n")
    body = await stage.run("cat settings.ini")
    must(stage.secret not in json.dumps(body) and "deploy" in body["stdout"], "the key is gone, the rest is there")
    body = await stage.run("base64 -w0 settings.ini")
    encoded = base64.b64encode(stage.secret.encode()).decode().rstrip("=")[:-2]
    must(encoded not in body["stdout"], "encoded, it is gone as well")
    record = "".join(path.read_text(errors="replace") for path in stage.state.rglob("*") if path.suffix == ".jsonl")
    must(stage.secret not in record, "it is not in the audit log either")


async def survived(stage: Stage) -> None:
    """P5 A session survives its commands"""
    stubborn = stage.workspace / "stubborn.py"
    stubborn.write_text("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(600)\n")
    await stage.run("mkdir_here=kept; cd precious")
    body = await stage.run("python3 ../stubborn.py", timeout_s=0.5)
    must(body["status"] == "timed_out", "a program that ignores ctrl-c was ended")
    body = await stage.run('echo "$mkdir_here"; pwd')
    must(body["stdout"].split()[0] == "kept" and body["cwd"].endswith("/precious"), "variables and folder stayed")
    body = await stage.run("exit 7")
    must(body["exit_code"] == 7, "exit ended the shell, not the session")
    body = await stage.run('echo "$mkdir_here"; cd ..')
    must(body["stdout"].strip() == "kept", "and its state came back")


async def recorded(stage: Stage) -> None:
    """P6 Everything is on the record, and tampering shows"""
    must(stage.cli("audit", "verify").returncode == 0, "the log is whole")
    copy = stage.workspace.parent / "forged"
    shutil.copytree(stage.state, copy)
    log = next(path for path in sorted(copy.rglob("*.jsonl")) if "deny" in path.read_text())
    log.write_text(log.read_text().replace('"deny"', '"allow"', 1))
    forged = subprocess.run(
        [*COMMAND, "audit", "verify", "--state-dir", str(copy)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    must(forged.returncode == 1, "one word changed in a copy: verify says where")


async def explained(stage: Stage) -> None:
    """P7 When in doubt: deny, close, and say so"""
    body = await stage.run("coproc cat")
    must(body["decision"]["reason_code"] == "policy.unparsed", "what is not understood is refused by name")
    body = await stage.run("cat /etc/hostname")
    must(body["status"] == "denied" and body["decision"]["hint"], "a refusal says what would be allowed")
    body = await stage.run("ls")
    must(body["fence"]["level"] in {"process", "none"}, "each result says which fence held")


SCENES: tuple[Callable[[Stage], Awaitable[None]], ...] = (
    blocked, disguised, approved, redacted, survived, recorded, explained,
)  # fmt: skip


async def play(workspace: Path, state: Path) -> None:
    """Start the server as a client would, play every scene, stop it."""
    # An access key as a vendor would issue it, made here so that none stands in the repository.
    secret = "AK" + "IA" + "".join(secrets.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for _ in range(16))
    stage: Stage

    async def person(_context: Any, question: Any) -> ElicitResult:
        stage.questions.append(question.message)
        print(f"  person> {stage.answer}")
        if stage.answer == "nobody":
            return ElicitResult(action="cancel")
        return ElicitResult(action="accept", content={"decision": stage.answer})

    server = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "serve", "--policy", str(HERE / "demo-policy.yaml"), "--workspace", str(workspace)],
        env={"EXECKIT_STATE_DIR": str(state), "DEMO_API_TOKEN": secret, "PYTHONPATH": str(HERE.parent)},
        cwd=workspace,
    )
    log = workspace.parent / "server.log"
    with log.open("w") as errors:
        async with Client(stdio_client(server, errlog=errors), elicitation_callback=person) as client:
            tools = (await client.list_tools()).tools
            print(f"Connected over stdio; tools: {', '.join(tool.name for tool in tools)}")
            stage = Stage(client=client, workspace=workspace, state=state, secret=secret)
            for scene in SCENES:
                print(f"\n{scene.__doc__}")
                await scene(stage)


def configuration() -> str:
    """The line that connects a client to this checkout."""
    program = str(Path(sys.executable).with_name("execkit-mcp"))
    return f"""
Connect your client to this checkout (claude-code, cursor, codex, gemini-cli, vscode, windsurf, zed, goose, opencode):

  {program} setup CLIENT
"""


def main() -> int:
    """Run the demo; 0 if every promise held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-configuration", action="store_true", help="leave the client configuration out")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="execkit-demo-") as folder:
        workspace, state = Path(folder, "work"), Path(folder, "state")
        workspace.mkdir()
        try:
            asyncio.run(play(workspace, state))
        except PromiseBroken as broken:
            print(f"  ✗ {broken}\n\nA promise did not hold.")
            log = Path(folder, "server.log")
            print(log.read_text(), file=sys.stderr)
            return 1
    print("\nEvery promise held.")
    if not arguments.no_configuration:
        print(configuration())
    return 0


if __name__ == "__main__":
    sys.exit(main())
