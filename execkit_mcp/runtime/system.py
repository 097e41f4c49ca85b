"""The real clock and the real source of chance."""

import secrets
import time


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
