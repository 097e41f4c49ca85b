"""A fenced session has a network of its own and one way out, and its result says what was refused there."""

import asyncio
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest
from tests.fence.secluded import answering

POLICY = """version: 1
name: networked
defaults: {{decision: {default}}}
limits: {{time_s: 30}}
paths: {{write: ["${{workspace}}/**"]}}
{network}
rules:
  - {{id: all, effects: trusted, allow: [bash, cat, curl, echo, env, git, python3, ls, pip]}}
"""


@pytest.fixture(params=["local", "sandbox"])
def opened(tmp_path, request):
    @asynccontextmanager
    async def start(allow=(), *, default="deny", deny=()):
        workspace = tmp_path / "work"
        workspace.mkdir(exist_ok=True)
        policy = tmp_path / "policy.yaml"
        lists = f"network: {{allow: {list(allow)}, deny: {list(deny)}}}" if allow or deny else ""
        policy.write_text(POLICY.format(default=default, network=lists))
        policy.chmod(0o600)
        async with open_kit(
            policy=str(policy), workspace=str(workspace), state_dir=str(tmp_path / "state"), environ={}
        ) as kit:
            await kit.open_session(target=request.param, name="s", requester="a")

            async def run(command, wait_s=25):
                return await kit.run(RunRequest(command=command, session="s", wait_s=wait_s), requester="a")

            run.kit = kit
            yield run

    return start


async def test_a_session_has_no_network_unless_the_policy_gives_it_one(opened):
    async with answering() as port, opened() as run:
        result = await run(f"curl -sS --max-time 5 http://127.0.0.1:{port}/")
        assert (result.exit_code, result.fence.network) == (7, "none")
        proxied = await run(f"curl -sS --noproxy '' http://127.0.0.1:{port}/")
        assert "does not cover" in proxied.stdout


async def test_a_service_of_the_host_is_reached_where_it_is_named(opened):
    async with answering() as port, answering() as other, opened([f"localhost:{port}"]) as run:
        assert f"localhost:{port} /x" in (await run(f"curl -sS http://localhost:{port}/x")).stdout
        assert (await run(f"curl -sS --max-time 5 http://localhost:{other}/x")).exit_code == 7
        assert (await run("echo x")).fence.network == "filtered"


async def test_what_was_refused_stands_in_the_result_and_on_the_record(opened, tmp_path):
    async with opened(["api.example.com:443"]) as run:
        result = await run("curl -sS http://other.example.com/")
        (refusal,) = result.refused
        assert refusal.argv == ("connect", "other.example.com:80")
        assert refusal.reason_code == "policy.network"
        assert "Add `other.example.com:80` to `network.allow`" in refusal.hint
        assert any("other.example.com:80" in warning for warning in result.warnings)
    log = "".join(path.read_text() for path in (tmp_path / "state").glob("audit*.jsonl"))
    assert '"egress.refused"' in log


async def test_a_connection_waits_while_a_person_decides(opened, tmp_path):
    async with answering() as port, opened(["192.0.2.1"], default="ask") as run:
        result = await run(f"curl -sS --noproxy '' http://127.0.0.1:{port}/held", wait_s=2)
        assert result.status.value == "running"
        assert result.approval_id
        assert f"connect 127.0.0.1:{port}" in run.kit.question(result.approval_id, channel="cli")
        run.kit.answer(result.approval_id, approve=True, channel="cli", who="a person")
        read = await run.kit.read(ReadRequest(exec_id=result.exec_id, wait_s=15), requester="a")
        assert f"127.0.0.1:{port} /held" in read.text
        again = await run(f"curl -sS --noproxy '' http://127.0.0.1:{port}/again")
        assert f"127.0.0.1:{port} /again" in again.stdout
    log = "".join(path.read_text() for path in (tmp_path / "state").glob("audit*.jsonl"))
    assert '"egress.opened"' in log


async def test_a_no_refuses_the_connection(opened):
    async with answering() as port, opened(["192.0.2.1"], default="ask") as run:
        result = await run(f"curl -sS --noproxy '' http://127.0.0.1:{port}/held", wait_s=2)
        run.kit.answer(result.approval_id, approve=False, channel="cli", who="a person")
        read = await run.kit.read(ReadRequest(exec_id=result.exec_id, wait_s=15), requester="a")
        assert "execkit-mcp: " in read.text


async def test_no_credential_stands_in_the_environment(opened):
    async with opened(["api.example.com:443"]) as run:
        text = (await run("env")).stdout
        assert "https_proxy=http://127.0.0.1:3128\n" in text
        assert "@" not in "".join(line for line in text.splitlines() if "proxy" in line.lower())


async def test_git_clones_from_a_named_host(opened, tmp_path):
    origin = tmp_path / "origin.git"
    work = tmp_path / "seed"
    for argv in (
        ["git", "init", "-q", "-b", "main", str(work)],
        ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty",
         "-m", "first"],
        ["git", "clone", "-q", "--bare", str(work), str(origin)],
        ["git", "-C", str(origin), "update-server-info"],
    ):  # fmt: skip
        subprocess.run(argv, check=True, capture_output=True)
    async with serving(tmp_path) as port, opened([f"localhost:{port}"]) as run:
        result = await run(f"git clone -q http://localhost:{port}/origin.git copy && ls -A copy")
        assert result.stdout == ".git\n", result


async def test_pip_installs_from_a_named_index(opened, tmp_path):
    package = tmp_path / "index/simple/tiny-thing"
    package.mkdir(parents=True)
    wheel = "tiny_thing-1.0-py3-none-any.whl"
    import zipfile

    with zipfile.ZipFile(package / wheel, "w") as archive:
        archive.writestr("tiny_thing.py", "x = 1\n")
        archive.writestr("tiny_thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
        archive.writestr(
            "tiny_thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_thing-1.0.dist-info/RECORD", "")
    (package / "index.html").write_text(f'<a href="{wheel}">{wheel}</a>')
    has_pip = subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False)
    if has_pip.returncode != 0:
        pytest.skip("the machine's own Python has no pip")
    async with serving(tmp_path / "index") as port, opened([f"localhost:{port}"]) as run:
        result = await run(
            "python3 -m pip install --disable-pip-version-check --no-cache-dir --target lib"
            f" --index-url http://localhost:{port}/simple/ tiny-thing && ls lib"
        )
        assert "tiny_thing.py" in result.stdout, result


@asynccontextmanager
async def serving(folder: Path):
    """Python's own file server on loopback; its port."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = await process.stdout.readline()
        yield int(line.split(b" port ")[1].split()[0])
    finally:
        process.kill()
        await process.communicate()
