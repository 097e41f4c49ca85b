"""Machines that lack what a fence is made of: each gets what is left, or nothing, in words to act on."""

import os
import subprocess
import sys

import pytest

from execkit_mcp.config.settings import load_settings
from execkit_mcp.errors import FenceUnavailable
from execkit_mcp.fence import probe as probing
from execkit_mcp.fence.derive import Place, derive
from execkit_mcp.fence.describe import fence_of
from execkit_mcp.fence.host import LocalHost
from execkit_mcp.fence.level import level_for
from execkit_mcp.runtime.attack_matrix import attack_behind
from execkit_mcp.runtime.fencing import plan_for
from execkit_mcp.runtime.policies import load_policy
from tests.fence.conftest import POLICY, fenced  # noqa: F401 - fixtures
from tests.fence.ordinary import ROOT

NAMESPACES = frozenset({"user", "mount", "pid", "net", "ipc", "uts"})
BLOCKED = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
def row(code, yes, no, k): return struct.pack("HBBI", code, yes, no, k)
numbers = [int(each) for each in sys.argv[1].split(",") if each]
code = row(0x20, 0, 0, 0) + b"".join(row(0x15, 0, 1, n) + row(0x06, 0, 0, 0x50001) for n in numbers)
code += row(0x06, 0, 0, 0x7FFF0000)
class Program(ctypes.Structure):
    _fields_ = [("n", ctypes.c_ushort), ("c", ctypes.c_void_p)]
buffer = ctypes.create_string_buffer(code, len(code))
program = Program(len(code) // 8, ctypes.addressof(buffer))
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def policy(tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    file.chmod(0o600)
    return load_policy(str(file))


@pytest.mark.parametrize(
    ("missing", "mode", "level", "words"),
    [
        (set(), "auto", "process", ""),
        ({"landlock"}, "auto", "none", ""),
        ({"landlock"}, "process", None, "lsm=landlock"),
        ({"seccomp", "exec_gate"}, "auto", "none", ""),
        ({"seccomp", "exec_gate"}, "process", None, "CONFIG_SECCOMP_FILTER"),
        ({"exec_gate"}, "auto", "process", ""),
        (NAMESPACES, "auto", "process", ""),
        (NAMESPACES, "process", "process", ""),
        (NAMESPACES, "namespaces", None, "max_user_namespaces"),
        ({"mount"}, "namespaces", None, "CAP_SYS_ADMIN"),
        ({"net"}, "namespaces", None, "net: masked"),
        ({"landlock", *NAMESPACES}, "namespaces", None, "lsm=landlock"),
    ],
)
@pytest.mark.parametrize("is_root", [True, False])
def test_each_lack_gives_the_level_that_is_left_or_says_what_to_enable(  # noqa: PLR0917 - a table
    policy, missing, mode, level, words, is_root
):
    full = probing.Probe(
        landlock_abi=7, is_root=is_root, has=frozenset({"landlock", "seccomp", "exec_gate", *NAMESPACES})
    )
    found = probing.masked(full, frozenset(missing))
    if level is not None:
        assert level_for(mode, policy, found) == level
        return
    if is_root and words == "max_user_namespaces":
        words = "CAP_SYS_ADMIN"
    with pytest.raises(FenceUnavailable) as refused:
        level_for(mode, policy, found)
    assert words in f"{refused.value.message} {refused.value.hint}"
    assert "fence: auto" in refused.value.hint


@pytest.mark.parametrize(
    ("missing", "hole"),
    [
        ({"exec_gate"}, "no exec gate"),
        (NAMESPACES, "hidden folders can be listed, not read"),
        (NAMESPACES, "terminals of the same user can be opened"),
    ],
)
def test_what_is_lacking_is_a_hole_in_words(policy, tmp_path, missing, hole):
    found = probing.masked(probing.probe(), frozenset(missing))
    plan = derive(
        policy,
        level="process",
        place=Place(home="/nonexistent", workspace=str(tmp_path)),
        probe=found,
        host=LocalHost(),
    )

    assert any(hole in each for each in fence_of(plan, abi=7).holes), plan.holes


@pytest.mark.parametrize(
    ("missing", "open_at_most"),
    [
        (NAMESPACES, {"list-state", "other-terminal", "shared-memory", "sysv-memory", "server-files", "map-code"}),
        ({"exec_gate"}, {"other-name", "other-argv", "loader-system", "loader", "new-seccomp-listener"}),
    ],
)
async def test_what_is_left_holds_the_rest_of_the_matrix(policy, tmp_path, monkeypatch, missing, open_at_most):
    (tmp_path / "work").mkdir()
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "audit.jsonl").write_text("{}\n")
    found = probing.masked(probing.probe(), frozenset(missing))
    monkeypatch.setattr(probing, "probe", lambda: found)
    settings = load_settings(
        policy=policy.document.source,
        workspace=str(tmp_path / "work"),
        state_dir=str(tmp_path / "state"),
        environ={"EXECKIT_FENCE": "process", "HOME": str(tmp_path)},
    )
    rows = await attack_behind(plan_for(settings, policy, environ={}), settings, policy)

    assert {row.id for row in rows if row.outcome == "open"} <= open_at_most


CONTAINED = {"unshare": (272, 97), "landlock": (444, 444), "seccomp": (317, 277), "ptrace": (101, 117),
             "mount": (165, 40)}  # fmt: skip


@pytest.mark.parametrize(
    ("forbidden", "level", "gate"),
    [
        ((), "process", True),
        (("unshare",), "process", True),
        (("mount",), "process", True),
        (("ptrace",), "process", False),
        (("landlock",), "none", False),
        (("seccomp",), "none", False),
    ],
)
def test_a_server_that_a_container_filters_already_says_what_is_left(tmp_path, policy, forbidden, level, gate):
    at = 0 if os.uname().machine == "x86_64" else 1
    numbers = ",".join(str(CONTAINED[name][at]) for name in forbidden)
    (tmp_path / "work").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, numbers, sys.executable, "-m", "execkit_mcp", "run", "--json",
         "--policy", policy.document.source, "--workspace", str(tmp_path / "work"), "--", "echo ran"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT),
             "EXECKIT_STATE_DIR": str(tmp_path / "state")},
        cwd=tmp_path / "work", capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert '"ran\\n"' in done.stdout
    assert f'"level": "{level}"' in done.stdout or f'"level":"{level}"' in done.stdout, done.stdout
    assert (f'"exec_gate": {str(gate).lower()}' in done.stdout) or (f'"exec_gate":{str(gate).lower()}' in done.stdout)
