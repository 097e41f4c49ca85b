"""The limits of a fenced session through the SDK: each ends a command, is named, and leaves the session as it was."""

import pytest

from execkit_mcp import create
from execkit_mcp.runtime.bounds import group_places

pytestmark = [pytest.mark.promise("P7"), pytest.mark.timeout(90)]

POLICY = """\
version: 1
name: limited
limits: {time_s: 60, processes: 24}
paths: {write: ["${workspace}/**"]}
shell: {state: [cd]}
rules:
  - {id: code, effects: trusted, allow: [python3]}
  - allow: [echo]
"""
APART = ["local, namespaces", "sandbox"]  # elsewhere a watch closes the session: tests/runtime/test_session_limits.py
KINDS = {"local, process": "process", "local, namespaces": "namespaces", "sandbox": "auto"}


def needs(controller):
    if controller not in group_places().folders:
        pytest.skip(f"no control group for {controller} can be made here")


@pytest.fixture(params=KINDS)
def session(request, tmp_path):
    workspace, policy, config = tmp_path / "work", tmp_path / "policy.yaml", tmp_path / "config.yaml"
    workspace.mkdir()
    policy.write_text(POLICY)
    config.write_text(
        f"fence: {KINDS[request.param]}\nlimits: {{memory_mb: 96, file_mb: 16, disk_mb: 24, cpu_percent: 30}}\n"
    )
    for path in (policy, config):
        path.chmod(0o600)
    target = request.param.partition(",")[0]
    with create(
        target, policy=str(policy), config=str(config), workspace=str(workspace), state_dir=str(tmp_path / "state")
    ) as opened:
        yield opened


def python(session, code, **arguments):
    return session.exec("python3 -", stdin=code, **arguments)


@pytest.mark.parametrize("session", APART, indirect=True)
def test_memory(session):
    needs("memory")
    result = python(session, "print('begun', flush=True); x = bytearray(300 << 20); print('not reached')")
    assert (result.exit_code, result.stdout, result.limit) == (137, "begun\n", "limits.memory_mb")
    assert session.exec("echo on").stdout == "on\n"


@pytest.mark.parametrize("session", APART, indirect=True)
def test_processes(session):
    result = python(
        session,
        "import os, time\ntry:\n for i in range(100): os.fork() or (time.sleep(30), os._exit(0))\n"
        "except OSError as error:\n print(error.errno, i, flush=True); os.killpg(0, 9)",
    )
    assert any("limits.processes" in warning for warning in result.warnings), result
    assert int(result.stdout.split()[1]) < 24
    assert session.exec("echo on").stdout == "on\n"


def test_processor(session):
    needs("cpu")
    code = "import time\nt = time.monotonic()\nwhile time.process_time() < 0.4: pass\nprint(time.monotonic() - t)"
    assert float(python(session, code).stdout) > 1.0


def test_time_says_that_the_processor_was_short(session):
    needs("cpu")
    several = "import os\nos.fork()\nos.fork()\nos.fork()"  # one alone may be kept waiting by the rest of the machine
    result = python(session, f"print('begun', flush=True)\n{several}\nwhile True: pass", timeout_s=2)
    assert (result.stdout, result.limit) == ("begun\n", "limits.time_s")
    assert any("limits.cpu_percent" in warning for warning in result.warnings), result


def test_a_file(session):
    result = python(
        session,
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); f = open('big', 'wb')\n"
        "while True: f.write(bytes(1 << 20))",
    )
    assert result.limit == "limits.file_mb", result
    assert session.exec("echo on").stdout == "on\n"
