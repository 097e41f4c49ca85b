"""Text to text without secrets: known values, token shapes, key blocks and what names give away."""

from execkit_mcp.redaction.engine import Confirmer, Redactor, StreamRedactor
from execkit_mcp.redaction.known import KnownValue
from execkit_mcp.redaction.scanner import first_stage, use_first_stage

__all__ = ["Confirmer", "KnownValue", "Redactor", "StreamRedactor", "first_stage", "use_first_stage"]
