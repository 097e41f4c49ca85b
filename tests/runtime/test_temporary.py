"""What killed servers left in the machine's temporary folder goes; nothing else does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from execkit_mcp.runtime import temporary
from execkit_mcp.runtime.temporary import new_folder, remove_left_behind

MAKE = """
import sys
from execkit_mcp.runtime.temporary import new_folder
folder = new_folder()
print(folder.name, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def server(machine):
    process = subprocess.Popen(
        [sys.executable, "-c", MAKE],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(machine)},
    )  # fmt: skip
    yield process
    process.kill()
    process.communicate()


def test_a_folder_goes_with_its_server():
    with new_folder() as name:
        assert Path(name).stat().st_mode & 0o777 == 0o700
        assert remove_left_behind() == 0
    assert not Path(name).exists()


def test_what_a_killed_server_left_goes_and_what_a_living_one_has_stays(server):
    left = Path(server.stdout.readline().strip())
    (left / "deep").mkdir()
    (left / "deep" / "file").write_text("x")
    assert remove_left_behind() == 0
    assert left.is_dir()
    server.kill()
    server.wait()
    assert remove_left_behind() == 1
    assert not left.exists()


def test_a_process_that_has_the_number_of_a_killed_server_does_not_keep_its_folder(machine):
    with new_folder() as mine:
        here, pid, _, _ = Path(mine).name.removeprefix("execkit-tmp-").split("-", 3)
    older = machine / f"execkit-tmp-{here}-{pid}-1-abcdefgh"
    older.mkdir()
    assert remove_left_behind() == 1
    assert not older.exists()


@pytest.mark.parametrize(
    "name", ["execkit-tmp-abc", "execkit-tmp-{here}-x-1-abc", "execkit-tmp-00000000-1-1-abc", "other"]
)
def test_what_is_nobodys_that_we_know_stays(machine, name):
    path = machine / name.format(here=temporary._namespace())
    path.mkdir()
    assert remove_left_behind() == 0
    assert path.is_dir()


def test_a_link_in_such_a_place_is_not_followed(machine):
    other = machine / "other"
    other.mkdir()
    (other / "file").write_text("x")
    link = machine / f"execkit-tmp-{temporary._namespace()}-999999999-1-abc"
    link.symlink_to(other)
    assert remove_left_behind() == 0
    assert (other / "file").exists()


def test_links_inside_are_not_followed(machine):
    left = machine / f"execkit-tmp-{temporary._namespace()}-999999999-1-abc"
    left.mkdir()
    other = machine / "other"
    other.mkdir()
    (other / "file").write_text("x")
    (left / "link").symlink_to(other)
    assert remove_left_behind() == 1
    assert (other / "file").exists()


def test_where_there_is_no_proc_there_is_a_folder_all_the_same(monkeypatch):
    monkeypatch.setattr(temporary, "_namespace", lambda: None)
    with new_folder() as name:
        assert Path(name).is_dir()
        assert remove_left_behind() == 0
