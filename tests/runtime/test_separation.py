import pytest

from execkit_mcp.approvals.approver import enrol
from execkit_mcp.config.settings import load_settings
from execkit_mcp.model import Fence
from execkit_mcp.runtime.separation import separation
from execkit_mcp.testing import FakeEntropy


@pytest.fixture
def settings(world, monkeypatch):
    monkeypatch.setattr("os.getuid", lambda: 1000)
    world.state.mkdir(mode=0o700)

    def load(**changes):
        config = world.folder / "config.yaml"
        config.write_text("approvals: {channels: [out_of_band]}\n")
        config.chmod(0o600)
        options = {"config": str(config), "workspace": str(world.workspace), "state_dir": str(world.state)} | changes
        return load_settings(environ={"HOME": str(world.folder)}, **options)

    return load


def levels(rows):
    return {row.name: row.level for row in rows}


def test_what_is_weak_is_said_with_what_would_be_better(settings):
    rows = {row.name: row for row in separation(settings())}
    for name in ("user", "fence", "code"):
        assert (rows[name].level, bool(rows[name].remedy)) == ("weak", True), name
    assert rows["state folder"].level == "ok"
    assert rows["channels"].level == "ok"


def test_a_fence_and_a_code_separate(settings, world):
    enrol(world.state, wanted="critical", entropy=FakeEntropy())
    found = levels(separation(settings(), fence=Fence(level="namespaces")))
    assert found["fence"] == found["code"] == "ok"
    assert found["user"] == "note"


def test_a_state_folder_in_the_workspace_and_a_policy_in_it_are_weak(settings, world):
    found = levels(separation(settings(workspace=str(world.folder), policy=str(world.policy))))
    assert found["state folder"] == found["policy"] == "weak"


def test_a_secret_that_cannot_be_read_is_said(settings, world):
    (world.state / "approver.json").write_text("{}")
    [row] = [row for row in separation(settings()) if row.name == "code"]
    assert "cannot be read" in row.text


def test_the_client_s_own_dialogue_is_only_a_note(settings):
    assert levels(separation(settings(config=None)))["channels"] == "note"


def test_with_a_fence_a_state_folder_in_the_workspace_is_hidden_and_that_is_said(settings, world):
    [row] = [
        row
        for row in separation(settings(workspace=str(world.folder)), fence=Fence(level="process"))
        if row.name == "state folder"
    ]
    assert (row.level, "the fence alone hides it" in row.text) == ("note", True)
