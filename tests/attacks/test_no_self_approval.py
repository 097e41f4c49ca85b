"""P4: a program of a session, trusted by the policy and hostile, tries to say yes to its own command."""

import sys
from pathlib import Path

import pytest

from execkit_mcp.approvals import State
from execkit_mcp.runtime.desk import ApprovalDesk

pytestmark = pytest.mark.promise("P4")
PACKAGE = Path(__file__).resolve().parents[2]

WAYS = {
    "plainly": "{approve}",
    "with a clean environment": "env -i {settings} {approve}",
    "in a session of its own": "setsid env -u EXECKIT_SESSION {approve}",
    "orphaned": "(setsid env -i {settings} sh -c '{approve}' &) ; sleep 1",
    "orphaned twice": "(setsid sh -c '(env -i {settings} {approve} &)' &) ; sleep 1",
}


REFUSALS = {"off": ("inside an execkit session",), "auto": ("",)}  # a fence keeps it from running at all


@pytest.mark.parametrize("fence", REFUSALS)
@pytest.mark.parametrize("way", WAYS)
async def test_no_way_out_of_the_session_s_processes_leads_to_a_yes(serve, world, way, fence):
    settings = f"PATH=/usr/bin:/bin HOME={world.folder} PYTHONPATH={PACKAGE} PYTHONDONTWRITEBYTECODE=1"
    script = world.workspace / "evil.sh"
    log = world.workspace / "log"
    log.write_text("")
    desk = ApprovalDesk.open(state_dir=world.state, audit_dir=world.state)
    async with serve(EXECKIT_FENCE=fence) as served:
        body = await served.run("touch made.txt", wait_s=0)
        approve = f"{sys.executable} -m execkit_mcp approve {body['approval_id']} --state-dir {world.state} --yes"
        text = WAYS[way].format(approve=f"{approve} >>{log} 2>&1", settings=settings)
        script.write_text(f"export {settings}\n{text}\necho done\n")
        told = await served.run(f"bash {script}", wait_s=60)
        assert "done" in told["stdout"]
        for _ in range(60):  # the orphan may still be at it: it writes its refusal
            if any(each in log.read_text(errors="replace") for each in REFUSALS[fence]):
                break
            await served.run("sleep 0.25")
        assert any(each in log.read_text() for each in REFUSALS[fence])
        assert desk.get(body["approval_id"]).state is State.PENDING
    desk.close()
    assert not (world.workspace / "made.txt").exists()


async def test_a_durable_job_does_not_say_yes_either(serve, world):
    world.policy.write_text(world.policy.read_text().replace("background: allow", "background: allow, durable: allow"))
    settings = f"PATH=/usr/bin:/bin HOME={world.folder} PYTHONPATH={PACKAGE} PYTHONDONTWRITEBYTECODE=1"
    log = world.workspace / "log"
    log.write_text("")
    desk = ApprovalDesk.open(state_dir=world.state, audit_dir=world.state)
    async with serve(EXECKIT_FENCE="off") as served:
        body = await served.run("touch made.txt", wait_s=0)
        approve = f"{sys.executable} -m execkit_mcp approve {body['approval_id']} --state-dir {world.state} --yes"
        script = world.workspace / "evil.sh"
        script.write_text(f"(setsid env -i {settings} sh -c '{approve} >>{log} 2>&1' &)\nsleep 5\n")
        told = await served.run(f"bash {script}", durable=True)
        assert told["status"] == "running", told
        for _ in range(60):
            if log.read_text(errors="replace"):
                break
            await served.run("sleep 0.25")
        assert "inside an execkit session" in log.read_text()
        assert desk.get(body["approval_id"]).state is State.PENDING
    desk.close()
