"""The journal: what it puts back after a power cut, and what it does not."""

import json
import os
import shutil
from pathlib import Path

import pytest

from execkit_mcp.audit import AuditLog, verify_folder
from execkit_mcp.audit import journal as journal_module
from execkit_mcp.audit.folder import segment_name
from execkit_mcp.audit.journal import JOURNAL_NAME
from execkit_mcp.errors import AuditChainBroken, AuditWriteFailed, StorageUnavailable
from execkit_mcp.testing import FakeClock, FakeEntropy

pytestmark = pytest.mark.promise("P6")


def open_log(folder, **terms):
    return AuditLog.open(folder, clock=FakeClock(), entropy=FakeEntropy(), **terms)


def entries(folder, number=1):
    return [json.loads(line) for line in (folder / segment_name(number)).read_bytes().splitlines()]


@pytest.fixture
def cut(tmp_path):
    """A folder as a power cut may leave it: three entries were acknowledged, and the segment has the first alone."""
    folder = tmp_path / "cut"
    log = open_log(tmp_path / "live")
    first = (tmp_path / "live" / segment_name(1)).stat().st_size
    for number in range(3):
        log.append("decision", {"n": number})
    shutil.copytree(tmp_path / "live", folder)
    log.close()
    return folder, first


@pytest.mark.parametrize("left", ["short", "zeros", "a part"])
def test_what_a_power_cut_took_from_the_segment_is_put_back_and_an_entry_says_so(cut, left):
    folder, first = cut
    path = folder / segment_name(1)
    whole = path.read_bytes()
    gone = bytes(len(whole) - first)
    path.write_bytes(whole[:first] + {"short": b"", "zeros": gone, "a part": whole[first : first + 100]}[left])
    open_log(folder).close()
    assert path.read_bytes().startswith(whole)
    assert [(each["kind"], each["data"]) for each in entries(folder)][-1] == (
        "log.restored",
        {"segment": 1, "entries": 3},
    )
    report = verify_folder(folder)
    assert report.is_intact
    assert "3 entries before number 5 were missing" in report.notes[0]


def test_a_reader_calls_the_log_cut_until_a_writer_has_put_it_back(cut):
    folder, first = cut
    os.truncate(folder / segment_name(1), first)
    assert not verify_folder(folder).is_intact
    open_log(folder).close()
    assert verify_folder(folder).is_intact


def test_a_writer_that_has_gone_on_living_puts_nothing_back(tmp_path):
    log = open_log(tmp_path)
    log.append("decision", {"n": 1})
    path = tmp_path / segment_name(1)
    os.truncate(path, path.stat().st_size - 10)
    with pytest.raises(AuditChainBroken):
        log.reopen()
    assert not verify_folder(tmp_path).is_intact


def test_an_edited_line_is_not_put_back_to_what_it_was(cut):
    folder, _ = cut
    path = folder / segment_name(1)
    path.write_bytes(path.read_bytes().replace(b'"n":1', b'"n":7'))
    os.truncate(folder / segment_name(1), path.stat().st_size - 50)
    with pytest.raises(AuditChainBroken):
        open_log(folder)
    assert b'"n":7' in path.read_bytes()
    assert not verify_folder(folder).is_intact


def test_entries_cut_from_a_closed_log_stay_gone_and_are_missed(tmp_path):
    log = open_log(tmp_path)
    size = (tmp_path / segment_name(1)).stat().st_size
    log.append("decision", {"n": 1})
    log.close()
    os.truncate(tmp_path / segment_name(1), size)
    with pytest.raises(AuditChainBroken):
        open_log(tmp_path)


def test_a_journal_of_another_log_puts_nothing_back(cut, tmp_path):
    folder, first = cut
    other = open_log(tmp_path / "other", key=b"k" * 32)
    other.append("decision", {"n": 9})
    shutil.copy(tmp_path / "other" / JOURNAL_NAME, folder / JOURNAL_NAME)
    other.close()
    os.truncate(folder / segment_name(1), first)
    with pytest.raises(AuditChainBroken):
        open_log(folder)


def test_an_entry_that_could_not_be_written_is_not_put_back_either(tmp_path, monkeypatch):
    log = open_log(tmp_path)
    real = os.write

    def full(descriptor, data):
        if b'"n":1' in data:
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(AuditWriteFailed):
        log.append("decision", {"n": 1})
    monkeypatch.undo()
    log.reopen()
    log.append("decision", {"n": 2})
    log.close()
    assert [each["data"].get("n") for each in entries(tmp_path)] == [None, 2]
    assert verify_folder(tmp_path).is_intact


def test_a_journal_that_is_taken_away_ends_the_writing(tmp_path):
    log = open_log(tmp_path)
    (tmp_path / JOURNAL_NAME).unlink()
    with pytest.raises(AuditChainBroken, match="removed or replaced"):
        log.append("decision", {})


def test_a_link_in_the_journals_place_is_refused(tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"mine")
    (tmp_path / JOURNAL_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageUnavailable, match="not a regular file"):
        open_log(tmp_path)
    assert (tmp_path / "elsewhere").read_bytes() == b"mine"


def test_a_log_from_before_there_was_a_journal_is_read_on(cut):
    folder, _ = cut
    (folder / JOURNAL_NAME).unlink()
    log = open_log(folder)
    log.append("decision", {"n": 3})
    log.close()
    assert [each["data"].get("n") for each in entries(folder)] == [None, 0, 1, 2, 3]


@pytest.mark.parametrize("size", [10, 3000, 9000])
def test_a_full_journal_and_an_entry_longer_than_it_lose_nothing(tmp_path, monkeypatch, size):
    monkeypatch.setattr(journal_module, "JOURNAL_BYTES", 4096)
    live, folder = tmp_path / "live", tmp_path / "cut"
    log = open_log(live)
    on_disk = {}
    real = os.fdatasync

    def sync(descriptor):
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path.parent == live:
            on_disk[path.name] = os.pread(descriptor, 1 << 20, 0)
        return real(descriptor)

    monkeypatch.setattr(os, "fdatasync", sync)
    for number in range(12):
        log.append("decision", {"n": number, "pad": "x" * (size if number % 3 else 10)})
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(live, folder)
        for name in (segment_name(1), JOURNAL_NAME):
            (folder / name).write_bytes(on_disk.get(name, (folder / name).read_bytes()))
        open_log(folder).close()
        assert [each["data"]["n"] for each in entries(folder) if "n" in each["data"]] == list(range(number + 1))
    monkeypatch.undo()
    log.close()
