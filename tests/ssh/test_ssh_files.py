import os
import shutil
import subprocess

import pytest

from execkit_mcp.errors import CommandInvalid, CommandTooLarge
from execkit_mcp.transports.ssh.files import SshFiles
from execkit_mcp.transports.ssh.target import target_from
from execkit_mcp.transports.ssh.transport import SshTransport


@pytest.fixture
async def files(sshd):
    transport = SshTransport(target_from("t", sshd.options_for()), {})
    yield SshFiles(transport, max_bytes=3_000_000)
    await transport.aclose()


async def test_a_file_goes_there_and_comes_back_whole(files, tmp_path):
    source, there, back = tmp_path / "source", tmp_path / "there", tmp_path / "back"
    source.write_bytes(os.urandom(1_000_001))
    seen = []
    assert await files.upload(source, str(there), progress=lambda done, total: seen.append((done, total))) == 1_000_001
    assert there.read_bytes() == source.read_bytes()
    assert there.stat().st_mode & 0o777 == 0o600
    assert seen[-1] == (1_000_001, 1_000_001)
    assert await files.download(str(there), back) == 1_000_001
    assert back.read_bytes() == source.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "source", "there"]


async def test_a_file_is_replaced_in_one_step_and_keeps_its_mode(files, tmp_path):
    there, source = tmp_path / "there", tmp_path / "source"
    there.write_text("old")
    there.chmod(0o640)
    source.write_text("new")
    with there.open() as reader:
        await files.upload(source, str(there))
        assert reader.read() == "old"
    assert (there.read_text(), there.stat().st_mode & 0o777) == ("new", 0o640)


async def test_what_broke_off_is_gone_on_with_and_what_is_something_else_is_not(files, tmp_path):
    source, there = tmp_path / "source", tmp_path / "there"
    source.write_bytes(os.urandom(600_000))
    part = tmp_path / "there.execkit-part"
    part.write_bytes(source.read_bytes()[:400_000])
    assert await files.upload(source, str(there)) == 200_000
    assert there.read_bytes() == source.read_bytes()
    part.write_bytes(b"x" * 400_000)
    assert await files.upload(source, str(there)) == 600_000
    assert there.read_bytes() == source.read_bytes()
    back = tmp_path / "back"
    (tmp_path / "back.execkit-part").write_bytes(source.read_bytes()[:500_000])
    assert await files.download(str(there), back) == 100_000
    assert back.read_bytes() == source.read_bytes()


async def test_a_link_that_waits_in_the_place_of_the_part_is_not_followed(files, tmp_path):
    source, there, victim = tmp_path / "source", tmp_path / "there", tmp_path / "victim"
    source.write_text("new")
    victim.write_text("keep")
    (tmp_path / "there.execkit-part").symlink_to(victim)
    await files.upload(source, str(there))
    assert (there.read_text(), victim.read_text()) == ("new", "keep")
    (tmp_path / "back.execkit-part").symlink_to(victim)
    with pytest.raises(CommandInvalid):
        await files.download(str(there), tmp_path / "back")
    assert victim.read_text() == "keep"


async def test_limits_and_wrong_paths_change_nothing(files, tmp_path):
    large = tmp_path / "large"
    large.write_bytes(b"\0" * 3_000_001)
    with pytest.raises(CommandTooLarge):
        await files.upload(large, str(tmp_path / "there"))
    with pytest.raises(CommandTooLarge):
        await files.download(str(large), tmp_path / "back")
    for path in (tmp_path, tmp_path / "no" / "such", "/dev/zero"):
        with pytest.raises((CommandInvalid, CommandTooLarge)):
            await files.download(str(path), tmp_path / "back")
    assert [path.name for path in tmp_path.iterdir()] == ["large"]


async def test_a_full_disk_is_said_and_the_old_file_stays(files, tmp_path):
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("a small disk needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=False).returncode:
        pytest.skip("this machine mounts nothing")
    try:
        (disk / "there").write_text("old")
        source = tmp_path / "source"
        source.write_bytes(os.urandom(500_000))
        with pytest.raises(CommandInvalid, match="cannot be used"):
            await files.upload(source, str(disk / "there"))
        assert (disk / "there").read_text() == "old"
    finally:
        subprocess.run(["umount", disk], check=True)
