"""Commands as an ordinary user: what the tests use that must hold without root.

As root a command is started under the ids of ``nobody``, without capabilities, in a file tree where it can reach the
interpreter and this checkout wherever they stand (a root's home is closed to others). Elsewhere it is started as it is.
"""

import os
import pwd
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).resolve().parents[2]
BECOME = """
import ctypes, json, os, stat, sys
libc = ctypes.CDLL(None, use_errno=True)
uid, gid, needed, argv = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4:]
def mount(source, target, kind, flags, data=None):
    if libc.mount(source.encode(), target.encode(), kind, flags, data) != 0:
        raise OSError(ctypes.get_errno(), f"mount {target}")
def closed(path):
    parts = path.strip("/").split("/")
    for at in range(len(parts)):
        folder = "/" + "/".join(parts[: at + 1])
        if not os.stat(folder).st_mode & stat.S_IXOTH:
            return folder
    return ""
groups = {}
for path in needed:
    if folder := closed(os.path.dirname(path)):
        groups.setdefault(folder, []).append(path)
if groups:
    if libc.unshare(0x20000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    mount("none", "/", None, 0x4000 | 0x40000)
for folder, paths in groups.items():
    opened = [(path, os.open(path, os.O_PATH)) for path in paths]
    mount("tmpfs", folder, b"tmpfs", 0, b"mode=755")
    for path, fd in opened:
        os.makedirs(path, exist_ok=True)
        mount(f"/proc/self/fd/{fd}", path, None, 0x1000 | 0x4000)
        os.close(fd)
os.setgroups([])
os.setresgid(gid, gid, gid)
os.setresuid(uid, uid, uid)
os.execv(argv[0], argv)
"""


def as_ordinary_user(
    argv: Sequence[str], *, home: Path, env: Mapping[str, str] | None = None, timeout_s: float = 200
) -> "subprocess.CompletedProcess[str]":
    """Run Python with ``argv`` as an ordinary user whose own folder is ``home``; its output."""
    command = [sys.executable, *argv]
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        subprocess.run(["chown", "-R", f"{nobody.pw_uid}:{nobody.pw_gid}", str(home)], check=True)
        needed = {str(ROOT), sys.prefix, sys.base_prefix, str(Path(msgspec.__file__).resolve().parents[1]), str(home)}
        become = [sys.executable, "-I", "-S", "-c", BECOME, str(nobody.pw_uid), str(nobody.pw_gid)]
        outermost = sorted(each for each in needed if not any(each.startswith(f"{other}/") for other in needed))
        command = [*become, msgspec.json.encode(outermost).decode(), *command]
    return subprocess.run(
        command,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env={
            "HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(home), **(env or {}),
        },
    )  # fmt: skip


def with_pytest(policy: str, folder: Path) -> str:
    """The text of a shipped policy that has a pytest among its programs, which is put into ``folder``.

    Its interpreter is one that every user may read: the shipped policies hide a root's home from everybody else.
    """
    ours = "{}.{}".format(*sys.version_info)
    public = [path for path in ("/usr/bin/python3", "/usr/local/bin/python3") if version_of(path) == ours]
    program = folder / "pytest"
    program.write_text(
        f"#!{(public or [sys.executable])[0]}\nimport sys\nsys.path.append({str(Path(pytest.__file__).parents[1])!r})\n"
        'if __name__ == "__main__":\n    from pytest import main\n    sys.exit(main())\n'
    )
    program.chmod(0o755)
    text = (ROOT / "policies" / f"{policy}.yaml").read_text()
    programs = f"programs: {{default: [/usr/local/bin, /usr/bin, /bin, /usr/sbin, /sbin], pytest: {program}}}\n"
    return text.replace("limits:", f"{programs}limits:", 1).partition("\ntests:\n")[0] + "\n"


def version_of(python: str) -> str:
    """The version of an interpreter, as ``3.11``; empty where there is none."""
    if not Path(python).exists():
        return ""
    code = "import sys; print('{}.{}'.format(*sys.version_info))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=False).stdout.strip()
