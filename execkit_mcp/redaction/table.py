"""All rules in one place, and the words that make a line worth a second opinion."""

import re

from execkit_mcp.redaction import structured, surroundings
from execkit_mcp.redaction.rule import Rule
from execkit_mcp.redaction.shape import rule_of
from execkit_mcp.redaction.shapes import SHAPES

RULES: tuple[Rule, ...] = (
    *(rule_of(shape) for shape in SHAPES),
    *structured.RULES,
    *surroundings.RULES,
)

CONFIRM_WORDS: tuple[str, ...] = (
    "_key", "-key", "key=", 'key"', "key:", "key'", "password", "passwd", "secret", "token", "credential",
    "auth=", "auth:", "private", "apikey", "signature", "certificate_key", "contrasena", "service_pass",
)  # fmt: skip
"""Lower-case words; a line that holds one and that no rule decided is shown to the confirmers."""

_MIN_OPEN = 3
_PREFIXES = tuple(
    sorted(
        {word for shape in SHAPES if not shape.lead_chars for word in shape.keywords if len(word) >= _MIN_OPEN},
        key=len,
    )
)
_TOKEN_START = re.compile("|".join(re.escape(word) for word in _PREFIXES), re.IGNORECASE)


def is_open_token(token: str) -> bool:
    """Whether ``token``, the unfinished end of a line, may be the beginning of a vendor's token."""
    if len(token) < _MIN_OPEN:
        return False
    low = token.lower()
    return _TOKEN_START.match(token) is not None or any(word.startswith(low) for word in _PREFIXES)
