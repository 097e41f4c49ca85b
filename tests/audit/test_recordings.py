"""Recordings: what was seen, as it happened, joined to the audit log by its markers."""

import asyncio
import hashlib
import json
import os
from datetime import UTC, datetime

import pytest

from execkit_mcp import aio
from execkit_mcp.audit.asciicast import event_line, marker, parse_event, parse_marker
from execkit_mcp.audit.recordings import find_recording, list_recordings, read_events
from execkit_mcp.cli.audit_replay import drawable
from execkit_mcp.errors import AuditWriteFailed, CommandInvalid
from execkit_mcp.runtime.recordings import overdue
from execkit_mcp.runtime.sdk_policy import Policy

POLICY = Policy.default_deny(allow=["echo", "printf", "sleep", ":", "seq", "cat", "yes", "head"])


def opened(folder):
    return aio.create(policy=POLICY, state_dir=str(folder / "state"), workspace=str(folder))


def events_of(folder):
    (found,) = list_recordings(folder / "state" / "recordings")
    return [event for path in found.paths for event in read_events(path)[0]]


def text_of(events):
    return "".join(event.text for event in events if event.code == "o")


async def test_a_session_is_recorded_with_a_marker_for_each_command_and_its_end(tmp_path):
    async with opened(tmp_path) as session:
        result = await session.exec("echo one; printf 'two\\n' >&2")
    events = events_of(tmp_path)
    start, end = (parse_marker(event.text) for event in events if "exec=" in event.text)
    assert (start.verdict, start.exec_id, start.command.startswith("echo one")) == ("allow", result.exec_id, True)
    assert (end.status, end.exit_code, end.audit) == ("completed", 0, result.audit.seq)
    assert start.audit < end.audit
    assert "one\r\n" in text_of(events)
    assert "two\r\n" in text_of(events)
    assert [event.time_s for event in events] == sorted(event.time_s for event in events)


