"""What ``paths.never`` refuses by name at any depth is held beneath the shell too, wherever it stood at the start."""

import os

import pytest

from execkit_mcp.fence.refused_names import LOOKED_AT, Known, standing_below, standing_now
from execkit_mcp.policy.paths import anywhere
from execkit_mcp.runtime.sandboxing import SandboxRequest
from tests.fence.conftest import POLICY, fenced  # noqa: F401 - a fixture

pytestmark = pytest.mark.promise("P2")

CANARY = "canary-of-a-refused-name"
SANDBOX = POLICY.replace("[cd, export, set, unset]", "[cd]")
TRIES = {
    "reading it": "print(open(PATH).read())",
    "reading it by another way": "import os; os.chdir('deep/er'); print(open('.env').read())",
    "through the process's root": "print(open('/proc/self/root' + os.path.abspath(PATH)).read())",
    "through a link": "os.symlink('deep/er/.env', 'plain'); print(open('plain').read())",
    "through a second name": "os.link(PATH, 'plain'); print(open('plain').read())",
    "by moving it": "os.rename(PATH, 'plain'); print(open('plain').read())",
    "by moving its folder": "os.rename('deep', 'flat'); print(open('flat/er/.env').read())",
    "by taking the cover off": "libc.umount2(os.path.abspath(PATH).encode(), 2); print(open(PATH).read())",
    "in a namespace of its own": "libc.unshare(0x10020000); libc.umount2(PATH.encode(), 2); print(open(PATH).read())",
    "where a link leads": "print(open('store/prod').read())",
    "by way of grep": "import subprocess; subprocess.run(['/usr/bin/grep', '-r', 'canary', '.'])",
}


def lay_out(workspace):
    (workspace / "deep" / "er").mkdir(parents=True)
    (workspace / "deep" / "er" / ".env").write_text(CANARY)
    (workspace / "store").mkdir()
    (workspace / "store" / "prod").write_text(CANARY)
    (workspace / "server.pem").symlink_to("store/prod")
    (workspace / "open.txt").write_text("nothing to hide")


@pytest.mark.parametrize("level", ["process", "namespaces"])
async def test_no_way_leads_to_a_refused_name(fenced, tmp_path, level):  # noqa: F811
    (tmp_path / "work").mkdir()
    for what, code in TRIES.items():
        async with fenced(level=level) as f:
            if not (f.workspace / "deep").exists() and not (f.workspace / "flat").exists():
                lay_out(f.workspace)
            head = "import ctypes, os\nlibc = ctypes.CDLL(None)\nPATH = 'deep/er/.env'\n"
            result = await f.python(head + code)
            assert CANARY not in result.stdout + result.stderr, what
            assert "nothing to hide" in (await f.run("cat open.txt")).stdout
        if (tmp_path / "work" / "flat").exists():
            (tmp_path / "work" / "flat").rename(tmp_path / "work" / "deep")


async def test_a_sandbox_holds_them_too_after_its_layers_were_changed(fenced):  # noqa: F811
    async with fenced(policy=SANDBOX) as f:
        lay_out(f.workspace)
        opened = await f.kit.open_session(requester="agent", name="s", target="sandbox")
        assert opened is not None
        look = "python3 -c 'print(open(\"deep/er/.env\").read())'"
        assert CANARY not in (await f.run(look, session="s")).stdout
        kept = await f.kit.sandbox(SandboxRequest(action="snapshot", session="s"), requester="agent")
        await f.kit.sandbox(
            SandboxRequest(action="restore", session="s", snapshot=str(kept["snapshot"])), requester="agent"
        )
        result = await f.run(look, session="s")
        assert CANARY not in result.stdout
        assert "Permission denied" in result.stderr


async def test_decoys_do_not_hide_a_refused_name_from_the_next_shell(fenced):  # noqa: F811
    async with fenced() as f:
        lay_out(f.workspace)
        look = "print(open('deep/er/.env').read())"
        assert "Permission denied" in (await f.python(look)).stderr
        for number in range(LOOKED_AT + 100):
            (f.workspace / f"{number}.txt").touch()
        for name in ("one", "two", "three"):  # a shell that stood ready may have looked before
            await f.kit.open_session(requester="agent", name=name)
            result = await f.run("python3 code.py", session=name)
            assert CANARY not in result.stdout
            assert "Permission denied" in result.stderr


