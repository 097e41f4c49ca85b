"""The fence as an ordinary user has it, without root: the matrix, the traps and a served session."""

import json
import sys

import pytest

from tests.fence.conftest import POLICY
from tests.fence.ordinary import ROOT, as_ordinary_user

pytestmark = pytest.mark.promise("P2")

SERVED = """
import asyncio, json, os, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main(policy, workspace, state):
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "execkit_mcp", "serve", "--policy", policy, "--workspace", workspace],
        env={**os.environ, "EXECKIT_STATE_DIR": state},
    )
    async with Client(stdio_client(server)) as client:
        print(json.dumps([
            (await client.call_tool("shell_run", {"command": command})).structured_content
            for command in ("cat /proc/self/status", "python3 code.py", "echo still here")
        ]))
asyncio.run(main(*sys.argv[1:]))
"""
ESCAPES = """
import os, subprocess
for argv in (["/usr/bin/id"], ["/bin/rm", "x"], ["./copied"]):
    try: subprocess.run(argv)
    except OSError as error: print(argv[0], error.strerror)
for path in (os.environ["STATE"] + "/audit", "/etc/execkit-attack"):
    try: open(path, "w"); print("OPEN", path)
    except OSError: pass
"""


@pytest.fixture
def place(tmp_path):
    (tmp_path / "work").mkdir()
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    policy.chmod(0o600)
    return tmp_path


@pytest.mark.parametrize("level", ["process", "namespaces"])
def test_no_attack_of_the_matrix_is_open(place, level):
    done = as_ordinary_user(
        ["-m", "execkit_mcp", "doctor", "--attack", "--json", "--policy", str(place / "policy.yaml"),
         "--workspace", str(place / "work"), "--state-dir", str(place / "state")],
        home=place, env={"EXECKIT_FENCE": level},
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    body = json.loads(done.stdout)
    assert body["level"] == level
    assert [row for row in body["attacks"] if row["outcome"] != "closed"] == []


def test_the_traps_hold(place):
    done = as_ordinary_user(
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"),
         f"--basetemp={place / 'traps'}", str(ROOT / "tests/attacks/test_fence_attacks.py"),
         "-k", "not matrix and not trap_1_"],
        home=place,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_a_served_session_is_held_and_says_so(place):
    (place / "work/code.py").write_text(ESCAPES)
    done = as_ordinary_user(
        ["-c", SERVED, str(place / "policy.yaml"), str(place / "work"), str(place / "state")],
        home=place, env={"STATE": str(place / "state")},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    looked, tried, after = json.loads(done.stdout)
    facts = dict(line.split(":\t", 1) for line in looked["stdout"].splitlines() if ":\t" in line)
    assert facts["Uid"].split()[0] != "0"
    assert (facts["CapEff"], facts["NoNewPrivs"], facts["Seccomp"]) == ("0" * 16, "1", "2")
    assert looked["fence"]["level"] == "process"
    assert looked["fence"]["exec_gate"] is True
    assert "OPEN" not in tried["stdout"], tried
    assert {each["program"].rpartition("/")[2] for each in tried["refused"]} >= {"id", "rm"}
    assert after["stdout"] == "still here\n"


def test_the_user_is_an_ordinary_one(place):
    done = as_ordinary_user(["-c", "import os; print(os.geteuid())"], home=place)

    assert done.stdout.strip() != "0", (done.stderr, sys.executable)
