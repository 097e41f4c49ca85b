"""The real clock, the real source of chance, and how a process is told from a later one of the same number."""

import os
import secrets
import time
from pathlib import Path


class SystemClock:
    """Time from the kernel."""

    def monotonic_s(self) -> float:
        """CLOCK_MONOTONIC, in seconds."""
        return time.monotonic()

    def epoch_s(self) -> float:
        """CLOCK_REALTIME, in seconds since 1970."""
        return time.time()


class SystemEntropy:
    """Chance from the kernel (getrandom(2))."""

    def token_hex(self, size: int) -> str:
        """``size`` random bytes in hex."""
        return secrets.token_hex(size)

    def token_bytes(self, size: int) -> bytes:
        """``size`` random bytes."""
        return secrets.token_bytes(size)


def process_key() -> str:
    """This process, by number and start (proc(5)), so that a number that is used again is not taken for it."""
    return f"{os.getpid()}-{_started(os.getpid())}"


def is_process_alive(key: str) -> bool:
    """Whether the process of that key still runs; True where /proc does not tell."""
    pid, _, started = key.partition("-")
    if not pid.isdecimal() or not started or not Path("/proc/self/stat").exists():
        return True
    return _started(int(pid)) == started


def _started(pid: int) -> str:
    try:
        # The name, in brackets, may hold anything: what follows its last bracket is "state ppid …" (proc(5)).
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
