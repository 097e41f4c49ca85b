"""A workspace in layers, really mounted: what the tests of difference and apply work on."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from execkit_mcp.fence.overlay.diff import Change, differences
from execkit_mcp.fence.overlay.stack import BASE, Stack

INSIDE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
uid, gid = os.getuid(), os.getgid()
data, base, bottom, target, script = sys.argv[1:]
if libc.unshare(0x10000000 | 0x20000) != 0:
    raise OSError(ctypes.get_errno(), "unshare")
open("/proc/self/setgroups", "w").write("deny")
open("/proc/self/uid_map", "w").write(f"{uid} {uid} 1")
open("/proc/self/gid_map", "w").write(f"{gid} {gid} 1")
def mount(*arguments):
    if libc.mount(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"mount {arguments}")
mount(b"none", b"/", None, 0x4000 | 0x40000, None)
mount(base.encode(), bottom.encode(), None, 4096, None)
mount(b"overlay", target.encode(), b"overlay", 0, data.encode())
os.chdir(target)
os.execv("/bin/bash", ["bash", "-ec", script])
"""


@dataclass
class Layered:
    """A real workspace at ``base`` and a stack of layers above it."""

    base: Path
    place: Path
    stack: Stack

    @property
    def layers(self) -> list[str]:
        return [str(self.place / str(number)) for number in self.stack.layers]

    def run(self, script: str) -> str:
        """Run bash in the workspace as the sandbox sees it."""
        upper = str(self.stack.upper)
        for name in (upper, f"{upper}.work", BASE, "merged"):
            (self.place / name).mkdir(exist_ok=True)
        data = self.stack.mount("", place=str(self.place))[1]["data"]
        shutil.rmtree(self.place / f"{upper}.work/work/incompat", ignore_errors=True)
        argv = [str(data), str(self.base), str(self.place / BASE), str(self.place / "merged"), script]
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", INSIDE, *argv], capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def snapshot(self) -> Stack:
        """Freeze what is there; what was before."""
        before, self.stack = self.stack, self.stack.frozen(max(self.stack.layers) + 1)
        return before

    def changes(self) -> tuple[Change, ...]:
        return differences(str(self.base), self.layers)

    def words(self) -> list[str]:
        """The changes, a letter and a path each."""
        return [f"{each.kind[0]} {each.path}" for each in self.changes()]


def layered(folder: Path) -> Layered:
    """A workspace with a few files in it."""
    base, place = folder / "work", folder / "layers"
    place.mkdir()
    (base / "src").mkdir(parents=True)
    (base / "src/a.txt").write_text("one\ntwo\n")
    (base / "src/b.txt").write_text("b\n")
    (base / "docs").mkdir()
    (base / "docs/guide.md").write_text("guide\n")
    (base / "run.sh").write_text("echo\n")
    (base / "link").symlink_to("src/a.txt")
    return Layered(base, place, Stack(upper=1))
