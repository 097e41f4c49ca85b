"""A fence on another machine: sent with the session's shell, applied there without root, stated as it is."""

import os
import subprocess

import pytest

from execkit_mcp.errors import FenceUnavailable
from execkit_mcp.fence import probe as probing
from execkit_mcp.fence.plan import FencePlan, LandlockPlan, SeccompPlan
from execkit_mcp.fence.sent import shell_words
from execkit_mcp.model import Status
from execkit_mcp.transports.ssh import probe
from execkit_mcp.transports.ssh.check import check_target
from execkit_mcp.transports.ssh.target import target_from

pytestmark = pytest.mark.promise("P2")

POLICY = """\
version: 1
name: fenced
limits: {{time_s: 60}}
shell: {{state: [cd, export, exit]}}
paths: {{read: ["/etc/**", "~/**", "{work}/**"], write: ["{work}/**"], never: ["/etc/shadow", "{work}/never"]}}
rules:
  - allow: [ls, cat, echo, "true", pwd, sleep]
  - {{id: code, allow: [python3], effects: trusted}}
"""
WAYS = {
    "a refused file": "open('/etc/shadow').read()",
    "a write elsewhere": "open('{aside}/x', 'w')",
    "a program that no rule names": "import os; os.execv('/usr/bin/id', ['id'])",
    "the same through a shell": "import subprocess; subprocess.run(['/usr/bin/id'], check=True)",
    "a program of its own": "import os; open('{work}/p', 'wb').write(open('/usr/bin/id', 'rb').read());"
    " os.chmod('{work}/p', 0o755); os.execv('{work}/p', ['p'])",
    "a signal to what is outside": "import os; os.kill(os.getppid(), 0); os.kill({outside}, 0)",
    "another process's memory": "open('/proc/{outside}/mem', 'rb')",
    "a namespace": "import ctypes; ctypes.CDLL(None).unshare(0x10000000) and open('/nowhere')",
}


@pytest.fixture
def places(tmp_path, sshd):
    if not {"landlock", "seccomp"} <= probing.probe().has:
        pytest.skip(f"this kernel gives no fence: {probing.probe().lacking}")
    for name in ("work", "aside"):
        (tmp_path / name).mkdir()
    return {"work": str(tmp_path / "work"), "aside": str(tmp_path / "aside"), "outside": str(sshd._process.pid)}


@pytest.mark.parametrize("way", WAYS)
async def test_what_a_trusted_program_does_beyond_the_policy_fails_in_the_kernel(sshd, kit_for, places, tmp_path, way):
    async with kit_for(sshd, policy=POLICY.format(**places), fence="auto") as host:
        await host.open()
        script = tmp_path / "work" / "script.py"
        script.write_text(WAYS[way].format(**places) + "\nprint('held not')\n")
        result = await host.run(f"python3 {script}")
        assert result.status is Status.COMPLETED
        assert result.exit_code != 0
        assert "held not" not in result.stdout
        assert "uid=" not in result.stdout
        assert (await host.run("cat /etc/hostname; pwd")).exit_code == 0


async def test_the_fence_is_stated_as_it_is_and_stands_for_each_shell_that_replaces_another(sshd, kit_for, places):
    async with kit_for(sshd, policy=POLICY.format(**places), fence="process") as host:
        opened = await host.open()
        assert (opened["fence"]["level"], opened["fence"]["exec_gate"]) == ("process", False)
        assert any("exec gate" in each for each in opened["fence"]["holes"])
        assert (await host.run("true")).fence.level == "process"
        inside = f"python3 -c \"open('{places['work']}/y', 'w').write('x'); print('wrote')\""
        assert (await host.run(inside)).stdout == "wrote\n"
        beyond = "python3 -c \"open('/etc/shadow')\""
        assert "PermissionError" in (await host.run(beyond)).stderr
        assert (await host.run("exit 3")).exit_code == 3
        assert "PermissionError" in (await host.run(beyond)).stderr
        for pid in sshd.sessions():
            subprocess.run(["kill", "-KILL", str(pid)], check=False)
        await host.until_unlinked()
        assert "PermissionError" in (await host.run(beyond)).stderr


