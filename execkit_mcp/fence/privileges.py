"""no_new_privs and capabilities: no program gains rights by being executed; this module is that mechanism."""

import ctypes
import os
import struct

from execkit_mcp.fence import kernel

__all__ = ["drop_capabilities", "forbid_new_privileges", "may_be_inspected"]

_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 4, 24, 38, 47
_VERSION_3 = 0x20080522
_LAST_KNOWN = 63

_libc = ctypes.CDLL(None, use_errno=True)


def forbid_new_privileges() -> None:
    """Set-user-id bits and file capabilities have no effect from now on."""
    kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1)


def may_be_inspected() -> None:
    """Make this process's ``/proc`` files its own user's again: its parent, the keeper, is closed."""
    kernel.prctl(_PR_SET_DUMPABLE, 1)


def drop_capabilities() -> None:
    """Give up every capability, the bounding and ambient sets too."""
    _libc.prctl(_PR_CAP_AMBIENT, 4, 0, 0, 0)
    for number in range(_LAST_KNOWN + 1):
        if _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) < 0:
            break  # past the last one, or not ours to drop: then the set is useless under no_new_privs
    header = ctypes.create_string_buffer(struct.pack("Ii", _VERSION_3, 0), 8)
    if _libc.capset(header, ctypes.create_string_buffer(24)) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "capset")