MOVES = {
    "nothing": "",
    "a folder where nobody looks": "os.rename('deep', 'node_modules')",
    "another folder": "os.makedirs('x/y'); os.rename('deep/er', 'x/y/er')",
    "the link to it is gone": "os.unlink('server.pem')",
}


@pytest.mark.parametrize("moves", MOVES)
async def test_what_an_earlier_server_saw_is_covered_behind_decoys_wherever_it_was_moved(fenced, monkeypatch, moves):  # noqa: F811
    monkeypatch.setattr("execkit_mcp.runtime.names_kept.LOOKED_AT_FIRST", 50)
    plant = f"import os\n{MOVES[moves]}\nfor n in range({LOOKED_AT + 100}): open(f'{{n}}.txt', 'w').close()"
    look = (
        "import os\n"
        "for at, _, names in os.walk('.'):\n"
        "    for name in names:\n"
        "        if not name.endswith('.txt') and name != 'code.py':\n"
        "            try: print(at, name, open(f'{at}/{name}').read())\n"
        "            except OSError as error: print(at, name, error.strerror)"
    )
    async with fenced() as f:
        lay_out(f.workspace)
        assert CANARY not in (await f.python(look)).stdout
        result = await f.python(plant)
        assert result.exit_code == 0, result.stderr
        for name in ("one", "two", "three"):  # a shell that stood ready may have looked before
            await f.kit.open_session(requester="agent", name=name)
            (f.workspace / "code.py").write_text(look)
            assert CANARY not in (await f.run("python3 code.py", session=name)).stdout
    async with fenced() as f:
        result = await f.python(look)
        assert CANARY not in result.stdout
        assert result.stdout.count("Permission denied") >= 2


async def test_a_memory_that_cannot_be_read_is_none(fenced):  # noqa: F811
    async with fenced() as f:
        lay_out(f.workspace)
        await f.run("ls")
        kept = list((f.state / "refused-names").iterdir())
        assert len(kept) == 1
    for text in ("", "{", "[1]", '["x"]', '["1:2"]', '{"a": 1}', '["a:b:c"]'):
        kept[0].write_text(text)
        async with fenced() as f:
            assert "Permission denied" in (await f.python("print(open('deep/er/.env').read())")).stderr


def test_what_the_operator_renamed_or_removed_is_covered_no_longer(tmp_path):
    for name in (".env", "old.key", "kept.pem"):
        (tmp_path / name).write_text("x")
    known = [each for name in (".env", "old.key", "kept.pem") if (each := Known.at(str(tmp_path / name)))]
    (tmp_path / ".env").rename(tmp_path / ".env.example")
    (tmp_path / "old.key").unlink()
    assert list(standing_now(str(tmp_path), known)) == [str(tmp_path / "kept.pem")]


@pytest.mark.parametrize("name", [b"\xff.key", b"new\nline.pem", b"'quoted' $x.pem"])
async def test_a_name_in_any_bytes_is_covered(fenced, name):  # noqa: F811
    async with fenced() as f:
        (f.workspace / os.fsdecode(name)).write_text(CANARY)
        result = await f.python(f"print(open({name!r}).read())")
        assert CANARY not in result.stdout
        assert "Permission denied" in result.stderr


def test_dependencies_and_examples_are_left_alone_and_the_look_is_bounded(tmp_path):
    for name in (
        "node_modules/x/test.pem",
        "lib/site-packages/certifi/cacert.pem",
        ".git/x.key",
        ".env.example",
        ".env.local",
        "a/b/c.key",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    name, path = anywhere(
        ("**/.env*", "**/*.pem", "**/*.key", "/etc/shadow*", "~/.ssh/**"), "/home/x", str(tmp_path)
    ) or ("", "")
    found = {os.path.relpath(each, tmp_path) for each in standing_below(str(tmp_path), name=name, path=path)}
    assert found == {".env.local", "a/b/c.key"}
    assert list(standing_below(str(tmp_path), name=name, path=path, most=1)) == [str(tmp_path / ".env.local")]


def test_patterns_in_the_middle_of_a_path_are_looked_for_as_well(tmp_path):
    (tmp_path / "a" / "secrets" / "b").mkdir(parents=True)
    (tmp_path / "secrets.txt").write_text("x")
    name, path = anywhere(("${workspace}/**/secrets/**",), "/home/x", str(tmp_path)) or ("", "")
    assert list(standing_below(str(tmp_path), name=name, path=path)) == [str(tmp_path / "a" / "secrets")]
    assert anywhere(("/etc/shadow*", "~/.ssh/**"), "/home/x", str(tmp_path)) is None
