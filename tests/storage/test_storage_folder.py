import os
import stat
from pathlib import Path

import pytest

from execkit_mcp.errors import ConfigPermissions, StorageUnavailable
from execkit_mcp.storage import open_private_folder
from execkit_mcp.storage.folder import check_private_file, create_private_file


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_missing_folder_is_made_private_with_its_parents(tmp_path):
    folder = open_private_folder(tmp_path / "a" / "b")
    assert mode_of(folder) == 0o700


def test_a_folder_that_others_can_read_is_tightened(tmp_path):
    tmp_path.chmod(0o755)
    open_private_folder(tmp_path)
    assert mode_of(tmp_path) == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_can_write_is_refused_and_left_as_it_is(tmp_path, mode):
    folder = tmp_path / "state"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(ConfigPermissions, match="writable by others") as caught:
        open_private_folder(folder)
    assert "chmod 700" in caught.value.hint
    assert mode_of(folder) == mode


def test_a_folder_of_somebody_else_is_refused(tmp_path):
    folder = tmp_path / "state"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    with pytest.raises(ConfigPermissions, match="belongs to uid 12345"):
        open_private_folder(folder)


def test_a_folder_below_a_file_is_unavailable_and_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageUnavailable) as caught:
        open_private_folder(tmp_path / "file" / "state")
    assert str(tmp_path / "file" / "state") in caught.value.message
    assert "--state-dir" in caught.value.hint


def test_a_file_in_the_place_of_the_folder_is_unavailable(tmp_path):
    (tmp_path / "state").write_text("")
    with pytest.raises(StorageUnavailable):
        open_private_folder(tmp_path / "state")


def test_a_new_file_is_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        assert create_private_file(tmp_path / "new") is True
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "new") == 0o600
    assert create_private_file(tmp_path / "new") is False


def test_a_link_in_the_place_of_a_file_is_refused(tmp_path):
    (tmp_path / "target").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(StorageUnavailable, match="not a regular file"):
        create_private_file(tmp_path / "link")


def test_a_file_that_others_can_write_is_refused_and_one_they_can_read_is_tightened(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    path.chmod(0o666)
    with pytest.raises(ConfigPermissions, match="writable by others"):
        check_private_file(path)
    path.chmod(0o644)
    check_private_file(path)
    assert mode_of(path) == 0o600


def test_a_file_that_may_go_at_any_time_is_no_error_when_it_has_gone(tmp_path):
    check_private_file(tmp_path / "gone", may_be_missing=True)
    with pytest.raises(StorageUnavailable):
        check_private_file(tmp_path / "gone")
