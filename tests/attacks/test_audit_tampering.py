"""P6: everything is on the record and tampering shows; if the record cannot be written, nothing runs."""

import fcntl
import os
import resource
import signal

import pytest

from execkit_mcp.audit import AuditLog, journal, verify_folder
from execkit_mcp.audit.folder import HEAD_NAME, lock, segment_name
from execkit_mcp.errors import (
    AuditChainBroken,
    AuditError,
    AuditWriteFailed,
    ConfigPermissions,
    StorageUnavailable,
)
from execkit_mcp.testing import FakeClock, FakeEntropy

pytestmark = pytest.mark.promise("P6")


def open_log(folder):
    return AuditLog.open(folder, clock=FakeClock(), entropy=FakeEntropy())


@pytest.fixture
def log(tmp_path):
    opened = open_log(tmp_path)
    opened.append("decision", {"verdict": "allow", "command": "ls"})
    opened.append("decision", {"verdict": "deny", "command": "rm"})
    yield opened
    opened.close()


def edit(path):
    path.write_bytes(path.read_bytes().replace(b'"deny"', b'"DENY"'))


def cut(path):
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def swap(path):
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + third + second)


@pytest.mark.parametrize("tamper", [edit, cut, swap])
def test_a_tampered_log_is_found_and_never_written_to_again(log, tmp_path, tamper):
    log.close()
    tamper(tmp_path / segment_name(1))
    before = (tmp_path / segment_name(1)).read_bytes()
    assert not verify_folder(tmp_path).is_intact
    if tamper is not edit and tamper is not swap:  # those within are found by verify, the end by each opener
        with pytest.raises(AuditChainBroken):
            open_log(tmp_path)
        assert (tmp_path / segment_name(1)).read_bytes() == before


def test_a_log_cut_under_a_running_writer_stops_it(log, tmp_path):
    cut(tmp_path / segment_name(1))
    with pytest.raises(AuditError):
        log.append("decision", {})
    with pytest.raises(AuditWriteFailed):
        log.append("decision", {})
    assert not verify_folder(tmp_path).is_intact


def test_a_cut_does_not_disappear_by_opening_the_log_again(log, tmp_path):
    cut(tmp_path / segment_name(1))
    head = (tmp_path / HEAD_NAME).read_bytes()
    for _ in range(2):
        with pytest.raises(AuditChainBroken):
            log.reopen()
    assert (tmp_path / HEAD_NAME).read_bytes() == head
    assert not verify_folder(tmp_path).is_intact


@pytest.mark.parametrize("name", [HEAD_NAME, segment_name(1)])
def test_a_deleted_file_stops_a_running_writer(log, tmp_path, name):
    (tmp_path / name).unlink()
    with pytest.raises(AuditError):
        log.append("decision", {})
    assert not verify_folder(tmp_path).is_intact
    with pytest.raises(AuditChainBroken):
        log.reopen()


@pytest.mark.parametrize("name", [HEAD_NAME, segment_name(1)])
def test_a_file_replaced_by_an_equal_copy_stops_a_running_writer(log, tmp_path, name):
    data = (tmp_path / name).read_bytes()
    (tmp_path / "copy").write_bytes(data)
    (tmp_path / "copy").rename(tmp_path / name)
    with pytest.raises(AuditChainBroken, match="replaced"):
        log.append("decision", {})


def test_a_folder_that_vanished_stops_a_running_writer(log, tmp_path):
    (tmp_path / HEAD_NAME).rename(tmp_path.parent / "away.head")
    (tmp_path / segment_name(1)).rename(tmp_path.parent / "away.jsonl")
    with pytest.raises(AuditWriteFailed):
        log.append("decision", {})


@pytest.mark.parametrize("is_another_begun", [False, True])
def test_a_running_writer_never_goes_on_in_another_log(log, tmp_path, is_another_begun):
    log.append("decision", {"n": 3})
    away = tmp_path.with_name("away")
    tmp_path.rename(away)
    if is_another_begun:
        open_log(tmp_path).close()
    with pytest.raises(AuditError):
        log.append("decision", {})
    for _ in range(2):
        with pytest.raises(AuditError):
            log.reopen()
    if is_another_begun:
        for path in tmp_path.iterdir():
            path.unlink()
        tmp_path.rmdir()
    assert not tmp_path.exists()
    away.rename(tmp_path)
    log.reopen()
    log.append("decision", {"n": 4})
    report = verify_folder(tmp_path)
    assert (report.is_intact, report.entries) == (True, 5)


def test_a_running_writer_never_goes_on_in_an_older_state_of_its_log(log, tmp_path):
    older = {path: path.read_bytes() for path in tmp_path.iterdir()}
    log.append("decision", {"n": 3})
    for path, data in older.items():
        path.write_bytes(data)
    with pytest.raises(AuditChainBroken):
        log.append("decision", {})
    for _ in range(2):
        with pytest.raises(AuditChainBroken, match="gone"):
            log.reopen()


def test_a_full_disk_stops_the_writer_until_it_was_opened_again(log, tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "JOURNAL_BYTES", 1024)  # its blocks stand already, the limit below must not reach it
    log.append("decision", {"n": 2, "pad": "x" * 200})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = (tmp_path / segment_name(1)).stat().st_size
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, hard))
        with pytest.raises(AuditWriteFailed) as caught:
            log.append("decision", {"n": 3})
        assert "disk has room" in caught.value.hint
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        with pytest.raises(AuditWriteFailed):  # closed, although there is room again
            log.append("decision", {"n": 4})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    log.reopen()
    log.append("decision", {"n": 5})
    report = verify_folder(tmp_path)
    assert report.is_intact, report
    assert report.entries == 6
    assert "50 bytes before it were never finished" in report.notes[0]


def test_a_device_that_takes_nothing_stops_the_writer(log):
    full = os.open("/dev/full", os.O_RDWR)
    os.dup2(full, log._log_fd)
    os.close(full)
    with pytest.raises(AuditError):
        log.append("decision", {})


def test_a_sync_that_fails_stops_the_writer(log, monkeypatch):
    def fail(descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)
    with pytest.raises(AuditWriteFailed, match="Input/output error"):
        log.append("decision", {})
    monkeypatch.undo()
    with pytest.raises(AuditWriteFailed, match="Input/output error"):
        log.append("decision", {})


def test_a_writer_that_hangs_with_the_lock_does_not_hang_the_others(log, tmp_path, monkeypatch):
    monkeypatch.setattr("execkit_mcp.audit.folder.LOCK_WAIT_S", 0.05)
    other = open_log(tmp_path)
    lock(log._head_fd, fcntl.LOCK_EX)
    with pytest.raises(AuditWriteFailed, match="held the audit log"):
        other.append("decision", {})
    fcntl.flock(log._head_fd, fcntl.LOCK_UN)
    other.reopen()
    other.append("decision", {})
    other.close()


def test_no_log_begins_where_it_cannot_be_kept(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageUnavailable):
        open_log(tmp_path / "file" / "state")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(ConfigPermissions):
        open_log(tmp_path / "open")


def test_a_log_planted_as_a_link_is_not_followed(tmp_path):
    (tmp_path / "state").mkdir(mode=0o700)
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "state" / HEAD_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageUnavailable):
        open_log(tmp_path / "state")
