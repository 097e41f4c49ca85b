"""Many sessions that are closed at once: what the log says of it is put on the disk together."""

import json
import os

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.background_sync import BackgroundSync
from execkit_mcp.runtime.sdk_policy import Policy

SESSIONS = 30


async def test_their_ends_share_syncs_and_all_are_on_the_record(tmp_path, monkeypatch):
    syncs = 0
    plain, submit = os.fdatasync, BackgroundSync.submit

    def counted(descriptor):
        nonlocal syncs
        syncs += 1
        plain(descriptor)

    def counted_beside(self, descriptor):
        nonlocal syncs
        syncs += 1
        submit(self, descriptor)

    many = {"EXECKIT_MAX_SESSIONS": str(SESSIONS)}
    workspace = tmp_path / "work"
    workspace.mkdir()
    policy = Policy.default_deny(allow=["echo"]).compiled
    async with open_kit(
        policy=policy, state_dir=str(tmp_path / "state"), workspace=str(workspace), environ=many
    ) as kit:
        for number in range(SESSIONS):
            await kit.open_session(requester="me", name=f"s{number}")
        monkeypatch.setattr(os, "fdatasync", counted)
        monkeypatch.setattr(BackgroundSync, "submit", counted_beside)
        await kit.close_sessions("it is evening")
        monkeypatch.undo()
    assert 0 < syncs < SESSIONS
    entries = [json.loads(line) for line in (tmp_path / "state/audit-000001.jsonl").read_text().splitlines()]
    closed = [entry["data"]["session"] for entry in entries if entry["kind"] == "session.closed"]
    assert sorted(closed) == sorted(f"s{number}" for number in range(SESSIONS))
    assert sum(entry["kind"] == "recording.finished" for entry in entries) == SESSIONS
