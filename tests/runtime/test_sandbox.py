"""A sandbox is a throw-away session: a root of its own, a workspace in layers, and one way back, through a person."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp.errors import (
    ApprovalDenied,
    ApprovalExpired,
    CheckpointConflict,
    CheckpointNotFound,
    CommandInvalid,
    SessionBusy,
)
from execkit_mcp.kit import ExecKit, open_kit
from execkit_mcp.model import ExecResult
from execkit_mcp.redaction.shape import ALNUM, assemble, fill
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sandboxing import SandboxRequest

POLICY = """version: 1
name: sandboxed
limits: {time_s: 30, background: allow}
shell: {state: [cd, export, unset], env: {set: [CI]}}
paths: {write: ["${workspace}/**", "/tmp/**"]}
rules:
  - id: all
    effects: trusted
    allow: [bash, cat, cp, echo, env, find, git, grep, id, kill, ln, ls, mkdir, mv, ps, pwd, python3, rm, sed, setsid,
            sleep, stat, test, touch, "true", wait, wc]
"""


class Lab:
    """One kit with a session ``sb`` on the target sandbox."""

    def __init__(self, kit: ExecKit, workspace: Path) -> None:
        self.kit = kit
        self.workspace = workspace

    async def run(self, command: str, session: str = "sb") -> ExecResult:
        return await self.kit.run(RunRequest(command=command, session=session), requester="a")

    async def out(self, command: str, session: str = "sb") -> str:
        result = await self.run(command, session)
        assert result.status.value == "completed", (result.decision and result.decision.message, result)
        return result.stdout

    async def do(self, action: str, **more: object) -> dict[str, object]:
        request = SandboxRequest(action=action, **{"session": "sb", **more})  # type: ignore[arg-type]
        return await self.kit.sandbox(request, requester="a")

    def answer(self, approval_id: object, *, approve: bool = True) -> None:
        self.kit.answer(str(approval_id), approve=approve, channel="cli", who="a person")


@pytest.fixture
async def lab(tmp_path, request):
    workspace = tmp_path / "work"
    (workspace / "src").mkdir(parents=True)
    (workspace / "a.txt").write_text("one\n")
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY.replace('/tmp/**"]', getattr(request, "param", '/tmp/**"]')))
    policy.chmod(0o600)
    async with open_kit(
        policy=str(policy), workspace=str(workspace), state_dir=str(tmp_path / "state"), environ={}
    ) as kit:
        await kit.open_session(target="sandbox", name="sb", requester="a")
        yield Lab(kit, workspace)


async def test_what_a_sandbox_writes_does_not_reach_the_workspace(lab):
    assert await lab.out("echo two >>a.txt; echo new >new; cat a.txt new") == "one\ntwo\nnew\n"
    assert sorted(path.name for path in lab.workspace.iterdir()) == ["a.txt", "src"]
    assert (lab.workspace / "a.txt").read_text() == "one\n"


async def test_a_session_on_the_target_says_what_holds(lab):
    fence = (await lab.run("true")).fence
    assert (fence.level, fence.network) == ("namespaces", "none")


async def test_nothing_of_the_host_is_there_but_its_programs(lab):
    found = await lab.out("bash -c 'find /etc /run /srv /home -xdev -type f 2>/dev/null'")
    assert all(line.startswith("/etc/") for line in found.splitlines()), found
    for path in ("/etc/ssh", "/var/log", "/sys", "/boot", "/srv", "/mnt"):
        assert (await lab.run(f"ls -d {path}")).exit_code == 2, path


async def test_the_processes_of_the_host_are_not_there(lab):
    assert await lab.out("ps -e -o pid= | wc -l") < "9"
    assert (await lab.run(f"kill -0 {os.getpid()}")).exit_code != 0


async def test_git_works_in_it(lab):
    steps = (
        "git init -q . && git config user.email a@example.com && git config user.name a && git add . &&"
        " git commit -q -m first && git log --oneline | wc -l && git status --short"
    )
    text = await lab.out(f"bash -c '{steps}'")
    assert text == "1\n"
    assert not (lab.workspace / ".git").exists()


async def test_a_snapshot_is_restored_and_the_shell_stays_itself(lab):
    await lab.out("echo kept >kept; cd src; export CI=1; x=5")
    made = await lab.do("snapshot", snapshot="before")
    assert made["snapshots"] == ["before"]
    await lab.out("rm ../kept; echo lost >lost")
    await lab.do("restore", snapshot="before")
    assert await lab.out("pwd; ls ..; ls; echo $CI $x") == f"{lab.workspace}/src\na.txt\nkept\nsrc\n1 5\n"
    await lab.out("rm ../kept")
    await lab.do("restore", snapshot="before")
    assert await lab.out("cat ../kept") == "kept\n"


async def test_a_shell_whose_folder_is_gone_stands_in_the_workspace(lab):
    await lab.do("snapshot")
    await lab.out("mkdir deep; cd deep")
    await lab.do("restore", snapshot="s1")
    assert await lab.out("pwd; ls") == f"{lab.workspace}\na.txt\nsrc\n"


async def test_a_fork_goes_its_own_way(lab):
    await lab.out("echo shared >shared; cd src")
    forked = await lab.do("fork", name="other")
    assert forked["fork"] == "other"
    assert await lab.out("pwd; echo theirs >mark; cat ../shared", "other") == f"{lab.workspace}/src\nshared\n"
    assert (await lab.run("cat mark")).exit_code != 0
    await lab.kit.close_session("sb", requester="a")
    assert await lab.out("cat ../shared mark", "other") == "shared\ntheirs\n"


async def test_a_fork_of_a_snapshot_begins_there(lab):
    await lab.do("snapshot", snapshot="empty")
    await lab.out("echo x >later")
    await lab.do("fork", snapshot="empty", name="other")
    assert await lab.out("ls", "other") == "a.txt\nsrc\n"


async def test_a_shell_that_was_replaced_has_the_layers_of_the_one_before(lab):
    await lab.out("echo one >first")
    await lab.do("snapshot")
    await lab.out("echo two >second")
    await lab.run("kill -9 $$")
    assert await lab.out("ls") == "a.txt\nfirst\nsecond\nsrc\n"
    await lab.do("restore", snapshot="s1")
    assert await lab.out("ls") == "a.txt\nfirst\nsrc\n"


async def test_layers_are_not_swapped_under_a_process_that_runs(lab):
    await lab.out("sleep 30 & echo")
    with pytest.raises(CheckpointConflict, match="still run"):
        await lab.do("snapshot")
    await lab.out("kill %1; wait")
    daemon = "import os,time\nif not os.fork():\n os.setsid()\n if not os.fork(): time.sleep(30)"
    await lab.out(f"python3 -c '{daemon}' >/dev/null 2>/dev/null")
    with pytest.raises(CheckpointConflict, match="still run"):
        await lab.do("snapshot")


async def test_layers_are_not_swapped_while_a_command_runs(lab):
    running = asyncio.create_task(lab.run("sleep 5"))
    while not lab.kit.info(requester="a")["execs"]:  # noqa: ASYNC110 - the start of a command
        await asyncio.sleep(0)
    with pytest.raises(SessionBusy):
        await lab.do("snapshot")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_only_what_a_person_saw_is_applied(lab):
    await lab.out("echo two >>a.txt; mkdir new; echo x >new/file; ln -s a.txt link")
    pending = await lab.do("apply")
    assert pending["status"] == "approval_pending"
    assert "+two" in lab.kit.question(str(pending["approval_id"]), channel="cli")
    assert not (lab.workspace / "new").exists()
    lab.answer(pending["approval_id"])
    done = await lab.do("apply", approval_id=pending["approval_id"])
    assert done["applied"] == 4
    assert (lab.workspace / "a.txt").read_text() == "one\ntwo\n"
    assert (lab.workspace / "new/file").read_text() == "x\n"
    assert (await lab.do("diff"))["count"] == 0


async def test_a_no_applies_nothing(lab):
    await lab.out("echo two >>a.txt")
    pending = await lab.do("apply")
    lab.answer(pending["approval_id"], approve=False)
    with pytest.raises(ApprovalDenied):
        await lab.do("apply", approval_id=pending["approval_id"])
    assert (lab.workspace / "a.txt").read_text() == "one\n"


async def test_an_approval_is_for_these_changes_and_used_once(lab):
    await lab.out("echo two >>a.txt")
    pending = await lab.do("apply")
    lab.answer(pending["approval_id"])
    await lab.out("echo three >>a.txt")
    with pytest.raises(ApprovalExpired):
        await lab.do("apply", approval_id=pending["approval_id"])
    await lab.out("sed -i /three/d a.txt")
    await lab.do("apply", approval_id=pending["approval_id"])
    await lab.out("echo two >>a.txt")
    with pytest.raises(ApprovalExpired):
        await lab.do("apply", approval_id=pending["approval_id"])


async def test_a_workspace_that_changed_meanwhile_is_asked_about_again(lab):
    await lab.out("echo two >>a.txt")
    pending = await lab.do("apply")
    lab.answer(pending["approval_id"])
    (lab.workspace / "a.txt").write_text("by a person\n")
    with pytest.raises((ApprovalExpired, CheckpointConflict)):
        await lab.do("apply", approval_id=pending["approval_id"])
    assert (lab.workspace / "a.txt").read_text() == "by a person\n"


@pytest.mark.parametrize("lab", ['/tmp/**"], never: ["${workspace}/.env"]'], indirect=True)
async def test_what_no_approval_lifts_is_not_applied(lab):
    await lab.out('python3 -c \'open(".env", "w").write("x")\'')
    with pytest.raises(CheckpointConflict, match=r"paths\.never"):
        await lab.do("apply")


async def test_a_session_that_is_no_sandbox_has_no_layers(lab):
    await lab.kit.open_session(name="plain", requester="a")
    for action in ("snapshot", "diff", "apply"):
        with pytest.raises(CheckpointNotFound, match="no sandbox"):
            await lab.do(action, session="plain")


async def test_a_wrong_name_says_which_there_are(lab):
    await lab.do("snapshot", snapshot="one")
    with pytest.raises(CheckpointNotFound) as caught:
        await lab.do("restore", snapshot="two")
    assert "one" in caught.value.hint
    with pytest.raises(CheckpointConflict):
        await lab.do("snapshot", snapshot="one")
    for name in ("", "../x", "a b"):
        with pytest.raises(CommandInvalid):
            await lab.do("snapshot", snapshot=name)
    with pytest.raises(CommandInvalid):
        await lab.do("restore")
    with pytest.raises(CommandInvalid):
        await lab.do("explode")


async def test_nobody_else_reaches_a_sandbox(lab):
    from execkit_mcp.errors import SessionNotFound

    with pytest.raises(SessionNotFound):
        await lab.kit.sandbox(SandboxRequest(action="diff", session="sb"), requester="b")


async def test_nothing_in_a_sandbox_outlives_it(lab):
    with pytest.raises(CommandInvalid, match="durable"):
        await lab.kit.run(RunRequest(command="sleep 5", session="sb", durable=True), requester="a")


async def test_the_layers_go_with_the_last_sandbox(lab, tmp_path):
    await lab.out("mkdir closed; echo x >closed/file; python3 -c 'import os; os.chmod(\"closed\", 0)'")
    await lab.do("fork", name="other")
    layers = list((tmp_path / "state/sandboxes").glob("server-*/w*"))
    assert len(layers) == 1
    await lab.kit.close_session("sb", requester="a")
    assert layers[0].exists()
    await lab.kit.close_session("other", requester="a")
    assert not layers[0].exists()


async def test_every_step_is_on_the_record(lab, tmp_path):
    await lab.out("echo two >>a.txt")
    await lab.do("snapshot")
    await lab.do("restore", snapshot="s1")
    pending = await lab.do("apply")
    lab.answer(pending["approval_id"])
    await lab.do("apply", approval_id=pending["approval_id"])
    log = "".join(path.read_text() for path in (tmp_path / "state").glob("audit*.jsonl"))
    for kind in ("snapshot", "restored", "applying", "applied"):
        assert f'"sandbox.{kind}"' in log


UNPRIVILEGED = """
import asyncio, pathlib, sys
from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sandboxing import SandboxRequest
async def main():
    folder = pathlib.Path(sys.argv[1])
    async with open_kit(policy=str(folder / "policy.yaml"), workspace=str(folder / "work"),
                        state_dir=str(folder / "state"), environ={}) as kit:
        await kit.open_session(target="sandbox", name="sb", requester="a")
        for text in ("id -u; echo two >>a.txt", "ps -e -o pid= | wc -l"):
            result = await kit.run(RunRequest(command=text, session="sb"), requester="a")
            print(result.stdout.strip(), result.stderr)
        await kit.sandbox(SandboxRequest(action="snapshot", session="sb"), requester="a")
        await kit.run(RunRequest(command="echo three >>a.txt", session="sb"), requester="a")
        await kit.sandbox(SandboxRequest(action="restore", snapshot="s1", session="sb"), requester="a")
        print((await kit.run(RunRequest(command="cat a.txt", session="sb"), requester="a")).stdout)
        print((await kit.sandbox(SandboxRequest(action="diff", session="sb"), requester="a"))["changes"])
