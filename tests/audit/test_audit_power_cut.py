"""Whatever a crash or a power cut leaves of the files, the log opens again and every acknowledged entry is there.

The disk is simulated from what the writer asked of the kernel: what was synced stands; of the rest any prefix of the
file's length may stand, any page of it may read as zeros, the head may be the old or the new one, and so may each
sector of the journal.
"""

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execkit_mcp.audit import AuditLog, read_segments, verify_folder
from execkit_mcp.audit import journal as journal_module
from execkit_mcp.audit import writer as writer_module
from execkit_mcp.audit.chain import parse_line
from execkit_mcp.audit.folder import HEAD_NAME
from execkit_mcp.audit.journal import JOURNAL_NAME
from execkit_mcp.testing import FakeClock, FakeEntropy

PAGE = 128
SECTOR = 512
STEPS = st.lists(st.sampled_from(["synced", "unsynced", "sync", "other", "other synced"]), min_size=1, max_size=12)


def open_log(folder):
    return AuditLog.open(folder, clock=FakeClock(), entropy=FakeEntropy())


class Trace:
    """What was asked of the kernel, in order."""

    def __init__(self, monkeypatch):
        self.steps = []
        real = SimpleNamespace(write=os.write, pwrite=os.pwrite, fdatasync=os.fdatasync)

        def name(descriptor):
            return Path(f"/proc/self/fd/{descriptor}").readlink().name

        def write(descriptor, data):
            self.steps.append(("write", name(descriptor), data))
            return real.write(descriptor, data)

        def pwrite(descriptor, data, offset):
            is_head = name(descriptor) == HEAD_NAME
            self.steps.append(("head", HEAD_NAME, data) if is_head else ("put", name(descriptor), (offset, data)))
            return real.pwrite(descriptor, data, offset)

        def fdatasync(descriptor):
            result = real.fdatasync(descriptor)
            self.steps.append(("sync", name(descriptor), b""))
            return result

        replace = Path.replace

        def put(path, target):  # written, synced, renamed, the folder synced: whole or not there
            self.steps.append(("whole", Path(target).name, path.read_bytes()))
            return replace(path, target)

        monkeypatch.setattr(Path, "replace", put)
        monkeypatch.setattr(os, "write", write)
        monkeypatch.setattr(os, "pwrite", pwrite)
        monkeypatch.setattr(os, "fdatasync", fdatasync)

    def acknowledged(self, head):
        self.steps.append(("ack", head.hash, b""))


def recorded(steps):
    """The trace of a log in which these steps were taken, and its first files."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer_module, "SEGMENT_BYTES", 4000)
        patch.setattr(journal_module, "JOURNAL_BYTES", 2500)
        open_log(folder).close()
        before = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        trace = Trace(patch)
        log, other = open_log(folder), open_log(folder)
        waiting = {log: None, other: None}
        for number, step in enumerate(steps):
            who = other if step.startswith("other") else log
            if step == "sync":
                who.sync()
                if waiting[who] is not None:
                    trace.acknowledged(waiting[who])
                continue
            is_synced = step.endswith("synced") and step != "unsynced"
            waiting[who] = who.enter("decision", {"n": number, "pad": "x" * (number * 37 % 300)}, is_synced=is_synced)
            if is_synced:
                trace.acknowledged(waiting[who])
        taken = list(trace.steps)
        log.close()
        other.close()
    return before, taken


def torn(whole, sure, draw):
    """What may be left of a file of which the first bytes are sure."""
    data = bytearray(whole[: draw(st.integers(sure, len(whole)))])
    for page in range(sure // PAGE, len(data) // PAGE + 1):
        low, high = max(sure, page * PAGE), min(len(data), (page + 1) * PAGE)
        if low < high and draw(st.booleans()):
            data[low:high] = bytes(high - low)
    return bytes(data)


def half_written(sure, newest, draw):
    """What may be left of a file that was overwritten: of each sector the old or the new bytes."""
    data = bytearray(newest)
    for low in range(0, len(newest), SECTOR):
        high = low + SECTOR
        if sure[low:high] != newest[low:high] and draw(st.booleans()):
            data[low:high] = sure[low:high]
    return bytes(data)


def overwritten(data, offset, content):
    return data[:offset] + content + data[offset + len(content) :]


def after_cut(before, steps, at, draw):
    """Files as a power cut behind step ``at`` may leave them, and the hashes that were acknowledged by then."""
    synced, written = dict(before), dict(before)
    heads, acknowledged = [before[HEAD_NAME]], []
    for kind, name, data in steps[:at]:
        if kind == "write":
            synced.setdefault(name, b"")
            written[name] = written.get(name, b"") + data
        elif kind == "whole":
            synced[name] = written[name] = data
        elif kind == "head":
            heads.append(data)
        elif kind == "put":
            written[name] = overwritten(written[name], *data)
        elif kind == "sync":
            synced[name] = written[name]
            heads = heads[-1:] if name == HEAD_NAME else heads
        else:
            acknowledged.append(name)
    files = {HEAD_NAME: draw(st.sampled_from(heads))}
    for name, whole in written.items():
        if name == JOURNAL_NAME:
            files[name] = half_written(synced[name], whole, draw)
        elif name != HEAD_NAME:
            files[name] = torn(whole, len(synced[name]), draw)
    return files, acknowledged


@given(steps=STEPS, data=st.data())
@settings(max_examples=150, deadline=None)
def test_no_acknowledged_entry_is_lost_in_a_power_cut(steps, data):
    before, trace = recorded(steps)
    files, acknowledged = after_cut(before, trace, data.draw(st.integers(0, len(trace))), data.draw)
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal_module, "JOURNAL_BYTES", 2500)
        folder = Path(name)
        for file, content in files.items():
            (folder / file).write_bytes(content)
            (folder / file).chmod(0o600)
        log = open_log(folder)
        last = log.append("decision", {"after": True})
        log.close()
        report = verify_folder(folder)
        assert report.is_intact, report
        segments, _ = read_segments(folder)
        lines = [line for segment in segments for line in segment.lines if line.endswith(b"}\n") and b"\0" not in line]
        hashes = {parse_line(line, None).hash for line in lines}
        assert {*acknowledged, last} <= hashes


@given(cut=st.integers(1, 700))
@settings(max_examples=60, deadline=None)
def test_a_cut_of_what_was_acknowledged_is_never_taken_for_a_crash(cut):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = open_log(folder)
        for number in range(3):
            log.append("decision", {"n": number})
        log.close()
        path = folder / "audit-000001.jsonl"
        os.truncate(path, max(0, path.stat().st_size - cut))
        assert not verify_folder(folder).is_intact
        with pytest.raises(Exception, match=r"cut|names entry|gone|not whole"):
            open_log(folder)


@pytest.mark.parametrize("junk", [b"\0" * 100, b"{}\n", b'{"data":{}}\n\0\0'])
def test_zeros_over_an_acknowledged_entry_are_found(tmp_path, junk):
    log = open_log(tmp_path)
    log.append("decision", {"n": 1})
    log.append("decision", {"n": 2})
    log.close()
    path = tmp_path / "audit-000001.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + junk.ljust(len(lines[-1]), b"\0"))
    assert not verify_folder(tmp_path).is_intact
    with pytest.raises(Exception, match="not whole"):
        open_log(tmp_path)
