"""Terminals of one's own: a devpts instance that nobody else's terminals stand in; this module is that mechanism.

Whoever runs as the same user can open a terminal by its path, read what is typed there and write to it. Behind a mount
of its own (``newinstance``, kernel documentation ``filesystems/devpts.rst``) a session sees its own terminals alone,
whatever comes into being outside later.
"""

import fcntl
import os
import struct

from execkit_mcp.fence import kernel

__all__ = ["mount_own", "take_one"]

_BIND, _NOSUID, _NOEXEC = 4096, 2, 8
_TIOCSPTLCK, _TIOCGPTPEER, _TIOCSCTTY = 0x40045431, 0x5441, 0x540E
_MOST = 256  # of a session: those of all instances together are bounded too (kernel.pty.max)
_FOLDER, _MULTIPLEXER = "/dev/pts", "/dev/ptmx"


def mount_own() -> None:
    """In a mount namespace that was just made: an empty ``/dev/pts``. Raises OSError."""
    options = f"newinstance,mode=0600,ptmxmode=0666,max={_MOST}"
    kernel.mount("devpts", _FOLDER, "devpts", _NOSUID | _NOEXEC, options)
    kernel.mount(f"{_FOLDER}/ptmx", _MULTIPLEXER, "", _BIND)


def take_one() -> int:
    """Lead a session whose controlling terminal is a new one, on descriptor 0; the terminal's other side is returned.

    Raises OSError.
    """
    master = os.open(f"{_FOLDER}/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    fcntl.ioctl(master, _TIOCSPTLCK, struct.pack("i", 0))
    side = fcntl.ioctl(master, _TIOCGPTPEER, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    os.setsid()
    os.dup2(side, 0)
    if side:
        os.close(side)
    fcntl.ioctl(0, _TIOCSCTTY, 0)
    return master
