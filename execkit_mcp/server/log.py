"""What libraries complain about while a server serves: to standard error, without the secrets that it may quote."""

import logging
import sys
from collections.abc import Callable


class RedactedLog(logging.Handler):
    """Writes records of at least ``level`` through ``redact``."""

    def __init__(self, redact: Callable[[str], str], level: int) -> None:
        super().__init__(level)
        self._redact = redact

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        sys.stderr.write(self._redact(f"execkit-mcp: {self.format(record)}\n"))
