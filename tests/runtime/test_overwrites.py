import os

import pytest

from execkit_mcp.policy import Context, judge
from execkit_mcp.runtime.overwrites import NOTHING, overwrites
from execkit_mcp.runtime.policies import load_policy

POLICY = """\
version: 1
name: test
paths: {write: ["/**"]}
rules:
  - ask: [cp, mv, install, tee, touch, echo, cat, printf, sed]
"""


@pytest.fixture
def look(tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    file.chmod(0o644)
    policy = load_policy(str(file))
    work = tmp_path / "work"
    work.mkdir()
    (work / "old.txt").write_text("one\ntwo\nthree\n")
    (work / "new.txt").write_text("one\n2\nthree\n")

    def find(text, stdin=None, transport="local"):
        context = Context(cwd=str(work), home="/home/user", workspace=str(work))
        return overwrites(judge(text, policy, context), stdin=stdin, transport=transport)

    find.work = work
    return find


@pytest.mark.parametrize(
    ("command", "stdin"),
    [
        ("cp new.txt old.txt", None),
        ("mv new.txt old.txt", None),
        ("install -m 644 new.txt old.txt", None),
        ("tee old.txt", "one\n2\nthree\n"),
        ("cat > old.txt", "one\n2\nthree\n"),
        ("cat > old.txt <<'EOF'\none\n2\nthree\nEOF\n", None),
        ("echo 'one\n2\nthree' > old.txt", None),
        ("printf 'one\n2\nthree\n' > old.txt", None),
    ],
)
def test_where_both_sides_are_known_the_diff_is_shown_and_bound(look, command, stdin):
    found = look(command, stdin)
    assert "-two" in found.text
    assert "+2" in found.text
    assert found.digest
    (look.work / "old.txt").write_text("one\nother\n")
    assert look(command, stdin).digest != found.digest


@pytest.mark.parametrize(
    "command",
    [
        "touch old.txt",
        "sed -i s/one/1/ old.txt",
        "echo $HOME > old.txt",
        "echo x | cat > old.txt",
        "echo -e 'a' > old.txt",
    ],
)
def test_where_the_new_content_is_not_known_only_what_is_there_is_told(look, command):
    found = look(command)
    assert "old.txt is there: 14 bytes, 3 lines" in found.text
    assert found.digest == ""


@pytest.mark.parametrize("command", ["cp new.txt fresh.txt", "echo x > fresh.txt", "echo x >> fresh.txt", "echo x"])
def test_a_new_file_overwrites_nothing(look, command):
    assert look(command) == NOTHING


def test_into_a_folder_the_file_of_the_same_name_is_meant(look):
    (look.work / "sub").mkdir()
    (look.work / "sub" / "new.txt").write_text("before\n")
    assert "-before" in look("cp new.txt sub").text


def test_what_is_no_text_no_file_or_too_large_is_named_and_not_read(look):
    (look.work / "old.txt").write_bytes(b"\xff\xfe\0")
    assert "not text" in look("cp new.txt old.txt").text
    os.truncate(look.work / "old.txt", 10_000_000)
    assert "too large" in look("cp new.txt old.txt").text
    (look.work / "pipe").unlink(missing_ok=True)
    os.mkfifo(look.work / "pipe")
    assert "not a plain file" in look("cp new.txt pipe").text  # and this did not hang


def test_another_machine_s_files_are_not_looked_for_here(look):
    assert look("cp new.txt old.txt", transport="ssh") == NOTHING


def test_a_long_diff_is_cut_and_says_so(look):
    (look.work / "old.txt").write_text("".join(f"{n}\n" for n in range(500)))
    text = look("cp new.txt old.txt").text
    assert "lines more of this diff" in text
    assert text.count("\n") < 80


def test_secrets_are_replaced_before_the_two_sides_are_compared(tmp_path, look):
    (look.work / "old.txt").write_text("key one\nBEGIN\nbody\nEND\n")
    policy = load_policy(str(tmp_path / "policy.yaml"))
    context = Context(cwd=str(look.work), home="/home/user", workspace=str(look.work))

    def redact(text):
        return text.replace("BEGIN\nbody\nEND", "[gone]")

    decision = judge("cp new.txt old.txt", policy, context)
    found = overwrites(decision, stdin=None, transport="local", redact=redact)
    assert "-[gone]" in found.text
    assert "body" not in found.text
    assert found.digest == look("cp new.txt old.txt").digest
