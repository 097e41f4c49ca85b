"""Programs are found in trusted folders only, never in PATH."""

import pytest

from execkit_mcp.runtime.programs import LocalPrograms


@pytest.fixture
def folder(tmp_path):
    for name, mode in (("tool", 0o755), ("data", 0o644)):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(mode)
    (tmp_path / "link").symlink_to("tool")
    (tmp_path / "sub").mkdir()
    return tmp_path


def test_a_bare_name_stands_for_the_executable_in_the_first_trusted_folder(folder):
    programs = LocalPrograms((str(folder / "sub"), str(folder)), {})
    assert programs.locate("tool") == str(folder / "tool")


@pytest.mark.parametrize("name", ["data", "sub", "absent", "", "../tool", "/bin/ls", "a\0b"])
def test_what_is_no_executable_there_is_not_found(folder, name):
    assert LocalPrograms((str(folder),), {}).locate(name) is None


def test_path_is_never_searched(folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    assert LocalPrograms(("/nowhere",), {}).locate("tool") is None


def test_a_declared_program_is_found_at_its_own_place_only(folder):
    programs = LocalPrograms((str(folder),), {"tool": str(folder / "absent"), "mine": str(folder / "tool")})
    assert programs.locate("tool") is None
    assert programs.locate("mine") == str(folder / "tool")


def test_links_are_followed_anew_each_time(folder):
    programs = LocalPrograms((), {})
    assert programs.resolve(str(folder / "link")) == str(folder / "tool")
    (folder / "link").unlink()
    (folder / "link").symlink_to("data")
    assert programs.resolve(str(folder / "link")) == str(folder / "data")
