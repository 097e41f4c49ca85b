"""How many requests a subject may send: a bucket of tokens each, filled at a steady pace. Decided without a clock."""

from collections import OrderedDict
from typing import Final

_REMEMBERED: Final = 10_000
_MINUTE_S: Final = 60.0


class RateLimit:
    """At most ``per_minute`` of each key at once, and as many again in each minute."""

    def __init__(self, per_minute: int) -> None:
        self._most = float(per_minute)
        self._per_second = per_minute / _MINUTE_S
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # key → what is left, when that was

    def take(self, key: str, now_s: float) -> float:
        """Take one; 0 if there was one, else the seconds until there is."""
        left, then = self._buckets.pop(key, (self._most, now_s))
        left = min(self._most, left + max(0.0, now_s - then) * self._per_second)
        wait_s = 0.0 if left >= 1 else (1 - left) / self._per_second
        self._buckets[key] = (left - 1 if wait_s == 0 else left, now_s)
        while len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        return wait_s
