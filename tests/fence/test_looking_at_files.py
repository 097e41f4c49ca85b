"""Looking at files that change, or whose names are no text, while a fence is worked out."""

import os
import threading

import pytest

from execkit_mcp.fence.host import LocalHost, follow
from execkit_mcp.fence.refused_names import standing_below


def test_a_link_that_goes_and_comes_while_it_is_followed_stops_nothing(tmp_path):
    (tmp_path / "place").mkdir()
    link, over = tmp_path / "link", threading.Event()

    def flip():
        while not over.is_set():
            link.symlink_to("place")
            link.unlink()

    flipping = threading.Thread(target=flip)
    flipping.start()
    try:
        found = {LocalHost().real(f"{link}/x") for _ in range(20_000)}
    finally:
        over.set()
        flipping.join()
    assert found <= {f"{link}/x", f"{tmp_path}/place/x"}


@pytest.mark.parametrize(("error", "tries"), [(FileNotFoundError, 5), (PermissionError, 1), (OSError, 1)], ids=str)
def test_what_cannot_be_followed_stands_as_it_is(monkeypatch, tmp_path, error, tries):
    asked = []

    def refuse(path, *_args, **_kwargs):
        asked.append(path)
        raise error(path)

    (tmp_path / "link").symlink_to("/nowhere")
    monkeypatch.setattr(os, "readlink", refuse)
    assert follow(f"{tmp_path}/link/x") == f"{tmp_path}/link/x"
    assert len(asked) == tries
    assert follow("/a\0b") == "/a\0b"


def test_a_refused_link_that_cannot_be_followed_hides_no_other_name(monkeypatch, tmp_path):
    (tmp_path / "a.pem").symlink_to("b.pem")
    (tmp_path / "b.pem").write_text("")
    (tmp_path / "c.pem").write_text("")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "d.pem").write_text("")
    monkeypatch.setattr(os, "readlink", lambda path, *_args, **_kwargs: (_ for _ in ()).throw(FileNotFoundError(path)))
    found = set(standing_below(str(tmp_path), name=r".*\.pem", path=r".*\.pem", most=1000))
    assert found >= {f"{tmp_path}/{name}" for name in ("b.pem", "c.pem", "below/d.pem")}
