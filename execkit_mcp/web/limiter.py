"""How often something may fail: this module is a bucket of tries that refills with time."""

from execkit_mcp.model import Clock

__all__ = ["Limiter"]


class Limiter:
    """At most ``tries`` at once, one more each ``refill_s`` seconds."""

    def __init__(self, clock: Clock, *, tries: int, refill_s: float) -> None:
        self._clock = clock
        self._tries = tries
        self._refill_s = refill_s
        self._left = float(tries)
        self._filled_s = clock.monotonic_s()

    def wait_s(self) -> float:
        """Seconds until another try may be made; 0.0 if one may be made now."""
        now_s = self._clock.monotonic_s()
        self._left = min(float(self._tries), self._left + (now_s - self._filled_s) / self._refill_s)
        self._filled_s = now_s
        return 0.0 if self._left >= 1 else (1 - self._left) * self._refill_s

    def count(self) -> None:
        """One try was made and failed."""
        self.wait_s()
        self._left = max(0.0, self._left - 1)
