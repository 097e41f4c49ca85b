"""Time and chance that a test commands."""

import hashlib

__all__ = ["FakeClock", "FakeEntropy"]


class FakeClock:
    """A clock that stands still until it is told to move."""

    def __init__(self, *, epoch_s: float = 1_800_000_000.0, monotonic_s: float = 0.0) -> None:
        self._epoch_s = epoch_s
        self._monotonic_s = monotonic_s

    def monotonic_s(self) -> float:
        """Seconds that never go back."""
        return self._monotonic_s

    def epoch_s(self) -> float:
        """Seconds since 1970-01-01T00:00:00Z."""
        return self._epoch_s

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass; raises ValueError for a negative number (see ``jump``)."""
        if seconds < 0:
            raise ValueError("time does not go back; use jump() to move the wall clock")
        self._monotonic_s += seconds
        self._epoch_s += seconds

    def jump(self, seconds: float) -> None:
        """Move the wall clock alone, forward or back, as an administrator or NTP would."""
        self._epoch_s += seconds


class FakeEntropy:
    """Chance that is the same in each run: SHA-256 of a seed and a counter."""

    def __init__(self, seed: str = "execkit") -> None:
        self._seed = seed
        self._drawn = 0

    def token_bytes(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        out = b""
        while len(out) < size:
            out += hashlib.sha256(f"{self._seed}:{self._drawn}".encode()).digest()
            self._drawn += 1
        return out[:size]

    def token_hex(self, size: int) -> str:
        """The next ``size`` bytes as hex digits."""
        return self.token_bytes(size).hex()
