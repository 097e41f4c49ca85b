"""A sandbox's changes are carried over exactly as they were shown, inside the workspace, or not at all."""

import os
from pathlib import Path

import pytest

from execkit_mcp.errors import CheckpointConflict
from execkit_mcp.fence.overlay.apply import apply_changes
from execkit_mcp.fence.overlay.diff import differences, listing
from tests.fence.layered import Layered, layered

pytestmark = pytest.mark.promise("P4")


def carry_over(work: Layered, changes: object = None) -> None:
    apply_changes(changes or work.changes(), str(work.base), work.layers)  # type: ignore[arg-type]


def test_what_changed_in_the_sandbox_after_it_was_shown_is_not_carried_over(tmp_path: Path) -> None:
    work = layered(tmp_path)
    work.run("echo harmless >src/a.txt")
    shown = work.changes()
    work.run("echo evil >src/a.txt")
    with pytest.raises(CheckpointConflict, match="no longer what was shown"):
        carry_over(work, shown)
    assert (work.base / "src/a.txt").read_text() == "one\ntwo\n"
    assert not list(work.base.rglob(".execkit-*"))


def test_what_was_shown_as_a_file_and_is_a_link_by_now_is_not_followed(tmp_path: Path) -> None:
    work = layered(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("harmless\n")
    work.run("echo harmless >new")
    shown = work.changes()
    (work.place / "1/new").unlink()
    (work.place / "1/new").symlink_to(secret)
    with pytest.raises(CheckpointConflict):
        carry_over(work, shown)
    assert not (work.base / "new").exists()


def test_a_folder_that_became_a_link_is_not_written_through(tmp_path: Path) -> None:
    """In the workspace meanwhile, or in the layer: either way nothing lands outside."""
    outside = tmp_path / "outside"
    outside.mkdir()
    work = layered(tmp_path)
    work.run("echo x >docs/new")
    shown = work.changes()
    (work.base / "docs/guide.md").unlink()
    (work.base / "docs").rmdir()
    (work.base / "docs").symlink_to(outside)
    with pytest.raises(CheckpointConflict):
        carry_over(work, shown)
    assert list(outside.iterdir()) == []


def test_a_link_in_the_sandbox_is_carried_over_as_a_link_and_its_target_is_untouched(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine\n")
    work = layered(tmp_path)
    work.run(f"rm -r docs; ln -s {outside} docs; rm run.sh; ln -s {outside}/file run.sh")
    carry_over(work)
    assert str((work.base / "docs").readlink()) == str(outside)
    assert (outside / "file").read_text() == "mine\n"
    assert work.changes() == ()


def test_writing_a_file_does_not_write_through_its_other_names(tmp_path: Path) -> None:
    work = layered(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    os.link(work.base / "run.sh", elsewhere)
    work.run("echo evil >run.sh")
    carry_over(work)
    assert (work.base / "run.sh").read_text() == "evil\n"
    assert elsewhere.read_text() == "echo\n"


@pytest.mark.parametrize("script", ["mkfifo odd", "python3 -c 'import socket; socket.socket(1).bind(\"odd\")'"])
def test_what_is_neither_file_nor_folder_nor_link_refuses_the_whole(tmp_path: Path, script: str) -> None:
    work = layered(tmp_path)
    work.run(f"{script}; echo x >new")
    with pytest.raises(CheckpointConflict, match="nothing was carried over"):
        carry_over(work)
    assert not (work.base / "new").exists()


def test_a_setuid_bit_stays_behind(tmp_path: Path) -> None:
    work = layered(tmp_path)
    work.run("echo x >tool; chmod 6755 tool; mkdir -m 3777 box")
    carry_over(work)
    assert (work.base / "tool").stat().st_mode & 0o7777 == 0o755
    assert (work.base / "box").stat().st_mode & 0o7777 == 0o777


def test_a_layer_cannot_pose_as_another_folder(tmp_path: Path) -> None:
    """Attributes of overlayfs that the session sets itself are not overlayfs's own."""
    work = layered(tmp_path)
    work.run(
        "mkdir evil; python3 -c \"import os; os.setxattr('evil', 'user.overlay.redirect', b'/etc')\" || true;"
        "python3 -c \"import os; os.setxattr('docs', 'user.overlay.opaque', b'y')\" || true"
    )
    assert work.run("ls docs") == "guide.md\n"
    assert "d docs/guide.md" not in work.words()


def test_a_file_that_is_added_to_a_deleted_folder_meanwhile_is_not_lost(tmp_path: Path) -> None:
    work = layered(tmp_path)
    work.run("rm -r docs")
    shown = work.changes()
    (work.base / "docs/by-a-person").write_text("keep\n")
    with pytest.raises(CheckpointConflict):
        carry_over(work, shown)
    assert (work.base / "docs/by-a-person").read_text() == "keep\n"


def test_two_different_sets_of_changes_never_look_the_same(tmp_path: Path) -> None:
    """A name cannot forge another line of what the person is shown."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    work, other = layered(tmp_path / "one"), layered(tmp_path / "two")
    work.run("echo 1 >a; echo 2 >b")
    other.run("echo 1 >$'a (file 0644 2 bytes sha256 0)\\nA b'")
    texts = {listing(each.changes(), str(each.base), each.layers) for each in (work, other)}
    assert len(texts) == 2
    lines = listing(other.changes(), str(other.base), other.layers).splitlines()
    assert sum(line.startswith(("A ", "M ", "D ")) for line in lines) == 1


def test_a_base_that_is_a_link_is_refused(tmp_path: Path) -> None:
    work = layered(tmp_path)
    work.run("echo x >new")
    (tmp_path / "alias").symlink_to(work.base)
    with pytest.raises(OSError, match="alias"):
        differences(str(tmp_path / "alias"), work.layers)
