"""What a sandbox changed is told name by name, and carried over exactly as it was told."""

import os
from pathlib import Path

import pytest

from execkit_mcp.errors import CheckpointConflict
from execkit_mcp.fence.overlay.apply import apply_changes
from execkit_mcp.fence.overlay.diff import listing, usage_bytes
from tests.fence.layered import layered

CASES = [
    ("nothing", "cat src/a.txt", []),
    ("an added file", "echo x >new", ["a new"]),
    ("a changed file", "echo x >>src/a.txt", ["c src/a.txt"]),
    ("a file that was only touched", "touch src/a.txt; chmod 644 src/a.txt", []),
    ("another mode", "chmod 755 run.sh", ["c run.sh"]),
    ("a deleted file", "rm src/b.txt", ["d src/b.txt"]),
    ("a deleted folder", "rm -r src", ["d src", "d src/a.txt", "d src/b.txt"]),
    ("a folder made anew", "rm -r src; mkdir src; echo c >src/c", ["d src/a.txt", "d src/b.txt", "a src/c"]),
    ("a folder made anew with the same file", "rm -r docs; mkdir docs; echo guide >docs/guide.md", []),
    ("a file in a folder's place", "rm -r docs; echo x >docs", ["d docs", "a docs", "d docs/guide.md"]),
    (
        "a folder in a file's place",
        "rm run.sh; mkdir run.sh; echo x >run.sh/in",
        ["d run.sh", "a run.sh", "a run.sh/in"],
    ),
    ("a folder in a link's place", "rm link; mkdir link", ["d link", "a link"]),
    ("a file in a link's place", "rm link; echo x >link", ["c link"]),
    ("a link that leads elsewhere", "ln -sfn /etc/passwd link", ["c link"]),
    ("a moved file", "mv src/a.txt src/z.txt", ["d src/a.txt", "a src/z.txt"]),
    ("a moved folder", "mv docs papers", ["d docs", "d docs/guide.md", "a papers", "a papers/guide.md"]),
    ("a deep tree", "mkdir -p x/y; echo 1 >x/y/z", ["a x", "a x/y", "a x/y/z"]),
    ("made and gone", "echo x >new; rm new", []),
    ("a name with a newline", "echo x >$'a\\nb'", ["a a\nb"]),
    ("a name that is no UTF-8", "echo x >$'\\xff'", ["a \udcff"]),
    ("a hard link", "ln src/a.txt src/h.txt", ["a src/h.txt"]),
]


def tree(root: Path) -> dict[bytes, object]:
    """Everything below a folder: content and mode of files, targets of links."""
    found: dict[bytes, object] = {}
    for path in root.rglob("*"):
        key = os.fsencode(path.relative_to(root))
        if path.is_symlink():
            found[key] = str((path).readlink())
        elif path.is_dir():
            found[key] = path.stat().st_mode
        else:
            found[key] = (path.stat().st_mode, path.read_bytes())
    return found


@pytest.mark.parametrize(("script", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_change_is_told_and_carried_over(tmp_path: Path, script: str, words: list[str]) -> None:
    work = layered(tmp_path)
    before = tree(work.base)
    work.run(script)
    assert work.words() == words
    assert tree(work.base) == before
    wanted = work.run("cp -a . ../copy") or tree(work.place / "copy")
    apply_changes(work.changes(), str(work.base), work.layers)
    assert tree(work.base) == wanted


@pytest.mark.parametrize(("script", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_changes_add_up_over_snapshots(tmp_path: Path, script: str, words: list[str]) -> None:
    """An empty layer on top changes nothing, and what a later layer undoes is no change."""
    work = layered(tmp_path)
    work.run(script)
    work.snapshot()
    work.run("true")
    assert work.words() == words
    work.run("rm -rf ./* ./.??* 2>/dev/null; true")
    work.snapshot()
    work.run("cp -a ../base/. .")
    assert work.words() == []


def test_going_back_to_a_snapshot_brings_everything_back(tmp_path: Path) -> None:
    work = layered(tmp_path)
    work.run("echo one >new; rm src/b.txt")
    kept = work.snapshot()
    work.run("rm -r src new docs; echo two >other")
    work.stack = kept.frozen(7)
    assert work.run("ls -A . src") == ".:\ndocs\nlink\nnew\nrun.sh\nsrc\n\nsrc:\na.txt\n"
    assert work.words() == ["a new", "d src/b.txt"]


def test_two_forks_write_beside_each_other(tmp_path: Path) -> None:
    work = layered(tmp_path)
    work.run("echo shared >new")
    kept = work.snapshot()
    work.run("echo mine >new")
    mine, work.stack = work.stack, kept.frozen(9)
    work.run("echo theirs >new2")
    assert work.run("cat new") == "shared\n"
    work.stack = mine
    assert work.run("cat new; ls") == "mine\ndocs\nlink\nnew\nrun.sh\nsrc\n"


def test_the_listing_shows_lines_and_digests(tmp_path: Path) -> None:
    work = layered(tmp_path)
    work.run("sed -i s/two/three/ src/a.txt; printf 'a\\0b' >bin; ln -s /etc/passwd 'p w'; echo x >$'a\\e[2K\\nM b'")
    text = listing(work.changes(), str(work.base), work.layers)
    assert "-two\n  +three" in text
    assert "A bin (file 0644 3 bytes sha256 " in text
    assert "not a text of moderate length" in text
    assert 'A "p w" (link to /etc/passwd)' in text
    assert 'A "a\\x1b[2K\\nM b"' in text
    assert "\x1b" not in text


def test_the_room_that_a_layer_takes_counts_hard_links_once(tmp_path: Path) -> None:
    work = layered(tmp_path)
    work.run("head -c 1000000 /dev/urandom >big; ln big big2; ln big big3")
    assert 1_000_000 <= usage_bytes(work.layers[0]) < 1_100_000


def test_a_conflict_says_what_is_no_longer_as_it_was(tmp_path: Path) -> None:
    work = layered(tmp_path)
    work.run("echo x >>src/a.txt; rm src/b.txt")
    changes = work.changes()
    (work.base / "src/b.txt").write_text("edited by a person\n")
    with pytest.raises(CheckpointConflict, match=r"src/b\.txt"):
        apply_changes(changes, str(work.base), work.layers)
    assert (work.base / "src/a.txt").read_text() == "one\ntwo\n"
