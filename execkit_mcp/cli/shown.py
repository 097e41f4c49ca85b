"""What the command line shows of a text that may hold secrets: why a server did not start, a report for an issue."""

import os
import secrets
from collections.abc import Callable

from execkit_mcp.redaction import KnownValue, Redactor
from execkit_mcp.runtime.environment import protected_values


def without_secrets() -> Callable[[str], str]:
    """What takes secrets of the environment, and what looks like one, out of a text."""
    known = [KnownValue(name=name, value=value) for name, value in protected_values((), os.environ).items()]
    redactor = Redactor(key=secrets.token_bytes(32), known=known)
    return lambda text: redactor.text(text)[0]
