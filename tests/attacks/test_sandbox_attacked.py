"""Code that runs in a sandbox tries to get out of it, into its layers, or to its snapshots."""

import asyncio
import os
import signal
import time

import pytest

from execkit_mcp.kit import open_kit
from execkit_mcp.runtime.request import RunRequest
from execkit_mcp.runtime.sandboxing import SandboxRequest

pytestmark = pytest.mark.promise("P2")

POLICY = """version: 1
name: attacked
limits: {time_s: 30, processes: 40}
paths: {write: ["${workspace}/**"]}
rules:
  - {id: all, effects: trusted, allow: [bash, python3, cat, ls, echo]}
"""


@pytest.fixture
async def inside(tmp_path):
    """Runs Python inside; what it prints."""
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "file").write_text("real\n")
    policy, config = tmp_path / "policy.yaml", tmp_path / "config.yaml"
    policy.write_text(POLICY)
    config.write_text("limits: {memory_mb: 96, file_mb: 16, disk_mb: 24, cpu_percent: 100}\n")
    for path in (policy, config):
        path.chmod(0o600)
    async with open_kit(
        policy=str(policy), config=str(config), workspace=str(workspace), state_dir=str(tmp_path / "state"), environ={}
    ) as kit:
        await kit.open_session(target="sandbox", name="sb", requester="a")

        async def run(code, *, tool="python3", wait_s=30):
            script = workspace.parent / "never-seen"
            del script
            return await kit.run(
                RunRequest(command=f"{tool} -", stdin=code, session="sb", wait_s=wait_s), requester="a"
            )

        run.kit, run.workspace = kit, workspace
        yield run


ESCAPES = {
    "the layers' folder": "import os; os.listdir('/.execkit')",
    "the layers themselves": "import os; os.listdir('/.execkit/layers')",
    "opening the closed folder up": "import os; os.chmod('/.execkit', 0o777)",
    "renaming it": "import os; os.rename('/.execkit', '/tmp/x')",
    "taking a mount away": "import ctypes; l=ctypes.CDLL(None,use_errno=True); 1/(l.umount2(b'/.execkit',2)==0)",
    "mounting": "import ctypes; l=ctypes.CDLL(None,use_errno=True); 1/(l.mount(b'/',b'/tmp',None,4096,None)==0)",
    "a user namespace": "import ctypes; l=ctypes.CDLL(None,use_errno=True); 1/(l.unshare(0x10000000)==0)",
    "another root": "import os; os.chroot('/tmp')",
    "a device of its own": "import os; os.mknod('/tmp/sda', 0o60600, os.makedev(254, 0)); open('/tmp/sda','rb')",
    "a whiteout by hand": "import os; os.mknod('gone', 0o20000, 0); os.stat('gone'); 1/0",
    "the kernel's settings": "open('/proc/sys/kernel/core_uses_pid','w').write('0')",
    "the first process's root": "import os; os.listdir('/proc/1/root/.execkit')",
    "a handle on a file": (
        "import ctypes,os; l=ctypes.CDLL(None,use_errno=True); h=ctypes.create_string_buffer(128);"
        "1/(l.syscall(304, -100, h, 0) >= 0)"
    ),
    "writing to a program": "open('/usr/bin/true','ab').write(b'x')",
    "a file in etc": "open('/etc/passwd','a').write('x')",
    "the root folder": "open('/new','w')",
}


@pytest.mark.parametrize("code", ESCAPES.values(), ids=ESCAPES)
async def test_there_is_no_way_out_and_none_into_the_layers(inside, code):
    result = await inside(code)
    assert result.exit_code not in {0, None}, result


