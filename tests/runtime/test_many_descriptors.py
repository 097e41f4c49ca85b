"""A process that embeds the SDK may hold more descriptors than select(2) knows: everything works there as well."""

import os
import resource

import pytest

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.reading import ReadRequest
from execkit_mcp.runtime.request import RunRequest

HELD = 1100


@pytest.fixture
def many_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(HELD)]
    yield
    for descriptor in held:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_descriptors")
@pytest.mark.parametrize("fence", ["off", "auto"])
async def test_a_command_and_a_durable_job_run_in_a_process_with_a_thousand_open_descriptors(world, fence):
    world.policy.write_text(world.policy.read_text().replace("background: allow", "background: allow, durable: allow"))
    folders = {"workspace": str(world.workspace), "state_dir": str(world.state)}
    async with open_kit(policy=str(world.policy), **folders, environ={"EXECKIT_FENCE": fence}) as kit:
        result = await kit.run(RunRequest(command="echo here", wait_s=30), requester="a")
        assert result.stdout == "here\n"
        started = await kit.run(RunRequest(command="echo later; sleep 0.2; echo still", durable=True), requester="a")
        reading = await kit.read(ReadRequest(exec_id=started.exec_id, wait_s=20), requester="a")
        assert (reading.status, reading.text) == ("completed", "later\nstill\n")
