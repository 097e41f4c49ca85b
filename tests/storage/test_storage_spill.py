import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execkit_mcp.errors import StorageUnavailable
from execkit_mcp.output import RetainedText, view
from execkit_mcp.storage.spill import SpillFile, SpillFolder


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]


@pytest.fixture
def folder(tmp_path):
    spill = SpillFolder(tmp_path)
    yield spill
    spill.close()


def test_little_output_makes_no_file(tmp_path, folder):
    retained = RetainedText(store=folder.store("x_1.stdout", window_bytes=1000))
    retained.append("a" * 999)
    assert not (tmp_path / "ledger").exists()
    assert not retained.is_spilled


def test_long_output_lies_in_a_private_file_in_a_private_folder(tmp_path, folder):
    retained = RetainedText(store=folder.store("x_1.stdout", window_bytes=1000))
    for number in range(1000):
        retained.append(f"line {number}\n")
    (path,) = files_below(tmp_path)
    assert mode_of(path) == 0o600
    assert {mode_of(parent) for parent in (path.parent, path.parent.parent)} == {0o700}
    assert retained.is_spilled
    assert retained.read(0, 100_000).text == "".join(f"line {number}\n" for number in range(1000))


def test_the_file_never_outgrows_the_limit(tmp_path, folder):
    retained = RetainedText(limit_bytes=10_000, store=folder.store("x_1.stdout", window_bytes=1000))
    for number in range(20_000):
        retained.append(f"line {number}\n")
    (path,) = files_below(tmp_path)
    assert path.stat().st_size <= 10_000
    assert retained.total_lines == 20_000
    assert retained.grep("line 19999$").text == "20000:line 19999\n"
    assert retained.tail(1).text == "line 19999\n"
    retained.discard()
    assert not files_below(tmp_path)


class FullDisk(SpillFile):
    """A store whose disk is full after some bytes."""

    room = 3000

    def _write_all(self, at, data):
        if at + len(data) > self.room:
            raise StorageUnavailable("No space left on device", hint="")
        super()._write_all(at, data)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.text(alphabet="aé漢😀\n", min_size=1, max_size=300), max_size=40),
    st.integers(8, 6000),
    st.integers(0, 400),
    st.sampled_from([0, 500, 3000, 1 << 30]),
)
def test_a_spilled_text_reads_like_one_in_memory(tmp_path_factory, texts, limit, window, room):
    spill = SpillFolder(tmp_path_factory.mktemp("spill"))
    store = FullDisk(spill, "x_1.stdout", window)
    store.room = room
    retained, whole = RetainedText(limit_bytes=limit, store=store), "".join(texts)
    for text in texts:
        retained.append(text)
        retained.rest()
    data = whole.encode()
    assert (retained.total_bytes, retained.total_lines) == (
        len(data), whole.count("\n") + (bool(whole) and not whole.endswith("\n"))
    )  # fmt: skip
    shown = retained.with_pending("end é")
    everything = data + "end é".encode()
    offset, got = 0, 0
    while offset < shown.total_bytes:
        piece = shown.read(offset, 50)
        assert everything[piece.offset : piece.next_offset].decode() == piece.text
        assert piece.next_offset > offset
        got += len(piece.text.encode())
        offset = piece.next_offset
    assert got == shown.kept_bytes == shown.total_bytes - shown.dropped_bytes
    if not retained.trouble:
        assert shown.dropped_bytes <= max(len(data) - limit * 3 // 4 + 12, 0)
    lines = everything.decode().split("\n")
    for row in shown.grep("a", 1_000_000).text.splitlines():
        number, _, line = row.partition(":")
        assert lines[int(number) - 1].endswith(line) or lines[int(number) - 1].startswith(line)
    text, count = view(retained, 100)
    assert count is None or (count.total_bytes == len(data) and len(text) < 400)
    spill.close()


FullDisk.__slots__ = ()


def test_a_full_disk_ends_nothing_and_both_ends_stay(tmp_path, folder):
    retained = RetainedText(store=FullDisk(folder, "x_1.stdout", 1000))
    for number in range(50_000):
        retained.append(f"line {number}\n")
    assert retained.total_lines == 50_000
    assert retained.total_bytes == sum(len(f"line {number}\n") for number in range(50_000))
    assert "No space left" in retained.trouble
    assert retained.read(0, 14).text == "line 0\nline 1\n"
    assert retained.tail(1).text == "line 49999\n"
    assert retained.dropped_bytes > 0
    assert not files_below(tmp_path)


def test_a_real_limit_on_file_sizes_is_survived(tmp_path, folder):
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, old[1]))
    try:
        retained = RetainedText(store=folder.store("x_1.stdout", window_bytes=1000))
        for number in range(5000):
            retained.append(f"line {number}\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert "File too large" in retained.trouble
    assert retained.total_lines == 5000
    assert retained.read(0, 7).text == "line 0\n"


def test_a_folder_that_cannot_be_made_is_survived(tmp_path):
    (tmp_path / "ledger").write_text("a file stands in the way")
    retained = RetainedText(store=SpillFolder(tmp_path).store("x_1.stdout", window_bytes=100))
    for number in range(100):
        retained.append(f"line {number}\n")
    assert retained.trouble
    assert retained.read(0, 10_000).text.endswith("line 99\n")
    assert retained.dropped_bytes == 0


@pytest.mark.parametrize("plant", ["nothing", "another file", "other text", "a link", "a pipe"])
def test_what_somebody_put_in_place_of_the_file_is_not_read(tmp_path, folder, plant):
    retained = RetainedText(store=folder.store("x_1.stdout", window_bytes=100))
    retained.append("line\n" * 1000)
    retained.rest()
    (path,) = files_below(tmp_path)
    if plant == "other text":
        path.write_text("forge" * 1000)
    else:
        path.unlink()
    if plant == "another file":
        path.write_text("forged\n" * 1000)
    elif plant == "a link":
        path.symlink_to("/etc/passwd")
    elif plant == "a pipe":
        os.mkfifo(path)
    retained.verify()
    assert retained.trouble
    assert retained.read(0).text == ""
    assert retained.read(0).skipped_bytes == 5000
    assert retained.total_lines == 1000
    retained.append("more\n")
    assert retained.tail(1).text == "more\n"


def test_what_a_killed_server_left_is_removed_and_a_living_one_keeps_its_own(tmp_path, folder):
    script = (
        "import os, sys\n"
        "from execkit_mcp.storage.spill import SpillFolder\n"
        "SpillFolder(sys.argv[1]).store('x_9.stdout', window_bytes=10).write(0, b'left behind' * 100)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    store = folder.store("x_1.stdout", window_bytes=10)
    store.write(0, b"alive" * 100)
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False, cwd=Path.cwd())
    assert done.returncode == -9
    assert len(files_below(tmp_path)) == 2
    other = SpillFolder(tmp_path)
    assert other.clear_leftovers() == 1
    assert [path.name for path in files_below(tmp_path)] == ["x_1.stdout"]
    assert store.read(0, 5) == b"alive"
    folder.close()
    assert not files_below(tmp_path)


def test_after_the_end_nothing_is_written_any_more(tmp_path):
    spill = SpillFolder(tmp_path)
    store = spill.store("x_1.stdout", window_bytes=10)
    store.write(0, b"x" * 100)
    spill.close()
    store.rest()
    with pytest.raises(StorageUnavailable):
        store.read(0, 1)
    assert not files_below(tmp_path)
    store.discard()
    store.write(1 << 30, b"late")
    assert not files_below(tmp_path)
