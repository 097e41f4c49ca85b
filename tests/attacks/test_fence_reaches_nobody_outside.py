"""What native code in a fenced session tries against programs of the same user outside of it."""

import errno
import os
import socket
import tempfile

import pytest

from tests.fence.conftest import POLICY, compiled, fenced  # noqa: F401 - fixtures

pytestmark = pytest.mark.promise("P2")

BUILDS = POLICY.replace("allow: [python3, bash, sh]", "allow: [python3, bash, sh, make]")


@pytest.mark.parametrize("level", ["process", "namespaces"])
async def test_limits_are_set_on_oneself_and_on_nobody_else(fenced, level):  # noqa: F811
    async with fenced(level=level) as f:
        result = await f.python(f"""
import os, resource, subprocess, time
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
print("own", resource.getrlimit(resource.RLIMIT_NOFILE))
print("read", resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE))
for pid in ({os.getpid()}, os.getppid()):
    try: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)); print("OPEN", pid)
    except (PermissionError, ProcessLookupError): pass
""")
        assert result.exit_code == 0, result.stderr
        assert result.stdout == "own (100, 200)\nread (100, 200)\n"


async def test_the_terminals_of_somebody_else_are_closed_and_new_ones_work(fenced):  # noqa: F811
    ends = [os.openpty() for _ in range(3)]
    try:
        async with fenced() as f:
            await f.run("true")
            os.close(ends[0][0])
            os.close(ends[0][1])  # its number is free again: what is made inside may get it
            ends[0] = os.openpty()
            ends += [os.openpty() for _ in range(8)]  # later than the session's shell
            outside = {(os.ttyname(side), os.fstat(side).st_dev, os.fstat(side).st_ino) for _, side in ends}
            result = await f.python(f"""
import os, pty
for name, device, inode in {outside!r}:
    for flags in (os.O_RDWR, os.O_RDONLY, os.O_WRONLY):
        for root in ("", "/proc/1/root", "/proc/self/root", "/proc/{os.getpid()}/root"):
            try: at = os.fstat(os.open(root + name, flags | os.O_NOCTTY))
            except OSError: continue
            if (at.st_dev, at.st_ino) == (device, inode): print("OPEN", root + name)
for _ in range(6):
    pid, fd = pty.fork()
    if pid == 0:
        os.close(os.open(os.ttyname(0), os.O_RDWR)); os.execvp("echo", ["echo", "mine"])
    assert b"mine" in os.read(fd, 20)
with open("/dev/tty", "w") as own: own.write("")
print("done")
""")
            assert result.stdout == "done\n", result.stderr
    finally:
        for end in ends:
            os.close(end[0])
            os.close(end[1])


async def test_a_session_takes_the_terminals_of_no_other(fenced):  # noqa: F811
    async with fenced() as f:
        result = await f.python("""
import os
taken = []
try:
    while len(taken) < 900: taken.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
except OSError as error: print(error.errno)
print(len(taken) > 99, len(taken) < 300)
""")
        assert result.stdout == f"{errno.ENOSPC}\nTrue True\n", result.stderr


async def test_nobody_outside_shares_memory_with_it(fenced):  # noqa: F811
    with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="execkit-test-") as outside:
        async with fenced() as f:
            result = await f.python(f"""
import os
print(os.path.exists({outside.name!r}))
open("/dev/shm/execkit-inside", "w").write("x")
from multiprocessing import shared_memory
m = shared_memory.SharedMemory(create=True, size=64); m.close(); m.unlink()
""")
            assert (result.exit_code, result.stdout) == (0, "False\n"), result.stderr
            assert "execkit-inside" not in os.listdir("/dev/shm")  # noqa: PTH208 - names alone


async def test_sockets_by_which_others_are_told_to_start_programs_are_hidden(fenced):  # noqa: F811
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="ssh-") as folder, socket.socket(socket.AF_UNIX) as agent:
        agent.bind(f"{folder}/agent.1")
        agent.listen()
        async with fenced(BUILDS) as f:
            result = await f.python(f"""
import socket
try: socket.socket(socket.AF_UNIX).connect({folder!r} + "/agent.1"); print("OPEN")
except OSError as error: print(type(error).__name__)
""")
            assert "OPEN" not in result.stdout


async def test_nothing_inside_says_what_is_loaded_into_a_command_that_leaves_the_fence(fenced):  # noqa: F811
    asking = POLICY.replace(
        "  - {id: never", "  - {id: out, ask: [mount, pip], reason: Look.}\n  - {id: never"
    ).replace("version: 1", "version: 1\nprograms: {default: [/usr/bin, /bin], pip: /usr/bin/env}")
    async with fenced(asking) as f:
        await f.run("true")
        session = f.kit._sessions.get("main", "agent")

        async def told():  # native code has written to its shell's script
            return {
                "LD_PRELOAD": "/tmp/evil.so", "PATH": "/tmp/evil", "BASH_ENV": "/tmp/evil",
                "PYTHONSTARTUP": "/tmp/evil",
                "BASH_FUNC_env%%": "() { echo evil; }", "KEPT": "yes", "EXECKIT_STATE_DIR": "/tmp/evil",
            }  # fmt: skip

        session.environment = told
        first = await f.run("pip")
        f.kit.answer(first.approval_id, approve=True, channel="cli", who="anna")
        result = await f.run("pip", approval_id=first.approval_id)
        assert result.fence.level == "none"
        assert "KEPT=yes" in result.stdout
        assert "evil" not in result.stdout


async def test_a_call_by_another_table_of_numbers_ends_the_process(fenced, compiled):  # noqa: F811
    source = r"""
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sys/syscall.h>
int main(void) {
  for (int way = 0; way < 2; way++) {
    fflush(stdout);
    if (fork() == 0) {
      if (way == 0) syscall(0x40000000 | 39);
#ifdef __x86_64__
      else { int r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20)); }
#else
      else _exit(0);
#endif
      printf("OPEN %d\n", way); fflush(stdout); _exit(0);
    }
    int status; wait(&status);
  }
  return 0;
}
"""
    async with fenced(BUILDS) as f:
        compiled("numbers", source, folder=f.workspace)
        (f.workspace / "Makefile").write_text("x:\n\t./numbers\n")
        result = await f.run("make -s x")
        assert result.exit_code == 0, result
        assert result.stdout == ""
