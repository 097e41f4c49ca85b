"""How time, chance and the target's files come into code that does no input or output itself."""

from typing import Protocol


class Clock(Protocol):
    """Time, in seconds."""

    def monotonic_s(self) -> float:
        """Seconds that never go back; only differences mean anything."""
        ...

    def epoch_s(self) -> float:
        """Seconds since 1970-01-01T00:00:00Z."""
        ...


class Entropy(Protocol):
    """Chance that nobody can guess."""

    def token_hex(self, size: int) -> str:
        """``size`` random bytes as 2·``size`` lower-case hex digits."""
        ...

    def token_bytes(self, size: int) -> bytes:
        """``size`` random bytes."""
        ...


class ProgramLocator(Protocol):
    """Where programs are on a target."""

    def locate(self, name: str) -> str | None:
        """The trusted absolute path that the bare name ``name`` stands for, or None if it has none there."""
        ...

    def resolve(self, path: str) -> str:
        """``path`` (absolute) with every symbolic link that exists on the target followed."""
        ...

    def linked_by(self, pattern: str) -> tuple[str, ...] | None:
        """Where the names that a shell pattern (absolute) finds lead to through links; None if they are too many."""
        ...

    def configured(self, folder: str) -> str:
        """The configuration of the git repository around ``folder`` (absolute), and of its submodules, as text."""
        ...