async def test_links_lead_nowhere_but_inside(inside, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("of the host\n")
    result = await inside(f"""
import os
os.symlink({str(secret)!r}, 'link'); os.symlink('../' * 30 + {str(secret)!r}[1:], 'up')
for name in ('link', 'up'):
    try: print(open(name).read())
    except OSError as error: print(type(error).__name__)
try: os.link('/usr/bin/true', 'hard')
except OSError as error: print(type(error).__name__)
""")
    assert "of the host" not in result.stdout
    assert result.stdout.split()[:2] == ["FileNotFoundError", "FileNotFoundError"]


async def test_a_hard_link_to_a_file_of_the_workspace_does_not_write_through(inside):
    await inside("import os; os.link('file', 'other'); open('other', 'a').write('evil')")
    assert (inside.workspace / "file").read_text() == "real\n"


async def test_attributes_of_the_overlay_are_not_the_sandboxs_to_set(inside):
    await inside(
        "import os\nos.mkdir('d')\nfor n in ('opaque','redirect','whiteout','metacopy'):\n"
        " for at in ('d', 'file', '.'):\n  for ns in ('user', 'trusted'):\n"
        "   try: os.setxattr(at, f'{ns}.overlay.{n}', b'y')\n   except OSError: pass"
    )
    assert sorted((await inside("import os; print(*sorted(os.listdir('.')))")).stdout.split()) == ["d", "file"]


async def test_a_snapshot_cannot_be_changed_by_what_was_open_before(inside):
    """A file that was opened before the snapshot, and a folder that a process stood in, are not there any more."""
    await inside("open('kept', 'w').write('kept')")
    await inside.kit.sandbox(SandboxRequest(action="snapshot", session="sb"), requester="a")
    await inside("open('kept', 'w').write('changed')")
    await inside.kit.sandbox(SandboxRequest(action="restore", session="sb", snapshot="s1"), requester="a")
    assert (await inside("print(open('kept').read())")).stdout == "kept\n"


async def test_memory_ends_the_command_and_is_named_with_what_was_written(inside):
    result = await inside("print('begun', flush=True); x = bytearray(300 << 20)")
    assert (result.exit_code, result.signal or "SIGKILL", result.limit) == (137, "SIGKILL", "limits.memory_mb")
    assert result.stdout == "begun\n"
    assert any("limits.memory_mb" in warning for warning in result.warnings)
    assert (await inside("print('on')")).stdout == "on\n"


async def test_memory_that_is_spread_over_processes_counts_together(inside):
    result = await inside(
        "import os, time\nfor i in range(8):\n"
        " if not os.fork():\n  x = bytearray(40 << 20); time.sleep(3); os._exit(0)\n"
        "while True:\n try: os.wait()\n except ChildProcessError: break"
    )
    assert any("limits.memory_mb" in warning for warning in result.warnings), result


async def test_a_fork_bomb_is_bounded_and_named(inside):
    result = await inside(
        "import os, time\ntry:\n for i in range(200): os.fork() or time.sleep(20)\nexcept OSError as error:\n"
        " print(error.errno); os.killpg(0, 9)"
    )
    assert any("limits.processes" in warning for warning in result.warnings), result
    assert (await inside("print('on')")).stdout == "on\n"


async def test_a_file_does_not_grow_beyond_its_limit(inside):
    result = await inside(
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); f = open('big', 'wb')\n"
        "while True: f.write(bytes(1 << 20))"
    )
    assert result.limit == "limits.file_mb", result
    assert (await inside("import os; print(os.path.getsize('big') <= 16 << 20)")).stdout == "True\n"


async def test_many_files_do_not_fill_the_disk(inside):
    result = await inside(
        "import time\nfor i in range(1000):\n open(f'f{i}', 'wb').write(bytes(1 << 20)); time.sleep(0.01)", wait_s=40
    )
    assert result.limit == "limits.disk_mb", result
    sandbox = inside.kit._opener.sandboxes.get("a", "sb")
    assert sandbox.usage_bytes() < 150 << 20
    assert (
        await inside("import os; [os.unlink(f) for f in os.listdir('.') if f[0] == 'f' and f != 'file']")
    ).exit_code == 0


DEAF = "import os, signal, time\nfor n in range(1, 32): n in (9, 19) or signal.signal(n, signal.SIG_IGN)\n"
WRITES = "for i in range(4000):\n open(f'f{i}', 'wb').write(bytes(1 << 20)); time.sleep(0.004)"


async def test_who_heeds_no_interrupt_does_not_fill_the_disk_either(inside):
    result = await inside(DEAF + WRITES, wait_s=40)
    assert result.limit == "limits.disk_mb", result
    assert inside.kit._opener.sandboxes.get("a", "sb").usage_bytes() < 150 << 20
    assert (await inside("print('on')")).stdout == "on\n"


async def test_who_hides_in_the_background_does_not_fill_the_disk_either(inside):
    result = await inside(f"{DEAF}os.fork() and os._exit(0)\nos.setsid()\nos.fork() and os._exit(0)\n{WRITES}")
    assert result.exit_code == 0
    async with asyncio.timeout(30):
        while not any("limits.disk_mb" in each for each in result.warnings):
            result = await inside("print('on')")
    assert (await inside("print('on')")).stdout == "on\n"
    assert inside.kit._opener.sandboxes.get("a", "sb").usage_bytes() < 150 << 20


async def test_a_share_of_the_processor_is_all_there_is(inside):
    """Two busy processes on a share of one processor take twice as long as their work."""
    result = await inside(
        "import os, time\nt = time.monotonic()\nfor i in range(2):\n if not os.fork():\n"
        "  while time.process_time() < 0.5: pass\n  os._exit(0)\nos.wait(); os.wait(); print(time.monotonic() - t)"
    )
    if "cpu" in inside.kit._sessions.get("sb", "a").bounds.holds:
        assert float(result.stdout) > 0.85


async def test_the_supervisor_is_out_of_reach(inside):
    result = await inside(
        f"import os\nfor pid in ({os.getpid()}, {os.getppid()}):\n try: os.kill(pid, 0); print('reached')\n"
        " except OSError: pass\nprint(len([n for n in os.listdir('/proc') if n.isdigit()]) < 12)"
    )
    assert result.stdout == "True\n"


async def test_a_stopped_shell_does_not_hold_the_layers(inside):
    await inside(f"import os; os.kill(os.getppid(), {int(signal.SIGSTOP)})", wait_s=5)
    deadline = time.monotonic() + 20
    while (await inside("print('on')")).stdout != "on\n":
        assert time.monotonic() < deadline
    assert (inside.workspace / "file").read_text() == "real\n"
