"""The folder in which programs behind a fence keep what they need for a moment; it goes when the server ends.

A server that was killed leaves its own behind, and the next one removes it. Whose a folder is stands in its name: the
number of the process, when that started, and the namespace in which the number counts (proc(5), pid_namespaces(7)).
"""

import hashlib
import os
import shutil
import stat
import tempfile
import threading
from pathlib import Path

__all__ = ["new_folder", "remove_left_behind"]

_PREFIX = "execkit-tmp-"
_START_TIME = 19
"""Where proc(5) has it in ``stat``, counted from the state on."""


def new_folder() -> "tempfile.TemporaryDirectory[str]":
    """This server's folder, mode 0700; what killed servers left is removed meanwhile, in a thread."""
    threading.Thread(target=remove_left_behind, name="temporary", daemon=True).start()
    mark = _mark(os.getpid())
    prefix = f"{_PREFIX}{mark}-" if mark is not None else _PREFIX
    return tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)


def remove_left_behind() -> int:
    """Remove the folders of servers that are no more; how many. Those of other users and containers are let alone."""
    here = _namespace()
    gone = 0
    if here is None or not shutil.rmtree.avoids_symlink_attacks:
        return gone
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}{here}-*-*-*"):
        pid = path.name.removeprefix(f"{_PREFIX}{here}-").partition("-")[0]
        mark = _mark(int(pid)) if pid.isdecimal() else None
        if not pid.isdecimal() or (mark is not None and path.name.startswith(f"{_PREFIX}{mark}-")):
            continue
        try:
            found = path.lstat()
        except OSError:  # another server was quicker
            continue
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)
            gone += not path.exists()
    return gone


def _mark(pid: int) -> str | None:
    """What names one process among all that ever had this number; None where there is none, or no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    here = _namespace()
    return None if here is None else f"{here}-{pid}-{fields[_START_TIME].decode()}"


def _namespace() -> str | None:
    """The namespace in which process numbers count here, and the start of the machine, with which they begin anew."""
    try:
        here = str(Path("/proc/self/ns/pid").readlink()) + Path("/proc/sys/kernel/random/boot_id").read_text(
            encoding="ascii"
        )
    except OSError:
        return None
    return hashlib.sha256(here.encode()).hexdigest()[:8]  # short: sockets may be made below it
