import os
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from execkit_mcp.audit import AuditLog, verify_folder
from execkit_mcp.audit.folder import HEAD_NAME, read_key, segment_name
from execkit_mcp.audit.journal import JOURNAL_BYTES, JOURNAL_NAME
from execkit_mcp.audit.seals import KEY_NAME, PUBLIC_NAME
from execkit_mcp.errors import AuditChainBroken, AuditWriteFailed, StorageUnavailable
from execkit_mcp.testing import FakeClock, FakeEntropy

WRITER = """
import sys
from pathlib import Path
from execkit_mcp.audit import AuditLog
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
log = AuditLog.open(Path(sys.argv[1]), clock=SystemClock(), entropy=SystemEntropy())
print("open", flush=True)
for n in range(int(sys.argv[2])):
    log.append("decision", {"writer": sys.argv[3], "n": n})
    print(n, flush=True)
"""


def open_log(folder, **options):
    return AuditLog.open(folder, clock=FakeClock(), entropy=FakeEntropy(), **options)


@pytest.fixture
def log(tmp_path):
    opened = open_log(tmp_path)
    yield opened
    opened.close()


def start_writer(folder, count, name):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(count), name], stdout=subprocess.PIPE, text=True
    )


def test_entries_are_chained_timed_and_whole(log, tmp_path):
    first = log.append("server.started", {"version": "1"})
    second = log.append("decision", {"verdict": "allow"})
    assert first != second == log.head.hash
    report = verify_folder(tmp_path)
    assert report.is_intact
    assert (report.entries, report.last_hash) == (3, second)
    assert b'"time":"2027-01-15T08:00:00.000000+00:00"' in (tmp_path / segment_name(1)).read_bytes()


def test_an_entry_is_on_the_disk_before_append_returns(log, tmp_path, monkeypatch):
    synced = []
    real = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: (synced.append(os.pread(fd, JOURNAL_BYTES, 0)), real(fd)))
    log.append("decision", {"n": 1})
    [journal] = synced
    assert (tmp_path / segment_name(1)).read_bytes().splitlines(keepends=True)[-1] in journal


def test_all_files_are_private(log, tmp_path):
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        HEAD_NAME: 0o600,
        JOURNAL_NAME: 0o600,
        segment_name(1): 0o600,
        KEY_NAME: 0o600,
        PUBLIC_NAME: 0o600,
    }


def test_a_log_goes_on_after_it_was_closed(log, tmp_path):
    log.append("decision", {})
    log.close()
    again = open_log(tmp_path)
    again.append("decision", {})
    again.close()
    assert verify_folder(tmp_path).entries == 3


def test_a_closed_log_takes_nothing(log):
    log.close()
    log.close()
    with pytest.raises(AuditWriteFailed, match="closed"):
        log.append("decision", {})


def test_two_writers_of_one_process_share_a_log(log, tmp_path):
    other = open_log(tmp_path)
    for n in range(5):
        log.append("decision", {"a": n})
        other.append("decision", {"b": n})
    other.close()
    report = verify_folder(tmp_path)
    assert report.is_intact
    assert report.entries == 11


def test_an_entry_that_another_writer_put_on_the_disk_counts_as_synced(log, tmp_path):
    """The other's head covers ours: whoever waits for it must not wait for ever."""
    with closing(open_log(tmp_path)) as other:
        ours = log.enter("exec.started", {}, is_synced=False)
        other.append("approval.decided", {})
        log.sync()
    assert log.synced_seq >= ours.seq


