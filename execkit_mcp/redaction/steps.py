"""A budget of steps that a text earns while it is read: a flood of places to look at costs no more than other text."""

_STEP_CHARS = 16
MOST_LEFT = 512 * _STEP_CHARS
"""So much is saved up, so that a few full lines are no flood."""


class Steps:
    """What may still be spent, in characters: every one of the text earns one, every step costs ``_STEP_CHARS``."""

    __slots__ = ("_at", "left")

    def __init__(self, left: int, at: int) -> None:
        self.left, self._at = left, at

    def earn(self, at: int) -> int:
        """What is left when the text was read up to ``at``."""
        self.left = min(MOST_LEFT, self.left + max(0, at - self._at))
        self._at = max(self._at, at)
        return self.left

    def spend(self, steps: int) -> bool:
        """Take ``steps``; whether there were so many."""
        self.left -= steps * _STEP_CHARS
        return self.left >= 0
