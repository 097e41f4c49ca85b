"""A workspace in /dev/shm, where other programs keep what is theirs."""

import shutil
import tempfile
from pathlib import Path

import pytest

from execkit_mcp import aio
from execkit_mcp.runtime.sdk_policy import Policy

pytestmark = pytest.mark.promise("P2")

POLICY = """\
version: 1
name: memory
{write}
rules:
  - allow: [echo, cat, ls]
  - {{id: code, allow: [python3], effects: trusted}}
"""


@pytest.fixture
def folder():
    made = Path(tempfile.mkdtemp(dir="/dev/shm"))
    (made / "work").mkdir()
    (made / "theirs").write_text("theirs")
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("level", ["process", "namespaces"])
@pytest.mark.parametrize("write", ['paths: {write: ["${workspace}/**"]}', ""])
async def test_it_works_and_what_others_keep_there_stays_theirs(folder, level, write):
    config, policy = folder / "config.yaml", folder / "policy.yaml"
    config.write_text(f"fence: {level}\n")
    policy.write_text(POLICY.format(write=write))
    (folder / "work" / "own").write_text("own")
    for file in (config, policy):
        file.chmod(0o600)
    opened = aio.create(
        policy=Policy.load(policy), config=str(config), workspace=str(folder / "work"), state_dir=str(folder / "state")
    )
    async with opened as session:
        assert (await session.exec("cat own")).stdout == "own"
        if write:
            assert (await session.exec("echo hi > f; cat f")).stdout == "hi\n"
        for name in ("theirs", "state/audit.head", "state/audit-000001.jsonl"):
            result = await session.exec(f"python3 -c \"open('{folder}/{name}', 'r+').write('x')\"")
            assert "Error" in result.stderr
    assert (folder / "theirs").read_text() == "theirs"
