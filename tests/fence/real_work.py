"""Real work in a fenced session, through the SDK and a shipped policy: run as a program, as whoever runs it.

    python -m tests.fence.real_work POLICY FOLDER

Prints a JSON object: the fence, and each command with its end and what was refused beneath it. Whatever the policy
asks is answered with yes, as a developer at his desk would.
"""

import asyncio
import json
import sys
from pathlib import Path

from execkit_mcp import aio

FILES = {
    "py/mod.py": "def add(a, b):\n    return a + b\n",
    "py/test_mod.py": """
import concurrent.futures, ctypes, multiprocessing, os, signal, socket, sqlite3, subprocess, sys, tempfile
from mod import add

def square(x):
    return x * x

def test_a_folder_for_the_moment(tmp_path):
    (tmp_path / "x").write_text(str(add(1, 2)))
    os.link(tmp_path / "x", tmp_path / "y"); os.mkfifo(tmp_path / "p"); os.chmod(tmp_path / "x", 0o600)
    sqlite3.connect(tmp_path / "db").execute("create table t (x)")
    with tempfile.TemporaryFile() as file:
        file.write(b"x")

def test_child_processes(tmp_path):
    assert subprocess.check_output([sys.executable, "-c", "print(1)"]) == b"1\\n"
    assert subprocess.check_output("echo hi | tr h H; ls / | head -1; date >/dev/null; true", shell=True)
    script = tmp_path / "a.sh"
    script.write_text("#!/bin/sh\\necho ok\\n")
    script.chmod(0o755)
    assert subprocess.check_output([script]) == b"ok\\n"

def test_processes_that_are_ended():
    for _ in range(20):
        child = subprocess.Popen(["sh", "-c", "sleep 100 & wait"], start_new_session=True)
        os.killpg(child.pid, signal.SIGKILL)
        assert child.wait() == -9

def test_several_processors():
    with multiprocessing.Pool(2) as pool:
        assert pool.map(square, [1, 2, 3]) == [1, 4, 9]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(square, [3]) == [9]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert list(pool.map(square, [2])) == [4]
    multiprocessing.Manager().dict()

def test_a_server_of_its_own(tmp_path):
    server = socket.create_server(("127.0.0.1", 0))
    with socket.create_connection(server.getsockname()) as client, server.accept()[0] as other:
        client.send(b"x")
        assert other.recv(1) == b"x"
    socket.socket(socket.AF_UNIX).bind(str(tmp_path / "s"))

def test_compiled_code(tmp_path):
    (tmp_path / "a.c").write_text("int main(void) { return 7; } int f(void) { return 5; }")
    subprocess.check_call(["gcc", "-o", tmp_path / "a", tmp_path / "a.c"])
    subprocess.check_call(["gcc", "-shared", "-fPIC", "-o", tmp_path / "a.so", tmp_path / "a.c"])
    assert subprocess.call([tmp_path / "a"]) == 7
    assert ctypes.CDLL(str(tmp_path / "a.so")).f() == 5

def test_a_terminal():
    import pty
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp("echo", ["echo", "x"])
    assert b"x" in os.read(fd, 10)
""",
    "c/Makefile": (
        "all: a b\n%.o: %.c\n\t$(CC) -c -o $@ $<\na: a.o u.o\n\t$(CC) -o $@ $^\nb: b.o u.o\n\t$(CC) -o $@ $^\n"
        "test: all\n\t./a && ./b\n\t@for i in 2 1; do echo $$i; done | sort\nclean:\n\trm -f *.o a b\n"
    ),
    "c/u.c": "int u(void) { return 0; }\n",
    "c/a.c": "int u(void); int main(void) { return u(); }\n",
    "c/b.c": "int u(void); int main(void) { return u(); }\n",
    "js/package.json": '{"name": "x", "version": "1.0.0", "scripts": {"test": "node --test && node child.js"}}\n',
    "js/add.test.js": (
        "const t = require('node:test'), a = require('node:assert');\n"
        "t('add', () => a.equal(1 + 2, 3));\n"
        "t('server', async () => {\n"
        "  const s = require('http').createServer((_, r) => r.end('ok'));\n"
        "  await new Promise(r => s.listen(0, '127.0.0.1', r));\n"
        "  const got = await fetch('http://127.0.0.1:' + s.address().port);\n"
        "  a.equal(await got.text(), 'ok'); s.close();\n});\n"
    ),
    "js/child.js": "console.log(require('child_process').execSync('echo hi | cat').toString())\n",
}
GIT = (
    "mkdir repo && cd repo && git init -q -b main .",
    "git config user.name Anna && git config user.email anna@example.com",
    "echo a > a && git add a && git commit -q -m first",
    "echo b >> a && git stash && git stash pop && git diff --stat",
    "git commit -q -a -m second && git switch -q -c feature && echo c > c && git add . && git commit -q -m c",
    "git switch -q main && echo d > d && git add d && git commit -q -m d && git rebase -q main feature",
    "git log --oneline --graph --all",
    "git switch -q main && git merge -q feature && git tag v1 && git status --short",
    "cd .. && git clone -q repo copy",
)
C = ("cd c && make -j2", "make test", "./a && ./b", "make clean", "cd ..")
PYTHON = (
    "cd py && pytest -q -p no:cacheprovider",
    "cd .. && python3 -m venv --without-pip .venv",
    ".venv/bin/python -c 'print(6 * 7)'",
    "cd py && ../.venv/bin/python -c 'import mod' && cd ..",
)
JAVASCRIPT = ("cd js && npm test", "cd ..")
DAILY = (
    "find . -name '*.c' -exec wc -l {} +",
    "tar czf x.tgz py && tar tzf x.tgz",
    "sed -i 's/first/1/' js/package.json && diff py/mod.py py/mod.py",
    "ps -ef | head -n 3",
    "man ls | head -n 3",
    "df -h . && du -sh . && free -m && uname -a && id && date",
)


async def main(policy: str, folder: Path, groups: tuple[tuple[str, ...], ...]) -> None:
    """Make the files and do the work."""
    workspace = folder / "work"
    for name, text in FILES.items():
        file = workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = []

    async def yes(_: aio.Question) -> bool:
        return True

    async with aio.create(
        policy=policy, workspace=str(workspace), cwd=str(workspace), state_dir=str(folder / "state"), approver=yes
    ) as session:
        for command in (each for group in groups for each in group):
            result = await session.exec(command, timeout_s=100)
            done.append(
                {
                    "command": command,
                    "exit_code": result.exit_code,
                    "refused": [f"{' '.join(each.argv)}: {each.message}" for each in result.refused],
                    "fence": result.fence.level,
                    "said": (result.stdout + result.stderr)[-2000:],
                }
            )
    print(json.dumps(done))


if __name__ == "__main__":
    has_node = any(Path(folder, "npm").exists() for folder in ("/usr/bin", "/usr/local/bin"))
    WORK = (GIT, C, PYTHON, *((JAVASCRIPT,) if has_node else ()), DAILY)
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), WORK))