async def test_where_nobody_asked_for_a_fence_there_is_none_and_it_is_said(sshd, kit_for):
    async with kit_for(sshd) as host:
        assert (await host.open())["fence"] == {"level": "none", "exec_gate": False, "network": "open"}
    rows = {row.step: row for row in await check_target(target_from("t", sshd.options_for()), {})}
    assert "auto asks for one" in rows["fence"].found


@pytest.mark.promise("P7")
@pytest.mark.parametrize(("python", "why"), [("true", "no Python 3"), ("printf /bin/false", "cannot carry it")])
async def test_a_fence_that_cannot_be_had_is_none_or_no_session(sshd, kit_for, monkeypatch, python, why):
    monkeypatch.setitem(probe._QUESTIONS, "python", python)
    async with kit_for(sshd, fence="auto") as host:
        opened = await host.open()
        assert opened["fence"]["level"] == "none"
        assert why in " ".join(opened["fence"]["holes"])
    async with kit_for(sshd, fence="process") as host:
        with pytest.raises(FenceUnavailable, match=why):
            await host.open()


@pytest.mark.promise("P7")
def test_a_plan_that_cannot_be_carried_out_starts_no_shell():
    plan = FencePlan(level="process", landlock=LandlockPlan(paths=(("/", "rlx"),)), seccomp=SeccompPlan(groups=("no",)))
    words = shell_words("/usr/bin/env python3", plan, "/bin/echo started")
    done = subprocess.run(["/bin/sh", "-c", words], capture_output=True, check=False, timeout=20)
    assert done.returncode != 0
    assert b"started" not in done.stdout


async def test_names_that_are_no_text_are_held_like_others(sshd, kit_for, places, tmp_path):
    refused, beside = (os.fsdecode(each) for each in (b"key \xff.pem", b"word \xff.txt"))
    (tmp_path / "aside" / refused).write_text("held not")
    (tmp_path / "aside" / beside).write_text("beside")
    (tmp_path / "work" / "own.pem").touch()
    policy = POLICY.format(**places)
    policy = policy.replace("read: [", f'read: ["{places["aside"]}/**", ')
    policy = policy.replace("never: [", f'never: ["{places["aside"]}/*.pem", "{places["work"]}/*.pem", ')
    async with kit_for(sshd, policy=policy, fence="process") as host:
        opened = await host.open()
        assert opened["fence"]["level"] == "process"
        assert any(each.startswith("refused paths in folders that may be written") for each in opened["fence"]["holes"])
        script = tmp_path / "work" / "script.py"
        for name in (beside, refused):
            script.write_text(f"print(open({os.fsencode(tmp_path / 'aside' / name)!r}).read())\n")
            result = await host.run(f"python3 {script}")
            assert "held not" not in result.stdout
            assert ("beside" in result.stdout) is (name == beside), result.stderr
        assert "PermissionError" in result.stderr


@pytest.mark.parametrize("names", [3_000, 30_000])
async def test_a_folder_of_many_names_around_a_refused_one_is_held(sshd, kit_for, places, tmp_path, names):
    aside = tmp_path / "aside"
    for number in range(names):
        (aside / f"a name of some length {number}").touch()
    (aside / "key.pem").write_text("held not")
    policy = (
        POLICY.format(**places)
        .replace("read: [", f'read: ["{aside}/**", ')
        .replace("never: [", f'never: ["{aside}/*.pem", ')
    )
    async with kit_for(sshd, policy=policy, fence="process") as host:
        assert (await host.open())["fence"]["level"] == "process"
        script = tmp_path / "work" / "script.py"
        script.write_text(
            f"print(len(open('{aside}/a name of some length 7').read()))\nprint(open('{aside}/key.pem').read())\n"
        )
        result = await host.run(f"python3 {script}")
        assert result.stdout == "0\n"
        assert "PermissionError" in result.stderr
