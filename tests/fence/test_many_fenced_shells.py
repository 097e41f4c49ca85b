"""Many fenced shells in one server: the keeper's own descriptors reach the numbers that a shell's have."""

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.request import RunRequest
from tests.fence.conftest import POLICY

SHELLS = 270  # each keeps one descriptor in the keeper; a shell's are 248 to 252


async def test_shells_beyond_the_two_hundred_and_fiftieth_start_behind_their_fence_too(tmp_path):
    (tmp_path / "work").mkdir()
    for name, text in (("policy.yaml", POLICY), ("config.yaml", "limits: {sessions: 500}\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    places = {"workspace": str(tmp_path / "work"), "state_dir": str(tmp_path / "state")}
    files = {"policy": str(tmp_path / "policy.yaml"), "config": str(tmp_path / "config.yaml")}
    async with open_kit(**files, **places, environ={"EXECKIT_FENCE": "process", "HOME": str(tmp_path)}) as kit:
        for number in range(SHELLS):
            await kit.open_session(requester="agent", name=f"s{number}")
        for number in (0, SHELLS - 1):
            result = await kit.run(RunRequest(command="echo here", session=f"s{number}", wait_s=30), requester="agent")
            assert (result.stdout, result.fence.level) == ("here\n", "process")
