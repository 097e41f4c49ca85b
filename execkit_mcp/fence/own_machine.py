"""What of this machine a session must not reach by accident; this module knows our addresses and our listeners.

``is_own_address``  the kernel binds a socket to addresses of this machine and to no other.
``is_our_listener`` whether a process of execkit-mcp, this one or another, listens there: a session that reached one
                    could open a second session under another policy.
"""

import contextlib
import ipaddress
import os
import socket
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from execkit_mcp.model.regex import lazy_regex

__all__ = ["is_our_listener", "is_own_address"]

_LISTEN = "0A"
_PROGRAM, _MODULE, _MAIN = b"execkit-mcp", b"execkit_mcp", b"execkit_mcp/__main__.py"
_HEAD_WORDS = 8
_SOCKET = lazy_regex(r"socket:\[(\d+)\]")


def is_own_address(address: str) -> bool:
    """Whether ``address`` belongs to this machine (loopback and the unspecified address do)."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def is_our_listener(address: str, port: int) -> bool:
    """Whether what answers at ``address`` and ``port`` of this machine is execkit-mcp."""
    inodes = {inode for at, number, inode in _listeners() if number == port and _answers(at, address)}
    return bool(inodes) and any(inodes & _sockets_of(pid) for pid in _our_servers())


def _answers(listening: str, address: str) -> bool:
    at = ipaddress.ip_address(listening)
    return at.is_unspecified or at == ipaddress.ip_address(address) or ipaddress.ip_address(address).is_unspecified


def _listeners() -> Iterator[tuple[str, int, str]]:
    """Address, port and inode of each TCP socket that listens in our network namespace."""
    for name in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/self/net", name).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTEN:
                host, _, port = fields[1].partition(":")
                yield _address(host), int(port, 16), fields[9]


def _address(text: str) -> str:
    """The kernel prints each 32-bit word of an address as a number of the machine's own byte order."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    packed = b"".join(struct.pack("=I", word) for word in words)
    found = ipaddress.ip_address(packed)
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


def _our_servers() -> Iterator[int]:
    """Processes that run our command line; a program that embeds the SDK has listeners of its own."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")[:_HEAD_WORDS]
                if _is_ours(words):
                    yield int(name)


def _is_ours(words: list[bytes]) -> bool:
    is_module = any(pair == (b"-m", _MODULE) for pair in pairwise(words))
    return is_module or any(word.rpartition(b"/")[2] == _PROGRAM or word.endswith(_MAIN) for word in words)


def _sockets_of(pid: int) -> set[str]:
    found: set[str] = set()
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                match = _SOCKET.fullmatch(os.readlink(f"{folder}/{name}"))
                if match:
                    found.add(match[1])
    return found