asyncio.run(main())
"""


@pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/usr/bin/python3").exists(), reason="only root can become somebody else"
)
def test_an_ordinary_user_has_sandboxes_too():
    """Under the machine's own Python, because ours may lie in a folder that nobody else can enter."""
    import tempfile

    version = subprocess.run(
        ["/usr/bin/python3", "-c", "import sys; print(sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=True,
    )
    if version.stdout.strip() != str(sys.version_info[:2]):
        pytest.skip("the machine's own Python is of another version than the packages here")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        (folder / "work/a.txt").write_text("one\n")
        (folder / "policy.yaml").write_text(POLICY)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 65534, 65534)
            path.chmod(0o700 if path.is_dir() else 0o600)
        packages = [path for path in sys.path if path.endswith("site-packages")]
        done = subprocess.run(
            ["/usr/bin/python3", "-c", UNPRIVILEGED, name],
            env={"PYTHONPATH": ":".join([str(Path(__file__).parents[2]), *packages]), "PATH": "/usr/bin:/bin"},
            user=65534, group=65534, extra_groups=[], capture_output=True, text=True, timeout=60, check=False, cwd="/",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].strip() == "65534"
    assert "one\ntwo" in done.stdout
    assert "three" not in done.stdout
    assert "['changed a.txt']" in done.stdout


async def test_what_changed_is_told_without_secrets_in_names_and_contents(lab):
    secret = "gh" + "p_" + assemble((fill(ALNUM, 36),), "changes of a sandbox")
    await lab.out(f"echo token {secret} > changed.txt")
    await lab.out(f"cp changed.txt {secret}.txt")
    told = [json.dumps(await lab.do("diff")), json.dumps(await lab.do("apply"))]
    with pytest.raises(CommandInvalid) as refused:
        await lab.do("snapshot", snapshot=secret)
    told.append(json.dumps(refused.value.to_json()))
    assert [text for text in told if secret[8:24] in text] == []
    assert told[0].count("[REDACTED:") >= 2
