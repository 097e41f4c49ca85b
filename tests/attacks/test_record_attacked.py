"""P6: somebody who can write the folder, head file included, changes what was sealed or noted; it shows."""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import pytest

from execkit_mcp.audit import AuditLog, verify_folder
from execkit_mcp.audit.chain import Head, Noted, genesis, parse_line, seal
from execkit_mcp.audit.folder import HEAD_NAME, segment_name
from execkit_mcp.audit.seals import KEY_NAME, PUBLIC_NAME, seal_name
from execkit_mcp.audit.writer import Keep
from execkit_mcp.errors import ExecKitError, StorageUnavailable
from execkit_mcp.testing import FakeClock, FakeEntropy

pytestmark = pytest.mark.promise("P6")


def open_log(folder):
    return AuditLog.open(folder, clock=FakeClock(), entropy=FakeEntropy(), is_sealed_at_close=True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A closed log of three segments or more."""
    monkeypatch.setattr("execkit_mcp.audit.writer.SEGMENT_BYTES", 1500)
    log = open_log(tmp_path)
    for number in range(12):
        log.append("decision", {"n": number, "pad": "x" * 100})
    log.close()
    assert verify_folder(tmp_path).sealed == verify_folder(tmp_path).entries == log.head.seq
    assert (tmp_path / segment_name(3)).exists()
    return tmp_path


def lines_of(folder):
    return {path.name: path.read_bytes().splitlines(keepends=True) for path in sorted(folder.glob("audit-*.jsonl"))}


def rewritten(folder, change):
    """Write the whole log anew, hashes and head made right: what somebody does who knows how it is made."""
    old = {name: [parse_line(line, None) for line in lines] for name, lines in lines_of(folder).items()}
    head = Head.from_bytes((folder / HEAD_NAME).read_bytes(), None)
    seq, prev, end = 0, genesis(head.log), 0
    changed = change(old)
    for name, found in changed.items():
        lines = []
        for entry in found:
            seq += 1
            line, prev = seal(seq=seq, time=entry.time, kind=entry.kind, data=entry.data, prev=prev, key=None)
            lines.append(line)
        (folder / name).write_bytes(b"".join(lines))
        end = sum(map(len, lines))
    new = Head(log=head.log, seq=seq, hash=prev, segment=len(changed), end=end)
    (folder / HEAD_NAME).write_bytes(new.to_bytes(None))


def without(name, at):
    return lambda old: {
        each: [e for i, e in enumerate(found) if (each, i) != (name, at)] for each, found in old.items()
    }


def test_a_log_rewritten_with_its_head_is_found_by_the_seals(folder):
    rewritten(folder, without(segment_name(2), 1))
    report = verify_folder(folder)
    assert "seal" in str(report.problem)


def test_a_tail_cut_with_its_head_is_found_by_the_seal_of_the_last_close(folder):
    last = max(lines_of(folder))
    rewritten(folder, lambda old: {**old, last: old[last][:-1]})
    assert "the seal names entry" in str(verify_folder(folder).problem)


def test_whoever_takes_the_seals_away_as_well_is_found_in_every_segment_but_the_newest(folder):
    rewritten(folder, without(segment_name(1), 2))
    for path in folder.glob("audit-*.seal"):
        path.unlink()
    report = verify_folder(folder)
    assert report.problem.file == segment_name(1)
    assert "its seal was removed" in report.problem.message


def test_the_newest_segment_without_its_seal_is_held_by_what_was_noted_elsewhere(folder):
    report = verify_folder(folder)
    noted = Noted(seq=report.entries, hash=report.last_hash)
    last = max(lines_of(folder))
    rewritten(folder, lambda old: {**old, last: old[last][:-1]})
    (folder / last.replace("jsonl", "seal")).unlink()
    assert verify_folder(folder).is_intact  # this much is honest: the head of a keyless log can be rewritten
    assert "was noted elsewhere" in str(verify_folder(folder, noted=(noted,)).problem)


@pytest.mark.parametrize("length", [12, 64])
def test_a_noted_entry_that_stands_there_is_found_and_another_is_not(folder, length):
    entry = parse_line(lines_of(folder)[segment_name(2)][1], None)
    for seq in (entry.seq, None):
        assert verify_folder(folder, noted=(Noted(seq=seq, hash=entry.hash[:length]),)).is_intact
    problem = verify_folder(folder, noted=(Noted(seq=entry.seq, hash="0" * length),)).problem
    assert (problem.file, problem.line) == (segment_name(2), 2)
    assert not verify_folder(folder, noted=(Noted(seq=None, hash="0" * length),)).is_intact


def test_a_log_sealed_anew_with_another_key_is_found_with_a_copy_of_the_public_key(folder, tmp_path):
    (tmp_path / "copy").mkdir()
    copy = shutil.copy(folder / PUBLIC_NAME, tmp_path / "copy" / "audit.pub")
    rewritten(folder, without(segment_name(1), 2))
    (folder / KEY_NAME).unlink()
    (folder / PUBLIC_NAME).unlink()
    for path in folder.glob("audit-*.seal"):
        path.unlink()
    rewritten(folder, lambda old: old)
    open_log(folder).close()
    assert not verify_folder(folder, public_key=type(folder)(copy)).is_intact


def test_a_log_made_anew_and_never_sealed_is_found_with_a_copy_of_the_public_key(tmp_path):
    log = open_log(tmp_path / "state")
    log.close()
    copy = shutil.copy(tmp_path / "state" / PUBLIC_NAME, tmp_path / "audit.pub")
    shutil.rmtree(tmp_path / "state")
    log = open_log(tmp_path / "state")
    log.append("decision", {})
    assert verify_folder(tmp_path / "state").is_intact
    assert "another key" in str(verify_folder(tmp_path / "state", public_key=type(tmp_path)(copy)).problem)
    log.close()


@pytest.mark.parametrize(
    ("field", "value"), [("seq", 3), ("hash", "0" * 64), ("bytes", 1), ("segment", 2), ("final", False), ("log", "x")]
)
def test_an_edited_seal_is_found(folder, field, value):
    path = folder / seal_name(1)
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    assert "signature does not fit" in str(verify_folder(folder).problem)


def test_a_seal_of_another_segment_does_not_fit(folder):
    shutil.copy(folder / seal_name(2), folder / seal_name(1))
    assert not verify_folder(folder).is_intact


def test_an_older_seal_put_back_is_found(tmp_path, monkeypatch):
    log = open_log(tmp_path)
    log.append("decision", {"n": 1})
    log.close()
    older = (tmp_path / seal_name(1)).read_bytes()
    monkeypatch.setattr("execkit_mcp.audit.writer.SEGMENT_BYTES", 100)
    log = open_log(tmp_path)
    log.append("decision", {"n": 2})
    log.close()
    assert (tmp_path / segment_name(2)).exists()
    (tmp_path / seal_name(1)).write_bytes(older)
    assert "seal is an old one" in str(verify_folder(tmp_path).problem)


@pytest.mark.parametrize("junk", [b"", b"{}", b"[]", b"\xff", b'{"signature":"zz"}', b"[" * 100_000])
def test_a_seal_that_is_junk_is_a_problem_and_no_crash(folder, junk):
    (folder / seal_name(1)).write_bytes(junk)
    assert verify_folder(folder).problem.file == segment_name(1)


def test_swapped_and_spliced_segments_are_found(folder):
    one, two = (folder / segment_name(n) for n in (1, 2))
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert verify_folder(folder).problem.file == segment_name(1)
    one.write_bytes(first + second)
    two.write_bytes(second)
    assert not verify_folder(folder).is_intact


def test_segments_taken_from_the_front_are_found_unless_the_log_says_so(folder):
    (folder / segment_name(1)).unlink()
    (folder / seal_name(1)).unlink()
    assert "no entry says that they were retired" in str(verify_folder(folder).problem)


def test_retired_segments_leave_a_log_that_is_whole(folder):
    log = open_log(folder)
    log._clock.advance(4e9)
    assert log.retire(Keep(days=1e-9)) >= 1
    assert not (folder / segment_name(1)).exists()
    log.append("decision", {"after": True})
    log.close()
    assert verify_folder(folder).is_intact
    open_log(folder).close()
    first = min(lines_of(folder))
    (folder / first).unlink()  # one more than the log says
    assert not verify_folder(folder).is_intact


def test_segments_retired_one_after_the_other_leave_a_log_that_is_whole(folder):
    log = open_log(folder)
    now_s = log._clock.epoch_s()
    for path in folder.glob("audit-*.jsonl"):
        os.utime(path, (now_s, now_s))
    for number in (1, 2):
        os.utime(folder / segment_name(number), (0, 0))
        assert log.retire(Keep(days=1)) == 1
    log.close()
    assert verify_folder(folder).problem is None


def test_a_torn_end_that_was_retired_leaves_a_log_that_is_whole(tmp_path):
    open_log(tmp_path).close()
    with (tmp_path / segment_name(1)).open("ab") as file:
        file.write(b'{"torn')
    log = open_log(tmp_path)
    log._clock.advance(4e9)
    assert log.retire(Keep(days=1e-9)) == 1
    log.close()
    assert verify_folder(tmp_path).problem is None


def test_a_crash_while_segments_were_removed_leaves_a_log_that_is_whole(folder, monkeypatch):
    log = open_log(folder)
    log._clock.advance(4e9)
    unlinked = []
    real = type(folder).unlink

    def unlink(path, **options):
        if path.suffix == ".jsonl" and unlinked:
            raise KeyboardInterrupt
        unlinked.append(path)
        real(path, **options)

    monkeypatch.setattr(type(folder), "unlink", unlink)
    with pytest.raises(KeyboardInterrupt):
        log.retire(Keep(days=1e-9))
    monkeypatch.undo()
    assert verify_folder(folder).is_intact
    log.close()
    open_log(folder).close()
    assert verify_folder(folder).is_intact


def test_a_retirement_that_was_forged_does_not_fit(folder):
    def forged(old):
        last = max(old)
        entry = old[last][-1]
        data = {"segment": 1, "seq": 3, "hash": "0" * 64}
        return {**old, last: [*old[last], type(entry)(**{**entry.to_json(), "kind": "log.retired", "data": data})]}

    rewritten(folder, forged)
    (folder / max(lines_of(folder)).replace("jsonl", "seal")).unlink()
    (folder / segment_name(1)).unlink()
    assert not verify_folder(folder).is_intact


def test_a_lost_private_key_stops_the_log_and_says_what_to_do(folder):
    (folder / KEY_NAME).unlink()
    log = open_log(folder)
    with pytest.raises(StorageUnavailable, match="is gone"):
        log.close()


@pytest.mark.parametrize("name", [KEY_NAME, PUBLIC_NAME, seal_name(1), segment_name(1)])
def test_a_link_in_place_of_a_file_is_never_written_through(tmp_path, name):
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    target = tmp_path / "elsewhere"
    target.write_text("untouched")
    (state / name).symlink_to(target)
    with contextlib.suppress(ExecKitError):  # refusing is as good
        log = open_log(state)
        log.append("decision", {})
        log.close()
    assert target.read_text() == "untouched"


WRITER = """
import sys
from pathlib import Path
from execkit_mcp.audit import AuditLog, writer
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
writer.SEGMENT_BYTES = 3000
log = AuditLog.open(Path(sys.argv[1]), clock=SystemClock(), entropy=SystemEntropy(), is_sealed_at_close=True)
for n in range(30):
    log.append("decision", {"writer": sys.argv[2], "n": n}, is_synced=n % 3 == 0)
log.close()
"""


def test_servers_that_share_a_folder_seal_it_as_one(tmp_path):
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(n)], env=environ) for n in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    report = verify_folder(tmp_path)
    assert report.is_intact, report
    assert report.sealed == report.entries
    assert len(list(tmp_path.glob("audit-*.jsonl"))) > 3


def test_a_recording_that_was_changed_after_it_was_finished_is_named(folder):
    (folder / "recordings").mkdir(mode=0o700)
    (folder / "recordings" / "a.cast").write_bytes(b"seen\n")
    log = open_log(folder)
    digest = "0" * 64
    log.append("recording.finished", {"file": "a.cast", "bytes": 5, "sha256": digest})
    log.close()
    assert verify_folder(folder).problem.file == "recordings/a.cast"
    (folder / "recordings" / "a.cast").unlink()
    assert "not there" in verify_folder(folder).notes[-1]