async def test_the_file_is_asciicast_v2_private_and_on_the_record(tmp_path):
    async with opened(tmp_path) as session:
        await session.exec("echo hello")
    (found,) = list_recordings(tmp_path / "state" / "recordings")
    data = found.path.read_bytes()
    header, *lines = map(json.loads, data.splitlines())
    assert (header["version"], header["width"], header["height"]) == (2, 120, 40)
    assert header["execkit"]["requester"] == "sdk"
    assert all(isinstance(time_s, float) and code in "omr" and isinstance(text, str) for time_s, code, text in lines)
    assert found.path.stat().st_mode & 0o777 == 0o600
    assert found.path.parent.stat().st_mode & 0o777 == 0o700
    entries = [json.loads(line) for line in (tmp_path / "state" / "audit-000001.jsonl").read_bytes().splitlines()]
    (finished,) = (entry["data"] for entry in entries if entry["kind"] == "recording.finished")
    assert finished == {"file": found.path.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (began,) = (entry["data"] for entry in entries if entry["kind"] == "session.opened")
    assert began["recording"] == found.id


async def test_a_refused_command_leaves_a_marker_with_its_entry(tmp_path):
    async with opened(tmp_path) as session:
        with pytest.raises(Exception, match="refuse"):
            await session.exec("rm -rf /")
    (refused,) = (each for event in events_of(tmp_path) if (each := parse_marker(event.text)).verdict == "deny")
    assert refused.command.endswith("rm -rf /")
    assert refused.audit


async def test_output_is_timed_as_it_came(tmp_path):
    async with opened(tmp_path) as session:
        await session.exec("echo first; sleep 0.3; echo second")
    times = {event.text.strip(): event.time_s for event in events_of(tmp_path) if event.code == "o"}
    assert 0.25 < times["second"] - times["first"] < 5


async def test_an_unfinished_line_is_seen_while_it_stands(tmp_path):
    async with opened(tmp_path) as session:
        await session.exec("printf 'prompt? '; sleep 0.4; printf 'and more\\n'")
    texts = [event.text for event in events_of(tmp_path) if event.code == "o"]
    assert "prompt? " in texts
    assert text_of(events_of(tmp_path)).count("prompt? and more\r\n") == 1


async def test_what_a_terminal_program_draws_is_recorded_as_its_screen(tmp_path):
    async with opened(tmp_path) as session:
        await session.exec("printf '\\033[2J\\033[3;5Hdrawn'; sleep 0.3", tty=True)
    assert "\x1b[3;1H\x1b[K    drawn" in text_of(events_of(tmp_path))


async def test_hostile_escape_codes_never_reach_a_recording(tmp_path):
    async with opened(tmp_path) as session:
        await session.exec("printf '\\033]52;c;aGk=\\a\\033]0;title\\a\\033P+q\\033\\\\plain\\n'")
    text = text_of(events_of(tmp_path))
    assert "plain\r\n" in text
    for forbidden in ("\x1b]", "\x1bP", "\x07"):
        assert forbidden not in text


async def test_a_flood_is_recorded_up_to_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr("execkit_mcp.runtime.recorder.EXEC_CHARS", 100_000)
    async with opened(tmp_path) as session:
        await session.exec("yes | head -n 400000")
        await session.exec("echo afterwards")
    text = text_of(events_of(tmp_path))
    assert len(text) < 120_000 + (1 << 17)
    assert "not recorded" in text
    assert "afterwards\r\n" in text


async def test_a_live_recording_can_be_followed_and_is_told_from_an_ended_one(tmp_path):
    folder = tmp_path / "state" / "recordings"
    async with opened(tmp_path) as session:
        await session.exec("echo one")
        async with asyncio.timeout(10):
            seen, offset = "", 0
            while "one\r\n" not in seen:
                await asyncio.sleep(0.01)
                more, offset = read_events(find_recording(folder, "main").path, offset)
                seen += text_of(more)
        assert list_recordings(folder)[0].is_live
        await session.exec("echo two")
    assert "two\r\n" in text_of(read_events(find_recording(folder, "main").path, offset)[0])
    assert not list_recordings(folder)[0].is_live


async def test_nothing_runs_while_the_recording_cannot_be_written_and_then_it_goes_on(tmp_path, monkeypatch):
    async with opened(tmp_path) as session:
        await session.exec("echo one")
        real, full = os.write, OSError(28, "No space left on device")
        failed = asyncio.Event()

        def write(descriptor, data):
            if b'"o"' in data or b'"m"' in data:
                failed.set()
                raise full
            return real(descriptor, data)

        monkeypatch.setattr(os, "write", write)
        await session.exec("echo two")
        async with asyncio.timeout(10):
            await failed.wait()
        with pytest.raises(AuditWriteFailed, match="No space left"):
            await session.exec("echo three")
        monkeypatch.undo()
        await session.exec("echo four")
    text = text_of(events_of(tmp_path))
    assert "two\r\n" in text
    assert "three\r\n" not in text
    assert "four\r\n" in text


@pytest.mark.parametrize("change", ["removed", "replaced", "cut", "added to"])
async def test_a_recording_that_somebody_touched_goes_on_in_a_new_part(tmp_path, change):
    folder = tmp_path / "state" / "recordings"
    async with opened(tmp_path) as session:
        await session.exec("echo one")
        session._kit._sessions.all()[0].recorder.flush()
        path = find_recording(folder, "main").path
        if change == "removed":
            path.unlink()
        elif change == "replaced":
            path.unlink()
            path.write_text("other")
        elif change == "cut":
            os.truncate(path, 100)
        else:
            with path.open("a") as file:
                file.write('[0.1,"o","never said"]\n')
        await session.exec("echo two")
    (second,) = folder.glob("*.002.cast")
    assert "two\r\n" in text_of(read_events(second)[0])


async def test_a_full_part_is_followed_by_another(tmp_path, monkeypatch):
    monkeypatch.setattr("execkit_mcp.audit.recording.PART_BYTES", 3000)
    async with opened(tmp_path) as session:
        for _ in range(6):
            await session.exec("seq 300; sleep 0.05")
    (found,) = list_recordings(tmp_path / "state" / "recordings")
    assert len(found.paths) > 2
    assert text_of(events_of(tmp_path)).count("300\r\n") == 6


async def test_recordings_can_be_switched_off(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("audit: {recordings: off}\n")
    config.chmod(0o600)
    async with aio.create(policy=POLICY, config=str(config), state_dir=str(tmp_path / "state")) as session:
        await session.exec("echo one")
    assert not (tmp_path / "state" / "recordings").exists()


async def test_a_link_planted_in_place_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state").mkdir(mode=0o700)
    (tmp_path / "state" / "recordings").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AuditWriteFailed, match="is a link"):
        async with opened(tmp_path):
            pass
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_newest_recording_of_a_session_is_found_by_its_name(tmp_path):
    for stamp, chance in (("20300101T000000Z", "aaaaaa"), ("20300102T000000Z", "bbbbbb")):
        header = {"version": 2, "width": 80, "height": 24, "timestamp": 0, "execkit": {"session": "main"}}
        (tmp_path / f"{stamp}-main-{chance}.cast").write_text(json.dumps(header) + "\n")
    assert find_recording(tmp_path, "main").id.endswith("bbbbbb")
    assert find_recording(tmp_path, "aaaaaa").id.endswith("aaaaaa")
    with pytest.raises(CommandInvalid, match="other"):
        find_recording(tmp_path, "other")


def test_what_is_too_old_or_too_much_goes_but_never_what_is_written(tmp_path):
    for day in range(1, 6):
        (tmp_path / f"2030010{day}T000000Z-main-aaaaa{day}.cast").write_text("x" * 1000)
    all_ = list_recordings(tmp_path, has_headers=False)
    before_s = datetime(2030, 1, 2, 12, tzinfo=UTC).timestamp()
    assert [each.id[:8] for each in overdue(all_, before_s=before_s, most_bytes=None)] == ["20300102", "20300101"]
    assert [each.id[:8] for each in overdue(all_, before_s=None, most_bytes=3000)] == ["20300102", "20300101"]
    assert overdue(all_, before_s=None, most_bytes=None) == ()


@pytest.mark.parametrize("command", ["ls", "a $ b\nc", "", "x=1 y=2", None])
def test_a_marker_is_read_back_as_it_was_written(command):
    text = marker(command, audit=7, exec="x_1", verdict="allow", rule="a b", exit=0, approval=None)
    event = parse_event(event_line(1.5, "m", text))
    found = parse_marker(event.text)
    assert (found.audit, found.exec_id, found.rule, found.exit_code) == (7, "x_1", "a_b", 0)
    assert found.command == (command or "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\r\n", "plain\r\n"),
        ("\x1b[2mdim\x1b[0m\x1b[3;1H\x1b[K", "\x1b[2mdim\x1b[0m\x1b[3;1H\x1b[K"),
        ("a\x1b]52;c;aGk=\x07b", "ab"),
        ("a\x1b]0;t\x1b\\b", "ab"),
        ("a\x1bP+q\x1b\\b\x1b_x\x1b\\c", "abc"),
        ("a\x1b[?1049hb\x1b[?2004hc\x1b[4h\x1b[?7l", "abc\x1b[?7l"),
        ("a\x1b[6nb\x1b[cc\x1b[21t\x1bcd\x9b6n\x00", "abcd6n"),
    ],
)
def test_replay_passes_on_nothing_that_a_terminal_would_obey(text, shown):
    assert drawable(text) == shown


async def test_a_durable_job_leaves_the_recording_of_its_session_to_what_comes_next(world, serve):
    world.policy.write_text(world.policy.read_text().replace("background: allow", "background: allow, durable: allow"))
    async with serve() as served:
        job = await served.run("sleep 30", durable=True)
        await served.run("echo afterwards")
        await served.call("shell_send", exec_id=job["exec_id"], signal="KILL")
    (found,) = list_recordings(world.state / "recordings")
    events = read_events(found.path)[0]
    assert f"durable job {job['exec_id']}" in text_of(events)
    assert "afterwards\r\n" in text_of(events)
