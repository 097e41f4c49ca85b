"""What the gate is told of a command before it starts: the very files that it was judged for, however spelled."""

import pytest

from execkit_mcp.model import Status
from execkit_mcp.runtime.fence_watch import FenceWatch
from tests.fence.conftest import fenced  # noqa: F401 - a fixture


@pytest.mark.promise("P2")
@pytest.mark.parametrize(
    "command", ["ls", "/usr/bin/ls", "for i in 1 2 3; do /usr/bin/ls > /dev/null; done", "cd / && /usr/bin/ls"]
)
async def test_a_program_that_was_judged_is_not_judged_again_when_it_starts(fenced, monkeypatch, command):  # noqa: F811
    asked = []
    monkeypatch.setattr(FenceWatch, "_on_question", lambda self, question: asked.append(question))
    async with fenced() as f:
        result = await f.run(command)
        assert (result.status, result.exit_code, asked) == (Status.COMPLETED, 0, [])


@pytest.mark.promise("P2")
async def test_a_program_judged_by_its_path_vouches_for_no_file_below_the_folder(fenced, monkeypatch):  # noqa: F811
    plans = []
    entries = FenceWatch._entries

    def noted(self, *arguments):
        found = entries(self, *arguments)
        plans.extend(each["real"] for each in found)
        return found

    monkeypatch.setattr(FenceWatch, "_entries", noted)
    async with fenced() as f:
        await f.run("/usr/bin/ls")
    assert plans == ["/usr/bin/ls"]
