"""The redactor's first stage: vectorscan where its wheel is installed, the automaton of keywords elsewhere."""

import importlib.util
import threading

import pytest

from execkit_mcp.redaction import Redactor, first_stage, scanner
from execkit_mcp.redaction.prefilter import Everything, Vectorscan
from execkit_mcp.redaction.shape import ALNUM, assemble, fill
from execkit_mcp.runtime import first_stage as background
from execkit_mcp.runtime.first_stage import prepare_first_stage

HAS_WHEEL = importlib.util.find_spec("hyperscan") is not None
LINE = "ghp" + "_" + assemble((fill(ALNUM, 36),), "stage") + "\n"


@pytest.fixture(autouse=True)
def without_first_stage():
    before = scanner.scanner().prefilter
    scanner.scanner().prefilter = Everything()
    yield
    scanner.scanner().prefilter = before


def test_the_engine_is_what_the_machine_has_and_can_be_asked_for(tmp_path):
    assert first_stage() == "aho-corasick"
    assert prepare_first_stage(tmp_path) is HAS_WHEEL
    assert first_stage() == ("vectorscan" if HAS_WHEEL else "aho-corasick")
    assert Redactor(key=b"k").text(LINE)[1] == {"github_token": 1}


def test_what_is_compiled_is_private_and_loaded_the_next_time(tmp_path, monkeypatch):
    prepare_first_stage(tmp_path)
    files = list(tmp_path.iterdir())
    assert len(files) == int(HAS_WHEEL)
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    scanner.scanner().prefilter = Everything()
    if HAS_WHEEL:
        monkeypatch.setattr(Vectorscan, "compile", lambda _gates: pytest.fail("compiled again"))
    assert prepare_first_stage(tmp_path) is HAS_WHEEL


@pytest.mark.parametrize("spoil", ["damaged", "writable by others", "linked"])
def test_a_compiled_form_that_may_not_be_ours_is_compiled_anew(tmp_path, spoil):
    prepare_first_stage(tmp_path)
    for file in tmp_path.iterdir():
        if spoil == "damaged":
            file.write_bytes(b"\0" * 100)
        elif spoil == "writable by others":
            file.chmod(0o666)
        else:
            file.symlink_to(file.replace(tmp_path.parent / "elsewhere"))
    scanner.scanner().prefilter = Everything()
    with pytest.MonkeyPatch.context() as patch:
        compiled = []
        ours = Vectorscan.compile
        patch.setattr(Vectorscan, "compile", lambda gates: compiled.append(1) or ours(gates))
        assert prepare_first_stage(tmp_path) is HAS_WHEEL
    assert compiled == [1]
    assert all(file.stat().st_mode & 0o777 == 0o600 and not file.is_symlink() for file in tmp_path.iterdir())


def test_a_folder_that_cannot_be_used_leaves_the_slower_way(tmp_path):
    (tmp_path / "file").write_text("")
    assert prepare_first_stage(tmp_path / "file") is False
    assert Redactor(key=b"k").text(LINE)[1] == {"github_token": 1}


def test_stopping_leaves_no_thread_and_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(background, "_DONE", threading.Event())
    before = set(threading.enumerate())
    gone = tmp_path / "gone"
    background.start_first_stage(gone, delay_s=0.1)
    background.start_first_stage(gone, delay_s=0.1)
    assert len(set(threading.enumerate()) - before) == 1
    background.stop_first_stage()
    assert set(threading.enumerate()) == before
    assert not gone.exists()
