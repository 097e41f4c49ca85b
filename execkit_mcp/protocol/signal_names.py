"""What a signal is called: this module has a name for each number that can end a process, real-time ones included."""

import signal
from typing import Final

__all__ = ["NAMES_OF_CODES", "SIGNAL_BASE", "signal_name"]

SIGNAL_BASE: Final = 128
_LAST: Final = 64
_NAMES: Final = {number.value: number.name for number in signal.Signals}
_FIRST_REAL_TIME: Final = getattr(signal, "SIGRTMIN", _LAST)


def signal_name(number: int) -> str:
    """Its POSIX name; ``SIGRTMIN+6`` and the like for real-time signals, ``SIG32`` for what has no name."""
    if number in _NAMES:
        return _NAMES[number]
    return f"SIGRTMIN+{number - _FIRST_REAL_TIME}" if _FIRST_REAL_TIME < number < _LAST else f"SIG{number}"


NAMES_OF_CODES: Final = {
    SIGNAL_BASE + number: signal_name(number)
    for number in range(1, _LAST + 1)
    if number in _NAMES or number > _FIRST_REAL_TIME
}
"""By 128+n, the exit code that a shell gives to what signal n ended."""
