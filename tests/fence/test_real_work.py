"""What a developer does all day, in a fenced session of the policy ``workstation``: nothing of it is noticed."""

import json
import os
import subprocess
import sys

import pytest

from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sending import SendRequest
from tests.fence.conftest import fenced  # noqa: F401 - a fixture
from tests.fence.ordinary import ROOT, as_ordinary_user, with_pytest


@pytest.mark.parametrize("level", ["auto", "namespaces"])
@pytest.mark.parametrize("who", ["ordinary", "ourselves"])
def test_git_make_pytest_npm_and_a_venv_work_without_a_refusal(tmp_path, who, level):
    policy = tmp_path / "policy.yaml"
    policy.write_text(with_pytest("workstation", tmp_path))
    policy.chmod(0o600)
    argv = ["-m", "tests.fence.real_work", str(policy), str(tmp_path)]
    if who == "ordinary":
        done = as_ordinary_user(argv, home=tmp_path, env={"EXECKIT_FENCE": level})
    else:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "EXECKIT_FENCE": level, "HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, *argv], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=200, check=False
        )

    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row for row in rows if row["exit_code"] != 0 or row["refused"]] == []
    assert {row["fence"] for row in rows} == {"process" if level == "auto" else level}
    assert len(rows) > 20


async def test_a_python_prompt_on_a_terminal_computes_and_starts_programs(fenced):  # noqa: F811
    async with fenced() as f:
        (f.workspace / "helper.py").write_text("import subprocess\ndef start(*argv): subprocess.run(argv)\n")
        started = await f.kit.run(RunRequest(command="python3 -q", tty=True, wait_s=1), requester="agent")
        for line, expected in (
            ("6 * 7", "42"),
            ("from helper import start; start('echo', 'from below')", "from below\n"),
            ("start('id')", "Permission denied"),
        ):
            said = await f.kit.send(
                SendRequest(exec_id=started.exec_id, text=f"{line}\n", wait_s=10, wait_for=expected), requester="agent"
            )
            assert expected in said.text, said
        ended = await f.kit.send(SendRequest(exec_id=started.exec_id, key="ctrl-d", wait_s=5), requester="agent")
        assert ended.exit_code == 0