def test_threads_share_a_log(log, tmp_path):
    threads = [threading.Thread(target=lambda: [log.append("decision", {}) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert verify_folder(tmp_path).entries == 81


def test_processes_share_a_log_from_its_very_beginning(tmp_path):
    writers = [start_writer(tmp_path, 40, str(n)) for n in range(4)]
    for writer in writers:
        writer.communicate(timeout=50)
        assert writer.returncode == 0
    report = verify_folder(tmp_path)
    assert report.is_intact
    assert report.entries == 161


def test_what_was_acknowledged_survives_kill_9(tmp_path):
    writer = start_writer(tmp_path, 100_000, "victim")
    acknowledged = -1
    for line in writer.stdout:
        acknowledged = int(line) if line.strip().isdigit() else -1
        if acknowledged >= 25:
            writer.send_signal(signal.SIGKILL)
            break
    rest = writer.communicate(timeout=20)[0].split()
    acknowledged = int(rest[-1]) if rest else acknowledged
    log = open_log(tmp_path)
    log.append("decision", {})
    log.close()
    report = verify_folder(tmp_path)
    assert report.is_intact, report
    assert report.entries >= acknowledged + 3


def test_a_torn_line_opens_a_new_segment_that_names_it(log, tmp_path):
    log.append("decision", {})
    log.close()
    with (tmp_path / segment_name(1)).open("ab") as file:
        file.write(b'{"data":{"half')
    again = open_log(tmp_path)
    again.append("decision", {})
    again.close()
    report = verify_folder(tmp_path)
    assert report.is_intact
    assert (report.entries, (tmp_path / segment_name(2)).exists()) == (4, True)
    assert "14 bytes" in report.notes[0]
    # and what was torn cannot be changed afterwards
    with (tmp_path / segment_name(1)).open("ab") as file:
        file.write(b"x")
    assert not verify_folder(tmp_path).is_intact


def test_a_torn_line_of_another_process_is_stepped_over_by_a_running_one(log, tmp_path):
    log.append("decision", {})
    with (tmp_path / segment_name(1)).open("ab") as file:
        file.write(b'{"data":')
    log.append("decision", {})
    report = verify_folder(tmp_path)
    assert report.is_intact
    assert report.entries == 4


def test_a_crash_while_a_segment_was_opened_is_stepped_over(log, tmp_path):
    log.append("decision", {})
    log.close()
    for half in (b"", b'{"data"'):
        (tmp_path / segment_name(2)).write_bytes(half)
        (tmp_path / segment_name(2)).chmod(0o600)
        again = open_log(tmp_path)
        again.append("decision", {})
        again.close()
        assert verify_folder(tmp_path).is_intact, half


def test_a_crash_between_line_and_head_loses_nothing(log, tmp_path):
    log.append("decision", {})
    head = (tmp_path / HEAD_NAME).read_bytes()
    last = log.append("decision", {"n": 2})
    log.close()
    (tmp_path / HEAD_NAME).write_bytes(head)
    assert "behind the head" in verify_folder(tmp_path).notes[0]
    again = open_log(tmp_path)
    assert (again.head.seq, again.head.hash) == (3, last)
    again.append("decision", {})
    again.close()
    report = verify_folder(tmp_path)
    assert report.is_intact
    assert (report.entries, report.notes) == (4, ())


def test_a_full_segment_is_followed_by_another(tmp_path, monkeypatch):
    monkeypatch.setattr("execkit_mcp.audit.writer.SEGMENT_BYTES", 2000)
    first, second = open_log(tmp_path), open_log(tmp_path)
    for n in range(20):
        first.append("decision", {"n": n, "pad": "x" * 300})
        second.append("decision", {"n": n})
    first.close()
    second.close()
    report = verify_folder(tmp_path)
    assert report.is_intact, report
    assert len(list(tmp_path.glob("audit-*.jsonl"))) > 3


def test_what_is_not_json_is_refused_and_does_not_shut_the_log(log, tmp_path):
    with pytest.raises(AuditWriteFailed, match="JSON"):
        log.append("decision", {"x": object()})
    log.append("decision", {})
    assert verify_folder(tmp_path).is_intact


def test_a_key_makes_hashes_that_only_its_holders_can_make(tmp_path):
    (tmp_path / "key").write_text("k" * 32 + "\n")
    key = read_key(tmp_path / "key")
    log = open_log(tmp_path / "audit", key=key)
    log.append("decision", {})
    log.close()
    assert verify_folder(tmp_path / "audit", key=key).is_intact
    assert not verify_folder(tmp_path / "audit").is_intact
    with pytest.raises(AuditChainBroken, match="another key"):
        open_log(tmp_path / "audit")


def test_a_key_that_is_missing_or_short_is_refused(tmp_path):
    with pytest.raises(StorageUnavailable, match="cannot be read"):
        read_key(tmp_path / "none")
    (tmp_path / "short").write_text("abc")
    with pytest.raises(StorageUnavailable, match="16 are the least"):
        read_key(tmp_path / "short")


def test_verifying_while_others_write_never_sees_half_an_entry(tmp_path):
    writer = start_writer(tmp_path, 300, "busy")
    assert writer.stdout.readline() == "open\n"
    seen = 0
    while writer.poll() is None and seen < 50:
        report = verify_folder(tmp_path)
        assert report.is_intact, report
        assert report.notes == ()
        seen += 1
    writer.communicate(timeout=30)
    assert seen


def test_there_is_nothing_to_verify_where_there_is_no_log(tmp_path):
    with pytest.raises(AuditChainBroken, match="no audit log"):
        verify_folder(tmp_path)
    with pytest.raises(AuditChainBroken, match="no audit log"):
        verify_folder(Path(tmp_path / "missing"))


def test_an_entry_left_to_the_kernel_is_whole_for_every_reader_and_synced_later(tmp_path, monkeypatch):
    log = AuditLog.open(tmp_path, clock=FakeClock(), entropy=FakeEntropy())
    synced = []
    real = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: (synced.append(descriptor), real(descriptor)))
    log.append("exec.finished", {"n": 1}, is_synced=False)
    assert synced == []
    assert verify_folder(tmp_path).problem is None
    log.sync()
    assert len(synced) == 1
    log.sync()
    assert len(synced) == 1
    log.append("exec.finished", {"n": 2}, is_synced=False)
    log.append("decision", {"n": 3})
    assert len(synced) == 2
    log.close()
    assert verify_folder(tmp_path).problem is None
