"""The table of token shapes, by family of vendors."""

from execkit_mcp.redaction.shape import TokenShape
from execkit_mcp.redaction.shapes.ai import AI
from execkit_mcp.redaction.shapes.cloud import CLOUD
from execkit_mcp.redaction.shapes.hashes import HASHES
from execkit_mcp.redaction.shapes.messaging import MESSAGING
from execkit_mcp.redaction.shapes.operations import OPERATIONS
from execkit_mcp.redaction.shapes.payment import PAYMENT
from execkit_mcp.redaction.shapes.prefixed import PREFIXED
from execkit_mcp.redaction.shapes.saas import SAAS
from execkit_mcp.redaction.shapes.source_code import SOURCE_CODE

SHAPES: tuple[TokenShape, ...] = (
    *CLOUD, *SOURCE_CODE, *MESSAGING, *PAYMENT, *SAAS, *AI, *OPERATIONS, *HASHES, *PREFIXED,
)  # fmt: skip
